"""Is what a container got aligned? A judgement of numalign's own, the same under every policy.

A container is *aligned* when everything it holds (exclusive CPUs, devices that have a NUMA node, pinned memory) lies on
as few NUMA nodes as its widest resource needs on an empty machine. For what fits one node that means one node. A
container that holds nothing with a place (shared pool, no devices, no pinned memory) has nothing to align.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from numalign.analysis.holding import Holding, holding

if TYPE_CHECKING:
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.node import Node


class Alignment(NamedTuple):
    """Where a container's resources are."""

    places: Mapping[str, int]
    """Resource -> mask of the NUMA nodes it lies on; only resources with a place."""
    nodes: int
    """The mask of all nodes it touches."""
    least: int
    """How few nodes would do on an empty machine; 0: nothing to align."""
    unplaced: tuple[str, ...] = ()
    """Device resources of which it holds a device without a NUMA node; `cpu` where the node has a negative id."""

    @property
    def aligned(self) -> bool | None:
        """True or False; None when there is nothing to align."""
        return None if not self.places else self.nodes.bit_count() <= self.least


def alignment(node: Node, held: Holding) -> Alignment:
    """Judge one container of an admitted pod by what it holds."""
    places: dict[str, int] = {}
    spanning: list[tuple[str, int]] = []
    unplaced: list[str] = []
    least = 1
    cpus = held.cpus
    if cpus and any(numa.id < 0 and numa.cpus & cpus for numa in node.machine.numa_nodes):
        unplaced.append("cpu")
    elif cpus:
        places["cpu"] = nodes_of_cpus(node, cpus)
        least = max(least, node.cpu.minimal_width(cpus.bit_count()))
    for block in held.memory:
        if block.size:
            places[block.type] = block.mask
            least = max(least, memory_width(node, block.type, block.size))
    for name, _, _, members in held.devices:
        resource = node.device.resources[name]
        mask = sum(1 << numa for numa, on_node in enumerate(resource.on_node) if on_node & members)
        spans = [span for bit, span in resource.spanning if bit & members]
        if mask or spans:
            places[name] = mask
            spanning.extend((name, span) for span in spans)
            least = max(least, resource.width(members.bit_count(), node.device.nodes))
        if members & (resource.no_topology | resource.nowhere):
            unplaced.append(name)
    nodes = 0
    for mask in places.values():
        nodes |= mask
    for name, span in spanning:
        # A device with several nodes is where the rest is, if it can be.
        chosen = span & nodes or span & -span
        places[name] |= chosen & -chosen
        nodes |= chosen & -chosen
    return Alignment(places, nodes, least if places else 0, tuple(unplaced))


def aligned(outcome: Outcome) -> bool | None:
    """Tell whether every container of an admitted pod is aligned; None: no container has anything to align."""
    node, uid = outcome.before.node, outcome.demand.uid
    found = {
        alignment(node, holding(node, outcome.after, uid, container)).aligned for container in outcome.demand.containers
    }
    return False if False in found else True if True in found else None


def nodes_of_cpus(node: Node, cpus: int) -> int:
    """Return the mask of the NUMA nodes that a set of CPUs lies on; nodes with negative ids have no place in a mask."""
    return sum(1 << numa.id for numa in node.machine.numa_nodes if numa.id >= 0 and numa.cpus & cpus)


def memory_width(node: Node, resource: str, size: int) -> int:
    """How few nodes could hold so much of a memory resource on an empty machine."""
    widest = node.memory.widest[node.memory.places[resource]]
    return next((count for count, most in enumerate(widest, start=1) if most >= size), len(widest))
