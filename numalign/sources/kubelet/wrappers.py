"""Where people keep a kubelet's settings: inside objects of operators, of installers and of clouds.

`find` gets the settings out of a file's documents: a row of the tables below for each kind of file. What a system adds
by itself is its `base`, and what it does not take is said in a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from numalign.analysis.config.system import Fields
from numalign.analysis.config.system_bases import openshift
from numalign.analysis.config.systems import FLAGS, KUBEADM, MICROSHIFT, OPENSHIFT
from numalign.errors import InputError
from numalign.model.path import child
from numalign.sources.kubelet import API_VERSION, KIND, aws, cluster_api, distributions, karpenter, managed
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.kubelet.fields import is_field
from numalign.sources.kubelet.found import Found, below, not_taken, words
from numalign.sources.kubelet.performance_profile import from_profile
from numalign.sources.text import elements, inside, listed, mapping
from numalign.sources.text.yaml import Document, load_documents

CONFIGZ: Final = "a node's own settings: kubectl get --raw /api/v1/nodes/NODE/proxy/configz"


def find(documents: Sequence[Document], file: str, pool: str | None = None) -> Found:
    """Find the one kubelet configuration in the documents of a file.

    Args:
        documents: those of the file.
        file: its name.
        pool: which pool of nodes is meant, where it has several.

    Raises:
        InputError: there is none, or more than one; the message says how to get one.
    """
    found: list[Found] = []
    flags: dict[str, str] = {}
    for document in documents:
        if isinstance(document.data, Mapping):
            flags.update(_kubeadm_flags(document.data))
            found += _in_document(document)
    if flags and not found:
        return Found({}, documents[0].where, flags, system=KUBEADM)
    chosen = choose(distributions.kops_pools(found), file, pool)
    if chosen is None:
        raise _nothing(documents, file)
    return chosen._replace(flags={**chosen.flags, **flags})


def choose(found: Sequence[Found], file: str, pool: str | None) -> Found | None:
    """Choose the pool that is meant; None: nobody gave any setting.

    Raises:
        InputError: there are several, or none of the name.
    """
    given = [one for one in found if one.complete or _settings(one)]
    if pool is not None:
        given = [one for one in given if one.name == pool]
        if not given:
            names = ", ".join(sorted({one.name for one in found if one.name})) or "none"
            raise InputError(f"has no pool {pool} with settings of a kubelet; allowed: {names}", file)
    if not given:
        return None
    first, *others = given
    named = all(one.name for one in given)
    alike = all((one.fields, one.flags, one.system) == (first.fields, first.flags, first.system) for one in others)
    if not others or (named and alike):
        return first
    if named:
        names = ", ".join(one.name for one in given)
        raise InputError(f"{len(given)} pools differ; fix: add --pool NAME; allowed: {names}", file)
    raise InputError(f"expected one {KIND}, found {len(given)} documents with one", file)


def _settings(found: Found) -> bool:
    """Tell whether a kubelet's setting is there, be it one that decides nothing here."""
    from numalign.sources.kubelet.flags import is_flag

    return any(map(is_field, found.fields)) or any(map(is_flag, found.flags))


def _in_document(document: Document) -> Iterable[Found]:
    """List the settings that a document holds, one for each pool of nodes."""
    data = document.data
    kind, group = str(data.get("kind")), str(data.get("apiVersion"))
    if isinstance(data.get("kubeletconfig"), Mapping):
        return [below(document, data["kubeletconfig"], "kubeletconfig")._replace(complete=True)]
    for wanted, begins, read in _KINDS:
        if kind == wanted and group.startswith(begins):
            return read(document)
    return next((read(document) for suits, read in _KINDLESS if suits(data)), ())


def _one(read: Callable[[Document], Found]) -> Callable[[Document], Iterable[Found]]:
    return lambda document: [read(document)]


def _profile(document: Document) -> Found:
    """OpenShift's PerformanceProfile, whose operator writes all that is reserved."""
    profile = from_profile(document)
    return Found(
        profile.fields,
        lambda field: document.where(profile.places.get(field, "spec")),
        notices=profile.notices,
        pages=profile.pages,
        complete=True,
    )


_REFUSED: Final = ("cgroupDriver", "clusterDNS", "clusterDomain", "featureGates", "failSwapOn")


def _kubelet_config(document: Document) -> Found:
    """OpenShift's KubeletConfig: what the machine config operator lays over its own defaults (41-43)."""
    spec = mapping(document.data, "spec")
    fields, sizing = mapping(spec, "kubeletConfig"), spec.get("autoSizingReserved")
    if not fields and sizing is None:
        raise document.error("missing; fix: put the settings there", "spec.kubeletConfig")
    found = below(document, fields, "spec.kubeletConfig")
    refused = [name for name in fields if name in _REFUSED]
    if sizing is True and "systemReserved" in fields:
        refused.append("systemReserved")
    notices = tuple(
        not_taken("OpenShift", name, found.where, "rejects the file: the setting is its own") for name in refused
    )
    known = {name: value for name, value in found.fields.items() if name not in refused}
    if sizing is None and "master" in str(spec.get("machineConfigPoolSelector")):
        sizing = False
    if sizing is None and "systemReserved" in known:
        sizing = False
    base = partial(openshift, sizing=sizing if isinstance(sizing, bool) else None)
    return found._replace(fields=known, notices=notices, system=OPENSHIFT, base=base, complete=True)


def _kind_cluster(document: Document) -> Iterator[Found]:
    """A cluster of kind: patches of kubeadm's files, for all nodes and for each."""
    data = document.data
    nodes = [one for one in elements(data, "nodes") if one.get("kubeadmConfigPatches")]
    workers = [one for one in nodes if one.get("role") == "worker"] or nodes
    fields: dict[str, object] = {}
    flags: dict[str, str] = {}
    for text in (*_patches(data), *(_patches(workers[0]) if workers else ())):
        for patch in load_documents(text, document.name, last=True):
            if isinstance(patch.data, Mapping):
                flags.update(_kubeadm_flags(patch.data))
                if patch.data.get("kind") == KIND:
                    fields.update(patch.data)
    if not fields and not flags:
        return
    gates = data.get("featureGates")
    if isinstance(gates, Mapping):
        fields["featureGates"] = {**gates, **mapping(fields, "featureGates")}
    found = below(document, fields, "")
    yield found._replace(where=lambda _: document.where("kubeadmConfigPatches"), flags=flags, system=KUBEADM)


def _patches(holder: Fields) -> list[str]:
    return [one for one in listed(holder, "kubeadmConfigPatches") if isinstance(one, str)]


def _config_map(document: Document) -> Iterator[Found]:
    """Kubeadm's ConfigMap `kubelet-config`, and others that keep the file as text."""
    for key, text in mapping(document.data, "data").items():
        if isinstance(text, str) and KIND in text:
            yield from cluster_api.configuration_in(text, document, child("data", str(key)))


def _kubeadm_flags(data: Fields) -> dict[str, str]:
    """Return the flags that kubeadm's InitConfiguration or JoinConfiguration adds to the kubelet."""
    if data.get("kind") not in ("InitConfiguration", "JoinConfiguration"):
        return {}
    return flags_of_words(words(inside(data, "nodeRegistration", "kubeletExtraArgs")))


_CAPI: Final = "bootstrap.cluster.x-k8s.io/"
_CONTROL_PLANE: Final = ("KubeadmControlPlane", "controlplane.cluster.x-k8s.io/")
_KINDS: Final[Sequence[tuple[str, str, Callable[[Document], Iterable[Found]]]]] = (
    (KIND, API_VERSION, _one(lambda document: below(document, document.data, "")._replace(complete=True))),
    ("PerformanceProfile", "", _one(_profile)),
    ("KubeletConfig", "machineconfiguration.openshift.io/", _one(_kubelet_config)),
    ("KubeletConfig", "v1alpha1", _one(distributions.talos_document)),
    ("MachineConfig", "machineconfiguration.openshift.io/", cluster_api.machine_files),
    ("ConfigMap", "", _config_map),
    ("Cluster", "kind.x-k8s.io/", _kind_cluster),
    ("Cluster", "provisioning.cattle.io/", distributions.rancher),
    ("Cluster", "kops.k8s.io/", distributions.kops),
    ("InstanceGroup", "kops.k8s.io/", distributions.kops),
    ("NodeConfig", "node.eks.aws/", _one(aws.node_config)),
    ("EC2NodeClass", "karpenter.k8s.aws/", karpenter.node_class),
    ("NodePool", "karpenter.sh/", karpenter.node_class),
    ("ClusterConfig", "eksctl.io/", aws.eksctl),
    *((kind, "container.cnrm.", managed.gke_object) for kind in ("ContainerNodePool", "ContainerCluster")),
    ("ComputeClass", "cloud.google.com/", managed.gke_object),
    ("GCENodeClass", "", _one(managed.gcp_node_class)),
    ("AKSNodeClass", "", managed.aks_object),
    ("AzureManagedMachinePool", "", managed.aks_object),
    ("Shoot", "core.gardener.cloud/", managed.shoot),
    *(
        (f"{kind}{end}", group, cluster_api.bootstrap)
        for kind, group in (
            *((kind, _CAPI) for kind in ("KubeadmConfig", "EKSConfig", "NodeadmConfig")),
            _CONTROL_PLANE,
        )
        for end in ("", "Template")
    ),
)
"""(kind, how its group begins, its reader)."""
_KINDLESS: Final[Sequence[tuple[Callable[[Fields], bool], Callable[[Document], Iterable[Found]]]]] = (
    (lambda data: isinstance(inside(data, "machine", "kubelet"), Mapping), _one(distributions.talos_machine)),
    (distributions.is_k3s, lambda document: [distributions.k3s(document, document.data)]),
    (
        lambda data: isinstance(data.get("kubeletConfig"), Mapping) and "kind" not in data,
        lambda document: [_gke_or_aks(document)],
    ),
    (
        lambda data: "kind" not in data and isinstance(inside(data, "config", "kubeletConfig"), Mapping),
        managed.gke_object,
    ),
    (lambda data: "kind" not in data and isinstance(inside(data, "spec", "provider", "workers"), list), managed.shoot),
    (distributions.is_kubespray, _one(distributions.kubespray)),
    (managed.is_aks, lambda document: [managed.aks(document, document.data)]),
    (
        lambda data: "variant" in data or isinstance(data.get("ignition"), Mapping),
        cluster_api.machine_files,
    ),
    (
        lambda data: bool(data) and all(str(key).startswith("--") for key in data),  # a dump of flags
        lambda document: [Found({}, document.where, flags_of_words(words(document.data)), system=FLAGS)],
    ),
    (
        lambda data: "kind" not in data and isinstance(data.get("kubelet"), Mapping),  # MicroShift
        lambda document: [below(document, document.data["kubelet"], "kubelet")._replace(system=MICROSHIFT)],
    ),
)
"""(whether a document without a kind of the table is one, its reader)."""


def _gke_or_aks(document: Document) -> Found:
    """Read `kubeletConfig`: ARM of AKS has it beside names of its own, GKE's file alone or with `linuxConfig`."""
    fields = document.data["kubeletConfig"]
    own = {"topologyManagerPolicy", "kubeReserved", "hardEvictionThreshold", "podMaxPids"} & fields.keys()
    return managed.aks(document, fields, "kubeletConfig") if own else managed.gke(document, fields, "kubeletConfig")


_OTHERS: Final[Mapping[str, str]] = {
    "ClusterConfiguration": f"kubeadm's file without a {KIND}",
    "Tuned": "the node tuning operator's; the kubelet's settings are in its KubeletConfig or PerformanceProfile",
    "RuntimeClass": "no kubelet's settings",
    "MachineConfig": "the kubelet's settings are in a KubeletConfig, or on the node",
    "ClusterClass": "its patches are not followed; the kubelet's settings are in its bootstrap template",
}


def _nothing(documents: Sequence[Document], file: str) -> InputError:
    """Say that there is no configuration, what there is, and how to get one."""
    if not documents:
        return InputError(f"expected one {KIND}, found no documents", file)
    kinds = [KIND, *(kind for kind, _, _ in _KINDS if kind != KIND)]
    known = (
        one for kind in kinds for one in documents if isinstance(one.data, Mapping) and one.data.get("kind") == kind
    )
    document = next(known, documents[0])
    data = document.data
    if not isinstance(data, Mapping):
        noun = "array" if isinstance(data, list) else "a text" if isinstance(data, str) else "something else"
        return document.error(f"expected a {KIND}, got {noun}")
    kind = str(data.get("kind"))
    if any(kind == wanted and kind != KIND for wanted, _, _ in _KINDS) or any(suits(data) for suits, _ in _KINDLESS):
        what = f'"{kind}"' if "kind" in data else "the file"
        return document.error(f"no kubelet setting found in {what}; {CONFIGZ}")
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if field not in data:
            return document.error(f"missing; fix: add {field}: {wanted}", field)
    if kind == KIND:
        return document.error(f'expected {API_VERSION}, got "{data["apiVersion"]}"', "apiVersion")
    said = f" ({_OTHERS[kind]})" if kind in _OTHERS else ""
    return document.error(f'expected {KIND}, got "{kind}"{said}; {CONFIGZ}', "kind")
