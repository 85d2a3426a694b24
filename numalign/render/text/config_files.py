"""A suggested configuration as the file of a cloud or a distribution: a row of `WRITERS` for each output.

What a file leaves out is the system's own part, or what the system does not take (`analysis.config.systems`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from numalign.analysis.config.suggest import Suggestion
from numalign.analysis.config.system import Fields
from numalign.analysis.config.systems import FORMATS, KARPENTER, KUBESPRAY_NAMES
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine
from numalign.render.json.node import suggestion_json
from numalign.render.text.config import HEADER, file_text, suggestion_head, suggestion_lines, yaml_lines
from numalign.render.text.config_texts import HEADS, setting_texts, settings_of

Written = Callable[[Suggestion, Machine], Iterable[str]]


def suggestion_file(form: str, suggestion: Suggestion, machine: Machine) -> str:
    """Write a suggestion as one of `WRITERS`."""
    return file_text(WRITERS[form](suggestion, machine))


def _fields(head: str, indent: int = 0, *, above: Sequence[str] = ()) -> Written:
    """Make the writer of a file that has fields of a KubeletConfiguration at the end of `head`."""

    def lines(suggestion: Suggestion, machine: Machine) -> Iterator[str]:
        yield from (suggestion_head(machine.name), *head.splitlines())
        yield from (f"{' ' * indent}{line}" for line in (*above, *suggestion_lines(suggestion)))

    return lines


def _reasoned(body: Written) -> Written:
    """Make the writer of a file whose lines cannot have a comment each: all comments stand above them."""

    def lines(suggestion: Suggestion, machine: Machine) -> Iterator[str]:
        yield suggestion_head(machine.name)
        yield from (f"# {name}: {suggestion.reasons[field]}" for field, name, _ in settings_of(suggestion))
        yield from body(suggestion, machine)

    return lines


def _lines(suggestion: Suggestion, keep: Callable[[str], bool]) -> list[str]:
    """Write fields of a KubeletConfiguration, of those names that are to be kept."""
    return [line for field, name, value in settings_of(suggestion) if keep(name) for line in yaml_lines(field, value)]


_FLAG_NAMES: Final = {"reserved_system_cpus": "reserved-cpus"}


def _flags(suggestion: Suggestion) -> Iterator[tuple[str, str]]:
    """Yield the settings as flags of the kubelet; a map is named as a whole, for a flag replaces it."""
    for field, _, value in settings_of(suggestion):
        sign = "<" if field == "eviction_hard" else "="
        if isinstance(value, Mapping):
            text = ",".join(f"{key}{sign}{one}" for key, one in value.items())
        elif isinstance(value, tuple):
            limits = ((one.numa_node, ",".join(f"{key}={each}" for key, each in one.limits.items())) for one in value)
            text = ";".join(f"{node}:{amounts}" for node, amounts in limits)
        else:
            text = str(value)
        yield _FLAG_NAMES.get(field, field.replace("_", "-")), text


def _by_flags(head: str, each: str) -> Written:
    """Make the writer of a file that has a line for each flag at the end of `head`."""

    @_reasoned
    def lines(suggestion: Suggestion, _: Machine) -> Iterator[str]:
        yield from head.splitlines()
        yield from (each.format(name=name, text=text, quoted=json.dumps(text)) for name, text in _flags(suggestion))

    return lines


def _by_script(call: str) -> Written:
    """Make the writer of a script that hands all flags to a kubelet in one argument."""

    @_reasoned
    def lines(suggestion: Suggestion, _: Machine) -> Iterable[str]:
        flags = " ".join(f"--{name}={text}" for name, text in _flags(suggestion))
        return call.format(flags=flags).splitlines()

    return lambda suggestion, machine: ("#!/bin/bash", *lines(suggestion, machine))


def _nested(suggestion: Suggestion, names: Mapping[str, str]) -> Fields:
    """Spell the settings with a system's own names (`analysis.config.systems`), as nested mappings."""
    given = suggestion_json(suggestion)
    result: dict[str, Any] = {}
    for own, path in names.items():
        field, _, key = path.partition(".")
        value = given.get(field)
        if key:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            *above, last = own.split(".")
            holder = result
            for one in above:
                holder = holder.setdefault(one, {})
            holder[last] = value
    return result


def _by_names(form: str, head: str, indent: int) -> Written:
    """Make the writer of a file that has a system's own names at the end of `head`."""

    @_reasoned
    def lines(suggestion: Suggestion, _: Machine) -> Iterable[str]:
        return *head.splitlines(), *_yaml(_nested(suggestion, FORMATS[form].names), indent)

    return lines


def _yaml(value: Fields, indent: int = 0) -> Iterator[str]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield f"{' ' * indent}{name}:"
            yield from _yaml(one, indent + 2)
        else:
            yield f"{' ' * indent}{name}: {json.dumps(one)}"


def _toml(suggestion: Suggestion, *, but: Sequence[str] = ()) -> Iterator[str]:
    """Write Bottlerocket's table; texts in JSON are texts in TOML, too."""
    tables: dict[str, Fields] = {}
    yield "[settings.kubernetes]"
    names = {own: path for own, path in FORMATS["bottlerocket"].names.items() if path not in but}
    for name, value in _nested(suggestion, names).items():
        if name == "cpu-manager-policy-options":
            yield f"{name} = {json.dumps(list(value))}"
        elif name == "memory-manager-reserved-memory":
            for one in value:
                tables[f"{name}.{one['numaNode']}"] = {"enabled": True, **one["limits"]}
        elif isinstance(value, Mapping):
            tables[name] = value
        else:
            yield f"{name} = {json.dumps(value)}"
    for name, table in tables.items():
        yield f"[settings.kubernetes.{name}]"
        for key, one in table.items():
            plain = str(one).lower() if name == "topology-manager-policy-options" else json.dumps(one)
            yield f"{json.dumps(key) if '.' in key else key} = {plain}"


_NODE_CLASS: Final = """apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: numa-aligned
spec:
  amiFamily: {family}
  amiSelectorTerms:
  - alias: {alias}@latest
  role: KarpenterNodeRole-CLUSTER
  subnetSelectorTerms:
  - tags: {{karpenter.sh/discovery: CLUSTER}}
  securityGroupSelectorTerms:
  - tags: {{karpenter.sh/discovery: CLUSTER}}
  kubelet:"""


def _karpenter(family: str, alias: str, data: Callable[[Suggestion], Iterable[str]]) -> Written:
    """Make the writer of an EC2NodeClass: reservations where Karpenter plans with them, the rest in user data."""

    @_reasoned
    def lines(suggestion: Suggestion, _: Machine) -> Iterator[str]:
        yield from _NODE_CLASS.format(family=family, alias=alias).splitlines()
        yield from (f"    {line}" for line in _lines(suggestion, lambda name: name in KARPENTER.names))
        yield "  userData: |"
        yield from (f"    {line}" for line in data(suggestion))

    return lines


_NODE_CONFIG: Final = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:"


def _node_config(suggestion: Suggestion) -> list[str]:
    fields = _lines(suggestion, lambda name: name not in KARPENTER.names)
    return [*_NODE_CONFIG.splitlines(), *(f"      {line}" for line in fields)]


@_reasoned
def _kubespray(suggestion: Suggestion, _: Machine) -> Iterator[str]:
    """Write variables of kubespray, and what has none in `kubelet_config_extra_args`."""
    yield from _yaml(_nested(suggestion, KUBESPRAY_NAMES))
    yield "kubelet_config_extra_args:"
    variables = {path.partition(".")[0] for path in KUBESPRAY_NAMES.values()}
    yield from (f"  {line}" for line in _lines(suggestion, lambda name: name not in variables))


_OWN: Final = ("cpuManagerPolicy", "topologyManagerPolicy", "reservedSystemCPUs", "apiVersion", "kind")
"""Fields that a PerformanceProfile has by itself, or that its operator sets."""


@_reasoned
def _performance_profile(suggestion: Suggestion, machine: Machine) -> Iterable[str]:
    """OpenShift's PerformanceProfile: CPU sets and policy, and the rest in the annotation that goes to the kubelet."""
    config = suggestion.config
    reserved = parse(config.reserved_system_cpus)
    rest = {name: value for name, value in suggestion_json(suggestion).items() if name not in _OWN}
    # The operator would add memory of its own to what is not said, and the sum of reservedMemory would be another.
    rest["systemReserved"] = {"memory": "0", **setting_texts(rest.get("systemReserved"))}
    rest["kubeReserved"] = {"memory": "0", **setting_texts(rest.get("kubeReserved"))}
    return [
        "apiVersion: performance.openshift.io/v2",
        "kind: PerformanceProfile",
        "metadata:",
        "  name: numa-aligned",
        "  annotations:",
        f"    kubeletconfig.experimental: {json.dumps(json.dumps(rest))}",
        "spec:",
        "  cpu:",
        f"    reserved: {json.dumps(format_set(reserved))}",
        f"    isolated: {json.dumps(format_set(machine.cpus & ~reserved))}",
        "  numa:",
        f"    topologyPolicy: {config.topology_manager_policy}",
        "  nodeSelector:",
        "    # the label of your nodes",
        '    node-role.kubernetes.io/worker: ""',
    ]


_OKE: Final = (
    "URL=http://169.254.169.254/opc/v2/instance/metadata/oke_init_script\n"
    'curl --fail -H "Authorization: Bearer Oracle" -L0 $URL | base64 --decode >/var/run/oke-init.sh\n'
    'bash /var/run/oke-init.sh --kubelet-extra-args "{flags}"'
)
_K3S: Final = _by_flags("kubelet-arg:", "- {name}={text}")

WRITERS: Final[Mapping[str, Written]] = {
    "kubeadm": _fields(HEADS["kubeadm"]),
    "kubeletconfig": _fields(HEADS["kubeletconfig"], 4),
    "performanceprofile": _performance_profile,
    "nodeadm": _fields(_NODE_CONFIG, 6),
    "eksctl": _fields(HEADS["eksctl"], 4),
    "karpenter": _karpenter("AL2023", "al2023", _node_config),
    "karpenter-bottlerocket": _karpenter(
        "Bottlerocket", "bottlerocket", lambda suggestion: _toml(suggestion, but=tuple(KARPENTER.names))
    ),
    "bottlerocket": _reasoned(lambda suggestion, _: _toml(suggestion)),
    "eks-bootstrap": _by_script("/etc/eks/bootstrap.sh CLUSTER --kubelet-extra-args '{flags}'"),
    "gke": _by_names("gke", "kubeletConfig:", 2),
    "gke-configconnector": _by_names("gke-configconnector", HEADS["gke-configconnector"], 6),
    "aks": lambda suggestion, _: json.dumps(_nested(suggestion, FORMATS["aks"].names), indent=2).splitlines(),
    "aks-nodeclass": _by_names("aks-nodeclass", HEADS["aks-nodeclass"], 4),
    "gardener": _by_names("gardener", HEADS["gardener"], 10),
    "k3s": _K3S,
    "rke2": _K3S,
    "talos": _fields(HEADS["talos"], 6),
    "kops": _by_names("kops", HEADS["kops"], 4),
    "capi": _fields(HEADS["capi"], 10, above=HEADER),
    "capi-v1beta1": _by_flags(HEADS["capi-v1beta1"], "            {name}: {quoted}"),
    "kubespray": _kubespray,
    "butane": _fields(HEADS["butane"], 8, above=HEADER),
    "oke": _by_script(_OKE),
}
"""Output of `config suggest` -> its writer."""
