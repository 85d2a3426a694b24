"""Enough is free, but not in the way that the policy wants: on too many nodes, or never on the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations
from math import comb
from operator import and_, or_
from typing import TYPE_CHECKING

from numalign.model.resources import CPU, is_bytes
from numalign.render.text.amounts import amount_text, listed, nodes_text
from numalign.render.text.matrix import mask_of
from numalign.render.text.refusal.nodes import (
    MAX_NODES_NAMED,
    amounts_of,
    asked_besides,
    asked_text,
    each_node,
    held_text,
    left_text,
    names_text,
    reduced_text,
    verb_text,
)

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.render.text.written import Written

MAX_SETS_TRIED = 200
"""Of up to how many sets of nodes it is told which ones hold a resource."""


def too_wide(row: Row, table: Matrix, policy: str, around: Circumstances) -> str:
    """One resource cannot be had in the way the policy wants."""
    say = amounts_of(row, around)
    asked, each = asked_text(row, around, say), each_node(row, table, say)
    largest = max(range(len(table.nodes)), key=lambda place: row.cells[place].total)
    most = row.cells[largest].total
    places = [place for place, cell in enumerate(row.cells) if cell.total == most]
    must = f"; {left}" if (left := _must_use(row, around)) and len(table.nodes) > 1 else ""
    now = "" if around.when == "ever" else f"; {_free_when(row, around)}: {each}"
    if policy == "single-numa-node":
        if most < row.requested:
            return (
                f"{asked}{asked_besides(row, around, say, most)}, but no NUMA node ever has more than {say(most)} "
                f"({nodes_text(mask_of(table, places))}), and policy single-numa-node takes all of it from one node"
            )
        if row.width > 1:
            return (
                f"{asked}, which the kubelet counts as {row.width} nodes' worth even on an empty machine, "
                f"and policy single-numa-node takes all of it from one node ({each})"
            )
        return f"{asked}, and policy single-numa-node takes all of it from one node{must}{now}"
    many, enough = ("one node", "is enough") if row.width == 1 else (f"{row.width} nodes", "are enough")
    most = _most_for_pods(row)
    if most < row.requested:
        count = f"as the kubelet counts {_counted_too(row, table)}, too, {many} {enough}"
        short = f"and policy {policy} allows no more nodes; but {many} never {'has' if row.width == 1 else 'have'}"
        return f"{asked}; {count}, {short} more than {say(most)} for pods{must}{now}"
    empty = "while nothing is held" if around.when == "then" else "on an empty machine"
    whole = _used_together(row, around)
    if must:
        hold = "an empty one holds" if row.width == 1 else f"{row.width} empty ones hold"
        return f"{asked}, and policy {policy} takes it from {many}, as {hold} so many{must}{_at_most(row, say)}{now}"
    return f"{asked}, and policy {policy} takes it from {many}, which {enough} {empty}{must}{whole}{now}"


def _used_together(row: Row, around: Circumstances) -> str:
    """Say that a node with enough memory cannot be used alone, as memory of it is held together with other nodes'."""
    enough = {cell.group for cell in row.cells if cell.group and cell.free >= row.requested and row.width == 1}
    texts = []
    for one in around.groups:
        if one.nodes in enough:
            own = f"this pod's own {names_text(one.own)} {verb_text('hold', one.own)}"
            who = own if one.own and not one.pods else "pods hold"
            texts.append(f"{nodes_text(one.nodes)} can only be used together, as {who} memory of them together")
    return "".join(f"; but {text}" for text in texts[:MAX_NODES_NAMED])


def _free_when(row: Row, around: Circumstances) -> str:
    """Say at which time what is listed is free: now, after containers of the pod, after a change."""
    names = [one.container for one in around.own if one.resource == row.resource and one.kind != "init"]
    return f"left after {names_text(list(dict.fromkeys(names)))}" if names else f"free {around.when}"


def _most_for_pods(row: Row) -> int:
    """Count what pods could ever get on as many nodes as the kubelet thinks are enough."""
    return sum(sorted((cell.total for cell in row.cells), reverse=True)[: row.width])


def _counted_too(row: Row, table: Matrix) -> str:
    """Name what the kubelet counts when it looks how few nodes are enough, and never gives to pods; memory has none."""
    places = [place for place, cell in enumerate(row.cells) if cell.barred]
    counts = [row.cells[place].barred for place in places]
    where = nodes_text(mask_of(table, places))
    if len(counts) > 1 and len(set(counts)) == 1:
        told = f"{counts[0]} on each of {where}"
    elif len(counts) > MAX_NODES_NAMED:
        told = f"{sum(counts)} on {where}"
    else:
        told = ", ".join(f"{row.cells[place].barred} on node {table.nodes[place]}" for place in places)
    return f"{'reserved CPUs' if row.resource == CPU else 'devices that are not healthy'} ({told})"


def _must_use(row: Row, around: Circumstances) -> str:
    """Say which nodes init containers tie a resource to."""
    left = next((one for one in around.handed if one.resource == row.resource and one.nodes), None)
    if left is None or is_bytes(row.resource):
        return ""
    return f"its nodes must include {nodes_text(left.nodes)}, where {left_text(left, str(left.amount))}"


def _at_most(row: Row, say: Written) -> str:
    """Add up what there is at most with the one node that must take part: `: 6 + 8 = 14 at most`."""
    tied = [cell for cell in row.cells if cell.handed]
    if len(tied) != 1 or row.width < 2 or row.loose is not None:
        return ""
    here = tied[0].free + tied[0].handed
    others = sorted((cell.free for cell in row.cells if cell is not tied[0]), reverse=True)[: row.width - 1]
    most = here + sum(others)
    return f": {' + '.join(map(say, (here, *others)))} = {say(most)} at most" if most < row.requested else ""


def differ_in_width(rows: Sequence[Row], table: Matrix, policy: str, around: Circumstances) -> Iterator[str]:
    """Resources that need different numbers of nodes never go together under `restricted`."""
    joint = around.joint
    for row in rows:
        if joint is not None and row.resource in joint.resources:
            continue
        say = amounts_of(row, around)
        most = f"has {say(max(cell.total for cell in row.cells))} at most"
        fits = f"fits one node, which {most}" if row.width == 1 else f"takes {row.width} nodes, as one {most}"
        yield f"{asked_text(row, around, say)}: {fits}{_of_sockets(around) * (row.resource == CPU)}"
    together = [row for row in rows if joint is not None and row.resource in joint.resources]
    if joint is not None:
        yield from _take_together(together, table, joint.width, around)
    yield f"policy {policy} wants each on as few nodes as it can do with, and all of them on the same nodes"


def _of_sockets(around: Circumstances) -> str:
    """Say which nodes CPUs may take beside the fewest."""
    if not around.sockets:
        return ""
    whose = "one socket" if around.sockets == 1 else f"{around.sockets} sockets"
    return f"; by align-by-socket it may take all nodes of {whose}"


def as_few_nodes(refusal: Refusal, *, changed: bool = False) -> Iterator[str]:
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
        if row.width == 1 and row.resource not in named and (changed or row.resource not in refusal.around.reduced):
            asked = f"{amount_text(row.resource, row.requested)} asked{reduced_text(row.resource, refusal.around)}"
            yield f"{row.resource}: {asked}: fits one node, too"


def on_fewer_nodes(row: Row, refusal: Refusal) -> Iterator[str]:
    """Name what fits one node beside the one thing in the way, which takes several: mended, it is in the way, too."""
    fitting = [other for other in (refusal.matrix.rows if refusal.matrix else ()) if other.width == 1]
    if refusal.policy == "restricted" and refusal.around.joint is None and row.width > 1 and fitting:
        names = listed([other.resource for other in fitting])
        verb = "fits" if len(fitting) == 1 else "fit"
        yield (
            f"{names}: {verb} one node, and policy restricted wants {row.resource} on as many, which takes "
            f"{row.width} nodes at least"
        )


def _take_together(rows: Sequence[Row], table: Matrix, width: int, around: Circumstances) -> Iterator[str]:
    """Say why memory resources, which come from the same nodes, take more nodes together than each alone."""
    fewer = width - 1
    if comb(len(table.nodes), fewer) <= MAX_SETS_TRIED:
        for row in rows:
            asked = asked_text(row, around, amounts_of(row, around))
            yield f"{asked}: {_which(_holders(row, table, fewer), table, fewer)}"
    names, both = listed([row.resource for row in rows]), "both" if len(rows) == 2 else "all"
    yield f"{names}: {both} have to come from the same nodes, so together they take {width} nodes"


def _holders(row: Row, table: Matrix, width: int) -> list[int]:
    """List the sets of so many nodes that hold enough of a resource when they are empty."""
    totals = [cell.total for cell in row.cells]
    sets = combinations(range(len(totals)), width)
    return [mask_of(table, some) for some in sets if sum(totals[one] for one in some) >= row.requested]


def _which(masks: Sequence[int], table: Matrix, width: int) -> str:
    """Say which sets of empty nodes hold enough of a resource."""
    common, some = reduce(and_, masks), reduce(or_, masks)
    if width == 1:
        return f"of the empty nodes only {nodes_text(some)} {'has' if len(masks) == 1 else 'have each'} enough"
    never = mask_of(table, range(len(table.nodes))) & ~some
    if common or never:
        which = f"with {nodes_text(common)}" if common else f"without {nodes_text(never)}"
        return f"{width} empty nodes have enough only {which}"
    texts = [nodes_text(mask) for mask in masks[:MAX_NODES_NAMED]]
    more = ", …" if len(masks) > MAX_NODES_NAMED else ""
    return f"of {width} empty nodes only these have enough: {'; '.join(texts)}{more}"


def never_meet(rows: Sequence[Row], table: Matrix, around: Circumstances) -> Iterator[str]:
    """Each resource could be had, but not where the others are."""
    numa = _left_by_init(rows, table, around)
    if numa is not None:
        yield from _bound_by_cpus(rows, table, around, numa)
        return
    anywhere = [row for row in rows if all(cell.verdict == "enough" for cell in row.cells)]
    if len(rows) - len(anywhere) > 1:
        rows = [row for row in rows if row not in anywhere]
    for row in rows:
        say = amounts_of(row, around)
        asked, each = asked_text(row, around, say), each_node(row, table, say)
        alone = [place for place, cell in enumerate(row.cells) if cell.verdict == "enough"]
        must = _must_use(row, around)
        if must:
            yield f"{asked}: {must} ({each})"
        elif alone:
            which = f"only {nodes_text(mask_of(table, alone))}" if len(alone) < len(row.cells) else "any node"
            yield f"{asked}: {which} could give it ({each})"
        else:
            yield f"{asked}: takes several nodes together ({each})"
    yield "each could be had alone, but not from the same nodes"


def _left_by_init(rows: Sequence[Row], table: Matrix, around: Circumstances) -> int | None:
    """Give the one node to which an init container's CPUs tie a container that needs one node, and has too little."""
    left = reduce(or_, (one.nodes for one in around.own if one.resource == CPU and one.kind == "init"), 0)
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


def _bound_by_cpus(rows: Sequence[Row], table: Matrix, around: Circumstances, numa: int) -> Iterator[str]:
    """CPUs left by an init container fix the node, and what else is asked is not there."""
    asked = asked_text(rows[0], around, amounts_of(rows[0], around))
    yield f"{asked}: {_left_cpus(around)} of node {numa} to it, so it must use node {numa}"
    for row in rows[1:]:
        say = amounts_of(row, around)
        asked, each = asked_text(row, around, say), each_node(row, table, say)
        cannot = f"node {numa} cannot give it{held_text(row, around, say)}"
        yield f"{asked}, and {cannot}; what other nodes have does not help ({each})"


def _left_cpus(around: Circumstances) -> str:
    """Say which init containers leave how many CPUs."""
    left = next((one for one in around.handed if one.resource == CPU), None)
    return (
        f"{left_text(left, str(left.amount))} CPU{'s' * (left.amount != 1)}" if left else "init containers leave CPUs"
    )
