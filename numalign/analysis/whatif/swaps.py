"""Which other container may do without a resource in place of the one that is to: people choose by what they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.cuts import Key
from numalign.analysis.whatif.tries import Tries


def or_in(tries: Tries, change: WayOut, told: Sequence[WayOut]) -> dict[Key, tuple[tuple[str, int], ...]]:
    """Find for each resource that one container is to leave out the others that may do so instead.

    Args:
        tries: what changes are tried against.
        change: the change.
        told: all changes that are told: what one of them says needs no word in another.

    Returns:
        key of what is left out -> (other container, what the first may ask for then, in billionths).
    """
    found: dict[Key, tuple[tuple[str, int], ...]] = {}
    left_out = [key for key, nano in change.amounts.items() if not nano]
    for key in left_out:
        if sum(other[1] == key[1] for other in left_out) == 1:
            others = tuple(_others(tries, change, key, told))
            found.update({key: others} if others else {})
    return found


def _others(tries: Tries, change: WayOut, key: Key, told: Sequence[WayOut]) -> Iterator[tuple[str, int]]:
    """Try each other container that asks for the resource; the first one may have as much of it then, if it wants."""
    for container in tries.outcome.pod.containers:
        other = (container.name, key[1])
        asked = container.requests[key[1]].nano if key[1] in container.requests else 0
        if not asked or other in change.amounts or any(other in one.amounts for one in told):
            continue
        swapped = swap(change, key, other, asked)
        tried = tries.admitted(swapped)
        if tried is not None and aligned(tried) == change.aligned:
            yield container.name, swapped.ask(key)


def swap(change: WayOut, key: Key, other: Key, asked: int) -> WayOut:
    """Leave a resource out in another container, which asks for `asked` of it, instead."""
    kept = min(asked, change.asked[key])
    amounts = {one: nano for one, nano in change.amounts.items() if one != key}
    amounts |= {other: 0} | ({key: kept} if kept < change.asked[key] else {})
    return change._replace(amounts=amounts, asked={**change.asked, other: asked})
