"""What the pod's own containers have to do with it: they hold some, leave some, or ask for too much together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.model.resources import CPU, is_bytes
from numalign.render.text.amounts import nodes_text
from numalign.render.text.refusal.memory import short_with_left, told_by_groups
from numalign.render.text.refusal.nodes import (
    all_devices,
    held_by_own,
    left_text,
    parts_text,
    sum_text,
    told_with,
)
from numalign.render.text.refusal.width import as_few_nodes, tied_to
from numalign.render.text.written import written

if TYPE_CHECKING:
    from numalign.analysis.handed import Handed
    from numalign.analysis.matrix import Row
    from numalign.analysis.refusal import Refusal


def beside(refusal: Refusal) -> Iterator[str]:
    """Say what the pod's own containers have to do with it, where the sentences about what is free do not."""
    yield from sums(refusal)
    if refusal.stage == "policy" and len(refusal.culprits) > 1:
        yield from as_few_nodes(refusal)
        return  # how many nodes something takes is counted on an empty machine
    told = {one.resource for one in refusal.around.sums}
    for row in refusal.culprits:
        if row.resource in told or refusal.too_large(row) or refusal.odd_cores or _told_by_too_little(row, refusal):
            continue
        own = held_by_own(row, refusal.around)
        if own and not (is_bytes(row.resource) and told_by_groups(refusal)):
            say = written(row.resource, [one.amount for one in own])
            held = ", ".join(f"{one.container} {say(one.amount)} on {nodes_text(one.nodes)}" for one in own)
            yield f"{row.resource}: the pod's own earlier containers hold some of it: {held}"
    yield from taken_over(refusal)


def _told_by_too_little(row: Row, refusal: Refusal) -> bool:
    """Tell whether the sentence about what is free tells of the pod's own containers, too."""
    apart = refusal.stage == "merge" or refusal.around.cores is not None
    return refusal.stage == "policy" or (row.free < row.requested and not apart)


def taken_over(refusal: Refusal) -> Iterator[str]:
    """Say what init containers leave to the refused container, and what that ties it to."""
    told = {one.resource for one in refusal.around.sums}
    every = refusal.matrix.nodes if refusal.matrix else ()
    for row in refusal.culprits:
        if row.resource in told or refusal.too_large(row) or refusal.odd_cores:
            continue
        for one in refusal.around.handed:
            if one.resource == row.resource and not _told_already(one, row, refusal):
                yield _left(one, row, len(every) > 1, refusal)


def _told_already(left: Handed, row: Row, refusal: Refusal) -> bool:
    """Tell whether the sentence about a resource itself tells what init containers leave of it."""
    if refusal.stage in ("policy", "merge") and not is_bytes(row.resource) and tied_to(refusal) is None:
        return True
    if left.resource == CPU and refusal.around.cores is not None:
        return len(refusal.matrix.nodes if refusal.matrix else ()) < 2  # told beside what is free of whole cores
    return row.free + left.amount < row.requested or tied_to(refusal) is not None


def _left(one: Handed, row: Row, several: bool, refusal: Refusal) -> str:
    """Say what init containers leave of one resource, and what follows; the sum, where it does not do."""
    free = short_with_left(one, row)
    both = {} if free is None else {free + one.amount: (free, one.amount)}
    amounts = [one.amount, *both, *(() if free is None else (free,))]
    say = written(one.resource, amounts, [row.requested], sums=both)
    there = f" on {nodes_text(one.nodes)}" if one.nodes and several else ""
    text = f"{one.resource}: {left_text(one, say(one.amount))}{there} to the containers after it"
    if is_bytes(one.resource):
        width, many = row.width, one.nodes.bit_count()
        total = ""
        if free is not None:
            total = f": {say(free)} + {say(one.amount)} = {say(free + one.amount)}, {say(row.requested)} asked"
        wide = refusal.stage == "policy" and 0 < width < many
        but = f": {many} nodes, where it takes {'one' if width == 1 else width}" if wide else ""
        return f"{text}, to be used only with what is free on {nodes_text(one.nodes)}{but}{total}"
    return f"{text}, which must use {nodes_text(one.nodes)}, too" if there else text


TOGETHER = "the pod's containers together ask for"
"""How a sentence about a sum begins, behind the resource."""


def sums(refusal: Refusal) -> Iterator[str]:
    """Say what containers together ask for too much of, where no sentence about the sum itself does."""
    around = refusal.around
    rows = () if around.cores is not None or around.unreadable else (*refusal.culprits, *refusal.also)
    for one in around.sums:
        if one in around.together and any(told_with(one, row) for row in rows):
            continue
        say = sum_text(one)
        every = (row.loose for row in (*refusal.culprits, *refusal.also) if row.resource == one.resource)
        spread = next((each for each in every if each is not None and each.apart), None)
        where = f" ({all_devices(spread)})" if spread else ""
        yield (
            f"{one.resource}: {TOGETHER} {say(one.requested)} ({parts_text(one)}), and the machine never has more than "
            f"{say(one.capacity)}{where}"
        )
