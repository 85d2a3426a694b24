"""The kubelet's settings that decide alignment (docs/rules/kubelet-files.md section 6), as plain values.

Reading a KubeletConfiguration file is `sources.kubelet.configuration`; whether the kubelet would start with it on a
machine is `kubelet.start.check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.values import NamedTuple

Level = Literal["Alpha", "Beta", "Stable"]
"""How far a policy option has got."""


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
