"""The Memory Manager as a hint provider.

What a node asks for once, or for few pods, is imported then: how policy `Static` starts, and pods as a whole.
"""

from __future__ import annotations

from numalign.kubelet.demand import PodDemand
from numalign.kubelet.memory import hints
from numalign.kubelet.memory.allocate import allocate, remove_pod, start_container
from numalign.kubelet.memory.hints import container_hints, sets_tried
from numalign.kubelet.memory.state import MemoryManager, MemoryState, initial_state
from numalign.kubelet.topology.hints import ProviderAnswer, TopologyHint
from numalign.kubelet.topology.provider import HintProvider, StartInput


def start(given: StartInput) -> MemoryManager:
    """Start the manager (row 9 of docs/rules/kubelet-files.md 56).

    Raises:
        StartError: the kubelet would not start.
    """
    policy = given.config.memory_manager_policy
    if policy == "None":
        return MemoryManager("None")
    from numalign.kubelet.memory.start import start

    return start(given.machine, policy, given.reserved_memory, given.reservation)


def start_until_1_31(given: StartInput) -> MemoryManager:
    """Do the same; a restart fails where memory moved inside a group of NUMA nodes (kubernetes/kubernetes 113130)."""
    return start(given)._replace(by_node=True)


def pod_hints(manager: MemoryManager, state: MemoryState, pod: PodDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for a whole pod, with pod-level resources or without."""
    if not pod.as_a_whole:
        return hints.pod_hints(manager, state, pod)
    from numalign.kubelet.memory.pod_level import pod_hints

    return pod_hints(manager, state, pod)


def allocate_pod(manager: MemoryManager, state: MemoryState, pod: PodDemand, hint: TopologyHint) -> MemoryState:
    """Give a pod as a whole its memory, and each container its part. Errors as in `pod_level.allocate_pod`."""
    from numalign.kubelet.memory.pod_level import allocate_pod

    return allocate_pod(manager, state, pod, hint)


MEMORY = HintProvider(
    name="memory",
    start=start,
    empty=initial_state,
    container_hints=container_hints,
    pod_hints=pod_hints,
    sets_tried=sets_tried,
    allocate=allocate,
    release=remove_pod,
    allocate_pod=allocate_pod,
    start_container=start_container,
)
