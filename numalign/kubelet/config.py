"""The kubelet's settings that decide alignment (docs/rules/kubelet-files.md section 6), as plain values.

Reading a KubeletConfiguration file is `sources.kubelet.configuration`; whether the kubelet would start with it on a
machine is `kubelet.start.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from numalign.model.machine import Machine
from numalign.values import NamedTuple

Level = Literal["Alpha", "Beta", "Stable"]
"""How far a policy option has got."""

Manager = Literal["cpu", "topology"]
"""A manager that has policy options."""


class Option(NamedTuple):
    """All that there is to know of a policy option but its rule; the rows stand in the managers' `options.py`."""

    name: str
    manager: Manager
    levels: Mapping[tuple[int, int], Level]
    """Release -> the level that it has from then on."""
    on: str = ""
    """What turning it on does to a pod that was refused without it."""
    off: str = ""
    number: bool = False
    """Its value is a number; else it is on or off."""
    appeared: tuple[str, str] | None = None
    """What was before it, and what it brought; None: no more is to be said than its level."""
    unfit: str = ""
    """Why a kubelet may not start with it on some machine, or beside some setting."""
    suggested: Callable[[Machine], tuple[str, str] | None] = lambda _machine: None
    """Machine -> the value that suits it, and why; None: the default will do."""


def levels_at(rows: Iterable[Option], version: tuple[int, int]) -> dict[str, Level]:
    """Return the options that a release has, with their levels."""
    found = {row.name: [level for since, level in row.levels.items() if since <= version] for row in rows}
    return {name: levels[-1] for name, levels in found.items() if levels}


class MemoryReservation(NamedTuple):
    """One element of `reservedMemory`."""

    numa_node: int
    limits: Mapping[str, str]
    """Resource (`memory`, `hugepages-…`) -> quantity text as written."""


class KubeletConfig(NamedTuple):
    """Fields of KubeletConfiguration under their own names, in Python spelling; texts as written in the file."""

    topology_manager_policy: str = "none"
    topology_manager_scope: str = "container"
    topology_manager_policy_options: Mapping[str, str] | None = None
    cpu_manager_policy: str = "none"
    cpu_manager_policy_options: Mapping[str, str] | None = None
    reserved_system_cpus: str = ""
    memory_manager_policy: str = "None"
    reserved_memory: tuple[MemoryReservation, ...] = ()
    kube_reserved: Mapping[str, str] = {}
    system_reserved: Mapping[str, str] = {}
    eviction_hard: Mapping[str, str] | None = None
    """None: not given, so the defaults hold. An empty mapping reserves nothing."""
    feature_gates: Mapping[str, bool] = {}
    max_pods: int = 110
    pods_per_core: int = 0
    system_reserved_cgroup: str = ""
    kube_reserved_cgroup: str = ""
    local_storage_capacity_isolation: bool = True
    merge_default_eviction_settings: bool = False
    """Whether `eviction_hard` keeps the default thresholds that it lacks; kubelets before 1.33 do not know it."""
    fail_cgroup_v1: bool | None = None
    """Whether a host with cgroup v1 is refused; None: as the release does by default."""


FIELD_NAMES: Mapping[str, str] = {
    "topology_manager_policy": "topologyManagerPolicy",
    "topology_manager_scope": "topologyManagerScope",
    "topology_manager_policy_options": "topologyManagerPolicyOptions",
    "cpu_manager_policy": "cpuManagerPolicy",
    "cpu_manager_policy_options": "cpuManagerPolicyOptions",
    "reserved_system_cpus": "reservedSystemCPUs",
    "kube_reserved": "kubeReserved",
    "system_reserved": "systemReserved",
    "eviction_hard": "evictionHard",
    "memory_manager_policy": "memoryManagerPolicy",
    "reserved_memory": "reservedMemory",
    "feature_gates": "featureGates",
    "max_pods": "maxPods",
    "pods_per_core": "podsPerCore",
    "system_reserved_cgroup": "systemReservedCgroup",
    "kube_reserved_cgroup": "kubeReservedCgroup",
    "local_storage_capacity_isolation": "localStorageCapacityIsolation",
    "merge_default_eviction_settings": "mergeDefaultEvictionSettings",
    "fail_cgroup_v1": "failCgroupV1",
}
"""Field here -> field of KubeletConfiguration."""

IDEAL = KubeletConfig(cpu_manager_policy="static", eviction_hard={})
"""The node of the Topology Manager's announcement: CPUs can be exclusive, nothing is reserved. Used where neither a
KubeletConfiguration nor a machine file says how the kubelet is set up; `start.check(…, ideal=True)` goes with it."""
