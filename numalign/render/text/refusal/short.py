"""There is too little: on the whole machine, or where it may be used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.model.quantity import parse, value
from numalign.model.resources import NATIVE, is_hugepages, page_size
from numalign.render.text.amounts import bytes_text, nodes_text
from numalign.render.text.refusal.nodes import (
    MAX_NODES_NAMED,
    all_devices,
    amounts_of,
    asked_besides,
    asked_text,
    each_node,
    held_by_own,
    held_text,
    how_many,
    names_text,
    verb_text,
)
from numalign.render.text.written import Written

if TYPE_CHECKING:
    from numalign.analysis.loose import Loose
    from numalign.analysis.matrix import Cell, Matrix, Row
    from numalign.analysis.refusal import Refusal


def too_little(row: Row, table: Matrix, refusal: Refusal, *, brief: bool = False) -> Iterator[str]:
    """Say that there is not enough on the whole machine, or not where it may be used.

    Args:
        row: what there is too little of.
        table: the decision.
        refusal: what it is about.
        brief: it is told in a change: the rule about devices of no known node stands elsewhere, the time with each.
    """
    say, loose = amounts_of(row, refusal.around), row.loose
    asked = asked_text(row, refusal.around, say)
    total = max(sum(cell.total for cell in row.cells), row.free) if loose is None else loose.total
    if total:
        asked += asked_besides(row, refusal.around, say, total)
    if brief and loose is not None and total >= row.requested and no_others_count(row, loose, refusal):
        yield f"{asked}, {_placed_text(loose)}; policy {refusal.policy} counts no others"
        return
    if total == 0:
        most = max(row.requested, dict(refusal.around.need).get(row.resource, 0))
        yield f"{asked}, and this machine has none to give on any node{how_to_add(row.resource, most)}"
        return
    if refusal.around.when == "ever" and total >= row.requested:
        return  # what the containers ask for together is told by itself
    if refusal.around.when == "ever":
        yield f"{asked}, the whole machine never has more than {say(total)}{_where_ever(row, table, say)}"
        if loose is not None and loose.misplaced and refusal.stage == "hints":
            yield from _only_placed(row, loose, refusal.policy)
        return
    each, then = each_node(row, table, say), " then" * (brief and refusal.around.when == "then")
    if row.free >= row.requested:
        yield f"{asked}, {say(row.free)} free in all{then} ({each})"
        yield from _cannot_be_used(row, refusal)
        return
    left = sum(one.amount for one in refusal.around.handed if one.resource == row.resource)
    free, by_the_pod = f"{say(row.free)} free", _by_the_pod(row, refusal, say, total)
    if not row.free and 0 < left < row.requested:
        free, by_the_pod = f"only the {say(left)} that {_leaving(row, refusal)} to it", ""
    elif 0 < left < row.requested - row.free and not (loose is not None and loose.apart):
        by_the_pod = f", {say(left)} of it left by {names_text(_leavers(row, refusal))}"
        all_of_it = row._replace(cells=tuple(map(_with_left, row.cells)), free=row.free + left)
        say_all = amounts_of(all_of_it, refusal.around)
        free = f"{say_all(row.free + left)} for it"
        each = each_node(all_of_it, table, say_all)
    has = f"the whole machine has {free}{then}{by_the_pod}"
    if total < row.requested:
        now = f", and has {free} {refusal.around.when}{by_the_pod}"
        now *= total not in (row.free, row.free + left)
        has = f"the whole machine never has more than {say(total)}{now}"
    apart = ", but that may not be put together" * (row.free + left >= row.requested)
    yield f"{asked}, {has}{apart} ({each})"
    if loose is not None and refusal.stage == "hints" and not brief:
        yield from _only_placed(row, loose, refusal.policy)


def _where_ever(row: Row, table: Matrix, say: Written) -> str:
    """List what the nodes ever have, of several or of devices that lie on none or on several."""
    if row.loose is not None and row.loose.apart:
        return f" ({all_devices(row.loose)})"
    if not 1 < len(table.nodes) <= MAX_NODES_NAMED:
        return ""
    totals = (f"node {numa}: {say(cell.total)}" for numa, cell in zip(table.nodes, row.cells, strict=True))
    return f" ({', '.join(totals)})"


def _with_left(cell: Cell) -> Cell:
    """Count what init containers leave on a node with what is free there."""
    return cell._replace(free=cell.free + cell.handed, handed=0)


def _leaving(row: Row, refusal: Refusal) -> str:
    """Say which init containers leave some of a resource: `i0 and i1 leave`."""
    names = _leavers(row, refusal)
    return f"{names_text(names)} {verb_text('leave', names)}"


def _leavers(row: Row, refusal: Refusal) -> list[str]:
    return list(
        dict.fromkeys(name for one in refusal.around.handed if one.resource == row.resource for name in one.containers)
    )


def _by_the_pod(row: Row, refusal: Refusal, say: Written, total: int) -> str:
    """Say what the pod's own containers have to do with what is free: what they leave to each other, or hold."""
    left = [one for one in refusal.around.handed if one.resource == row.resource]
    if left:
        return f" besides the {say(sum(one.amount for one in left))} that {_leaving(row, refusal)} to it"
    held = held_text(row, refusal.around, say)
    own = sum(one.amount for one in held_by_own(row, refusal.around))
    others = f" and other pods hold {say(total - row.free - own)}" if total - row.free > own else ""
    return held and f"{held}{others}"


HINT = "; to have them, "
"""How it begins to be told how a node gets huge pages."""


UNKNOWN_NODE = "no known NUMA node"
"""How it is told that free devices do not count."""


def how_to_add(resource: str, amount: int) -> str:
    """Say how a node gets a resource of which it has none."""
    if is_hugepages(resource):
        size = page_size(resource)
        pages = -(-amount // value(parse(size)))
        taken = bytes_text(pages * value(parse(size)))
        boot = f"boot it with hugepagesz={size.removesuffix('i')} and hugepages={pages} at least"
        return f"{HINT}{boot}, which takes {taken} off its memory"
    return "" if resource in NATIVE else " (a device plugin has to offer healthy ones)"


def _cannot_be_used(row: Row, refusal: Refusal) -> Iterator[str]:
    """Say why what is free does not count; memory that is held has sentences of its own."""
    if row.loose is not None and no_others_count(row, row.loose, refusal):
        yield from _only_placed(row, row.loose, refusal.policy)
    elif refusal.around.groups:
        return
    elif refusal.stage == "allocation" and refusal.around.chosen is not None:
        nodes = nodes_text(refusal.around.chosen)
        yield f"{row.resource}: but it has to come from {nodes}, chosen for what else the pod asks for"
    else:
        yield f"{row.resource}: but it is not free on the nodes where the container's other resources have to be"


def no_others_count(row: Row, loose: Loose, refusal: Refusal) -> bool:
    """Tell whether devices of no known node do not count."""
    return bool(loose.nowhere[1] and loose.aware) and (
        refusal.stage == "hints" if row.free < row.requested else loose.placed < row.requested
    )


def _placed_text(loose: Loose) -> str:
    """Say how many of the devices that lie on known nodes are free."""
    total = sum(count for *_, count in loose.places)
    return f"{loose.placed} of {total} free on known nodes" if total else "none on a known node"


def _only_placed(row: Row, loose: Loose, policy: str) -> Iterator[str]:
    """Say that free devices of no known node do not count, where there are any."""
    free, every = loose.nowhere
    if not loose.aware or not (free or loose.misplaced):
        return
    ids = f"NUMA node{'s' * (len(loose.told) > 1)} {', '.join(map(str, loose.told))}"
    if loose.misplaced:
        which = f"the plugin puts them on {ids}, which this machine does not have"
        yield f"{row.resource}: {which}, so policy {policy} takes none of them"
        return
    wrong = f" (the plugin names {ids}, which this machine does not have)" if loose.told else ""
    have = f"{free} of the free ones {'has' if free == 1 else 'have'} {UNKNOWN_NODE}{wrong}"
    there = how_many(loose.placed, loose.total - every)
    yield f"{row.resource}: {have}; policy {policy} counts only devices whose node is known: {there}"
