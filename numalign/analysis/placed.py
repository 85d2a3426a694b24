"""Where what a container holds lies: on which NUMA nodes, how few would do, and what is away from its CPUs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from numalign.analysis.holding import Holding, memory_width, nodes_of_cpus
from numalign.model.cpuset import from_ids, ids, union
from numalign.model.resources import CPU
from numalign.values import NamedTuple

if TYPE_CHECKING:
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


class Placed:
    """Where everything lies that a container holds."""

    def __init__(
        self,
        node: Node,
        held: Holding,
        memory: Mapping[str, int],
        functions: Mapping[str, PCIFunction] | None = None,
    ) -> None:
        """Place it.

        Args:
            node: the node.
            held: what the container holds.
            memory: what it asks for: of an init container's others have taken some over.
            functions: what /sys tells of PCI devices; None: it is not needed, or there is nothing of the kind.
        """
        self.node = node
        self.near: dict[int, int] = {}
        self.functions = functions
        if held.devices:
            self.near = {numa.id: _near(node.machine, numa) for numa in node.machine.numa_nodes if numa.id >= 0}
        # Each as in `Alignment`.
        self.places: dict[str, int] = {}
        self.between: dict[str, dict[str, int]] = {}
        self.nodes = 0
        self.least = 0
        self.widest: list[str] = []
        self.remote: list[Part] = []
        self.unknown: list[Part] = []
        self.nearby: list[Nearby] = []
        self._cpus = 0
        self._place_cpus(held.cpus or 0)
        for block in held.memory:
            size = max(block.size, memory.get(block.type, block.size))
            if size:
                self._take(block.type, block.mask, block.mask, memory_width(node, block.type, size))
                if self._cpus and block.mask & ~self._cpus:
                    self.remote.append(Part(block.type, block.mask & ~self._cpus))
        for each in held.devices:
            self._place_devices(each.resource, each.ids, each.members)

    @property
    def spread(self) -> bool:
        """Tell whether something is where the container has no CPU, or all of it is on more nodes than it needs."""
        return bool(self.remote) or self.nodes.bit_count() > self.least

    def _take(self, resource: str, places: int, nodes: int, width: int) -> None:
        self.places[resource] = self.places.get(resource, 0) | places
        self.nodes |= nodes
        self._need(resource, width)

    def _need(self, resource: str, width: int) -> None:
        """Note how few nodes would do for one resource; the widest ones are those that need most."""
        if width > self.least:
            self.least, self.widest = width, [resource]
        elif width == self.least:
            self.widest.append(resource)

    def _place_cpus(self, cpus: int) -> None:
        """Place the CPUs; on what node some of them are nobody can know whose id is negative."""
        if any(numa.id < 0 and numa.cpus & cpus for numa in self.node.machine.numa_nodes):
            self.unknown.append(Part(CPU, 0))
        elif nodes := nodes_of_cpus(self.node, cpus):
            self._cpus = nodes
            self._take(CPU, nodes, nodes, self.node.cpu.minimal_width(cpus.bit_count()))

    def _place_devices(self, name: str, ids: tuple[str, ...], members: int) -> None:
        resource = self.node.device.resources[name]
        own = [device for position, device in enumerate(resource.devices) if members >> position & 1]
        wide: list[tuple[str, int]] = []
        remote: dict[int, list[str]] = {}
        nearby: dict[int, list[str]] = {}
        unknown: list[str] = []
        for device_id, one in zip(ids, own, strict=True):
            nodes = self._nodes_of(one)
            if not nodes:
                unknown.append(device_id)
                continue
            there = from_ids(nodes)
            near = union(self.near[numa] for numa in nodes)
            if near & (near - 1):
                wide.append((device_id, there))
            else:
                self._take(name, there, near, 0)
            if self._cpus and not there & self._cpus:
                (nearby if near & self._cpus else remote).setdefault(there, []).append(device_id)
        self._place_wide(name, wide)
        if len(unknown) < len(own):
            self._need(name, self._device_width(resource, members.bit_count()))
        self.remote += [Part(name, nodes, tuple(found)) for nodes, found in remote.items()]
        self.nearby += [self._near_by(name, nodes, tuple(found)) for nodes, found in nearby.items()]
        if unknown:
            self.unknown.append(Part(name, 0, tuple(unknown)))

    def _near_by(self, name: str, nodes: int, found: tuple[str, ...]) -> Nearby:
        """Tell by which nodes without CPUs devices count as where the container's CPUs are."""
        bare = [numa for numa, near in self.near.items() if nodes >> numa & 1 and near & self._cpus]
        nearest = union(self.near[numa] for numa in bare)
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
        for device_id, there in devices:
            near = union(mask for numa, mask in self.near.items() if there >> numa & 1)
            if there & (there - 1):
                self.between.setdefault(name, {})[device_id] = there
            chosen = near & (self._cpus or self.nodes) or near
            chosen &= -chosen
            self._take(name, chosen if there & chosen else there & -there, chosen, 0)

    def _device_width(self, resource: Resource, amount: int) -> int:
        """Count how few nodes with CPUs have so many devices of a resource near them."""
        if self.functions is None and all(mask == 1 << numa for numa, mask in self.near.items()):
            return resource.width(amount)
        masks = [union(self.near[numa] for numa in self._nodes_of(one)) for one in resource.devices]
        bits = [1 << place for place in ids(union(masks))]
        if len(bits) > MAX_NODES_COMBINED:
            return resource.width(amount)
        for size in range(1, len(bits) + 1):
            if any(sum(bool(mask & sum(some)) for mask in masks) >= amount for some in combinations(bits, size)):
                return size
        return max(len(bits), 1)


def _near(machine: Machine, numa: NUMANode) -> int:
    """Return the mask of a node itself, or, where it has no CPUs, of the nearest nodes that have some."""
    if numa.cpus:
        return 1 << numa.id
    ids = sorted(one.id for one in machine.numa_nodes)
    others = [one.id for one in machine.numa_nodes if one.cpus and one.id >= 0]
    row = numa.distances
    if row is None or len(row) < len(ids):
        return sum(1 << other for other in others)
    far = {other: row[ids.index(other)] for other in others}
    nearest = min(far.values(), default=0)
    return sum(1 << other for other in others if far[other] == nearest)
