"""Devices of which the NUMA nodes do not tell: those on no node of the machine, and those on several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.node import Node, NodeState


class Loose(NamedTuple):
    """The devices of one resource, each counted once, by where they lie."""

    nowhere: tuple[int, int]
    """(free, all) of those on no node."""
    places: tuple[tuple[int, int, int], ...]
    """(mask of nodes, free, all) of those on nodes; those on several nodes stand apart from the others."""
    placed: int
    """How many free ones lie on a node: only these count where the policy asks for nodes."""
    total: int
    """How many healthy ones there are."""
    told: tuple[int, ...] = ()
    """What the plugin tells of those on no node: ids that are none of this machine's, ascending."""

    @property
    def apart(self) -> bool:
        """Tell whether some lie on no node or on several, so that nodes do not add up."""
        return bool(self.nowhere[1]) or self.several

    @property
    def aware(self) -> bool:
        """Tell whether the plugin names a NUMA node of any of them: else all count (docs/rules/device-manager.md 3)."""
        return bool(self.places or self.told)

    @property
    def misplaced(self) -> bool:
        """Tell whether there are some, and the plugin puts all on nodes that this machine does not have."""
        return bool(self.nowhere[1] and self.told) and not any(total for *_, total in self.places)

    @property
    def all_free(self) -> Loose:
        """Tell where they lie as if all were free."""
        places = tuple([(mask, total, total) for mask, _, total in self.places])
        placed = sum(total for *_, total in places)
        return self._replace(nowhere=(self.nowhere[1],) * 2, places=places, placed=placed)

    @property
    def several(self) -> bool:
        """Tell whether some healthy ones lie on several nodes."""
        return any(total and mask & (mask - 1) for mask, _, total in self.places)


def loose(node: Node, state: NodeState, name: str) -> Loose:
    """Count the devices of a resource by where they lie."""
    resource = node.device.resources[name]
    homeless = resource.no_topology | resource.nowhere
    taken = state.device.allocated.get(name, 0)

    def count(devices: int) -> tuple[int, int]:
        healthy = devices & resource.healthy
        return (healthy & ~taken).bit_count(), healthy.bit_count()

    there: dict[int, int] = {1 << numa: resource.on_node[numa] for numa in range(len(resource.on_node))}
    for bit, span in resource.spanning:
        there[span] = there.get(span, 0) | bit
    places = tuple((mask, *count(devices)) for mask, devices in there.items() if devices)
    placed = (resource.healthy & ~homeless & ~taken).bit_count()
    told = (
        numa for place, one in enumerate(resource.devices) if homeless >> place & 1 for numa in one.numa_nodes or ()
    )
    return Loose(count(homeless), places, placed, resource.healthy.bit_count(), tuple(sorted(set(told))))
