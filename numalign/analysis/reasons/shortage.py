"""There is too little, on the whole machine or where it may be used: the facts.

Memory can be free and of no use: nodes whose memory is held are used only as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Asked, Left, When, left_to, own, too, what
from numalign.analysis.reasons.facts import (
    ChosenElsewhere,
    EnoughInAll,
    Fact,
    Missing,
    NodeRefuses,
    NodeTooSmall,
    NoDistance,
    NoneThere,
    NoNodeChosen,
    Placed,
    TooLittle,
    Unplaced,
)
from numalign.analysis.reasons.memory_facts import (
    ChosenBefore,
    HasToFit,
    LeftCounts,
    LookedAgain,
    MemoryHeld,
    OneNode,
    ShortThere,
    TooMany,
)
from numalign.kubelet.fit.check import Shortage
from numalign.model.resources import is_bytes, is_hugepages, unit_of

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.loose import Loose
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.memory_together import Wider
    from numalign.analysis.refusal import Refusal


def not_survived(refusal: Refusal) -> Iterator[Fact]:
    """Tell what the kubelet falls over."""
    crash = refusal.crash
    if crash is None:
        return
    for one in crash.missing:
        yield Missing(one.resource, one.requested, one.containers, one.nodes, crash.nodes & ~one.nodes)
    if crash.kind == "distances":
        yield NoDistance(crash.nodes)
    elif crash.kind == "no-nodes":
        yield NoNodeChosen()


def node_too_small(refusal: Refusal) -> Iterator[Fact]:
    """The managers would, but the node as a whole has too little, or does not want the pod."""
    for one in refusal.shortages:
        if not isinstance(one, Shortage):
            yield NodeRefuses(one.reason, one.message)
            continue
        name, unit = one.resource, unit_of(one.resource)
        shares = next((each.parts for each in refusal.around.shares if each.resource == name), ())
        parts = tuple([(container, nano // unit) for container, nano in shares])
        asked = Asked(name, one.requested, parts, "yes" if name in refusal.around.reduced else "")
        yield NodeTooSmall(
            asked, one.used, one.capacity, hint=one.requested * (not one.capacity and is_hugepages(name))
        )


def too_little(row: Row, table: Matrix, refusal: Refusal, *, brief: bool = False) -> Iterator[Fact]:
    """Tell that there is not enough on the whole machine, or not where it may be used.

    Args:
        row: what there is too little of.
        table: the decision.
        refusal: what it is about.
        brief: it is told in a change: the rule about devices of no known node stands elsewhere, the time with each.
    """
    around, loose, policy = refusal.around, row.loose, refusal.policy
    asked, had = what(row, table, around)
    besides = too(row, around, had.total) if had.total else ()
    if brief and loose is not None and had.total >= row.requested and no_others_count(row, loose, refusal):
        yield Placed(asked, besides, loose.placed, sum(count for *_, count in loose.places), policy)
    elif not had.total:
        most = max(row.requested, dict(around.need).get(row.resource, row.requested))
        yield NoneThere(asked, most * is_hugepages(row.resource))
    elif around.when == "ever":
        if had.total < row.requested:  # else what the containers ask for together is told by itself
            yield TooLittle(asked, had, "ever", besides)
            if loose is not None and loose.misplaced and refusal.stage == "hints":
                yield from _unplaced(row, loose, policy)
    elif row.free >= row.requested:
        yield EnoughInAll(asked, had, around.when if brief else "now", besides)
        yield from _cannot_be_used(row, refusal)
    else:
        every = had.total >= row.requested or had.total in (row.free, row.free + had.left)
        when: When = around.when if not every or (brief and had.total >= row.requested) else "now"
        leavers = tuple(dict.fromkeys(name for one in left_to(row, around) for name in one.names))
        yield TooLittle(asked, had, when, besides, leavers, own=own(row, around) if not had.left else None)
        if loose is not None and refusal.stage == "hints" and not brief:
            yield from _unplaced(row, loose, policy)


def _cannot_be_used(row: Row, refusal: Refusal) -> Iterator[Fact]:
    """Tell why what is free does not count; memory that is held has facts of its own."""
    if row.loose is not None and no_others_count(row, row.loose, refusal):
        yield from _unplaced(row, row.loose, refusal.policy)
    elif not refusal.around.groups:
        chosen = refusal.around.chosen if refusal.stage == "allocation" else None
        yield ChosenElsewhere(row.resource, chosen)


def no_others_count(row: Row, loose: Loose, refusal: Refusal) -> bool:
    """Tell whether devices of no known node do not count."""
    return bool(loose.nowhere[1] and loose.aware) and (
        refusal.stage == "hints" if row.free < row.requested else loose.placed < row.requested
    )


def _unplaced(row: Row, loose: Loose, policy: str) -> Iterator[Fact]:
    """Tell that free devices of no known node do not count, where there are any."""
    free, every = loose.nowhere
    if loose.aware and (free or loose.misplaced):
        placed, total = loose.placed, loose.total - every
        yield Unplaced(row.resource, policy, free, loose.told, placed=placed, total=total, misplaced=loose.misplaced)


def memory_apart(refusal: Refusal) -> Iterator[Fact]:
    """Tell which nodes' memory may be used together, and what that leaves."""
    around, table = refusal.around, refusal.matrix
    if table is None or not told_by_groups(refusal):
        return
    rows = [row for row in refusal.culprits if is_bytes(row.resource)]
    masks = (*(one.nodes for one in around.groups), *around.joined)
    one_node = refusal.policy == "single-numa-node" and not any(mask & (mask - 1) for mask in masks)
    left = ((one, row) for row in rows for one in left_to(row, around))
    tied = any(row.width == 1 and short_with_left(one, row) is not None for one, row in left)
    if tied and not one_node:
        return  # what init containers leave ties it to their node
    sets = [(mask, tuple([_sum(row, table, mask) for row in rows])) for mask in around.joined]
    sets.sort(key=lambda one: (-one[1][0], one[0]))
    asked, had = zip(*(what(row, table, around) for row in rows), strict=True)
    if one_node:
        yield OneNode(refusal.policy)
    else:
        yield MemoryHeld(around.groups)
        yield HasToFit(asked, had, tuple(sets))
    fits = [mask for mask, free in sets if all(free[place] >= row.requested for place, row in enumerate(rows))]
    if fits:
        yield from _unused(fits, len(fits) == len(sets), around)


def told_by_groups(refusal: Refusal) -> bool:
    """Tell whether enough memory is free, but of nodes that are bound by who holds some."""
    rows = [row for row in refusal.culprits if is_bytes(row.resource)]
    return bool(refusal.around.groups) and any(row.free >= row.requested for row in rows)


def short_with_left(one: Left, row: Row) -> int | None:
    """Return what is free of memory on the node of what init containers leave, where both together do not do."""
    if not is_bytes(row.resource) or one.nodes & (one.nodes - 1):
        return None
    free = next((cell.free for cell in row.cells if cell.handed == one.amount), None)
    return None if free is None or free + one.amount >= row.requested else free


def _unused(fits: list[int], every: bool, around: Circumstances) -> Iterator[Fact]:
    """Tell why nodes that have enough memory are not used; `every`: all that are named have."""
    if around.wider is not None:
        yield _too_many(around.wider)
    elif around.chosen is not None and around.chosen not in fits:
        yield ChosenBefore(() if every and len(fits) > 1 else tuple(fits), around.chosen)


def _too_many(wider: Wider) -> TooMany:
    return TooMany(wider.container, wider.found, wider.width)


def second_look(wider: Wider) -> Iterator[Fact]:
    """Tell why a container does not get its memory although nodes were chosen for it."""
    for one in wider.short:
        yield ShortThere(wider.container, wider.chosen, one.resource, one.requested, free=one.free, own=one.own)
    if any(one.own for one in wider.short):
        yield LeftCounts()
    yield LookedAgain(wider.chosen)
    yield _too_many(wider)


def _sum(row: Row, table: Matrix, mask: int) -> int:
    return sum(cell.free for numa, cell in zip(table.nodes, row.cells, strict=True) if mask >> numa & 1)
