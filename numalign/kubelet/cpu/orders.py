"""The working set of one `take`, and the orders in which units and CPUs are looked at.

docs/rules/cpu-manager.md 8.2 to 8.9. Every order is a snapshot: it depends on the free CPUs handed in, not on what is
claimed while it is gone through. Orders of cores and CPUs are lazy, since few of their elements are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from numalign.kubelet.cpu.topology import CPUTopology
from numalign.model.cpuset import CPUSet, ids
from numalign.model.machine import Unit
from numalign.values import NamedTuple


class WorkingSet(NamedTuple):
    """What was taken so far, what is still free, how many CPUs are still needed (8.2)."""

    taken: CPUSet
    free: CPUSet
    need: int

    def claim(self, cpus: CPUSet) -> WorkingSet:
        """Take a set; `need` drops by its full size, whatever of it was free (8.3)."""
        return WorkingSet(self.taken | cpus, self.free & ~cpus, self.need - cpus.bit_count())

    def claim_fitting(self, units: Iterable[int], smallest: int = 1) -> WorkingSet:
        """Claim each of a fixed list of units that the need still covers, and pass over the others (8.11).

        `smallest` is a lower bound on the units' sizes: nothing further fits once the need is below it.
        """
        taken, free, need = self
        for cpus in units:
            size = cpus.bit_count()
            if need >= size:
                taken |= cpus
                need -= size
                if need < smallest:
                    break
        return WorkingSet(taken, free & ~taken, need)


def by_free(units: Iterable[Unit], free: CPUSet, inside: CPUSet = -1) -> list[Unit]:
    """Sort units by (free CPUs, id), leaving out those without a free CPU `inside` their parent (8.4).

    What counts is how much is free in the whole unit, not in the part inside the parent (8.6).
    """
    found = [unit for unit in units if free & unit.cpus & inside]
    return sorted(found, key=lambda unit: ((free & unit.cpus).bit_count(), unit))


def node_order(topology: CPUTopology, free: CPUSet) -> list[Unit]:
    """List NUMA nodes: one with free CPUs in two sockets is listed twice on a socket-first machine (8.6)."""
    if not topology.socket_first:
        return by_free(topology.nodes, free)
    return [
        node
        for socket in by_free(topology.sockets, free)
        for node in by_free(topology.nodes_of_socket[socket.id], free, socket.cpus)
    ]


def socket_order(topology: CPUTopology, free: CPUSet) -> list[Unit]:
    """List sockets: one with free CPUs in two NUMA nodes is listed twice on a NUMA-first machine (8.6)."""
    if topology.socket_first:
        return by_free(topology.sockets, free)
    order: list[Unit] = []
    for node in by_free(topology.nodes, free):
        sockets = topology.sockets_of_node[node.id]
        order += sockets if len(sockets) == 1 else by_free(sockets, free, node.cpus)
    return order


def uncore_order(topology: CPUTopology, free: CPUSet) -> list[Unit]:
    """List uncore units, node by node (8.6)."""
    return [
        uncore
        for node in node_order(topology, free)
        for uncore in by_free(topology.uncores_of_node[node.id], free, node.cpus)
    ]


def cores_by_free(topology: CPUTopology, free: CPUSet) -> list[int]:
    """Count the free CPUs of all cores at once: element k holds the ids of the cores with exactly k.

    "Its cores by (free, id)" (docs/rules/cpu-manager.md 8.6) and whole cores (8.9) are read off it. Example: cores 0
    to 3 have CPUs 0 and 4, 1 and 5, 2 and 6, 3 and 7; CPUs 1, 2, 4 and 6 are free. Core 3 has none, cores 0 and 1 have
    one, core 2 has both: `[0b1000, 0b0011, 0b0100]`.
    """
    result: list[int] = []
    for offsets, core_ids in topology.shapes:
        counts = [core_ids]
        for offset in offsets:
            thread_free = free >> offset
            below = 0
            counts.append(0)
            for k, members in enumerate(counts):
                counts[k] = members & ~thread_free | below & thread_free
                below = members
        for k, members in enumerate(counts):
            if k < len(result):
                result[k] |= members
            else:
                result.append(members)
    return result


def core_parents(topology: CPUTopology, free: CPUSet) -> list[Unit]:
    """List the units that are gone through for cores: sockets, on a socket-first machine NUMA nodes (8.6)."""
    return node_order(topology, free) if topology.socket_first else socket_order(topology, free)


def whole_cores(topology: CPUTopology, free: CPUSet) -> Iterator[CPUSet]:
    """Yield the CPUs of the whole cores in core order; whole is what has the *average* size free (8.9)."""
    by_count = cores_by_free(topology, free)
    whole = by_count[topology.cpus_per_core]
    cores = topology.cores
    for parent in core_parents(topology, free):
        for core_id in ids(whole & parent.cpus):
            yield cores[core_id]


def like_cores(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    """Claim the `whole_cores` that the need covers, where all cores have one shape: those of a parent at once."""
    taken, free, need = working
    ((offsets, whole),) = topology.shapes
    for offset in offsets:
        whole &= free >> offset
    count = need // len(offsets)
    for parent in core_parents(topology, free):
        chosen = _lowest(whole & parent.cpus, count)
        count -= chosen.bit_count()
        need -= chosen.bit_count() * len(offsets)
        for offset in offsets:
            taken |= chosen << offset
        if not count:
            break
    return WorkingSet(taken, free & ~taken, need)


def _lowest(members: int, count: int) -> int:
    """Return the `count` lowest members of a set, or all if there are fewer."""
    if members.bit_count() <= count:
        return members
    rest = members
    while count:
        rest &= rest - 1
        count -= 1
    return members ^ rest


def packed_cpus(topology: CPUTopology, free: CPUSet) -> Iterator[CPUSet]:
    """Yield the free CPUs core by core, each as a set of one (8.7)."""
    by_count = cores_by_free(topology, free)
    cores = topology.cores
    for parent in core_parents(topology, free):
        for members in by_count[1:]:
            for core_id in ids(members & parent.cpus):
                yield from _singles(cores[core_id] & free)


def spread_cpus(topology: CPUTopology, free: CPUSet) -> Iterator[CPUSet]:
    """Yield the free CPUs socket by socket by ascending id, each as a set of one (8.7)."""
    return chain.from_iterable(_singles(socket.cpus & free) for socket in socket_order(topology, free))


def _singles(members: int) -> Iterator[int]:
    while members:
        low = members & -members
        yield low
        members ^= low
