"""A refusal in words: what is in the way, with amounts and nodes. No word of the kubelet's machinery is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.fit.check import Shortage
from numalign.render.text.amounts import amount_text, nodes_text
from numalign.render.text.matrix import mask_of

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal

MAX_NODES_NAMED = 4
"""How many NUMA nodes are named one by one; of more the best one is told."""


def why(refusal: Refusal) -> Iterator[str]:
    """Say why, a sentence a line."""
    yield from _why(refusal)
    if refusal.empty is not None:
        for text in _why(refusal.empty):
            yield f"on an empty machine: {text}"


def _why(refusal: Refusal) -> Iterator[str]:
    rows, table = refusal.culprits, refusal.matrix
    if refusal.stage == "panic":
        for resource, amount in refusal.missing:
            asked = f"{resource}: {amount_text(resource, amount)} asked"
            yield f"{asked}, and not every NUMA node of this machine has such memory"
        yield f"the kubelet itself would crash here: {refusal.message}"
    elif refusal.stage == "hang":
        yield f"the kubelet itself would never come back from here: {refusal.message}"
    elif refusal.stage == "fit":
        yield from _node_too_small(refusal)
    elif table is None or not rows:
        return
    elif refusal.stage == "policy" and len(rows) > 1:
        yield from _differ_in_width(rows, refusal.policy)
    elif refusal.stage == "policy":
        yield _too_wide(rows[0], table, refusal.policy)
    elif refusal.stage == "merge" or (len(rows) > 1 and all(map(_alone_somewhere, rows))):
        yield from _never_meet(rows, table)
    elif refusal.reason == SMT_ALIGNMENT_ERROR:
        yield _whole_cores(rows[0], refusal.threads)
    else:
        for row in rows:
            yield _too_little(row, table)


def _alone_somewhere(row: Row) -> bool:
    """Tell whether some node alone has enough of a resource."""
    return any(cell.verdict == "enough" for cell in row.cells)


def _asked(row: Row) -> str:
    return f"{row.resource}: {amount_text(row.resource, row.requested)} asked"


def _too_little(row: Row, table: Matrix) -> str:
    """Not enough on the whole machine."""
    total = max(sum(cell.total for cell in row.cells), row.free)
    free = amount_text(row.resource, row.free)
    if total == 0:
        return f"{_asked(row)}, and this machine has none to give on any node"
    if row.free >= row.requested:
        return (
            f"{_asked(row)}, {free} free in all ({_each(row, table)}), but not on nodes that may be used together: "
            "a node that pods hold memory of stays alone, or in the group of nodes in which they hold it"
        )
    least = f", and never has more than {amount_text(row.resource, total)}" if total < row.requested else ""
    return f"{_asked(row)}, the whole machine has {free} free{least} ({_each(row, table)})"


def _each(row: Row, table: Matrix) -> str:
    """List what the nodes have."""
    if len(table.nodes) <= MAX_NODES_NAMED:
        return ", ".join(f"node {numa}: {_of(row, place)}" for place, numa in enumerate(table.nodes))
    return f"most of it on {_best(row, table)}"


def _of(row: Row, place: int) -> str:
    cell = row.cells[place]
    return f"{amount_text(row.resource, cell.free)} of {amount_text(row.resource, cell.total)}"


def _best(row: Row, table: Matrix) -> str:
    place = max(range(len(table.nodes)), key=lambda one: row.cells[one].free)
    return f"node {table.nodes[place]}: {_of(row, place)}"


def _too_wide(row: Row, table: Matrix, policy: str) -> str:
    """One resource cannot be had in the way the policy wants."""
    largest = max(range(len(table.nodes)), key=lambda place: row.cells[place].total)
    most = row.cells[largest].total
    if policy == "single-numa-node":
        if most < row.requested:
            return (
                f"{_asked(row)}, but no NUMA node ever has more than {amount_text(row.resource, most)} "
                f"(node {table.nodes[largest]}), and policy single-numa-node takes all of it from one node"
            )
        if row.width > 1:
            return (
                f"{_asked(row)}, which the kubelet counts as {row.width} nodes' worth even on an empty machine, "
                f"and policy single-numa-node takes all of it from one node ({_each(row, table)})"
            )
        free = _each(row, table)
        return f"{_asked(row)}, and policy single-numa-node takes all of it from one node; free now: {free}"
    many = "one node" if row.width == 1 else f"{row.width} nodes"
    return (
        f"{_asked(row)}, and policy {policy} takes it from {many}, as an empty machine would; "
        f"free now: {_each(row, table)}"
    )


def _differ_in_width(rows: Sequence[Row], policy: str) -> Iterator[str]:
    """Resources that need different numbers of nodes never go together under `restricted`."""
    for row in rows:
        most = f"has {amount_text(row.resource, max(cell.total for cell in row.cells))} at most"
        yield f"{_asked(row)}: " + (
            f"fits one node, which {most}" if row.width == 1 else f"takes {row.width} nodes, as one {most}"
        )
    yield f"policy {policy} takes all of them from the same nodes, so on such nodes they never go together"


def _never_meet(rows: Sequence[Row], table: Matrix) -> Iterator[str]:
    """Each resource could be had, but not where the others are."""
    for row in rows:
        alone = [place for place, cell in enumerate(row.cells) if cell.verdict == "enough"]
        if alone:
            yield f"{_asked(row)}: only {nodes_text(mask_of(table, alone))} could give it ({_each(row, table)})"
        else:
            yield f"{_asked(row)}: takes several nodes together ({_each(row, table)})"
    yield "each could be had alone, but not from the same nodes"


def _whole_cores(row: Row, threads: int) -> str:
    """`full-pcpus-only` refused."""
    if row.requested % threads:
        return f"{_asked(row)}, but with full-pcpus-only CPUs are given out as whole cores of {threads}"
    return (
        f"{_asked(row)}, but with full-pcpus-only only CPUs of wholly free cores count, and there are too few of them"
    )


def _node_too_small(refusal: Refusal) -> Iterator[str]:
    """The managers would, but the node as a whole has too little, or does not want the pod."""
    for one in refusal.shortages:
        yield shortage_text(one) if isinstance(one, Shortage) else f"{one.reason}: {one.message}"


def shortage_text(short: Shortage) -> str:
    """Say what the node as a whole lacks, in the units in which people ask for it."""
    asked, used, there = (
        _whole_or_milli(amount) if short.resource == "cpu" else amount_text(short.resource, amount)
        for amount in (short.requested, short.used, short.capacity)
    )
    if not short.capacity:
        return f"{short.resource}: {asked} asked, and the node has none"
    return f"{short.resource}: {asked} asked, {used} of the node's {there} taken by other pods"


def _whole_or_milli(amount: int) -> str:
    return f"{amount}m" if amount % 1000 else str(amount // 1000)
