"""What was worked out once: answers under the state that they depend on, and small numbers for such states.

A state is a tuple of tuples, and Python hashes it anew each time it is looked up. It is looked up once, when a machine
changes; after that its number stands for it, for every shape of pod.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import Final, TypeVar

MAX_KNOWN: Final = 50_000
"""Answers that are remembered of a kind; then all are forgotten, which only costs time."""

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


def remember(known: dict[Key, Answer], key: Key, answer: Answer) -> Answer:
    """Remember an answer, and give it back."""
    if len(known) >= MAX_KNOWN:
        known.clear()
    known[key] = answer
    return answer


class Numbers:
    """Numbers for states: equal numbers mean equal states, and no number is ever used again for another."""

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[Hashable, int] = {}
        self._numbers = count()

    def of(self, state: Hashable) -> int:
        """Return the number of a state."""
        number = self._known.get(state)
        if number is None:
            number = remember(self._known, state, next(self._numbers))
        return number
