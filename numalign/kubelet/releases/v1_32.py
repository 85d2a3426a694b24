"""Kubelet 1.32, the release from which the others are told: every part is the one that `docs/rules/` describes.

docs/rules/kubelet-versions.md 1 and 2 say what later releases changed, docs/rules/topology-manager.md 13 what earlier
ones did otherwise.
"""

from __future__ import annotations

from numalign.kubelet.config import levels_at
from numalign.kubelet.cpu.allocate import allocate_until_1_36
from numalign.kubelet.cpu.provider import CPU
from numalign.kubelet.cpu.provider import start_until_1_33 as start_cpu_until_1_33
from numalign.kubelet.device.provider import DEVICE
from numalign.kubelet.device.provider import start_until_1_35 as start_devices_until_1_35
from numalign.kubelet.memory.allocate import allocate_until_1_36 as allocate_memory_until_1_36
from numalign.kubelet.memory.provider import MEMORY
from numalign.kubelet.pod_level import as_containers, complete_in_1_32, names_cpu_or_memory
from numalign.kubelet.reading import RESIZING, PodReading, always, behind, of_app_status, of_spec, without_sidecar_ports
from numalign.kubelet.releases.release import OPTIONS, Gate, Kubelet, MergeRules
from numalign.kubelet.resized import by_spec
from numalign.kubelet.topology import scopes
from numalign.kubelet.topology.merge.lists import combine
from numalign.kubelet.topology.options import POLICIES, not_enabled_until_1_32
from numalign.kubelet.topology.policy import merge, single_numa_filter

V1_32 = Kubelet(
    version=(1, 32),
    device=DEVICE._replace(start=start_devices_until_1_35),
    cpu=CPU._replace(start=start_cpu_until_1_33, allocate=allocate_until_1_36),
    memory=MEMORY._replace(allocate=allocate_memory_until_1_36),
    merging=MergeRules(merge=merge, combine=combine, single_filter=single_numa_filter, ranked=True),
    scopes={"container": scopes.admit_each_container, "pod": scopes.admit_as_one},
    policies=POLICIES,
    options=levels_at(OPTIONS.values(), (1, 32)),
    gates={
        "CPUManager": Gate(default=True, stage="GA", locked=True),
        "CPUManagerPolicyAlphaOptions": Gate(default=False, stage="alpha"),
        "CPUManagerPolicyBetaOptions": Gate(default=True, stage="beta"),
        "CPUManagerPolicyOptions": Gate(default=True, stage="beta"),
        "DynamicResourceAllocation": Gate(default=False, stage="beta"),
        "InPlacePodVerticalScaling": Gate(default=False, stage="alpha"),
        "InPlacePodVerticalScalingExclusiveCPUs": Gate(default=False, stage="alpha"),
        "MemoryManager": Gate(default=True, stage="GA", locked=True),
        "PodLevelResources": Gate(default=False, stage="alpha"),
        "ResourceHealthStatus": Gate(default=False, stage="alpha"),
        "SidecarContainers": Gate(default=True, stage="beta"),
        "TopologyManagerPolicyAlphaOptions": Gate(default=False, stage="alpha"),
        "TopologyManagerPolicyBetaOptions": Gate(default=True, stage="beta"),
        "TopologyManagerPolicyOptions": Gate(default=True, stage="GA"),
    },
    settings=frozenset(
        {
            "topologyManagerScope",
            "memoryManagerPolicy",
            "reservedMemory",
            "topologyManagerPolicyOptions",
            "cpuManagerPolicyOptions",
        }
    ),
    reading=PodReading(
        see=without_sidecar_ports,
        requests=behind((RESIZING,), always(of_app_status), always(of_spec)),
        complete=always(complete_in_1_32),
        decides=always(lambda _level: True),
        counted=always(by_spec),
        is_pod_level=names_cpu_or_memory,
        serve=always(as_containers),
        claimed=always(False),
    ),
    refusal=("TopologyAffinityError", "Resources cannot be allocated with Topology locality"),
    option_not_enabled=not_enabled_until_1_32,
    fail_cgroup_v1=False,
)
