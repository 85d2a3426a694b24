"""K3s and RKE2, Rancher, Talos, kops, kubespray (clouds.md 1.8-1.10, 1.12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from numalign.analysis.config.system import Fields
from numalign.analysis.config.system_bases import talos
from numalign.analysis.config.systems import K3S, KOPS, KUBESPRAY, KUBESPRAY_NAMES, SOME_FLAGS, TALOS
from numalign.model.gotext import ConversionError, parse_bool
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.kubelet.found import Found, below, not_taken, overlaid, renamed, under, words
from numalign.sources.text import elements, inside, mapping
from numalign.sources.text.yaml import Document


def k3s(document: Document, data: Fields, path: str = "") -> Found:
    """Read `kubelet-arg` of K3s or RKE2; with `config=FILE` the defaults are in a file that was not read (29-31)."""
    flags = flags_of_words([*words(data.get("kubelet-arg")), *words(data.get("kubelet-arg+"))])
    found = Found({}, lambda field: document.where(_of(path, field)), flags, system=K3S)
    return found._replace(base=SOME_FLAGS.base) if {"config", "config-dir"} & flags.keys() else found


def _of(path: str, field: str) -> str:
    return f"{path}.kubelet-arg" if path else field if "kubelet-arg" in field else "kubelet-arg"


def is_k3s(data: Fields) -> bool:
    """Tell whether a document is a configuration of K3s or RKE2."""
    return "kubelet-arg" in data or "kubelet-arg+" in data


def rancher(document: Document) -> Iterator[Found]:
    """Read a Cluster of Rancher, for all machines and for some (29)."""
    path = "spec.rkeConfig.machineGlobalConfig"
    shared = mapping(document.data, *path.split("."))
    if is_k3s(shared):
        yield k3s(document, shared, path)
    for place, one in enumerate(elements(document.data, "spec", "rkeConfig", "machineSelectorConfig")):
        config = mapping(one, "config")
        if is_k3s(config):
            there = f"spec.rkeConfig.machineSelectorConfig[{place}].config"
            yield k3s(document, {**shared, **config}, there)._replace(name=f"machineSelectorConfig[{place}]")


_FORBIDDEN_TEXT: Final = """
apiVersion authentication authorization cgroupRoot kind kubeletCgroups port protectKernelDefaults resolvConf
rotateCertificates systemCgroups staticPodPath seccompDefault
"""
_TALOS_FORBIDDEN: Final = frozenset(_FORBIDDEN_TEXT.split())


def talos_config(document: Document, fields: Fields, args: object, path: str, role: str) -> Found:
    """Read the kubelet of Talos, in its old or its new form (32, 59)."""
    found = below(document, fields, path)
    known = {name: value for name, value in found.fields.items() if name not in _TALOS_FORBIDDEN}
    lost = tuple(
        not_taken("Talos", name, found.where, "rejects the file: the setting is its own")
        for name in found.fields
        if name in _TALOS_FORBIDDEN
    )
    flags = flags_of_words(words(args))
    return found._replace(fields=known, flags=flags, notices=lost, system=TALOS, base=partial(talos, role=role))


def talos_machine(document: Document) -> Found:
    """Read `machine.kubelet` of a machine's configuration, or of a patch of one."""
    machine = mapping(document.data, "machine")
    role = machine.get("type")
    role = "controlplane" if role in ("controlplane", "init") else "worker" if role in ("worker", "join") else ""
    kubelet = mapping(machine, "kubelet")
    path = "machine.kubelet.extraConfig"
    found = talos_config(document, mapping(kubelet, "extraConfig"), kubelet.get("extraArgs"), path, role)
    return found._replace(version=str(kubelet.get("image", "")).rpartition(":")[2])


def talos_document(document: Document) -> Found:
    """Read the document `KubeletConfig` of Talos 1.14."""
    data = document.data
    found = talos_config(document, mapping(data, "config"), data.get("extraArgs"), "config", "")
    return found._replace(version=str(data.get("image", "")).rpartition(":")[2])


def kops(document: Document) -> Iterator[Found]:
    """Read a Cluster or an InstanceGroup of kops (34)."""
    data = document.data
    for key in ("kubelet", "controlPlaneKubelet", "masterKubelet"):
        kubelet = mapping(data, "spec", key)
        if kubelet:
            yield _kops(document, kubelet, f"spec.{key}")._replace(
                name=key.removesuffix("Kubelet") if key != "kubelet" else str(inside(data, "metadata", "name") or ""),
                version=str(inside(data, "spec", "kubernetesVersion") or ""),
                instance=str(inside(data, "spec", "machineType") or ""),
            )


def _kops(document: Document, kubelet: Fields, path: str) -> Found:
    found = renamed(KOPS, kubelet, under(document, path))
    fields: dict[str, object] = dict(found.fields)
    eviction = fields.get("evictionHard")
    if isinstance(eviction, str):
        fields["evictionHard"] = dict(part.split("<", 1) for part in eviction.split(",") if "<" in part)
    fields |= _gates(fields.get("featureGates"))
    return found._replace(fields=fields)


def _gates(given: object) -> dict[str, object]:
    """Read feature gates that are texts; one that is no boolean stays, for the kubelet to complain of."""
    if not isinstance(given, Mapping):
        return {}
    gates: dict[str, object] = {}
    for name, text in given.items():
        try:
            gates[str(name)] = parse_bool(text) if isinstance(text, str) else text
        except ConversionError:
            gates[str(name)] = text
    return {"featureGates": gates}


def kops_pools(found: list[Found]) -> list[Found]:
    """Lay the kubelets of instance groups over that of their cluster."""
    cluster = next((one for one in found if one.system is KOPS and one.version), None)
    groups = [one for one in found if one.system is KOPS and not one.version]
    if cluster is None or not groups:
        return found
    return [one._replace(fields=overlaid(cluster.fields, one.fields), version=cluster.version) for one in groups]


def is_kubespray(data: Fields) -> bool:
    """Tell whether a document has variables of kubespray that set the kubelet."""
    own = {"kubelet_config_extra_args", "kubelet_feature_gates", "kubelet_custom_flags", "kubelet_node_custom_flags"}
    return bool((own | KUBESPRAY_NAMES.keys()) & data.keys())


def kubespray(document: Document) -> Found:
    """Read variables of kubespray; what stands in `kubelet_config_extra_args` comes last in the file (39, 40)."""
    data = document.data
    found = renamed(KUBESPRAY._replace(names=KUBESPRAY_NAMES), data, document.where)
    fields = {name: _texts(value) for name, value in found.fields.items()}
    gates = data.get("kubelet_feature_gates")
    if isinstance(gates, list):
        pairs = (str(one).partition("=") for one in gates)
        fields |= _gates({name: text for name, _, text in pairs})
    fields = {**fields, **mapping(data, "kubelet_config_extra_args")}
    flags = flags_of_words([*words(data.get("kubelet_custom_flags")), *words(data.get("kubelet_node_custom_flags"))])
    return found._replace(fields=fields, flags=flags, system=KUBESPRAY)


def _texts(value: object) -> object:
    """Write amounts as texts, as the template does."""
    return {key: str(one) for key, one in value.items()} if isinstance(value, Mapping) else value
