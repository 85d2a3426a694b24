"""Where people keep a kubelet's settings: inside objects of operators, of installers and of clouds.

`find` gets the fields of a KubeletConfiguration, and flags over them, out of a file's documents. What the thing around
them adds by itself, or leaves to the node, is said in a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from numalign.errors import InputError, Notice
from numalign.model.path import child
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.kubelet.performance_profile import Pages, from_profile
from numalign.sources.text.yaml import Document, load_documents
from numalign.values import NamedTuple

Fields = Mapping[str, object]
Where = Callable[[str], str]
"""Says where a field path stands: `file:line: path`."""

API_VERSION: Final = "kubelet.config.k8s.io/v1beta1"
KIND: Final = "KubeletConfiguration"
CONFIGZ: Final = "a node's own settings: kubectl get --raw /api/v1/nodes/NODE/proxy/configz"


class Found(NamedTuple):
    """A kubelet's settings and where they stand."""

    fields: Fields
    """Of a KubeletConfiguration."""
    where: Where
    flags: Mapping[str, str] = {}
    """Flags of the kubelet, without dashes, over the fields."""
    notices: tuple[Notice, ...] = ()
    pages: tuple[Pages, ...] = ()
    """Huge pages that take the place of the machine's; empty: nothing is said of them."""


def find(documents: Sequence[Document], file: str) -> Found:
    """Find the one kubelet configuration in the documents of a file.

    Raises:
        InputError: there is none, or more than one; the message says how to get one.
    """
    found: list[tuple[Document, Found]] = []
    flags: dict[str, str] = {}
    for document in documents:
        if isinstance(document.data, Mapping):
            flags.update(_kubeadm_flags(document.data))
            found += [(document, one) for one in _in_document(document)]
    if len(found) > 1:
        raise InputError(f"expected one {KIND}, found {len(found)} documents with one", file)
    if found:
        one = found[0][1]
        return one._replace(flags={**one.flags, **flags})
    if flags:
        return Found({}, documents[0].where, flags)
    raise _nothing(documents, file)


def _in_document(document: Document) -> Iterator[Found]:
    """Yield the settings that a document holds: one at most, but for a document that is no wrapper at all."""
    data = document.data
    kind, group = data.get("kind"), str(data.get("apiVersion"))
    if isinstance(data.get("kubeletconfig"), Mapping):
        yield _below(document, data["kubeletconfig"], "kubeletconfig")
    elif kind == KIND and group == API_VERSION:
        yield Found(data, document.where)
    elif kind == "PerformanceProfile":
        profile = from_profile(document)
        yield Found(
            profile.fields,
            lambda field: document.where(profile.places.get(field, "spec")),
            {},
            profile.notices,
            profile.pages,
        )
    elif kind == "KubeletConfig" and group.startswith("machineconfiguration.openshift.io/"):
        yield from _kubelet_config(document)
    elif kind == "Cluster" and group.startswith("kind.x-k8s.io/"):
        yield from _kind_cluster(document)
    elif kind == "ConfigMap":
        yield from _config_map(document)
    else:
        yield from next(filter(None, (_at(document, path, flags) for path, flags in _PLACES)), [])


_PLACES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("spec", "kubelet", "config"), ("spec", "kubelet", "flags")),  # EKS: NodeConfig
    (("spec", "kubelet"), ()),  # Karpenter: EC2NodeClass
    (("machine", "kubelet", "extraConfig"), ("machine", "kubelet", "extraArgs")),  # Talos
    (("kubeletConfig",), ()),  # GKE: node system configuration
    (("kubelet",), ()),  # MicroShift
    ((), ("kubelet-arg",)),  # K3s and RKE2
)
"""Where the fields stand, and where flags do, in wrappers that need no more than that; the first that fits counts."""


def _at(document: Document, path: tuple[str, ...], flags: tuple[str, ...]) -> list[Found]:
    """Look at one place; nothing where neither fields nor flags are there."""
    fields, given = _inside(document.data, path) if path else None, _inside(document.data, flags) if flags else None
    words = flags_of_words(_words(given)) if given is not None else {}
    if not isinstance(fields, Mapping) and not words:
        return [_plain(document)] if not path and _is_plain(document.data) else []
    place = ".".join(path)
    if path == ("kubeletConfig",) and isinstance(fields, Mapping):
        return [_below(document, _gke(fields), place)._replace(notices=(_by_itself(document, "GKE"),))]
    found = _below(document, fields if isinstance(fields, Mapping) else {}, place)._replace(flags=words)
    if path[:2] == ("spec", "kubelet") and "kubeReserved" not in found.fields:
        found = found._replace(notices=(_by_itself(document, "EKS"),))
    return [found]


def _by_itself(document: Document, cloud: str) -> Notice:
    text = f"{cloud} also reserves CPUs and memory that this file omits; fix: add --kube-reserved"
    return Notice("settings-incomplete", text, document.name)


def _inside(data: object, path: Sequence[str]) -> object:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _words(given: object) -> list[str]:
    """Read flags as a list of `--a=b` or `a=b`, of `{name, value}`, or as a map."""
    if isinstance(given, Mapping):
        return [f"{key}={value}" for key, value in given.items()]
    return [
        f"{one.get('name')}={one.get('value')}" if isinstance(one, Mapping) else str(one)
        for one in (given if isinstance(given, list) else ())
    ]


def _below(document: Document, fields: Fields, path: str) -> Found:
    known = {name: value for name, value in fields.items() if name not in ("apiVersion", "kind")}
    return Found(known, lambda field: document.where(f"{path}.{field}" if path else field))


def _kubelet_config(document: Document) -> Iterator[Found]:
    """OpenShift's KubeletConfig: what the machine config operator lays over its own defaults."""
    spec = document.data.get("spec")
    fields = spec.get("kubeletConfig") if isinstance(spec, Mapping) else None
    if not isinstance(fields, Mapping):
        raise document.error("missing; fix: put the settings there", "spec.kubeletConfig")
    notices = []
    if isinstance(spec, Mapping) and spec.get("autoSizingReserved") is True:
        text = "the node computes systemReserved (autoSizingReserved); fix: add --system-reserved"
        notices.append(Notice("settings-incomplete", text, document.where("spec.autoSizingReserved")))
    yield _below(document, fields, "spec.kubeletConfig")._replace(notices=tuple(notices))


def _kind_cluster(document: Document) -> Iterator[Found]:
    """A cluster of kind: patches of kubeadm's files, for all nodes and for each."""
    data = document.data
    nodes = [one for one in data.get("nodes") or () if isinstance(one, Mapping) and one.get("kubeadmConfigPatches")]
    workers = [one for one in nodes if one.get("role") == "worker"] or nodes
    fields: dict[str, Any] = {}
    flags: dict[str, str] = {}
    for text in (*_patches(data), *(_patches(workers[0]) if workers else ())):
        for patch in load_documents(text, document.name):
            if isinstance(patch.data, Mapping):
                flags.update(_kubeadm_flags(patch.data))
                if patch.data.get("kind") == KIND:
                    fields.update(patch.data)
    if not fields and not flags:
        return
    gates = data.get("featureGates")
    if isinstance(gates, Mapping):
        fields["featureGates"] = {**gates, **(fields.get("featureGates") or {})}
    notices = []
    if len(workers) > 1:
        notices.append(Notice("settings-incomplete", "several nodes have their own settings; used the first"))
    found = _below(document, fields, "")
    yield found._replace(where=lambda _: document.where("kubeadmConfigPatches"), flags=flags, notices=tuple(notices))


def _patches(holder: Fields) -> list[str]:
    patches = holder.get("kubeadmConfigPatches")
    return [one for one in patches if isinstance(one, str)] if isinstance(patches, list) else []


def _config_map(document: Document) -> Iterator[Found]:
    """Kubeadm's ConfigMap `kubelet-config`, and others that keep the file as text."""
    data = document.data.get("data")
    for key, text in data.items() if isinstance(data, Mapping) else ():
        if isinstance(text, str) and KIND in text:
            for inner in load_documents(text, document.name):
                if isinstance(inner.data, Mapping) and inner.data.get("kind") == KIND:
                    yield _below(document, inner.data, "")._replace(where=partial(_where, document, str(key)))


def _where(document: Document, key: str, field: str) -> str:  # noqa: ARG001  the lines inside a text are not known
    return document.where(child("data", key))


def _kubeadm_flags(data: Fields) -> dict[str, str]:
    """Return the flags that kubeadm's InitConfiguration or JoinConfiguration adds to the kubelet."""
    if data.get("kind") not in ("InitConfiguration", "JoinConfiguration"):
        return {}
    return flags_of_words(_words(_inside(data, ("nodeRegistration", "kubeletExtraArgs"))))


_GKE: Final = {"topologyManager": "topologyManager", "memoryManager": "memoryManager"}
"""Objects of GKE's file -> beginning of the kubelet's fields."""
_CLOUD_ONLY: Final = frozenset(
    {
        *("insecureKubeletReadonlyPortEnabled", "containerLogMaxSizeMB", "podMaxPids", "imageGcHighThreshold"),
        *("imageGcLowThreshold", "imageGcLowThresholdPercent", "imageGcHighThresholdPercent", "imageMinimumGcAge"),
        *("imageMaximumGcAge", "cpuCfsQuota", "cpuCfsQuotaPeriod"),
    }
)
"""Fields of the clouds' own that decide nothing here."""


def _gke(fields: Fields) -> dict[str, Any]:
    """Spell the fields of GKE's `kubeletConfig` as the kubelet does: `topologyManager.policy` and the like."""
    result: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _GKE and isinstance(value, Mapping):
            result |= {f"{_GKE[name]}{key[:1].upper()}{key[1:]}": inner for key, inner in value.items()}
        elif name not in _CLOUD_ONLY:
            result[name] = value
    return result


def _is_plain(data: Fields) -> bool:
    """Tell whether a document without a kind is a cloud's JSON with the kubelet's own fields (AKS)."""
    return "kind" not in data and "apiVersion" not in data and "cpuManagerPolicy" in data


def _plain(document: Document) -> Found:
    fields = {name: value for name, value in document.data.items() if name not in _CLOUD_ONLY}
    return Found(fields, document.where, {}, (_by_itself(document, "the cloud"),))


_OTHERS: Final[Mapping[str, str]] = {
    "ClusterConfiguration": f"kubeadm's file without a {KIND}",
    "Tuned": "the node tuning operator's; the kubelet's settings are in its KubeletConfig or PerformanceProfile",
    "RuntimeClass": "no kubelet's settings",
    "MachineConfig": "the kubelet's settings are in a KubeletConfig, or on the node",
    "Cluster": "without kubelet settings in kubeadmConfigPatches",
}


def _nothing(documents: Sequence[Document], file: str) -> InputError:
    """Say that there is no configuration, what there is, and how to get one."""
    if not documents:
        return InputError(f"expected one {KIND}, found no documents", file)
    of_a_kubelet = (one for one in documents if isinstance(one.data, Mapping) and one.data.get("kind") == KIND)
    document = next(of_a_kubelet, documents[0])
    data = document.data
    if not isinstance(data, Mapping):
        noun = "array" if isinstance(data, list) else "a text" if isinstance(data, str) else "something else"
        return document.error(f"expected a {KIND}, got {noun}")
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if field not in data:
            return document.error(f"missing; fix: add {field}: {wanted}", field)
    kind = str(data["kind"])
    if kind == KIND:
        return document.error(f'expected {API_VERSION}, got "{data["apiVersion"]}"', "apiVersion")
    said = f" ({_OTHERS[kind]})" if kind in _OTHERS else ""
    return document.error(f'expected {KIND}, got "{kind}"{said}; {CONFIGZ}', "kind")
