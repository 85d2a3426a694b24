"""Enough is free, but not in the way that the policy wants, on too many nodes, or never on the same ones: the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Asked, Left, Names, held_by_own, left_to, own, too, what
from numalign.analysis.reasons.facts import Fact
from numalign.analysis.reasons.width_facts import (
    Could,
    FitOne,
    FitsOn,
    FitsToo,
    Holders,
    NeverMeet,
    NotThere,
    OnTheSame,
    TakeTogether,
    TiedBy,
    TooWide,
)
from numalign.model.cpuset import union
from numalign.model.resources import CPU, is_bytes

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal

MAX_SETS_TRIED = 200
"""Of up to how many sets of nodes it is told which ones hold a resource."""


def too_wide(row: Row, table: Matrix, policy: str, around: Circumstances) -> TooWide:
    """One resource cannot be had in the way the policy wants."""
    single = policy == "single-numa-node"
    totals = [cell.total for cell in row.cells]
    most = max(totals) if single else sum(sorted(totals, reverse=True)[: row.width])
    short = most < row.requested
    found = TooWide(*what(row, table, around), policy, row.width, when=around.when)
    if single and short:
        nodes = table.mask(place for place, total in enumerate(totals) if total == most)
        return found._replace(limit=most, nodes=nodes, short=True, too=too(row, around, most))
    after = tuple(dict.fromkeys(one.container for one in held_by_own(row, around)))
    found = found._replace(after=after, must=_must_use(row, around))
    if short:
        counted = tuple([(numa, cell.barred) for numa, cell in zip(table.nodes, row.cells, strict=True) if cell.barred])
        return found._replace(limit=most, short=True, counted=counted)
    return found if single else found._replace(bound=_used_together(row, around))


def _used_together(row: Row, around: Circumstances) -> tuple[tuple[int, Names], ...]:
    """List nodes with enough memory that cannot be used alone, as memory of them is held together with other nodes'."""
    enough = {cell.group for cell in row.cells if cell.free >= row.requested and row.width == 1}
    return tuple((one.nodes, one.own if not one.pods else ()) for one in around.groups if one.nodes in enough)


def _must_use(row: Row, around: Circumstances) -> Left | None:
    """Tell which nodes init containers tie a resource to."""
    return None if is_bytes(row.resource) else next((one for one in left_to(row, around) if one.nodes), None)


def differ_in_width(rows: Sequence[Row], table: Matrix, policy: str, around: Circumstances) -> Iterator[Fact]:
    """Resources that need different numbers of nodes never go together under `restricted`."""
    joint = around.joint
    joined = [row for row in rows if joint is not None and row.resource in joint.resources]
    for row in rows:
        if row not in joined:
            most = max(cell.total for cell in row.cells)
            yield FitsOn(*what(row, table, around), row.width, most, around.sockets * (row.resource == CPU))
    if joint is not None:
        yield from _take_together(joined, table, joint.width, around)
    yield OnTheSame(policy)


def as_few_nodes(refusal: Refusal, *, changed: bool = False) -> Iterator[Fact]:
    """Name what else fits one node, where that is what something in the way does: to mend one alone does not help.

    Args:
        refusal: the refusal.
        changed: a change is told, so that what it asks for less of is known.
    """
    table = refusal.matrix
    if table is None or refusal.around.joint is not None or all(row.width > 1 for row in refusal.culprits):
        return
    named = {row.resource for row in (*refusal.culprits, *refusal.also)}
    for row in table.rows:
        reduced = row.resource in refusal.around.reduced
        if row.width == 1 and row.resource not in named and (changed or not reduced):
            yield FitsToo(Asked(row.resource, row.requested, reduced="yes" if reduced else ""))


def on_fewer_nodes(row: Row, refusal: Refusal) -> Iterator[Fact]:
    """Name what fits one node beside the one thing in the way, which takes several: mended, it is in the way, too."""
    fitting = [other.resource for other in (refusal.matrix.rows if refusal.matrix else ()) if other.width == 1]
    if refusal.policy == "restricted" and refusal.around.joint is None and row.width > 1 and fitting:
        yield FitOne(tuple(fitting), row.resource, row.width, refusal.policy)


def _take_together(rows: Sequence[Row], table: Matrix, width: int, around: Circumstances) -> Iterator[Fact]:
    """Tell why memory resources, which come from the same nodes, take more nodes together than each alone."""
    fewer, places = width - 1, range(len(table.nodes))
    if comb(len(places), fewer) <= MAX_SETS_TRIED:
        for row in rows:
            sets = (some for some in combinations(places, fewer))
            hold = tuple(
                [table.mask(some) for some in sets if sum(row.cells[one].total for one in some) >= row.requested]
            )
            yield Holders(*what(row, table, around), fewer, hold, table.mask(places))
    yield TakeTogether(tuple([row.resource for row in rows]), width)


def never_meet(rows: Sequence[Row], table: Matrix, around: Circumstances) -> Iterator[Fact]:
    """Each resource could be had, but not where the others are."""
    numa = _left_by_init(rows, table, around)
    if numa is not None:
        yield TiedBy(*what(rows[0], table, around), next(left_to(rows[0], around), None), numa)
        for row in rows[1:]:
            yield NotThere(*what(row, table, around), numa, own(row, around))
        return
    anywhere = [row for row in rows if all(cell.verdict == "enough" for cell in row.cells)]
    if len(rows) - len(anywhere) > 1:
        rows = [row for row in rows if row not in anywhere]
    for row in rows:
        alone = [place for place, cell in enumerate(row.cells) if cell.verdict == "enough"]
        nodes = table.mask(alone) if len(alone) < len(row.cells) else None
        yield Could(*what(row, table, around), nodes, _must_use(row, around))
    yield NeverMeet()


def _left_by_init(rows: Sequence[Row], table: Matrix, around: Circumstances) -> int | None:
    """Give the one node to which an init container's CPUs tie a container that needs one node, and has too little."""
    left = union(one.nodes for one in around.own if one.resource == CPU and one.kind == "init")
    if rows[0].resource != CPU or left.bit_count() != 1 or any(row.width > 1 for row in rows):
        return None
    numa = left.bit_length() - 1
    place = table.nodes.index(numa)
    return None if any(row.cells[place].verdict in ("enough", "any") for row in rows[1:]) else numa


def tied_to(refusal: Refusal) -> int | None:
    """Give that node where it is what a refusal is about."""
    if refusal.matrix is None or not refusal.culprits or refusal.stage != "merge":
        return None
    return _left_by_init(refusal.culprits, refusal.matrix, refusal.around)
