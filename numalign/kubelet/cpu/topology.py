"""The CPU topology as the CPU Manager sees it: units, what lies in what, counters and averages.

Built once a machine; every unit carries its CPUs as one precomputed set, so that free counts are an `&` and a
`bit_count`. docs/rules/cpu-manager.md 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_

from numalign.errors import StartError
from numalign.model.cpuset import CPUSet, ids
from numalign.model.machine import Machine, Unit
from numalign.values import NamedTuple


class CoreShape(NamedTuple):
    """All cores whose threads lie at the same distances from their first CPU.

    A regular machine has one shape, (0, 64) say. Shapes let the free CPUs of all cores be counted at once.
    """

    offsets: tuple[int, ...]
    """Distance of each thread from the core's id, ascending, 0 first."""
    ids: int
    """Ids of the cores of this shape."""


class CPUTopology(NamedTuple):
    """Units by kind, ascending by id; only units with CPUs (docs/rules/cpu-manager.md 1.3, 1.4)."""

    cpus: CPUSet
    nodes: tuple[Unit, ...]
    sockets: tuple[Unit, ...]
    uncores: tuple[Unit, ...]
    cores: Mapping[int, int]
    """Core id (its lowest CPU) -> its CPUs."""
    shapes: tuple[CoreShape, ...]
    smallest_core: int
    """CPUs of the core that has fewest."""
    smallest_node: int
    smallest_socket: int
    nodes_of_socket: Mapping[int, tuple[Unit, ...]]
    """Socket id -> the NUMA nodes that have CPUs in it; the units are whole, not cut to the socket."""
    sockets_of_node: Mapping[int, tuple[Unit, ...]]
    uncores_of_node: Mapping[int, tuple[Unit, ...]]
    num_cpus: int
    cpus_per_core: int
    """Averages, rounded down (1.5): not facts about single units."""
    cpus_per_socket: int
    cpus_per_uncore: int
    socket_first: bool
    """Fewer sockets than NUMA nodes; otherwise the machine is NUMA-first (8.5)."""


NO_TOPOLOGY = CPUTopology(
    cpus=0,
    nodes=(),
    sockets=(),
    uncores=(),
    cores={},
    shapes=(),
    smallest_core=0,
    smallest_node=0,
    smallest_socket=0,
    nodes_of_socket={},
    sockets_of_node={},
    uncores_of_node={},
    num_cpus=0,
    cpus_per_core=0,
    cpus_per_socket=0,
    cpus_per_uncore=0,
    socket_first=False,
)
"""Stands in where the policy is `none`, which never looks."""


def build(machine: Machine) -> CPUTopology:
    """Build the topology of a machine.

    A CPU in no core of the machine is a core of its own; a core in no socket has its node's id as socket id.

    Raises:
        StartError: the machine has no CPU (1.6).
    """
    if not machine.cpus:
        raise StartError("could not detect number of cpus")
    nodes = tuple([(node.id, node.cpus) for node in machine.numa_nodes])
    return _build(machine.cpus, (nodes, machine.cores, machine.sockets, machine.uncore_caches))


@lru_cache(maxsize=16)  # a machine is started anew under many settings: `explain`, `compare`, `config suggest`
def _build(cpus: CPUSet, told: _Told) -> CPUTopology:
    cores, nodes, sockets, uncores = _cpus_by_unit(told)
    num_cpus = cpus.bit_count()
    node_units, socket_units, uncore_units = _units(nodes), _units(sockets), _units(uncores)
    return CPUTopology(
        cpus=cpus,
        nodes=node_units,
        sockets=socket_units,
        uncores=uncore_units,
        cores=cores,
        shapes=_shapes(cores),
        smallest_core=min(map(int.bit_count, cores.values())),
        smallest_node=min(node.cpus.bit_count() for node in node_units),
        smallest_socket=min(socket.cpus.bit_count() for socket in socket_units),
        nodes_of_socket=_children(socket_units, node_units),
        sockets_of_node=_children(node_units, socket_units),
        uncores_of_node=_children(node_units, uncore_units),
        num_cpus=num_cpus,
        cpus_per_core=num_cpus // len(cores),
        cpus_per_socket=num_cpus // len(sockets),
        cpus_per_uncore=num_cpus // len(uncores),
        socket_first=len(sockets) < len(nodes),
    )


_Told = tuple[tuple[tuple[int, CPUSet], ...], tuple[CPUSet, ...], tuple[Unit, ...], tuple[Unit, ...]]
"""NUMA nodes with their CPUs, cores, sockets and uncore caches, as the machine tells them."""


def _cpus_by_unit(told: _Told) -> tuple[dict[int, int], dict[int, int], dict[int, int], dict[int, int]]:
    """Gather the CPUs of each core, NUMA node, socket and uncore cache."""
    numa_nodes, core_sets, sockets_told, uncores_told = told
    cores: dict[int, int] = {}
    sockets: dict[int, int] = defaultdict(int)
    uncores: dict[int, int] = defaultdict(int)
    entries = list(_core_entries(numa_nodes, core_sets))
    core_ids = reduce(or_, [core & -core for _, core in entries])
    socket_of, uncore_of = _unit_of(sockets_told, core_ids), _unit_of(uncores_told, core_ids)
    for node, core in entries:
        core_id = (core & -core).bit_length() - 1
        socket = socket_of.get(core_id, node)
        cores[core_id] = core
        sockets[socket] |= core
        if uncore_of:
            uncores[uncore_of.get(core_id, socket)] |= core
    nodes = {node: cpus for node, cpus in numa_nodes if cpus}
    return cores, nodes, sockets, uncores or sockets  # where no cache is known, a socket stands for one


def _core_entries(numa_nodes: Iterable[tuple[int, CPUSet]], cores: Iterable[CPUSet]) -> Iterable[tuple[int, int]]:
    """Yield (node id, CPUs) for each core of each node; a core that spans two nodes is an entry in both (1.2)."""
    for node, rest in numa_nodes:
        for core in cores:
            threads = core & rest
            if threads:
                yield node, threads
                rest ^= threads
                if not rest:
                    break
        while rest:
            low = rest & -rest
            yield node, low
            rest ^= low


def _unit_of(units: Sequence[Unit], cpus: CPUSet) -> dict[int, int]:
    """Map each of some CPUs to the id of its unit; where units overlap the first one counts."""
    return {cpu: unit.id for unit in reversed(units) for cpu in ids(unit.cpus & cpus)}


def _units(cpus_by_id: Mapping[int, int]) -> tuple[Unit, ...]:
    return tuple([Unit(unit_id, cpus) for unit_id, cpus in sorted(cpus_by_id.items())])


def _children(parents: Iterable[Unit], units: Iterable[Unit]) -> dict[int, tuple[Unit, ...]]:
    return {parent.id: tuple([unit for unit in units if unit.cpus & parent.cpus]) for parent in parents}


def _shapes(cores: Mapping[int, int]) -> tuple[CoreShape, ...]:
    by_shape: dict[int, int] = defaultdict(int)
    for core_id, cpus in cores.items():
        by_shape[cpus >> core_id] |= 1 << core_id
    return tuple([CoreShape(tuple(ids(shape)), core_ids) for shape, core_ids in by_shape.items()])
