"""What Volcano and Koordinator publish of a node: every CPU with its core, socket and NUMA node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.model.machine import Machine, NUMANode, Unit
from numalign.values import NamedTuple


class CPURead(NamedTuple):
    """One CPU."""

    cpu: int
    core: int
    socket: int
    numa: int


class CPUTopologyRead(NamedTuple):
    """The CPUs of a node, its settings and who holds what, as far as an object says (docs/rules/podresources.md 10)."""

    name: str
    cpus: tuple[CPURead, ...]
    settings: Mapping[str, object]
    """Fields of KubeletConfiguration under its own names."""
    taken: int = 0
    """CPUs that pods hold exclusively, as a set."""
    left_out: tuple[str, ...] = ()
    """What could not be read, or is not said; a sentence each."""


def machine_of(read: CPUTopologyRead) -> Machine:
    """Make the machine: exact for CPUs, without memory and distances.

    A core is the pair of its socket and its number, since numbers repeat on every socket (31).
    """
    nodes: dict[int, int] = {}
    sockets: dict[int, int] = {}
    cores: dict[tuple[int, int], int] = {}
    for cpu, core, socket, numa in read.cpus:
        bit = 1 << cpu
        nodes[numa] = nodes.get(numa, 0) | bit
        sockets[socket] = sockets.get(socket, 0) | bit
        cores[socket, core] = cores.get((socket, core), 0) | bit
    return Machine(
        read.name,
        tuple(NUMANode(number, cpus) for number, cpus in sorted(nodes.items())),
        tuple(Unit(number, cpus) for number, cpus in sorted(sockets.items())),
        tuple(_in_order(cores.values())),
    )


def _in_order(sets: Iterable[int]) -> list[int]:
    return sorted(sets, key=lambda cpus: cpus & -cpus)
