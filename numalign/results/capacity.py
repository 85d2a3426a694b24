"""The result of asking how many more pods a cluster holds: node by node, now and empty, aligned and not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from numalign.errors import Notice
from numalign.scheduler.fragmentation import Fragmentation, of_cluster
from numalign.values import NamedTuple


class Limit(NamedTuple):
    """Why no further copy comes in."""

    resource: str
    """What is short; empty: everything is there, but not together."""
    numa_nodes: tuple[int, ...]
    """The NUMA nodes on which it is short; empty: on the node as a whole."""
    reason: str
    """The kubelet's."""


class ZoneRoom(NamedTuple):
    """A NUMA node."""

    id: int
    free: Mapping[str, int]
    """Resource of the probe -> what is free, in whole units."""
    total: Mapping[str, int]
    """Resource of the probe -> what pods can have there."""
    copies: int
    """How many copies fit on it alone."""
    most: int
    """How many would fit if it were empty."""


class NodeCapacity(NamedTuple):
    """One node. Counts are of pods."""

    node: str
    now: int | None = None
    """Copies that its kubelet admits one after another; None: nobody knows what the node is made of."""
    aligned: int | None = None
    """How many of them are aligned."""
    empty: int | None = None
    """The same on the empty node."""
    empty_aligned: int | None = None
    nothing: int = 0
    """How many of `now` have nothing to align: they ask for nothing that is ever placed."""
    empty_nothing: int = 0
    blind: int = 0
    """Copies that somebody promises who sees the node as one bag of resources."""
    blind_empty: int = 0
    limit: Limit | None = None
    stranded: Mapping[str, int] = {}
    """What is left free after the last copy, in whole units."""
    fragmentation: Fragmentation | None = None
    zones: tuple[ZoneRoom, ...] = ()
    missing: tuple[str, ...] = ()
    """Devices that are asked for and the node does not have: its kubelet would admit, but nobody sends pods there."""


_COUNTS: Final = slice(1, 9)
"""The fields of a node that are counts."""


class Rounds(NamedTuple):
    """How many whole rounds of a mix a cluster holds."""

    now: int
    empty: int
    blind: int
    blind_empty: int


class ShapeCapacity(NamedTuple):
    """One shape of pods, or one mix."""

    name: str
    nodes: tuple[NodeCapacity, ...]
    rounds: Rounds | None = None
    """Of a mix: how many rounds; counts are of its pods then. None: a single shape."""

    @property
    def whole(self) -> NodeCapacity:
        """All nodes as one: each count is the sum of what is known; None: nothing is."""
        return NodeCapacity._make((self.name, *map(_sum, zip(*(one[_COUNTS] for one in self.nodes), strict=True))))

    @property
    def missing(self) -> tuple[str, ...]:
        """Devices that are asked for and no node has."""
        first, *others = [one.missing for one in self.nodes] or [()]
        return tuple([name for name in first if all(name in other for other in others)])

    @property
    def unknown(self) -> int:
        """Nodes whose hardware is unknown."""
        return sum(one.now is None for one in self.nodes)

    @property
    def too_many(self) -> int:
        """How many copies of `blind` do not fit the nodes whose hardware is known."""
        return sum(one.blind for one in self.nodes if one.now is not None) - (self.whole.now or 0)

    @property
    def fragmentation(self) -> Fragmentation:
        """What the borders between NUMA nodes cost the cluster."""
        return of_cluster([one.fragmentation for one in self.nodes if one.fragmentation])

    @property
    def stranded(self) -> dict[str, int]:
        """What is left free after the last copy."""
        total: dict[str, int] = {}
        for one in self.nodes:
            for name, amount in one.stranded.items():
                total[name] = total.get(name, 0) + amount
        return total


def _sum(counts: Iterable[int | None]) -> int | None:
    """Add up what is known; None: nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class RightSize(NamedTuple):
    """The best shape of which all of so many copies are aligned."""

    shape: str
    """The shape that was sized: the first one."""
    replicas: int
    container: str
    """The container whose requests were changed: the one with the most CPUs."""
    cpus: int | None
    """Its most CPUs; None: not even one CPU each will do."""
    memory: int | None
    """Then its most memory, in bytes."""


class CapacityResult(NamedTuple):
    """All shapes that were asked about."""

    shapes: tuple[ShapeCapacity, ...]
    right_size: RightSize | None
    notices: tuple[Notice, ...]

    @property
    def fits(self) -> bool:
        """Whether a copy of some shape fits, and no shape asks for a device that no node has."""
        return any(shape.whole.now for shape in self.shapes) and not any(shape.missing for shape in self.shapes)
