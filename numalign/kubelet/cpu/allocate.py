"""Allocation of exclusive CPUs for one container (docs/rules/cpu-manager.md 7), and what may be odd about it."""

from __future__ import annotations

from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState, assign, keep
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import CPUSet, NUMAMask

SMT_ALIGNMENT_ERROR = "SMTAlignmentError"


def allocate(
    manager: CPUManager, state: CPUState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> CPUState:
    """Give a container its exclusive CPUs and return the next state.

    The removal of stale state that comes first (7.1) is the caller's `collect`. A failure changes nothing.
    Who has CPUs already keeps them, before any check (docs/rules/kubelet-1.37.md 3.1).

    Args:
        manager: the static facts.
        state: the state before.
        pod: the pod.
        container: the container, one of the pod's.
        hint: the Topology Manager's decision; only its mask counts.

    Raises:
        AllocationError: with reason `SMTAlignmentError` where `full-pcpus-only` refuses (7.3).
        KubeletHangError: the kubelet would search for ever (8.31).
    """
    # 7.2
    if not container.cpus or not manager.static:
        return state
    # 7.4: the size of what is there is not compared
    held = state.assigned(pod.uid, container.name)
    if held is not None:
        return keep(state, pod.uid, container, held)
    # 7.3
    if manager.options.full_pcpus_only:
        check_full_cores(manager, state, container.cpus)
    # 7.5, 7.6
    free = state.default & ~manager.reserved | state.reusable(pod.uid)
    return assign(state, pod.uid, container, choose(manager, free, container.cpus, hint.numa_affinity))


def allocate_until_1_36(
    manager: CPUManager, state: CPUState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> CPUState:
    """Do the same, but check whole cores before the look at an existing assignment. Errors as in `allocate`."""
    if manager.options.full_pcpus_only:
        check_full_cores(manager, state, container.cpus)
    return allocate(manager, state, pod, container, hint)


def check_full_cores(manager: CPUManager, state: CPUState, request: int) -> None:
    """Refuse what would share a core, or more than there is in cores without a reserved CPU (7.3)."""
    per_core = manager.topology.cpus_per_core
    if request % per_core:
        raise AllocationError(
            f"SMT Alignment Error: requested {request} cpus not multiple cpus per core = {per_core}",
            SMT_ALIGNMENT_ERROR,
        )
    available = (state.default & ~manager.physically_reserved).bit_count()
    if request > available:
        raise AllocationError(
            "SMT Alignment Error: not enough free physical CPUs: "
            f"available physical CPUs = {available}, requested CPUs = {request}, CPUs per core = {per_core}",
            SMT_ALIGNMENT_ERROR,
        )


def choose(manager: CPUManager, free: CPUSet, request: int, numa_affinity: NUMAMask | None) -> CPUSet:
    """Take from the aligned CPUs first, the rest from anywhere: the mask is a preference, not a limit (7.5)."""
    chosen = 0
    if numa_affinity is not None:
        aligned = free & _aligned(manager, numa_affinity)
        chosen = manager.take(aligned, min(aligned.bit_count(), request))
    rest = request - chosen.bit_count()
    return chosen | manager.take(free & ~chosen, rest) if rest else chosen


def _aligned(manager: CPUManager, numa_affinity: NUMAMask) -> CPUSet:
    """All CPUs of the nodes of a mask; with `align-by-socket` of all sockets that these nodes touch (7.5 step 2)."""
    cpus = 0
    for node in manager.topology.nodes:
        if numa_affinity >> node.id & 1:
            cpus |= node.cpus
    if manager.options.align_by_socket:
        for socket in manager.topology.sockets:
            if socket.cpus & cpus:
                cpus |= socket.cpus
    return cpus


TOO_FEW = "cpu-too-few"
"""The container holds fewer CPUs than it asked for, and the kubelet does not notice (8.3)."""
NOT_FREE = "cpu-handed-out-twice"
"""The container holds CPUs that were not free: reserved ones, or another container's (8.11)."""
POOL_EMPTY = "cpu-shared-pool-empty"
"""No CPU is left for containers without exclusive ones; the kubelet would not start again (4.6, 4.8)."""


def oddities(
    manager: CPUManager, before: CPUState, after: CPUState, pod: PodDemand, container: ContainerDemand
) -> tuple[str, ...]:
    """Name what is odd about a successful allocation, as stable codes; () as a rule."""
    cpus = after.assigned(pod.uid, container.name)
    if cpus is None or before.assigned(pod.uid, container.name) is not None:
        return ()
    codes = []
    if cpus.bit_count() < container.cpus:
        codes.append(TOO_FEW)
    if cpus & ~(before.default & ~manager.reserved | before.reusable(pod.uid)):
        codes.append(NOT_FREE)
    if not after.default:
        codes.append(POOL_EMPTY)
    return tuple(codes)
