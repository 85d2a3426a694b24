"""A suggested configuration as the file in which an operator or an installer wants it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from numalign.analysis.config.suggest import Suggestion
from numalign.kubelet.config import FIELD_NAMES
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine
from numalign.render.json import Data
from numalign.render.text.config import file_text, suggestion_head, suggestion_json, suggestion_lines

_OWN: Final = ("cpuManagerPolicy", "topologyManagerPolicy", "reservedSystemCPUs", "apiVersion", "kind")
"""Fields that a PerformanceProfile has by itself, or that its operator sets."""


def suggestion_file(form: str, suggestion: Suggestion, machine: Machine) -> str:
    """Write a suggestion as `kubeletconfig`, `performanceprofile` or `kubeadm`."""
    return file_text(_FORMS[form](suggestion, machine))


def _kubelet_config(suggestion: Suggestion, machine: Machine) -> list[str]:
    """OpenShift's KubeletConfig; the pool that it is for is yours to name."""
    return [
        suggestion_head(machine.name),
        "apiVersion: machineconfiguration.openshift.io/v1",
        "kind: KubeletConfig",
        "metadata:",
        "  name: numa-aligned",
        "spec:",
        "  machineConfigPoolSelector:",
        "    matchLabels:",
        "      # the label of your pool",
        '      pools.operator.machineconfiguration.openshift.io/worker: ""',
        "  kubeletConfig:",
        *(f"    {line}" for line in suggestion_lines(suggestion)),
    ]


def _kubeadm(suggestion: Suggestion, machine: Machine) -> list[str]:
    return [
        suggestion_head(machine.name),
        "apiVersion: kubeadm.k8s.io/v1beta4",
        "kind: ClusterConfiguration",
        "---",
        "apiVersion: kubelet.config.k8s.io/v1beta1",
        "kind: KubeletConfiguration",
        *suggestion_lines(suggestion),
    ]


def _performance_profile(suggestion: Suggestion, machine: Machine) -> list[str]:
    """OpenShift's PerformanceProfile: CPU sets and policy, and the rest in the annotation that goes to the kubelet."""
    config = suggestion.config
    reserved = parse(config.reserved_system_cpus)
    rest = {name: value for name, value in suggestion_json(suggestion).items() if name not in _OWN}
    # The operator would add memory of its own to what is not said, and the sum of reservedMemory would be another.
    rest["systemReserved"] = {"memory": "0", **_texts(rest.get("systemReserved"))}
    rest["kubeReserved"] = {"memory": "0", **_texts(rest.get("kubeReserved"))}
    return [
        suggestion_head(machine.name),
        *(
            f"# {name}: {suggestion.reasons[field]}"
            for field, name in FIELD_NAMES.items()
            if field in suggestion.reasons
        ),
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


def _texts(value: object) -> Data:
    return dict(value) if isinstance(value, Mapping) else {}


_FORMS: Final[Mapping[str, Callable[[Suggestion, Machine], list[str]]]] = {
    "kubeletconfig": _kubelet_config,
    "performanceprofile": _performance_profile,
    "kubeadm": _kubeadm,
}
