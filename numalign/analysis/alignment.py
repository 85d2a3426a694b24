"""Is what a container got aligned? A judgement of numalign's own, the same under every policy; it never flatters.

`aligned`: the container has CPUs of its own, these, its devices and its pinned memory lie on as few NUMA nodes as its
widest resource needs on an empty machine, and no device or memory lies on a node where it has no CPU. `spread`: wider
than that, or something is remote. `floating`: its CPUs are shared or not pinned although it holds devices or asks for
whole CPUs as a Guaranteed container; or nobody pins its memory, and its nodes have less than it asks for. `none`: it
asks for nothing that is ever placed. `unknown`: aligned, but for devices of which nobody knows the node. `incomplete`:
it goes without a device it asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import combinations
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING

from numalign.analysis import Verdict, is_aligned, worst
from numalign.analysis.holding import Holding, holding
from numalign.model.resources import CPU, MEMORY, page_size
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.demand import ContainerDemand
    from numalign.kubelet.device.state import Resource
    from numalign.kubelet.node import Node
    from numalign.model.hardware import PCIFunction
    from numalign.model.machine import Device, Machine, NUMANode

MAX_NODES_COMBINED = 8
"""How many NUMA nodes may have a resource near them for all sets of those nodes to be tried."""


class Part(NamedTuple):
    """Some of what a container holds of one resource."""

    resource: str
    nodes: int
    """The mask of the NUMA nodes it lies on; 0: nobody knows."""
    ids: tuple[str, ...] = ()
    """Ids of devices; empty: CPUs or memory."""


class Nearby(NamedTuple):
    """Devices that count as where the container's CPUs are, though their nodes with CPUs, if any, are others."""

    resource: str
    nodes: int
    """The mask of the NUMA nodes they lie on."""
    ids: tuple[str, ...]
    without_cpus: int
    """The mask of those of these nodes that have no CPUs."""
    nearest: int
    """The mask of the nodes with CPUs that are nearest to those without."""


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
    between: Mapping[str, int] = MappingProxyType({})
    """Device resource -> mask of the nodes between which some of its devices lie."""
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
    placed = _Placed(node, held, dict(asked.memory or ()))
    found = Alignment("none", placed.places, placed.nodes, placed.least, missing=held.missing, unknown=placed.unknown)
    found = found._replace(between=placed.between) if placed.between else found
    found = found._replace(nearby=placed.nearby) if placed.nearby else found
    found = found._replace(least_with_reserved=_with_reserved(node, held.cpus or 0, placed.least))
    if held.missing:
        found = found._replace(verdict="incomplete")
    if not (held.cpus or held.devices or asked.cpus):
        return found
    if not held.cpus:
        only = sum(1 << numa.id for numa in node.machine.numa_nodes if numa.id >= 0 and len(node.numa.nodes) == 1)
        return found._replace(verdict=worst((found.verdict, "floating")), cpus_float=True, only_node=only)
    spread = bool(placed.remote) or placed.nodes.bit_count() > placed.least
    too_large = () if spread else tuple(_too_large(node.machine, held, asked, placed.nodes))
    verdict: Verdict = "aligned"
    if spread or too_large:
        verdict = "spread" if spread else "floating"
    elif placed.unknown and sum(1 for numa in node.machine.numa_nodes if numa.cpus) > 1:
        verdict = "unknown"
    return found._replace(verdict=worst((found.verdict, verdict)), too_large=too_large, remote=placed.remote)


class _Placed:
    """Where everything lies that a container holds."""

    def __init__(self, node: Node, held: Holding, memory: Mapping[str, int]) -> None:
        """Place it; `memory` is what the container asks for: of an init container's others have taken some over."""
        self.node = node
        self.near: dict[int, int] = {}
        self.functions: Mapping[str, PCIFunction] | None = None
        """What /sys tells of PCI devices; None: it is not needed, or there is nothing of the kind."""
        if held.devices:
            self.functions = _functions(node, held)
            self.near = {numa.id: _near(node.machine, numa) for numa in node.machine.numa_nodes if numa.id >= 0}
        self.places: dict[str, int] = {}
        self.between: dict[str, int] = {}
        self.nodes = 0
        self.least = 0
        self.nearby: tuple[Nearby, ...] = ()
        self._remote: list[Part] = []
        self._unknown: list[Part] = []
        self._cpus = self._place_cpus(held.cpus or 0)
        for block in held.memory:
            size = max(block.size, memory.get(block.type, 0))
            if size:
                self._take(block.type, block.mask, block.mask, memory_width(node, block.type, size))
                if self._cpus and block.mask & ~self._cpus:
                    self._remote.append(Part(block.type, block.mask & ~self._cpus))
        for name, ids, _, members in held.devices:
            self._place_devices(name, ids, members)

    @property
    def remote(self) -> tuple[Part, ...]:
        return tuple(self._remote)

    @property
    def unknown(self) -> tuple[Part, ...]:
        return tuple(self._unknown)

    def _take(self, resource: str, places: int, nodes: int, width: int) -> None:
        self.places[resource] = self.places.get(resource, 0) | places
        self.nodes |= nodes
        self.least = max(self.least, width)

    def _place_cpus(self, cpus: int) -> int:
        """Place the CPUs; returns their nodes, 0 where there are none or nobody can know."""
        if any(numa.id < 0 and numa.cpus & cpus for numa in self.node.machine.numa_nodes):
            self._unknown.append(Part(CPU, 0))
            return 0
        nodes = nodes_of_cpus(self.node, cpus)
        if nodes:
            self._take(CPU, nodes, nodes, self.node.cpu.minimal_width(cpus.bit_count()))
        return nodes

    def _place_devices(self, name: str, ids: tuple[str, ...], members: int) -> None:
        resource = self.node.device.resources[name]
        own = [device for position, device in enumerate(resource.devices) if members >> position & 1]
        wide: list[tuple[str, int]] = []
        remote: dict[int, list[str]] = {}
        nearby: dict[int, list[str]] = {}
        unknown: list[str] = []
        for device_id, device in zip(ids, own, strict=True):
            nodes = self._nodes_of(device)
            if not nodes:
                unknown.append(device_id)
                continue
            there = reduce(or_, (1 << numa for numa in nodes))
            near = reduce(or_, (self.near[numa] for numa in nodes))
            if near & (near - 1):
                wide.append((device_id, there))
            else:
                self._take(name, there, near, 0)
            if self._cpus and not there & self._cpus:
                (nearby if near & self._cpus else remote).setdefault(there, []).append(device_id)
        self._place_wide(name, wide)
        if len(unknown) < len(own):
            self.least = max(self.least, self._device_width(resource, members.bit_count()))
        self._remote += [Part(name, nodes, tuple(found)) for nodes, found in remote.items()]
        self.nearby += tuple(self._near_by(name, nodes, tuple(found)) for nodes, found in nearby.items())
        if unknown:
            self._unknown.append(Part(name, 0, tuple(unknown)))

    def _near_by(self, name: str, nodes: int, found: tuple[str, ...]) -> Nearby:
        """Tell by which nodes without CPUs devices count as where the container's CPUs are."""
        bare = [numa for numa, near in self.near.items() if nodes >> numa & 1 and near & self._cpus]
        nearest = reduce(or_, (self.near[numa] for numa in bare))
        return Nearby(name, nodes, found, sum(1 << numa for numa in bare), nearest)

    def _nodes_of(self, device: Device) -> list[int]:
        """List the nodes of a device: as its plugin tells, else as /sys does; a kubelet never learns the latter."""
        told = [numa for numa in dict.fromkeys(device.numa_nodes or ()) if numa in self.near]
        if told or self.functions is None:
            return told
        function = self.functions.get(device.id)
        return [function.numa_node] if function and function.numa_node in self.near else []

    def _place_wide(self, name: str, devices: Iterable[tuple[str, int]]) -> None:
        """Place devices that are near several nodes: each is where the rest is, if it can be."""
        for _, there in devices:
            near = reduce(or_, (mask for numa, mask in self.near.items() if there >> numa & 1))
            if there & (there - 1):
                self.between[name] = self.between.get(name, 0) | there
            chosen = near & (self._cpus or self.nodes) or near
            chosen &= -chosen
            self._take(name, chosen if there & chosen else there & -there, chosen, 0)

    def _device_width(self, resource: Resource, amount: int) -> int:
        """Count how few nodes with CPUs have so many devices of a resource near them."""
        if self.functions is None and all(mask == 1 << numa for numa, mask in self.near.items()):
            return resource.width(amount)
        masks = [reduce(or_, (self.near[numa] for numa in self._nodes_of(one)), 0) for one in resource.devices]
        masks = [mask for mask in masks if mask]
        bits = [1 << place for place in range(reduce(or_, masks, 0).bit_length()) if reduce(or_, masks) >> place & 1]
        if len(bits) > MAX_NODES_COMBINED:
            return resource.width(amount)
        for size in range(1, len(bits) + 1):
            if any(sum(bool(mask & sum(some)) for mask in masks) >= amount for some in combinations(bits, size)):
                return size
        return max(len(bits), 1)


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
    from numalign.analysis.closeness import functions

    return functions(machine)


def _near(machine: Machine, numa: NUMANode) -> int:
    """Return the mask of a node itself, or, where it has no CPUs, of the nearest nodes that have some."""
    if numa.cpus:
        return 1 << numa.id
    ids = sorted(one.id for one in machine.numa_nodes)
    others = [one.id for one in machine.numa_nodes if one.cpus and one.id >= 0]
    row = numa.distances
    if row is None or len(row) < len(ids):
        return sum(1 << other for other in others)
    nearest = min((row[ids.index(other)] for other in others), default=0)
    return sum(1 << other for other in others if row[ids.index(other)] == nearest)


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


def verdict_of(outcome: Outcome) -> Verdict:
    """Judge an admitted pod as a whole."""
    node, uid = outcome.before.node, outcome.demand.uid
    return worst(
        alignment(node, holding(node, outcome.after, uid, container), container).verdict
        for container in outcome.demand.containers
    )


def aligned(outcome: Outcome) -> bool | None:
    """Tell whether an admitted pod is aligned; None: there is nothing to align, or it cannot be known."""
    return is_aligned(verdict_of(outcome))


def nodes_of_cpus(node: Node, cpus: int) -> int:
    """Return the mask of the NUMA nodes that a set of CPUs lies on; nodes with negative ids have no place in a mask."""
    return sum(1 << numa.id for numa in node.machine.numa_nodes if numa.id >= 0 and numa.cpus & cpus)


def memory_width(node: Node, resource: str, size: int) -> int:
    """How few nodes could hold so much of a memory resource on an empty machine."""
    widest = node.memory.widest[node.memory.places[resource]]
    return next((count for count, most in enumerate(widest, start=1) if most >= size), len(widest))
