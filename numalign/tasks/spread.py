"""Work on what lies in this process, on several processes that inherit it; the results come in the order of the work.

Nothing is sent to them. What is described by values that can be sent, and may have to be done again or on other
machines, is `parallel`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_ITEMS_ALONE = 64
"""So few pieces are done here: starting processes would take longer."""
PIECES_AT_ONCE = 16
"""How many pieces a process takes at once."""

_inherited: list[Callable[[int], object]] = []
"""In a worker process: does the piece of a number. Inherited from the process that forked it, so nothing is copied."""


def spread(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> list[Result]:
    """Do the work for each item.

    Args:
        work: what is done; it changes nothing that others see.
        items: for what.
        jobs: how many processes; 1: this one.
    """
    if jobs < 2 or len(items) <= MAX_ITEMS_ALONE:
        return [work(item) for item in items]
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    def piece(place: int) -> Result:
        return work(items[place])

    with ProcessPoolExecutor(jobs, get_context("fork"), lambda: _inherited.append(piece)) as pool:
        found = pool.map(_do, range(len(items)), chunksize=PIECES_AT_ONCE)
        return cast("list[Result]", list(found))


def _do(place: int) -> object:
    return _inherited[-1](place)
