"""What is asked of a resource, by whom, and what the NUMA nodes have of it, read off a row of a decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.loose import Loose
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.own_containers import Own, Sum

When = Literal["now", "then", "ever"]
"""What is free is told as it is now, as it would be then, or not at all."""

MAX_NODES_NAMED = 4
"""How many NUMA nodes are named one by one; of more the best ones are told."""

Reduced = Literal["", "yes", "below"]

Names = tuple[str, ...]
Amounts = tuple[tuple[str, int], ...]
"""(container, amount) pairs."""


class Asked(NamedTuple):
    """What is asked of a resource."""

    resource: str
    amount: int
    parts: Amounts = ()
    """Of a whole pod: what it is the sum of; one part alone: who asks for it."""
    reduced: Reduced = ""
    """Another part of a change cuts it, which may be told below."""


class Too(NamedTuple):
    """Containers that run before or after others, and ask for too much, too."""

    amount: int
    names: Names
    runs: Literal["before", "after", ""]


class Left(NamedTuple):
    """What init containers leave to later ones."""

    names: Names
    amount: int
    nodes: int = 0


class Place(NamedTuple):
    """What one NUMA node has of a resource."""

    node: int
    free: int
    total: int
    left: int = 0
    """What init containers leave there beside what is free."""


class Best(NamedTuple):
    """What the nodes have that have the most."""

    nodes: int
    free: int
    total: int
    left: int
    others: bool
    """Other nodes have some, too."""


class Spread(NamedTuple):
    """What there is of a resource, and where."""

    free: int
    """On the whole machine."""
    total: int
    """What pods could ever get."""
    places: tuple[Place, ...] = ()
    loose: Loose | None = None
    """Of devices of which some lie on no node or on several: where all of them are; then there are no `places`."""
    left: int = 0
    """What init containers leave of it."""

    @property
    def totals(self) -> tuple[tuple[int, int], ...]:
        """Give of each node what pods could ever get there."""
        return tuple([(one.node, one.total) for one in self.places])

    @property
    def best(self) -> Best:
        """Give the nodes that have the most free; none where no node has any."""
        if not any(one.total for one in self.places):
            return Best(0, 0, 0, 0, others=False)
        first = max(self.places, key=lambda one: one.free + one.left)
        alike = [one.node for one in self.places if one[1:] == first[1:]]
        some = any(one.total for one in self.places if one.node not in alike)
        return Best(sum(1 << numa for numa in alike), first.free, first.total, first.left, others=some)

    @property
    def shown(self) -> object:
        """Give what is told of the nodes."""
        return self.loose or (self.places if len(self.places) <= MAX_NODES_NAMED else self.best)


NOTHING: Final = Spread(0, 0)


def what(row: Row, table: Matrix, around: Circumstances) -> tuple[Asked, Spread]:
    """Tell how much is asked of a resource, and what there is; devices on no node or on several apart."""
    split = _split(row, around)
    reduced: Reduced = "yes" if row.resource in around.reduced else ""
    asked = Asked(row.resource, row.requested, split.parts if split else (), reduced)
    total = max(sum(cell.total for cell in row.cells), row.free) if row.loose is None else row.loose.total
    apart = row.loose if row.loose is not None and row.loose.apart else None
    places = () if apart else zip(table.nodes, row.cells, strict=True)
    there = tuple([Place(numa, cell.free, cell.total, cell.handed) for numa, cell in places])
    return asked, Spread(row.free, total, there, apart, sum(one.amount for one in left_to(row, around)))


def _split(row: Row, around: Circumstances) -> Sum | None:
    """Find which containers what is asked is made of."""
    return next((one for one in around.together if told_with(one, row)), None)


def told_with(one: Sum, row: Row) -> bool:
    """Tell whether a row asks for the sum of what the pod's containers ask for."""
    return (one.resource, one.requested) == (row.resource, row.requested)


def too(row: Row, around: Circumstances, limit: int) -> tuple[Too, ...]:
    """List containers that run before or after those that a fact is about, and ask for too much, too."""
    split = _split(row, around)
    if split is None:
        return ()
    rows = [one for one in around.together if one.resource == row.resource]
    lasting = next((one for one in rows if one.lasting), None)
    return tuple(
        Too(
            one.requested,
            tuple([name for name, _ in one.parts]),
            "after" if one.lasting else "before" if split is lasting else "",
        )
        for one in rows
        if one is not split and limit < one.requested
    )


def held_by_own(row: Row, around: Circumstances) -> list[Own]:
    """List the earlier containers of the pod that go on running and hold some of a resource."""
    return [one for one in around.own if one.resource == row.resource and one.kind != "init"]


def own(row: Row, around: Circumstances) -> Left | None:
    """Tell what earlier containers of the pod hold of a resource."""
    held = held_by_own(row, around)
    return Left(tuple([one.container for one in held]), sum(one.amount for one in held)) if held else None


def left_to(row: Row, around: Circumstances) -> Iterator[Left]:
    """List what init containers leave of a resource, nodes by nodes."""
    return (Left(one.containers, one.amount, one.nodes) for one in around.handed if one.resource == row.resource)
