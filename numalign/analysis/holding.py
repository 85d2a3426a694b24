"""What a container holds, read once from a node's state: exclusive CPUs, devices with their NUMA nodes, memory.

And what a pod's init containers hand on, which only the containers after them may take over. Everybody above the
kubelet looks at holdings through these values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.kubelet import device
from numalign.kubelet.topology.hints import fewest
from numalign.model.cpuset import CPUSet, NUMAMask, from_ids, node_mask
from numalign.model.resources import CPU
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.demand import ContainerDemand, PodDemand
    from numalign.kubelet.device.state import Resource
    from numalign.kubelet.memory.state import Block
    from numalign.kubelet.node import Node, NodeState


class HeldDevices(NamedTuple):
    """The devices of one resource that a container holds."""

    resource: str
    ids: tuple[str, ...]
    """In natural order: `gpu-2` before `gpu-10`."""
    per_numa: Mapping[int, int]
    """NUMA node id -> how many of them; a device with several nodes counts on each, one without under -1."""
    members: int
    """The same devices as a set of the resource's (see `kubelet.device.state.Resource`)."""


class Holding(NamedTuple):
    """What one container holds."""

    cpus: int | None
    """Its exclusive CPUs as a set; None: it runs in the shared pool."""
    devices: tuple[HeldDevices, ...]
    """Sorted by resource name."""
    memory: tuple[Block, ...]
    """Pinned memory and huge pages, sorted by resource; empty: nothing is pinned."""
    missing: tuple[str, ...] = ()
    """Devices it asks for that the node has no plugin of, and no count in its status either: it runs without them."""


def holding(node: Node, state: NodeState, uid: str, container: ContainerDemand) -> Holding:
    """Read what a container of a pod holds."""
    devices: tuple[HeldDevices, ...] = ()
    missing: tuple[str, ...] = ()
    of_device, of_cpu, of_memory = state.states
    held = of_device.holdings[uid].get(container.name, {}) if uid in of_device.holdings else {}
    if held or container.devices:
        plugins, by_hand = node.device.resources, node.machine.node.extended_resources
        devices = tuple([_held(plugins[name], name, held[name]) for name in sorted(held)])
        asked = [name for name, amount in container.devices if amount and name not in container.claimed]
        missing = tuple([name for name in asked if name not in plugins and name not in by_hand])
    memory = of_memory.blocks(uid, container.name) or ()
    return Holding(of_cpu.assigned(uid, container.name), devices, memory, missing)


def _held(resource: Resource, name: str, members: int) -> HeldDevices:
    return HeldDevices(name, tuple(device.device_ids(resource, members)), device.per_numa(resource, members), members)


def nodes_of_cpus(node: Node, cpus: CPUSet) -> NUMAMask:
    """Return the mask of the NUMA nodes that a set of CPUs lies on; nodes with negative ids have no place in a mask."""
    return sum(node_mask(numa.id) for numa in node.machine.numa_nodes if numa.cpus & cpus)


def cpus_of_nodes(node: Node, nodes: NUMAMask) -> CPUSet:
    """Return the CPUs of the NUMA nodes of a mask."""
    return sum(numa.cpus for numa in node.machine.numa_nodes if node_mask(numa.id) & nodes)


def memory_width(node: Node, resource: str, size: int) -> int:
    """How few nodes could hold so much of a memory resource on an empty machine."""
    return fewest(node.memory.widest[node.memory.places[resource]], size)


class Handed(NamedTuple):
    """What is handed on of one resource; it is not free, and yet the pod's next container may have it."""

    resource: str
    containers: tuple[str, ...]
    """The init containers that held it, in order."""
    amount: int
    """CPUs, devices or bytes."""
    nodes: int
    """The mask of the NUMA nodes it lies on; memory can be taken over on exactly these only."""
    per_numa: Mapping[int, int]
    """NUMA node id -> how much of it lies there; memory only where it lies on one node."""


def handed_on(node: Node, state: NodeState, pod: PodDemand) -> Iterator[Handed]:
    """List what the next container of a pod may take over (docs/rules/cpu-manager.md 9, device-manager.md 6)."""
    inits = [one.name for one in pod.containers if one.kind == "init"]
    if not inits:
        return
    cpus = state.cpu.reusable(pod.uid)
    if cpus:
        held = tuple(name for name in inits if (state.cpu.assigned(pod.uid, name) or 0) & cpus)
        each = {numa.id: (numa.cpus & cpus).bit_count() for numa in node.machine.numa_nodes}
        yield Handed(CPU, held, cpus.bit_count(), nodes_of_cpus(node, cpus), each)
    devices = state.device.reusable if state.device.reusable_of == pod.uid else {}
    holdings = state.device.holdings.get(pod.uid, {})
    for name, members in devices.items():
        if members:
            held = tuple(one for one in inits if holdings.get(one, {}).get(name, 0) & members)
            there = device.per_numa(node.device.resources[name], members)
            nodes = from_ids(numa for numa in there if numa >= 0)
            yield Handed(name, held, members.bit_count(), nodes, there)
    for (mask, name), amount in state.memory.reusable_of(pod.uid).items():
        if amount:
            each = {} if mask & (mask - 1) else {mask.bit_length() - 1: amount}
            yield Handed(name, tuple(_holders(state, pod.uid, inits, mask, name)), amount, mask, each)


def _holders(state: NodeState, uid: str, inits: list[str], mask: int, name: str) -> Iterator[str]:
    for one in inits:
        if any((block.mask, block.type) == (mask, name) for block in state.memory.blocks(uid, one) or ()):
            yield one
