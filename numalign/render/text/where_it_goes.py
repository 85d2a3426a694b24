"""Why no more may be asked of one resource: what the NUMA node has to which the pod goes, and what others lack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.model.resources import CPU, is_bytes
from numalign.render.text.amounts import amount_text, listed, nodes_text
from numalign.render.text.matrix import mask_of
from numalign.render.text.refusal.nodes import amounts_of, asked_text, beside, held_text, reduced_text

if TYPE_CHECKING:
    from numalign.analysis.matrix import Cell, Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part
    from numalign.results.admit import PodResult


def limit_there(part: Part, found: Refusal, after: PodResult | None) -> list[str]:
    """Say what the node has of the resource that a part is about, and why no other one will do.

    Nothing where that is not what the refusal comes down to: it is about another container or about something that
    takes several nodes, or the node has enough.

    Args:
        part: a request that is cut, or left out.
        found: how the pod is refused with the next larger amount, or with what is asked.
        after: what the pod gets with the part as it is.
    """
    table, keys = found.matrix, list(part.change.amounts)
    if table is None or after is None or found.stage != "merge" or len(keys) != 1:
        return []
    [(name, resource)] = keys
    row = next((row for row in table.rows if row.resource == resource), None)
    nodes = {one.hint.numa_affinity for one in after.containers if one.name == name}
    if table.container not in (None, name) or row is None or any(row.width > 1 for row in table.rows):
        return []
    numa = next(iter(nodes)) if len(nodes) == 1 else None
    if not numa or numa & (numa - 1) or row.unplaced:
        return []
    place = table.nodes.index(numa.bit_length() - 1)
    if _has(row.cells[place]) >= row.requested:
        return []
    others = _others(row, place, table, found)
    return [] if others is None else [_there(row, row.cells[place], table.nodes[place], found), *others]


def _has(cell: Cell) -> int:
    return 0 if cell.group else cell.free + cell.handed


def _there(row: Row, cell: Cell, numa: int, found: Refusal) -> str:
    there = _has(cell)
    say = beside(row, found.around, there)
    by = f", left by {_leavers(row.resource, found)}" if cell.handed > cell.free else ""
    has = say(there) if there else "none free"
    return f"{asked_text(row, found.around, say)}, and node {numa}, where it goes, has {has}{by}"


def _others(row: Row, place: int, table: Matrix, found: Refusal) -> list[str] | None:
    """Say of the other nodes that have enough what they lack; None: they lack nothing that can be counted."""
    left = {one for one, cell in enumerate(row.cells) if one != place and _has(cell) >= row.requested}
    tied = _tied(table, place, left, found)
    if tied:
        return [tied]
    lacking = {other: {one for one in left if _lacks(other, one)} for other in table.rows if other is not row}
    texts = []
    while left:
        other = max(lacking, key=lambda one: len(lacking[one] & left), default=None)
        here = lacking[other] & left if other is not None else set[int]()
        if other is None or not here:
            return None
        every = [one for one in lacking if here <= lacking[one]]
        texts.append(_too_little(every, sorted(here), table, found))
        left -= here
    return texts


def _lacks(row: Row, place: int) -> bool:
    cell = row.cells[place]
    return cell.verdict not in ("enough", "any") and _has(cell) < row.requested


def _too_little(rows: Sequence[Row], places: Sequence[int], table: Matrix, found: Refusal) -> str:
    """Say that nodes have enough of what is asked about, and what they have too little of, all of them: none first."""
    several = len(places) > 1
    lacks = sorted(((any(_has(row.cells[one]) for one in places), row) for row in rows), key=lambda one: one[0])
    what = " and ".join(_lack_text(row, places, table, found, some=some) for some, row in lacks)
    return f"{nodes_text(mask_of(table, places))} {'have' if several else 'has'} enough of it, but {what}"


def _lack_text(row: Row, places: Sequence[int], table: Matrix, found: Refusal, *, some: bool) -> str:
    """Say of one resource that nodes have none of it, or too little; and whether the pod's own containers hold it."""
    mask = mask_of(table, places)
    around = found.around._replace(own=tuple([one for one in found.around.own if one.nodes & mask]))
    free = " free" * any(row.cells[one].total for one in places)
    what = f"too little {row.resource}" if some else f"no {row.resource}{free}"
    asked = f"{amount_text(row.resource, row.requested)} asked{reduced_text(row.resource, around)}"
    return f"{what} ({asked}{'' if some else held_text(row, around, amounts_of(row, around))})"


def _tied(table: Matrix, place: int, others: Iterable[int], found: Refusal) -> str:
    """Say that init containers leave CPUs or devices on the node that have to be used; empty: they do not."""
    for row in table.rows:
        left = row.cells[place].handed
        if not left or is_bytes(row.resource) or any(row.cells[one].verdict in ("enough", "any") for one in others):
            continue
        what = f"CPU{'s' * (left > 1)}" if row.resource == CPU else row.resource
        verb = "are" if left > 1 else "is"
        who = _leavers(row.resource, found)
        return f"{left} {what} that {who} left {verb} there for it, so it cannot go elsewhere"
    return ""


def _leavers(resource: str, found: Refusal) -> str:
    """Name the init containers that leave some of a resource; those of what is in the way may be others."""
    every = found.around.handed
    those = [one.containers for one in every if one.resource == resource] or list({one.containers for one in every})
    return listed(those[0]) if len(those) == 1 and those[0] else "an init container"
