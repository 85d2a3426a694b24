"""The Memory Manager as a hint provider: policy `None`, which has no opinion, and the way to what `Static` does.

`None` is the kubelet's default, so the modules of `Static` are imported when it is asked for the first time.
"""

from __future__ import annotations

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.memory.state import STATIC, MemoryManager, MemoryState, initial_state
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


def container_hints(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Say which NUMA nodes would do for a container. Errors as in `hints.container_hints`."""
    if manager.policy != STATIC:
        return {}
    from numalign.kubelet.memory.hints import container_hints

    return container_hints(manager, state, pod, container)


def pod_hints(manager: MemoryManager, state: MemoryState, pod: PodDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for a whole pod. Errors as in `hints.pod_hints`."""
    if manager.policy != STATIC:
        return {}
    from numalign.kubelet.memory.pod_level import pod_hints

    return pod_hints(manager, state, pod)


def allocate(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> MemoryState:
    """Give a container its memory. Errors as in `allocate.allocate`."""
    if manager.policy != STATIC:
        return state
    from numalign.kubelet.memory.allocate import allocate

    return allocate(manager, state, pod, container, hint)


def release(manager: MemoryManager, state: MemoryState, uid: str) -> MemoryState:
    """Give back what all containers of a pod hold."""
    if manager.policy != STATIC:
        return state
    from numalign.kubelet.memory.allocate import remove_pod

    return remove_pod(manager, state, uid)


def allocate_pod(manager: MemoryManager, state: MemoryState, pod: PodDemand, hint: TopologyHint) -> MemoryState:
    """Give a pod as a whole its memory, and each container its part. Errors as in `pod_level.allocate_pod`."""
    if manager.policy != STATIC:
        return state
    from numalign.kubelet.memory.pod_level import allocate_pod

    return allocate_pod(manager, state, pod, hint)


def start_container(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> MemoryState:
    """Let the init containers before a starting container give their memory back."""
    if manager.policy != STATIC:
        return state
    from numalign.kubelet.memory.allocate import start_container

    return start_container(manager, state, pod, container, hint)


MEMORY = HintProvider(
    name="memory",
    start=start,
    empty=initial_state,
    container_hints=container_hints,
    pod_hints=pod_hints,
    allocate=allocate,
    release=release,
    allocate_pod=allocate_pod,
    start_container=start_container,
)
