"""Why no more may be asked of one resource: what the NUMA node has to which the pod goes, and what others lack."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import NOTHING, Names, own, what
from numalign.analysis.reasons.change_facts import EnoughBut, Goes, HasThere, HasToStay, Lack, Reasonable
from numalign.model.resources import is_bytes

if TYPE_CHECKING:
    from numalign.analysis.matrix import Cell, Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part


def limit_there(part: Part, found: Refusal, after: Sequence[Goes]) -> Iterator[Reasonable]:
    """Tell what the node has of the resource that a part is about, and why no other one will do.

    Nothing where that is not what the refusal comes down to: it is about another container or about something that
    takes several nodes, or the node has enough.

    Args:
        part: a request that is cut, or left out.
        found: how the pod is refused with the next larger amount, or with what is asked.
        after: where the pod goes with the part as it is.
    """
    table, keys = found.matrix, list(part.change.amounts)
    if table is None or found.stage != "merge" or len(keys) != 1:
        return
    [(name, resource)] = keys
    row = next((row for row in table.rows if row.resource == resource), None)
    nodes = {one.chosen for one in after if one.name == name}
    if table.container not in (None, name) or row is None or any(row.width > 1 for row in table.rows):
        return
    numa = next(iter(nodes)) if len(nodes) == 1 else None
    if not numa or numa & (numa - 1) or row.unplaced:
        return
    place = table.nodes.index(numa.bit_length() - 1)
    cell = row.cells[place]
    if _has(cell) >= row.requested:
        return
    others = _others(row, place, table, found)
    if others is None:
        return
    left_by = _leavers(resource, found) if cell.handed > cell.free else None
    yield HasThere(what(row, table, found.around)[0], table.nodes[place], _has(cell), left_by)
    yield from others


def _has(cell: Cell) -> int:
    return 0 if cell.group else cell.free + cell.handed


def _others(row: Row, place: int, table: Matrix, found: Refusal) -> list[Reasonable] | None:
    """Tell of the other nodes that have enough what they lack; None: they lack nothing that can be counted."""
    left = {one for one, cell in enumerate(row.cells) if one != place and _has(cell) >= row.requested}
    tied = _tied(table, place, left, found)
    if tied is not None:
        return [tied]
    lacking = {other: {one for one in left if _lacks(other, one)} for other in table.rows}
    told: list[Reasonable] = []
    while left:
        here = max((those & left for those in lacking.values()), key=len)
        if not here:
            return None
        lacks = [_lack(one, here, table, found) for one in lacking if here <= lacking[one]]
        lacks.sort(key=lambda one: one.some)  # none first
        told.append(EnoughBut(table.mask(here), tuple(lacks)))
        left -= here
    return told


def _lacks(row: Row, place: int) -> bool:
    cell = row.cells[place]
    return cell.verdict not in ("enough", "any") and _has(cell) < row.requested


def _lack(row: Row, places: Collection[int], table: Matrix, found: Refusal) -> Lack:
    """Tell of one resource that nodes have none of it, or too little; and whether the pod's own containers hold it."""
    mask, cells = table.mask(places), [row.cells[one] for one in places]
    around = found.around._replace(own=tuple([one for one in found.around.own if one.nodes & mask]))
    some = any(map(_has, cells))
    ever, hold = any(cell.total for cell in cells), None if some else own(row, around)
    asked, had = what(row, table, around)
    if hold is None:  # that is told beside what there is
        asked, had = asked._replace(parts=()), NOTHING
    return Lack(asked, had, some=some, ever=ever, own=hold)


def _tied(table: Matrix, place: int, others: Iterable[int], found: Refusal) -> HasToStay | None:
    """Tell that init containers leave CPUs or devices on the node that have to be used; None: they do not."""
    for row in table.rows:
        left = row.cells[place].handed
        if (
            left
            and not is_bytes(row.resource)
            and not any(row.cells[one].verdict in ("enough", "any") for one in others)
        ):
            return HasToStay(row.resource, left, _leavers(row.resource, found))
    return None


def _leavers(resource: str, found: Refusal) -> Names:
    """Name the init containers that leave some of a resource; those of what is in the way may be others."""
    every = found.around.handed
    those = [one.containers for one in every if one.resource == resource] or list({one.containers for one in every})
    return those.pop() if len(those) == 1 else ()
