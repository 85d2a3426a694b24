"""How much there is of what a fix requests, and how much it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Asked
from numalign.analysis.reasons.change_facts import (
    LeavesNone,
    Reasonable,
)
from numalign.analysis.reasons.facts import (
    CoresTaken,
    EnoughInAll,
    NodeTooSmall,
    OddCores,
    TooLittle,
    resource_of,
    with_asked,
)
from numalign.analysis.reasons.memory_facts import SumTooLarge
from numalign.analysis.reasons.order import key
from numalign.analysis.reasons.width_facts import Could, NotThere, TooWide
from numalign.model.quantity import NANO
from numalign.model.resources import is_bytes, is_memory, unit_of

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part


MANY_UNITS = 10240
"""From how many units on an amount is told in the next larger one."""
NO_AMOUNTS = ("node", "nodes", "width", "sockets", "threads", "chosen", "counted", "bound")
"""Numbers of facts that are none of what is asked."""


def units_of(amounts: Iterable[int]) -> tuple[int, int]:
    """Return the largest unit of amounts of bytes, and that in which they can be told exactly; 0: in none."""
    sizes = [one // NANO for one in amounts if one]
    if not any(sizes):
        return 1, 1
    unit = 1 << (max(sizes).bit_length() - 1) // 10 * 10
    smaller = max(unit >> 10, 1)
    whole = all(not size % smaller for size in sizes) and max(sizes) < smaller * MANY_UNITS
    tenths = min(sizes) >= unit and all(not size * 10 % unit for size in sizes)
    return unit, unit if tenths else smaller if whole else 0


def amounts_of(fact: object) -> Iterator[int]:
    """List the amounts that a fact tells, in billionths."""
    if isinstance(fact, int) and not isinstance(fact, bool):
        yield fact * NANO
    elif isinstance(fact, NodeTooSmall):
        unit, left = unit_of(fact.asked.resource), fact.capacity - fact.used
        parts = [amount for _, amount in fact.asked.parts]
        yield from (one * unit for one in (fact.asked.amount, *parts, fact.used, fact.capacity))
        if fact.asked.amount <= fact.capacity:
            yield from (left * unit, left * unit // NANO * NANO)
    elif isinstance(fact, tuple):
        names = getattr(fact, "_fields", ("",) * len(fact))
        for name, one in zip(names, fact, strict=True):
            if name not in NO_AMOUNTS:
                yield from amounts_of(one)
    if isinstance(fact, OddCores):
        below = fact.amount - fact.amount % fact.threads
        yield from (below * NANO, (below + fact.threads) * NANO)


def limit_of(fact: Reasonable) -> object:
    """Give of a fact only the resource and what there is of it: who knows that needs no other amount asked."""
    resource = resource_of(fact)
    if isinstance(fact, TooWide) and fact.never:
        return resource, fact.nodes
    return units_of(amounts_of(fact)) if is_bytes(resource) else None, _what_there_is(fact, resource)


def _what_there_is(fact: Reasonable, resource: str) -> object:
    """Give what there is of a resource, as a fact tells it."""
    if isinstance(fact, TooLittle) and fact.when == "ever":
        return resource, fact.had.totals
    if isinstance(fact, TooLittle):
        return resource, fact.there.shown
    if isinstance(fact, EnoughInAll | Could | NotThere):
        return resource, fact.had.shown
    if isinstance(fact, TooWide) and fact.policy == "single-numa-node" and fact.width > 1:
        return resource, fact.had.shown
    if isinstance(fact, OddCores):
        return resource, fact.amount // fact.threads
    if isinstance(fact, SumTooLarge) and fact.loose is not None:
        return resource, fact.loose
    if isinstance(fact, NodeTooSmall):
        return resource, fact.used, fact.capacity, fact.asked.amount > fact.capacity
    if isinstance(fact, CoresTaken):
        fact = fact._replace(amount=0, by=None)
    elif isinstance(getattr(fact, "asked", None), Asked):
        fact = with_asked(fact, lambda asked: Asked(asked.resource, 0))
    return key(fact)


def nothing_left(part: Part, found: Refusal) -> Iterator[LeavesNone]:
    """Tell that an init container that asks for less leaves no CPUs or devices that tie a later one to their nodes."""
    for (name, resource), nano in part.change.amounts.items():
        left = next((one for one in found.around.handed if one.resource == resource), None)
        if left is None or not left.nodes or is_memory(resource):
            continue
        fewer = (part.larger or part.change.asked[name, resource]) - nano
        if left.containers == (name,) and left.amount * NANO <= fewer:
            yield LeavesNone(resource, nano, name, found.at, left.nodes)
