"""The packed algorithm: whole units first, then single CPUs (docs/rules/cpu-manager.md 8.10 to 8.13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from numalign.kubelet.cpu.orders import (
    WorkingSet,
    like_cores,
    node_order,
    packed_cpus,
    socket_order,
    spread_cpus,
    whole_cores,
)
from numalign.kubelet.cpu.topology import CPUTopology
from numalign.kubelet.cpu.uncore import PartialFit, uncore_step
from numalign.kubelet.errors import AllocationError
from numalign.model.cpuset import CPUSet

Step = Callable[[CPUTopology, WorkingSet], WorkingSet]


def take_packed(
    topology: CPUTopology, free: CPUSet, n: int, *, spread: bool = False, uncore: PartialFit | None = None
) -> CPUSet:
    """Take `n` of the `free` CPUs, step by step until satisfied (8.10); nothing for n < 1.

    Raises:
        AllocationError: there are not enough, or the steps ran out before the need was met.
    """
    working = start_working(topology, free, n)
    plain = not spread and not uncore
    units = n >= topology.smallest_node or n >= topology.smallest_socket
    for step in _STEPS[topology.socket_first, units] if plain else _steps(topology, spread=spread, uncore=uncore):
        working = step(topology, working)
        if working.need < 1:
            return working.taken
    raise AllocationError("failed to allocate cpus")


def start_working(topology: CPUTopology, free: CPUSet, n: int) -> WorkingSet:
    """Begin with nothing taken.

    Raises:
        AllocationError: more is needed than is free (8.4, 8.10).
    """
    known = free & topology.cpus
    if n > known.bit_count():
        raise AllocationError(
            f"not enough cpus available to satisfy request: requested={n}, available={free.bit_count()}"
        )
    return WorkingSet(0, known, n)


def _steps(topology: CPUTopology, *, spread: bool, uncore: PartialFit | None) -> tuple[Step, ...]:
    units = (_whole_sockets, _whole_nodes) if topology.socket_first else (_whole_nodes, _whole_sockets)
    caches = (partial(uncore_step, partial_fit=uncore),) if uncore else ()
    rest = (_spread_singles,) if spread else (_whole_cores, _packed_singles)
    return (*units, *caches, *rest)


def _whole_nodes(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    """Claim NUMA nodes that are free as a whole (8.9, 8.11)."""
    free = working.free
    if working.need < topology.smallest_node:
        return working
    return working.claim_fitting([node.cpus for node in node_order(topology, free) if node.cpus & free == node.cpus])


def _whole_sockets(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    """Claim sockets whose free CPUs are as many as a socket has on average (8.9, 8.11)."""
    free, size = working.free, topology.cpus_per_socket
    if working.need < topology.smallest_socket:
        return working
    return working.claim_fitting(
        [socket.cpus for socket in socket_order(topology, free) if (socket.cpus & free).bit_count() == size]
    )


def _whole_cores(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    """Claim cores whose free CPUs are as many as a core has on average (8.9, 8.11)."""
    if working.need < topology.smallest_core:
        return working
    if len(topology.shapes) == 1 and topology.smallest_core == topology.cpus_per_core:
        return like_cores(topology, working)
    return working.claim_fitting(whole_cores(topology, working.free), topology.smallest_core)


def _packed_singles(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    return working.claim_fitting(packed_cpus(topology, working.free))


def _spread_singles(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    return working.claim_fitting(spread_cpus(topology, working.free))


_STEPS: Final[Mapping[tuple[bool, bool], tuple[Step, ...]]] = {
    (True, True): (_whole_sockets, _whole_nodes, _whole_cores, _packed_singles),
    (False, True): (_whole_nodes, _whole_sockets, _whole_cores, _packed_singles),
    (True, False): (_whole_cores, _packed_singles),
    (False, False): (_whole_cores, _packed_singles),
}
"""The steps without options: by whether sockets come first, and whether the need can be as much as one or a node."""
