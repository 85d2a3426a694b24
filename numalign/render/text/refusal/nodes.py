"""What is asked of a resource, by whom, and what each NUMA node has of it, as parts of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.text.amounts import listed, nodes_text, places_text
from numalign.render.text.written import Written, written

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.handed import Handed
    from numalign.analysis.loose import Loose
    from numalign.analysis.matrix import Cell, Matrix, Row
    from numalign.analysis.own_containers import Own, Sum

MAX_NODES_NAMED = 4
"""How many NUMA nodes are named one by one; of more the best one is told."""


def alone_somewhere(row: Row) -> bool:
    """Tell whether some node alone has enough of a resource."""
    return any(cell.verdict == "enough" for cell in row.cells)


def amounts_of(row: Row, around: Circumstances, more: Sequence[int] = ()) -> Written:
    """Write all amounts of a row in one unit, with those that are told beside them, and with `more`."""
    cells = (
        [amount for cell in row.cells for amount in (cell.free, cell.total, cell.handed)]
        if len(row.cells) <= MAX_NODES_NAMED
        else []
    )
    total = max(sum(cell.total for cell in row.cells), row.free)
    most = max((cell.total for cell in row.cells), default=0)
    left = sum(one.amount for one in around.handed if one.resource == row.resource)
    split = _split(row, around)
    parts = [amount for _, amount in split.parts] if split else []
    handed = {cell.free + cell.handed: [cell.free, cell.handed] for cell in row.cells if cell.handed} if cells else {}
    there = [row.free, total, most, left, row.free + left, *cells, *handed, *more]
    pairs = [(row.requested, amount) for amount in there]
    pairs += [(cell.free, cell.total) for cell in row.cells] if cells else [(row.free, total)]
    sums = {row.free: [cell.free for cell in row.cells], total: [cell.total for cell in row.cells]}
    sums = {**handed, **sums}
    added = {key: terms for key, terms in sums.items() if cells and sum(terms) == key}
    return written(row.resource, there, [row.requested], parts=parts, pairs=pairs, sums=added)


def _split(row: Row, around: Circumstances) -> Sum | None:
    """Find which containers what is asked is made of."""
    return next((one for one in around.together if told_with(one, row)), None)


def beside(row: Row, around: Circumstances, there: int) -> Written:
    """Write what is asked, and of which parts, beside the one amount that it is compared with."""
    split = _split(row, around)
    parts = [amount for _, amount in split.parts] if split else []
    return written(row.resource, [there], [row.requested], parts=parts)


def asked_text(row: Row, around: Circumstances, say: Written) -> str:
    """Say what is asked: `cpu: 9 asked (one 5 + two 4)` or `by one` of a whole pod, `as reduced` by a change.

    Args:
        row: the resource.
        around: who asks for it.
        say: how amounts are written.
    """
    split = _split(row, around)
    parts = ""
    if split is not None:
        each = " + ".join(f"{name} {say(amount)}" for name, amount in split.parts)
        parts = f" by {split.parts[0][0]}" if len(split.parts) == 1 else f" ({each})"
    reduced = reduced_text(row.resource, around)
    if reduced and parts.startswith(" by "):
        return f"{row.resource}: {say(row.requested)} asked{parts} after the reduction"
    return f"{row.resource}: {say(row.requested)} asked{reduced}{parts}"


def reduced_text(resource: str, around: Circumstances) -> str:
    """Go on about what is asked of a resource, where another part of a change cuts it."""
    return " as reduced" * (resource in around.reduced)


def asked_besides(row: Row, around: Circumstances, say: Written, limit: int) -> str:
    """Go on about containers that run before or after those that a sentence is about, and ask for too much, too."""
    split = _split(row, around)
    rows = [one for one in around.together if one.resource == row.resource]
    lasting = next((one for one in rows if one.lasting), None)
    texts = []
    for one in rows:
        if one is not split and limit < one.requested:
            when = " after" if one.lasting else " before" * (split is lasting)
            texts.append(f", {say(one.requested)} by {names_text([name for name, _ in one.parts])}{when}")
    return "".join(texts) if split is not None else ""


def told_with(one: Sum, row: Row) -> bool:
    """Tell whether a row asks for the sum of what the pod's containers ask for."""
    return (one.resource, one.requested) == (row.resource, row.requested)


def sum_text(one: Sum) -> Written:
    """Write a sum, its parts and what there could be, so that they add up."""
    return written(one.resource, [one.capacity], parts=[amount for _, amount in one.parts])


def parts_text(one: Sum) -> str:
    """Say which containers a sum is made of: `one 5 + two 4`."""
    say = sum_text(one)
    return " + ".join(f"{name} {say(amount)}" for name, amount in one.parts)


def each_node(row: Row, table: Matrix, say: Written) -> str:
    """List what the nodes have; devices that lie on none or on several nodes apart, so that the amounts add up."""
    if row.loose is not None and row.loose.apart:
        return each_device(row.loose)
    if len(table.nodes) <= MAX_NODES_NAMED:
        return ", ".join(f"node {numa}: {_of(row.cells[place], say)}" for place, numa in enumerate(table.nodes))
    if not any(cell.total for cell in row.cells):
        return "no node has any"
    best = max(row.cells, key=lambda cell: cell.free + cell.handed)
    if not best.free + best.handed:
        return "none free on any node"
    alike = [numa for numa, cell in zip(table.nodes, row.cells, strict=True) if _shows(cell) == _shows(best)]
    if len(alike) == 1:
        return f"most on node {alike[0]}: {_of(best, say)}"
    most = "" if all(_shows(cell) == _shows(best) or not cell.total for cell in row.cells) else "most on "
    others = ", the others have none" * (not most and len(alike) < len(row.cells))
    return f"{most}each of {nodes_text(sum(1 << numa for numa in alike))}: {_of(best, say)}{others}"


def _shows(cell: Cell) -> tuple[int, int, int]:
    return cell.free, cell.handed, cell.total


def _of(cell: Cell, say: Written) -> str:
    """Write what one node has, as the table does: `2 + 6 of 8`, where 6 are left by the pod's init containers."""
    return f"{say(cell.free)}{f' + {say(cell.handed)}' if cell.handed else ''} of {say(cell.total)}"


def each_device(loose: Loose) -> str:
    """List where the devices are, each once."""
    places = sorted((one for one in loose.places if one[2]), key=lambda one: -one[1])
    texts = [f"{places_text(mask)}: {free} of {total}" for mask, free, total in sorted(places[:MAX_NODES_NAMED])]
    if len(places) > MAX_NODES_NAMED:
        texts.append("…")
    free, total = loose.nowhere
    if total and not places:
        return f"{free} of {total}; {_nowhere(loose)}" if free < total else _nowhere(loose)
    return ", ".join([*texts, *[f"on no known node: {free} of {total}"] * bool(total)])


def all_devices(loose: Loose) -> str:
    """List how many devices there are where, each once."""
    texts = [f"{places_text(mask)}: {total}" for mask, _, total in sorted(loose.places) if total]
    if loose.nowhere[1] and not texts:
        return _nowhere(loose)
    return ", ".join([*texts, *[f"on no known node: {loose.nowhere[1]}"] * bool(loose.nowhere[1])])


def _nowhere(loose: Loose) -> str:
    """Say what the plugin tells of devices of which none lies on a node of the machine."""
    them = "it" if loose.nowhere[1] == 1 else "them"
    if loose.told:
        return f"the plugin puts {them} on no NUMA node of this machine"
    return f"the plugin names no NUMA node for {them}"


def how_many(free: int, total: int) -> str:
    """Say how many there are, and how many of them are free."""
    if total < 2:
        return f"there is 1, {'and it is free' if free else 'which is not free'}" if total else "there are none"
    some = "all" if free == total else f"{free} of them" if free else "none of them"
    return f"there are {total}, {some} free"


def left_text(one: Handed, amount: str = "") -> str:
    """Say who leaves how much: `i0 and i1 leave 2`; without an amount only who."""
    return f"{names_text(one.containers)} {verb_text('leave', one.containers)} {amount}".rstrip()


def held_by_own(row: Row, around: Circumstances) -> list[Own]:
    """List the earlier containers of the pod that go on running and hold some of a resource."""
    return [one for one in around.own if one.resource == row.resource and one.kind != "init"]


def held_text(row: Row, around: Circumstances, say: Written) -> str:
    """Say so where earlier containers of the pod that go on running hold some of a resource."""
    names = [one.container for one in held_by_own(row, around)]
    amount = say(sum(one.amount for one in held_by_own(row, around)))
    return f", as this pod's own {names_text(names)} {verb_text('hold', names)} {amount}" if names else ""


def names_text(names: Sequence[str]) -> str:
    """Write names of containers: `a, b and c`."""
    return listed(names) or "init containers"


def verb_text(verb: str, names: Sequence[str]) -> str:
    """Write a verb after names of containers."""
    return verb if len(names) != 1 else f"{verb}s"
