"""What pods to move away hold of what is in the way, and where: the facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import what
from numalign.analysis.reasons.change_facts import (
    AskedOf,
    Goes,
    LeftOf,
    PodHolds,
    PodsHold,
    Reasonable,
    TooLittleThere,
    WithoutThem,
)
from numalign.analysis.reasons.refusal import in_short
from numalign.model.cpuset import union
from numalign.model.quantity import NANO
from numalign.model.resources import is_bytes, is_memory, unit_of

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part
    from numalign.analysis.whatif.past import Held, HeldAmount

MAX_PODS_TOLD = 6
"""Of how many pods it is told what they hold."""

MAX_FACTS = 2
"""How much is told of what one of them is in the way of."""


def held_by_them(
    part: Part, refusal: Refusal | None, after: Sequence[Goes], wanted: Collection[str]
) -> Iterator[Reasonable]:
    """Tell what each pod to move holds of what is in the way.

    Args:
        part: the pods to move.
        refusal: how the pod is refused as long as they stay.
        after: where the pod would go.
        wanted: all that the pod gets anywhere; of that it counts, too, what is held where the pod goes.
    """
    if not part.held:
        return
    names = {*refusal.resources, *(row.resource for row in _short(refusal, after)[0])} if refusal else set()
    names |= set(_taken_now(refusal, after)) if refusal is not None else set()
    goes = union(one.nodes for one in after)
    fit = refusal is not None and refusal.stage == "fit"
    if len(part.held) > MAX_PODS_TOLD:
        yield from _all_together(part, names, fit=fit)
        return
    if fit:
        for place, one in enumerate(part.held):
            asks = tuple([_asked_of(part, name, nano) for name, nano in one.asks if name in names and nano])
            if asks:
                yield PodHolds(one.name, (), asks, last=_takes_the_last(part, place))
        return
    more: set[str] = set()
    for place, one in enumerate(part.held):
        held = [each for each in one.amounts if each.resource in names]
        more |= {each.resource for each in _more(part, one, held)}
        held += [
            each
            for each in one.amounts
            if held and each.resource in wanted and each not in held and any(mask & goes for mask, _ in each.places)
        ]
        yield from _of_one(part, place, held or list(one.amounts), goes)
    if len(part.held) > 1 and more:
        yield WithoutThem(tuple(_left(part, more)))


def _takes_the_last(part: Part, place: int) -> bool:
    """Tell whether no CPU is left to share as long as one of them stays."""
    return bool(part.staying) and part.staying[place] is None


def _of_one(part: Part, place: int, held: list[HeldAmount], goes: int) -> Iterator[Reasonable]:
    """Tell what one of them holds and asks for, and what it alone is in the way of where that does not show it.

    Args:
        part: the pods to move.
        place: which of them.
        held: what it holds of what is in the way.
        goes: the mask of the nodes where the refused pod goes.
    """
    one, staying = part.held[place], part.staying[place] if part.staying else None
    bound = next((group.nodes for group in staying.around.groups if one.name in group.pods), 0) if staying else 0
    if bound and not any(is_bytes(each.resource) for each in held):
        held += [each for each in one.amounts if is_bytes(each.resource)]
    else:
        bound = 0
    asks = tuple(_more(part, one, held))
    left = tuple(_left(part, {each.resource for each in asks})) if len(part.held) == 1 else ()
    found = PodHolds(one.name, tuple(held), asks, left)
    if bound:
        yield found._replace(bound=bound)
    elif held:
        elsewhere = all(mask and not mask & goes for each in held for mask, _ in each.places)
        told = goes and (elsewhere or (staying is not None and any(map(_tied_apart, staying.culprits))))
        stays = in_short(staying)[:MAX_FACTS] if staying is not None and told else []
        yield found._replace(last=_takes_the_last(part, place), stays=bool(stays))
        yield from stays
    elif asks:
        yield found


def _tied_apart(row: Row) -> bool:
    """Tell whether enough is free, but not with what init containers leave: then what is held does not say why."""
    left = sum(cell.handed for cell in row.cells)
    return bool(left) and not is_memory(row.resource) and row.free + left >= row.requested


def _more(part: Part, one: Held, held: Sequence[HeldAmount]) -> Iterator[AskedOf]:
    """List what a pod asks for of what the node as a whole has too little of, where it is told to hold less."""
    holds = {each.resource: each.amount * NANO for each in held}
    short = {each.resource for each in part.short}
    for name, nano in one.asks:
        if name in short and nano > holds.get(name, 0):
            yield _asked_of(part, name, nano)._replace(in_all=name in holds)


def _left(part: Part, names: Collection[str]) -> Iterator[LeftOf]:
    """List what the node as a whole has left without pods, of some of what it has too little of with them."""
    for one in (one for one in part.short if one.resource in names):
        gone = sum(nano for each in part.held for name, nano in each.asks if name == one.resource)
        yield LeftOf(one.resource, one.capacity - one.used + gone // unit_of(one.resource), one.capacity)


def _all_together(part: Part, names: Collection[str], *, fit: bool) -> Iterator[Reasonable]:
    """Add up what many pods hold, or ask for, of what is in the way."""
    totals: dict[str, int] = {}
    for one in part.held:
        amounts = one.asks if fit else [(each.resource, each.amount * NANO) for each in one.amounts]
        for name, nano in amounts:
            if name in names:
                totals[name] = totals.get(name, 0) + nano
    if totals:
        every = tuple([_asked_of(part, name, nano) for name, nano in totals.items()])
        yield PodsHold(len(part.held), every, asked=fit)


def _asked_of(part: Part, name: str, nano: int) -> AskedOf:
    """Tell what is asked, or held, beside what all others ask for."""
    short = next((one for one in part.short if one.resource == name), None)
    return AskedOf(name, nano, (short.used, short.capacity) if short is not None else None)


def room(found: Refusal, after: Sequence[Goes]) -> list[Reasonable]:
    """Tell all that is short where a pod goes once others have gone; nothing where the refusal names all of it."""
    table, (short, node) = found.matrix, _short(found, after)
    if table is None or len(short) < 2 or (not node and {row.resource for row in short} <= set(found.resources)):
        return []
    there = [each.container for each in found.around.own if each.kind != "init" and (not node or each.nodes & node)]
    lacks = [(what(row, table, found.around)[0]._replace(parts=()), free, left) for row, (free, left) in short.items()]
    one = table.container if len(after) > 1 else None
    return [TooLittleThere(one, node, tuple(dict.fromkeys(there)), tuple(lacks))]


def _taken_now(found: Refusal, after: Sequence[Goes]) -> Iterator[str]:
    """Name what one container gets where too little of it is free today, and nobody leaves it any."""
    table = found.matrix
    if table is None or len(after) != 1:
        return
    [goes] = after
    for row in table.rows:
        there = [
            cell.free
            for numa, cell in zip(table.nodes, row.cells, strict=True)
            if numa >= 0 and goes.places.get(row.resource, 0) >> numa & 1
        ]
        if there and sum(there) < row.requested:
            yield row.resource


def _short(found: Refusal, after: Sequence[Goes]) -> tuple[dict[Row, tuple[int, int]], int]:
    """List what is short, with what is free and what init containers leave of it, and the one node that it is about.

    That is the node to which a pod goes once others have gone; 0: it goes to several, and the whole machine counts.
    """
    table = found.matrix
    if table is None:
        return {}, 0
    nodes = union(one.nodes for one in after if table.container in (None, one.name))
    node = nodes if nodes.bit_count() == 1 else 0
    there = {row: _free(row, table, node) for row in table.rows}
    return {row: amounts for row, amounts in there.items() if sum(amounts) < row.requested}, node


def _free(row: Row, table: Matrix, node: int) -> tuple[int, int]:
    """Return what is free and what init containers leave, on one node or, without one, everywhere.

    Of devices that no node has only the number on the machine counts.
    """
    if node and not row.unplaced:
        cell = row.cells[table.nodes.index(node.bit_length() - 1)]
        return cell.free, cell.handed
    return row.free, row.left + sum(cell.handed for cell in row.cells)
