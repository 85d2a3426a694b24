"""The node as a whole has too little, or does not want the pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO, of_thousandths
from numalign.model.resources import CPU
from numalign.render.text.refusal.nodes import reduced_text
from numalign.render.text.refusal.short import how_to_add
from numalign.render.text.written import Written, written

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.in_the_way import Amount
    from numalign.analysis.refusal import Refusal


MILLI_OF_CPU = 1000
"""Thousandths, in which the fit check counts CPUs."""


def node_too_small(refusal: Refusal) -> Iterator[str]:
    """The managers would, but the node as a whole has too little, or does not want the pod."""
    for one in refusal.shortages:
        yield _short(one, refusal.around) if isinstance(one, Shortage) else f"{one.reason}: {one.message}"


def _short(short: Shortage, around: Circumstances) -> str:
    """Say what the node as a whole lacks, in the units in which people ask for it, and who asks for how much of it."""
    parts = next((one.parts for one in around.shares if one.resource == short.resource), ())
    each = [nano // unit_counted(short.resource) for _, nano in parts]
    left = max(short.capacity - short.used, 0)
    say: Written = of_thousandths
    if short.resource != CPU:
        sums = {short.used: (short.capacity, -left)} if max(short.requested, short.used) <= short.capacity else {}
        pairs = [(short.requested, short.capacity), (short.requested, left)]
        amounts = [short.used, short.capacity, left]
        say = written(short.resource, amounts, [short.requested], parts=each, pairs=pairs, sums=sums)
    asked, used, there = say(short.requested), say(short.used), say(short.capacity)
    asked += f" asked{reduced_text(short.resource, around)}"
    if parts:
        asked += f" ({' + '.join(f'{name} {say(amount)}' for (name, _), amount in zip(parts, each, strict=True))})"
    if not short.capacity:
        return f"{short.resource}: {asked}, and the node has none{how_to_add(short.resource, short.requested)}"
    if short.requested > short.capacity:
        return f"{short.resource}: {asked}, and the node has {there}" + (
            f", of which other pods ask for {used}" if short.used else ""
        )
    whole = short.resource == CPU and not short.requested % MILLI_OF_CPU and left % MILLI_OF_CPU
    rest = f", which leaves {say(left)}{f': {left // MILLI_OF_CPU} whole' * bool(whole)}"
    return f"{short.resource}: {asked}, {used} of the node's {there} requested by other pods{rest}"


def taken_text(one: Amount) -> str:
    """Say how much of a node other pods ask for: `25 of 30`."""
    used, there = (nano // unit_counted(one.resource) for nano in (one.used, one.capacity))
    say = as_taken(one.resource, used, there)
    return f"{say(used)} of {say(there)}"


def unit_counted(resource: str) -> int:
    """Return in how many billionths the fit check counts a resource."""
    return NANO // MILLI_OF_CPU if resource == CPU else NANO


def as_taken(resource: str, used: int, capacity: int) -> Written:
    """Choose how to write what other pods ask for, as the fit check counts it: it adds up with what they leave."""
    if resource == CPU:
        return of_thousandths
    return written(resource, [used, capacity, capacity - used], sums={used: (capacity, used - capacity)})
