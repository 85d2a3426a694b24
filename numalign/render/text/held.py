"""What pods to move away hold of what is in the way, and where, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO, of_thousandths
from numalign.model.resources import CPU, is_bytes, is_memory
from numalign.render.text.amounts import amount_text, listed, nodes_text
from numalign.render.text.refusal.fit import as_taken, unit_counted
from numalign.render.text.refusal.nodes import reduced_text
from numalign.render.text.refusal.why import in_short
from numalign.render.text.written import written

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part
    from numalign.analysis.whatif.past import Held, HeldAmount
    from numalign.results.admit import PodResult

MAX_PODS_TOLD = 6
"""Of how many pods it is told what they hold."""

NONE_TO_SHARE = "; as long as it stays, no CPU is left to share, and the kubelet would not start again"

STAYS = "; as long as it stays:"
"""Said before what one of several pods to move is in the way of."""

TOO_LITTLE_NOW = " has too little free now"
"""Said of where a pod goes once others have gone."""

MAX_SENTENCES = 2
"""In how many lines it is told what one of them is in the way of."""

MAX_PLACES = 4
"""How many NUMA nodes are named on which a pod holds something."""


def held_by_them(
    part: Part, refusal: Refusal | None, after: PodResult | None, wanted: Collection[str]
) -> Iterator[str]:
    """Say what each pod to move holds of what is in the way, a sentence a pod.

    Args:
        part: the pods to move.
        refusal: how the pod is refused as long as they stay.
        after: what the pod would get.
        wanted: all that the pod gets anywhere; of that it counts, too, what is held where the pod goes.
    """
    if not part.held:
        return
    names = {*refusal.resources, *(row.resource for row in _short(refusal, after)[0])} if refusal else set()
    names |= set(_taken_now(refusal, after)) if refusal is not None and after is not None else set()
    goes = reduce(or_, (one.alignment.nodes for one in after.containers), 0) if after else 0
    fit = refusal is not None and refusal.stage == "fit"
    if len(part.held) > MAX_PODS_TOLD:
        yield from _all_together(part, names, fit=fit)
        return
    if fit:
        for place, one in enumerate(part.held):
            asks = [f"{_asks_text(part, name, nano)} {name}" for name, nano in one.asks if name in names and nano]
            if asks:
                yield f"{one.name} asks for {listed(asks)}{NONE_TO_SHARE * _takes_the_last(part, place)}"
        return
    for place, one in enumerate(part.held):
        held = [each for each in one.amounts if each.resource in names]
        held += [
            each
            for each in one.amounts
            if held and each.resource in wanted and each not in held and any(mask & goes for mask, _ in each.places)
        ]
        yield from _of_one(part, place, held or list(one.amounts), goes)
    more = {
        name
        for one in part.held
        for name, _ in _more(part, one, [each for each in one.amounts if each.resource in names])
    }
    if len(part.held) > 1 and more:
        yield f"without them {listed(list(_left(part, more)))}"


def _takes_the_last(part: Part, place: int) -> bool:
    """Tell whether no CPU is left to share as long as one of them stays."""
    return bool(part.staying) and part.staying[place] is None


def _of_one(part: Part, place: int, held: list[HeldAmount], goes: int) -> Iterator[str]:
    """Say what one of them holds and asks for, and what it alone is in the way of where that does not show it.

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
        nodes = nodes_text(bound)
        rule = f"{nodes} are used only together" if bound & (bound - 1) else f"{nodes} is not combined with another"
        yield f"{one.name} holds {held_places(held)}{_asks_too(part, one, held)}; as long as it stays, {rule}"
    elif held:
        elsewhere = all(mask and not mask & goes for each in held for mask, _ in each.places)
        told = goes and (elsewhere or (staying is not None and any(map(_tied_apart, staying.culprits))))
        stays = in_short(staying)[:MAX_SENTENCES] if staying is not None and told else []
        last = NONE_TO_SHARE * _takes_the_last(part, place)
        asked = f"{_asks_too(part, one, held)}{last}"
        yield f"{one.name} holds {held_places(held)}{asked}{STAYS * bool(stays)}"
        yield from stays
    elif asked := _asks_too(part, one, held):
        yield f"{one.name}{asked.removeprefix(' and')}"


def _tied_apart(row: Row) -> bool:
    """Tell whether enough is free, but not with what init containers leave: then what is held does not say why."""
    left = sum(cell.handed for cell in row.cells)
    return bool(left) and not is_memory(row.resource) and row.free + left >= row.requested


def _asks_too(part: Part, one: Held, held: Sequence[HeldAmount]) -> str:
    """Say what a pod asks for of what the node as a whole has too little of, where it is told to hold less.

    Of one pod alone it is told what that leaves.
    """
    holds = {each.resource for each in held}
    more = _more(part, one, held)
    if not more:
        return ""
    asks = [f"{_asks_text(part, name, nano)} {name}{' in all' * (name in holds)}" for name, nano in more]
    left = list(_left(part, {name for name, _ in more}))
    return f" and asks for {listed(asks)}{f'; without it {listed(left)}' * (len(part.held) == 1)}"


def _more(part: Part, one: Held, held: Sequence[HeldAmount]) -> list[tuple[str, int]]:
    """List what a pod asks for of what the node as a whole has too little of, where it is told to hold less."""
    holds = {each.resource: each.amount * NANO for each in held}
    short = {each.resource for each in part.short}
    return [(name, nano) for name, nano in one.asks if name in short and nano > holds.get(name, 0)]


def _left(part: Part, names: Collection[str]) -> Iterator[str]:
    """Say what the node as a whole has left without pods, of some of what it has too little of with them."""
    for one in (one for one in part.short if one.resource in names):
        gone = sum(nano for each in part.held for name, nano in each.asks if name == one.resource)
        left = one.capacity - one.used + gone // unit_counted(one.resource)
        say = of_thousandths if one.resource == CPU else written(one.resource, [left, one.capacity])
        all_of_it = f"all {say(left)} {one.resource} of the node"
        some = f"{say(left)} of the node's {say(one.capacity)} {one.resource}"
        yield f"{all_of_it if left == one.capacity else some} are left"


def _all_together(part: Part, names: Collection[str], *, fit: bool) -> Iterator[str]:
    """Add up what many pods hold, or ask for, of what is in the way."""
    totals: dict[str, int] = {}
    for one in part.held:
        amounts = one.asks if fit else [(each.resource, each.amount * NANO) for each in one.amounts]
        for name, nano in amounts:
            if name in names:
                totals[name] = totals.get(name, 0) + nano
    if totals:
        text = listed([f"{_asks_text(part, name, nano)} {name}" for name, nano in totals.items()])
        yield f"these {len(part.held)} pods {'ask for' if fit else 'hold'} {text} together"


def _asks_text(part: Part, name: str, nano: int) -> str:
    """Write what is asked as what all others ask for is written, or what is held of it; CPUs have decimals."""
    asked = -(-nano // unit_counted(name))
    short = next((one for one in part.short if one.resource == name), None)
    if short is not None:
        return as_taken(name, short.used, short.capacity)(asked)
    return of_thousandths(asked) if name == CPU else amount_text(name, asked)


def held_places(held: Sequence[HeldAmount]) -> str:
    """Write what is held and where: `8 cpu and 1 nvidia.com/gpu on node 0`, `8 cpu (6 on node 0, 2 on node 1)`."""
    there = {tuple(mask for mask, _ in one.places) for one in held}
    if len(there) == 1 and len(places := there.pop()) == 1 and places[0]:
        amounts = [f"{amount_text(one.resource, one.amount)} {one.resource}" for one in held]
        return f"{listed(amounts)} on {nodes_text(places[0])}"
    return listed([_with_places(one) for one in held])


def _with_places(one: HeldAmount) -> str:
    text = f"{amount_text(one.resource, one.amount)} {one.resource}"
    known = [(mask, amount) for mask, amount in one.places if mask]
    if len(known) == 1 and len(one.places) == 1:
        return f"{text} on {nodes_text(known[0][0])}"
    if not known or len(known) > MAX_PLACES:
        return text
    parts = [f"{amount_text(one.resource, amount)} on {nodes_text(mask)}" for mask, amount in known]
    parts += [f"{amount_text(one.resource, amount)} on no known node" for mask, amount in one.places if not mask]
    return f"{text} ({', '.join(parts)})"


def room(found: Refusal, after: PodResult) -> list[str]:
    """Say all that is short where a pod goes once others have gone; nothing where the refusal names all of it."""
    short, node = _short(found, after)
    if len(short) < 2 or (not node and {row.resource for row in short} <= set(found.resources)):
        return []
    texts = []
    for row, (free, left) in short.items():
        say = written(row.resource, [free, left], [row.requested])
        asked = f"{say(row.requested)} {row.resource} asked{reduced_text(row.resource, found.around)}"
        texts.append(f"{asked}, {say(free)}{f' + {say(left)}' * bool(left)} free")
    table = found.matrix
    one = table.container if table is not None and len(after.containers) > 1 else None
    where = f"{one or 'this pod'} goes to {nodes_text(node)} then, which" if node else "the machine"
    there = [each.container for each in found.around.own if each.kind != "init" and (not node or each.nodes & node)]
    beside = f" (with {listed(list(dict.fromkeys(there)))} there until then)" if there else ""
    return [f"{where}{TOO_LITTLE_NOW}{beside}: {'; '.join(texts)}"]


def _taken_now(found: Refusal, after: PodResult) -> Iterator[str]:
    """Name what one container gets where too little of it is free today, and nobody leaves it any."""
    table = found.matrix
    if table is None or len(after.containers) > 1:
        return
    places = after.containers[0].alignment.places
    for row in table.rows:
        there = [
            cell.free
            for numa, cell in zip(table.nodes, row.cells, strict=True)
            if numa >= 0 and places.get(row.resource, 0) >> numa & 1
        ]
        if there and sum(there) < row.requested:
            yield row.resource


def _short(found: Refusal, after: PodResult | None) -> tuple[dict[Row, tuple[int, int]], int]:
    """List what is short, with what is free and what init containers leave of it, and the one node that it is about.

    That is the node to which a pod goes once others have gone; 0: it goes to several, and the whole machine counts.
    """
    table = found.matrix
    if table is None:
        return {}, 0
    whose = [one for one in after.containers if table.container in (None, one.name)] if after else []
    nodes = reduce(or_, (one.alignment.nodes for one in whose), 0)
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
