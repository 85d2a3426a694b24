"""A refusal in words: what is in the way, with amounts and nodes. No word of the kubelet's machinery is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import parse, readable_near, value, with_decimals
from numalign.model.resources import NATIVE, is_hugepages, page_size
from numalign.render.text.amounts import Written, amount_text, nodes_text, written
from numalign.render.text.matrix import mask_of

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances, Cores, Loose, Own, Unreadable
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal

MAX_NODES_NAMED = 4
"""How many NUMA nodes are named one by one; of more the best one is told."""

MAX_PODS_NAMED = 3
"""How many pods are named that hold the memory of some nodes."""


def why(refusal: Refusal) -> Iterator[str]:
    """Say why, a sentence a line."""
    now = list(_why(refusal))
    yield from now
    if refusal.empty is not None:
        for text in _why(refusal.empty):
            if text not in now:
                yield f"on an empty machine: {text}"


def _why(refusal: Refusal) -> Iterator[str]:
    yield from _first(refusal)
    yield from _beside(refusal)


def _first(refusal: Refusal) -> Iterator[str]:
    rows, table, around = refusal.culprits, refusal.matrix, refusal.around
    if refusal.stage == "panic":
        for resource, amount in refusal.missing:
            asked = f"{resource}: {amount_text(resource, amount)} asked"
            yield f"{asked}, and not every NUMA node of this machine has such memory"
        yield f"the kubelet itself would crash here: {refusal.message}"
    elif refusal.stage == "hang":
        yield f"the kubelet itself would never come back from here: {refusal.message}"
    elif refusal.stage == "fit":
        yield from _node_too_small(refusal)
    elif around.unreadable:
        for one in around.unreadable:
            yield _no_whole_bytes(one)
    elif around.cores is not None and refusal.reason == SMT_ALIGNMENT_ERROR:
        yield _whole_cores(around.cores)
    elif table is None or not rows:
        return
    elif refusal.stage == "policy" and len(rows) > 1:
        yield from _differ_in_width(rows, refusal.policy)
    elif refusal.stage == "policy":
        yield _too_wide(rows[0], table, refusal.policy, around)
    elif refusal.stage == "merge" or (len(rows) > 1 and around.chosen is None and all(map(_alone_somewhere, rows))):
        yield from _never_meet(rows, table, around)
    else:
        for row in rows:
            yield _too_little(row, table, refusal)


def _beside(refusal: Refusal) -> Iterator[str]:
    """Say what the pod's own containers have to do with it."""
    for one in refusal.around.sums:
        say = written(one.resource, [one.requested, one.capacity, *(amount for _, amount in one.parts)])
        parts = " + ".join(f"{name} {say(amount)}" for name, amount in one.parts)
        yield (
            f"{one.resource}: the pod's containers together ask for {say(one.requested)} ({parts}), and the machine "
            f"never has more than {say(one.capacity)}"
        )
    told = {one.resource for one in refusal.around.sums}
    for row in refusal.culprits:
        if row.resource not in told and not refusal.too_large(row) and not refusal.odd_cores:
            yield from _held_by_itself([one for one in refusal.around.own if one.resource == row.resource])


def _held_by_itself(own: Sequence[Own]) -> Iterator[str]:
    """Say what the pod's earlier containers hold of a resource, and which of it the next ones must take over."""
    if not own:
        return
    resource = own[0].resource
    say = written(resource, [one.amount for one in own])
    held = ", ".join(f"{one.container} {say(one.amount)} on {nodes_text(one.nodes)}" for one in own)
    yield f"{resource}: the pod's own earlier containers hold some of it: {held}"
    for one in own:
        if one.kind == "init" and one.nodes:
            yield (
                f"{resource}: what init container {one.container} held goes to the containers after it, so "
                f"{nodes_text(one.nodes)} must be among their nodes"
            )


def _alone_somewhere(row: Row) -> bool:
    """Tell whether some node alone has enough of a resource."""
    return any(cell.verdict == "enough" for cell in row.cells)


def _say(row: Row) -> Written:
    """Write all amounts of a row in one unit."""
    cells = (
        [amount for cell in row.cells for amount in (cell.free, cell.total)]
        if len(row.cells) <= MAX_NODES_NAMED
        else []
    )
    total = max(sum(cell.total for cell in row.cells), row.free)
    return written(row.resource, [row.requested, row.free, total, *cells])


def _asked(row: Row) -> str:
    return f"{row.resource}: {_say(row)(row.requested)} asked"


def _too_little(row: Row, table: Matrix, refusal: Refusal) -> str:
    """Not enough on the whole machine, or not where it may be used."""
    say = _say(row)
    loose = _loose(row, refusal.around)
    total = max(sum(cell.total for cell in row.cells), row.free) if loose is None else loose.total
    if total == 0:
        return f"{_asked(row)}, and this machine has none to give on any node{_how_to_add(row.resource, row.requested)}"
    each = _each(row, table, loose)
    if row.free >= row.requested:
        because = _cannot_be_used(row, refusal, loose)
        return f"{_asked(row)}, {say(row.free)} free in all ({each}), but {because}"
    least = f", and never has more than {say(total)}" if total < row.requested else ""
    return f"{_asked(row)}, the whole machine has {say(row.free)} free{least} ({each})"


def _how_to_add(resource: str, amount: int) -> str:
    """Say how a node gets a resource of which it has none."""
    if is_hugepages(resource):
        size = page_size(resource)
        pages = -(-amount // value(parse(size)))
        return f" (they are set aside at boot: hugepagesz={size.removesuffix('i')} hugepages={pages})"
    return "" if resource in NATIVE else " (a device plugin has to offer healthy ones)"


def _cannot_be_used(row: Row, refusal: Refusal, loose: Loose | None) -> str:
    """Say why what is free does not count."""
    around = refusal.around
    if loose is not None:
        if loose.nowhere[1] and loose.placed < row.requested:
            return (
                f"policy {refusal.policy} counts only devices whose plugin tells a NUMA node, and of these "
                f"{loose.placed} {'is' if loose.placed == 1 else 'are'} free"
            )
        return "not where the container's other resources have to be"
    if row.resource == "cpu":
        return "not where the container's other resources have to be"
    chosen = "" if around.chosen is None else f" with {nodes_text(around.chosen)}, which had been chosen for it,"
    if not around.groups:
        return f"no set of nodes{chosen} has all of it" if chosen else "not together on nodes that have the rest of it"
    return (
        f"not on nodes that may be used together{chosen.rstrip(',')}: a node whose memory pods hold alone stays alone, "
        f"and nodes held together stay together ({_groups(around)})"
    )


def _groups(around: Circumstances) -> str:
    texts = []
    for one in around.groups[:MAX_NODES_NAMED]:
        names = ", ".join(one.pods[:MAX_PODS_NAMED]) or "ended pods"
        more = f" and {len(one.pods) - MAX_PODS_NAMED} more" if len(one.pods) > MAX_PODS_NAMED else ""
        texts.append(
            f"{nodes_text(one.nodes)} {'alone' if one.nodes & (one.nodes - 1) == 0 else 'only together'}: {names}{more}"
        )
    return "; ".join(texts) + ("; …" if len(around.groups) > MAX_NODES_NAMED else "")


def _each(row: Row, table: Matrix, loose: Loose | None = None) -> str:
    """List what the nodes have, and what lies on none or on several."""
    if len(table.nodes) <= MAX_NODES_NAMED:
        text = ", ".join(f"node {numa}: {_of(row, place)}" for place, numa in enumerate(table.nodes))
    elif not any(cell.total for cell in row.cells):
        text = "no node has any"
    else:
        text = f"most of it on {_best(row, table)}"
    if loose is not None and loose.nowhere[1]:
        text += f", on no known node: {loose.nowhere[0]} of {loose.nowhere[1]}"
    if loose is not None and loose.several[1]:
        text += f"; {loose.several[1]} of them on several nodes, counted on each"
    return text


def _of(row: Row, place: int) -> str:
    cell, say = row.cells[place], _say(row)
    return f"{say(cell.free)} of {say(cell.total)}"


def _best(row: Row, table: Matrix) -> str:
    place = max(range(len(table.nodes)), key=lambda one: row.cells[one].free)
    return f"node {table.nodes[place]}: {_of(row, place)}"


def _loose(row: Row, around: Circumstances) -> Loose | None:
    return next((one for one in around.loose if one.resource == row.resource), None)


def _too_wide(row: Row, table: Matrix, policy: str, around: Circumstances) -> str:
    """One resource cannot be had in the way the policy wants."""
    say, each = _say(row), _each(row, table, _loose(row, around))
    largest = max(range(len(table.nodes)), key=lambda place: row.cells[place].total)
    most = row.cells[largest].total
    if policy == "single-numa-node":
        if most < row.requested:
            return (
                f"{_asked(row)}, but no NUMA node ever has more than {say(most)} "
                f"(node {table.nodes[largest]}), and policy single-numa-node takes all of it from one node"
            )
        if row.width > 1:
            return (
                f"{_asked(row)}, which the kubelet counts as {row.width} nodes' worth even on an empty machine, "
                f"and policy single-numa-node takes all of it from one node ({each})"
            )
        return f"{_asked(row)}, and policy single-numa-node takes all of it from one node; free now: {each}"
    many = "one node" if row.width == 1 else f"{row.width} nodes"
    return f"{_asked(row)}, and policy {policy} takes it from {many}, as an empty machine would; free now: {each}"


def _differ_in_width(rows: Sequence[Row], policy: str) -> Iterator[str]:
    """Resources that need different numbers of nodes never go together under `restricted`."""
    for row in rows:
        most = f"has {_say(row)(max(cell.total for cell in row.cells))} at most"
        yield f"{_asked(row)}: " + (
            f"fits one node, which {most}" if row.width == 1 else f"takes {row.width} nodes, as one {most}"
        )
    yield f"policy {policy} takes all of them from the same nodes, so on such nodes they never go together"


def _never_meet(rows: Sequence[Row], table: Matrix, around: Circumstances) -> Iterator[str]:
    """Each resource could be had, but not where the others are."""
    for row in rows:
        each = _each(row, table, _loose(row, around))
        alone = [place for place, cell in enumerate(row.cells) if cell.verdict == "enough"]
        if alone:
            yield f"{_asked(row)}: only {nodes_text(mask_of(table, alone))} could give it ({each})"
        else:
            yield f"{_asked(row)}: takes several nodes together ({each})"
    yield "each could be had alone, but not from the same nodes"


def _whole_cores(cores: Cores) -> str:
    """`full-pcpus-only` refused."""
    asked = f"cpu: {cores.requested} asked"
    below = cores.requested - cores.requested % cores.threads
    if cores.requested % cores.threads:
        near = f"{below} or {below + cores.threads}" if below else str(cores.threads)
        return f"{asked}, but full-pcpus-only gives out whole cores of {cores.threads} threads: ask for {near}"
    what = "CPUs" if cores.threads == 1 else f"CPUs of cores whose {cores.threads} threads are all free"
    return f"{asked}, but full-pcpus-only counts only {what}: {cores.available} now, {cores.total} on an empty machine"


def _no_whole_bytes(one: Unreadable) -> str:
    """An amount that the Memory Manager cannot hold."""
    return (
        f"{one.resource}: {with_decimals(one.nano)} of container {one.container} is not read as a whole number of "
        f"bytes, and the Memory Manager takes no other: write {' or '.join(readable_near(one.nano)) or 'less'}"
    )


def _node_too_small(refusal: Refusal) -> Iterator[str]:
    """The managers would, but the node as a whole has too little, or does not want the pod."""
    for one in refusal.shortages:
        yield shortage_text(one) if isinstance(one, Shortage) else f"{one.reason}: {one.message}"


def shortage_text(short: Shortage) -> str:
    """Say what the node as a whole lacks, in the units in which people ask for it."""
    if short.resource == "cpu":
        asked, used, there = (_cores_text(amount) for amount in (short.requested, short.used, short.capacity))
    else:
        say = written(short.resource, [short.requested, short.used, short.capacity])
        asked, used, there = say(short.requested), say(short.used), say(short.capacity)
    if not short.capacity:
        return f"{short.resource}: {asked} asked, and the node has none{_how_to_add(short.resource, short.requested)}"
    if short.requested > short.capacity:
        return f"{short.resource}: {asked} asked, and the node has {there}" + (
            f", of which other pods have {used}" if short.used else ""
        )
    return f"{short.resource}: {asked} asked, {used} of the node's {there} taken by other pods"


def _cores_text(milli: int) -> str:
    """Write milli-CPUs as CPUs: `19.5`."""
    return f"{milli / 1000:.3f}".rstrip("0").rstrip(".")
