"""What a container holds, read once from a node's state: exclusive CPUs, devices with their NUMA nodes, memory.

Everybody above the kubelet looks at holdings through these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.kubelet import device
from numalign.model.cpuset import node_mask
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.demand import ContainerDemand
    from numalign.kubelet.device.state import Resource
    from numalign.kubelet.memory.state import Block
    from numalign.kubelet.node import Node, NodeState
    from numalign.model.cpuset import CPUSet, NUMAMask


class HeldDevices(NamedTuple):
    """The devices of one resource that a container holds."""

    resource: str
    ids: tuple[str, ...]
    """In natural order: `gpu-2` before `gpu-10`."""
    per_numa: Mapping[int, int]
    """NUMA node id -> how many of them; a device with several nodes counts on each, one without under -1."""
    members: int
    """The same devices as a set of the resource's (see `kubelet.device.Resource`)."""


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
        asked = [name for name, amount in container.devices if amount]
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
    widest = node.memory.widest[node.memory.places[resource]]
    return next((count for count, most in enumerate(widest, start=1) if most >= size), len(widest))
