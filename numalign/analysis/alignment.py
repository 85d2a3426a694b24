"""Is what a container got aligned? A judgement of numalign's own, the same under every policy; it never flatters.

`aligned`: the container has CPUs of its own, these, its devices and its pinned memory lie on as few NUMA nodes as its
widest resource needs on an empty machine, and no device or memory lies on a node where it has no CPU. `spread`: wider
than that, or something is remote. `floating`: its CPUs are shared or not pinned although it holds devices or asks for
whole CPUs as a Guaranteed container; or nobody pins its memory, and its nodes have less than it asks for. `none`: it
asks for nothing that is ever placed. `unknown`: aligned, but for devices of which nobody knows the node. `incomplete`:
it goes without a device it asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from numalign.analysis import Verdict, is_aligned, worst
from numalign.analysis.holding import Holding, holding
from numalign.analysis.placed import Nearby, Part, Placed
from numalign.model.resources import CPU, MEMORY, page_size
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.demand import ContainerDemand
    from numalign.kubelet.node import Node
    from numalign.model.hardware import PCIFunction
    from numalign.model.machine import Machine, NUMANode


class TooLarge(NamedTuple):
    """Memory that nobody pins and that the container's nodes do not have."""

    resource: str
    asked: int
    """Bytes."""
    there: int
    """Bytes that its nodes have, empty."""


class Alignment(NamedTuple):
    """The judgement of one container, and what it rests on."""

    verdict: Verdict
    places: Mapping[str, int]
    """Resource -> mask of the NUMA nodes it lies on; only resources with a place."""
    nodes: int
    """The mask of all nodes it touches; a device on a node without CPUs counts as on the nearest one with CPUs."""
    least: int
    """How few nodes would do on an empty machine; 0: nothing has a place."""
    widest: tuple[str, ...] = ()
    """The resources that need so many."""
    least_with_reserved: bool = False
    """So few nodes have its CPUs only with the reserved ones, which the kubelet counts there."""
    cpus_float: bool = False
    """Its CPUs are shared or not pinned, and it holds or asks for what would need them."""
    only_node: int = 0
    """Where CPUs float: the mask of the machine's only NUMA node, on which they are nevertheless; 0: there are more."""
    too_large: tuple[TooLarge, ...] = ()
    """Memory that is elsewhere, too, since the container's nodes have less than it asks for."""
    remote: tuple[Part, ...] = ()
    """Devices and memory on nodes where the container has no CPU."""
    unknown: tuple[Part, ...] = ()
    """Devices whose node nobody knows; `cpu` where its node has a negative id."""
    missing: tuple[str, ...] = ()
    """Device resources it asked for that the machine does not have."""
    between: Mapping[str, Mapping[str, int]] = MappingProxyType({})
    """Device resource -> id of a device of several nodes -> the mask of these."""
    nearby: tuple[Nearby, ...] = ()
    """Devices on nodes without CPUs that count as where the container's CPUs are, as these are the nearest."""

    @property
    def aligned(self) -> bool | None:
        """True only for the verdict `aligned`; None where there is nothing to align, or it cannot be known."""
        return is_aligned(self.verdict)

    @property
    def floating(self) -> tuple[str, ...]:
        """What does not stay where it should: `cpu`, or resources of memory."""
        return (CPU,) if self.cpus_float else tuple(one.resource for one in self.too_large)

    @property
    def unplaced(self) -> tuple[str, ...]:
        """Resources of which it holds something whose node nobody knows."""
        return tuple(part.resource for part in self.unknown)


def alignment(node: Node, held: Holding, asked: ContainerDemand) -> Alignment:
    """Judge one container of an admitted pod by what it holds and what it asked for."""
    placed = Placed(node, held, dict(asked.memory or ()), _functions(node, held) if held.devices else None)
    floats = not held.cpus and bool(held.devices or asked.cpus)
    # Where nobody knows the nodes of its CPUs, what these have is not known either.
    known = CPU in placed.places and not placed.spread
    too_large = tuple(_too_large(node.machine, held, asked, placed.nodes)) if known else ()
    return Alignment(
        verdict=_verdict(node, held, placed, elsewhere=floats or bool(too_large)),
        places=placed.places,
        nodes=placed.nodes,
        least=placed.least,
        widest=tuple(placed.widest),
        least_with_reserved=_with_reserved(node, held.cpus or 0, placed.least),
        cpus_float=floats,
        only_node=node.numa.full if floats and len(node.machine.numa_nodes) == 1 else 0,
        too_large=too_large,
        remote=tuple(placed.remote),
        unknown=tuple(placed.unknown),
        missing=held.missing,
        between=placed.between,
        nearby=tuple(placed.nearby),
    )


def _verdict(node: Node, held: Holding, placed: Placed, *, elsewhere: bool) -> Verdict:
    """Judge a container by where what it holds lies; `elsewhere`: its CPUs or its memory do not stay there."""
    found: Verdict = "aligned" if held.cpus else "none"
    if elsewhere:
        found = "floating"
    elif held.cpus and placed.spread:
        found = "spread"
    elif placed.unknown and sum(1 for numa in node.machine.numa_nodes if numa.cpus) > 1:
        found = "unknown"
    return worst((found, "incomplete")) if held.missing else found


def _with_reserved(node: Node, cpus: int, least: int) -> bool:
    """Tell whether so few nodes have so many CPUs only if reserved ones are counted, as the kubelet does."""
    there = sorted(((numa.cpus & ~node.cpu.reserved).bit_count() for numa in node.machine.numa_nodes), reverse=True)
    return sum(there[:least]) < cpus.bit_count()


def _functions(node: Node, held: Holding) -> Mapping[str, PCIFunction] | None:
    """Find the PCI devices by name, where a plugin does not tell all nodes of what a container holds."""
    machine = node.machine
    if not (machine.hardware and machine.hardware.pci):
        return None
    if all(one.numa_nodes for each in held.devices for one in node.device.resources[each.resource].devices):
        return None
    return machine.functions()


def _too_large(machine: Machine, held: Holding, asked: ContainerDemand, nodes: int) -> Iterable[TooLarge]:
    """List memory that nobody pins and of which the container's nodes have less than it asks for."""
    pinned = {block.type for block in held.memory}
    there = [numa for numa in machine.numa_nodes if numa.id >= 0 and nodes >> numa.id & 1]
    for resource, amount in asked.memory or ():
        have = sum(_memory_of(numa, resource) for numa in there)
        if resource not in pinned and amount > have:
            yield TooLarge(resource, amount, have)


def _memory_of(numa: NUMANode, resource: str) -> int:
    if resource == MEMORY:
        return numa.memory - sum(numa.hugepages.values())
    return numa.hugepages.get(page_size(resource), 0)


def alignments(outcome: Outcome) -> Iterator[tuple[ContainerDemand, Alignment]]:
    """Judge each container of an admitted pod."""
    node, uid = outcome.before.node, outcome.demand.uid
    for one in outcome.demand.containers:
        yield one, alignment(node, holding(node, outcome.after, uid, one), one)


def verdict_of(outcome: Outcome) -> Verdict:
    """Judge an admitted pod as a whole."""
    return worst(judged.verdict for _, judged in alignments(outcome))


def aligned(outcome: Outcome) -> bool | None:
    """Tell whether an admitted pod is aligned; None: there is nothing to align, or it cannot be known."""
    return is_aligned(verdict_of(outcome))
