"""Generated values that cost one draw: bytes of hypothesis, turned into a value by a plain function.

Each draw of hypothesis costs some ten microseconds, so that a machine with its pods, put together of hundreds of them,
costs more to generate than to judge. Here all of a value is decided by one draw of bytes. Hypothesis still makes what
fails small: it brings bytes down to 0, and 0 is the least number, the first of several choices, the end of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Dice:
    """Makes choices out of bytes; when they are used up, the least each time."""

    __slots__ = ("_at", "_bytes")

    def __init__(self, data: bytes) -> None:
        self._bytes = data
        self._at = 0

    def below(self, many: int) -> int:
        """Choose a number from 0 up, less than `many`."""
        size = ((many - 1).bit_length() + 15) // 8  # one byte more than it takes, so that all are about as likely
        start = self._at
        self._at = start + size
        return int.from_bytes(self._bytes[start : self._at], "big") % many

    def between(self, least: int, most: int) -> int:
        """Choose a number; both ends are among them."""
        return least + self.below(most - least + 1)

    def flag(self) -> bool:
        """Choose between no and yes."""
        return self.below(2) == 1

    def pick(self, options: Sequence[T]) -> T:
        """Choose one of several."""
        return options[self.below(len(options))]

    def several(self, make: Callable[[Dice], T], least: int, most: int) -> list[T]:
        """Make a list of so many values."""
        return [make(self) for _ in range(self.between(least, most))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Bring values into an order, at the least that in which they are."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]


def rolled(make: Callable[[Dice], T], size: int = 200) -> st.SearchStrategy[T]:
    """Make a strategy of a function; `size`: how many bytes it may use before it gets the least of everything."""
    return st.binary(min_size=size, max_size=size).map(lambda data: make(Dice(data)))
