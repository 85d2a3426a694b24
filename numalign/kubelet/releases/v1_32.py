"""Kubelet 1.32, the release from which the others are told: every part is the one that `docs/rules/` describes.

docs/rules/kubelet-versions.md 1 and 2 say what later releases changed, docs/rules/topology-manager.md 13 what earlier
ones did otherwise.
"""

from __future__ import annotations

from numalign.kubelet import demand
from numalign.kubelet.cpu.options import LEVELS as CPU_LEVELS
from numalign.kubelet.cpu.provider import CPU
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.device.provider import DEVICE
from numalign.kubelet.memory.provider import MEMORY
from numalign.kubelet.releases.release import Gate, Kubelet, MergeRules, Option
from numalign.kubelet.topology import scope_container, scope_pod
from numalign.kubelet.topology.merge.combination import combine
from numalign.kubelet.topology.options import LEVELS as TOPOLOGY_LEVELS
from numalign.kubelet.topology.options import POLICIES
from numalign.kubelet.topology.policy import merge, single_numa_filter
from numalign.model.pod import Pod


def read_pod(pod: Pod) -> tuple[Pod, PodDemand]:
    """Read a pod as it is."""
    return pod, demand.read(pod)


V1_32 = Kubelet(
    version=(1, 32),
    device=DEVICE,
    cpu=CPU,
    memory=MEMORY,
    merging=MergeRules(merge=merge, combine=combine, single_filter=single_numa_filter, ranked=True),
    scopes={"container": scope_container.admit, "pod": scope_pod.admit},
    policies=POLICIES,
    options={
        **{name: Option("topology", level) for name, level in TOPOLOGY_LEVELS.items()},
        **{name: Option("cpu", level) for name, level in CPU_LEVELS.items()},
    },
    gates={
        "CPUManagerPolicyAlphaOptions": Gate(default=False, stage="alpha"),
        "CPUManagerPolicyBetaOptions": Gate(default=True, stage="beta"),
        "CPUManagerPolicyOptions": Gate(default=True, stage="beta"),
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
    read_pod=read_pod,
    refusal=("TopologyAffinityError", "Resources cannot be allocated with Topology locality"),
)
