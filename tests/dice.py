"""Generated values that cost one draw: bytes of hypothesis, turned into a value by a plain function.

Each draw of hypothesis costs some ten microseconds, so that a machine with its pods, put together of hundreds of them,
costs more to generate than to judge. Here all of a value is decided by one draw of bytes. Hypothesis still makes what
fails small: it brings bytes down to 0, and 0 is the least number, the first of several choices, the end of a list.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

T = TypeVar("T")

ODD_CHARACTERS = "\0\t\n\r\x1b\x7f\x85\xa0\u00df\u0130\u2028\u202e\ufeff\uffff\U0001f600\"'\\/:#-{}[],&*!|>%@`~0"
ODD_FLOATS = (0.0, -0.0, 0.5, 1e16, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan)


FEW, MANY = 40, 400
"""How many cases of a law are made: by `make test`, and by `make laws`, which makes new ones each time."""


def draws(number: int) -> settings:
    """Make so many cases of a law of which `FEW` show too little, and as many times more of them in `make laws`."""
    return settings(max_examples=number * settings().max_examples // FEW)


class Form(NamedTuple):
    """What scalars there are in generated data."""

    texts: Sequence[str] = ()
    """Texts that mean something where they stand."""
    keys: Sequence[str] = ()
    """The keys of mappings; none: any texts."""
    bits: int = 64
    """Of the largest number."""
    floats: bool = True
    finite: bool = False
    """Leave out floats that no file can hold: infinities, and what is no number."""


class Dice:
    """Makes choices out of bytes; when they are used up, the least each time."""

    __slots__ = ("_at", "_bytes")

    def __init__(self, data: bytes) -> None:
        self._bytes = data
        self._at = 0

    def below(self, many: int) -> int:
        """Choose a number from 0 up, less than `many`."""
        size = ((many - 1).bit_length() + 11) // 8  # half a byte more than it takes, so that all are about as likely
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

    def character(self) -> str:
        """Choose a character: a letter, any of ASCII, one that is odd somewhere, or any at all."""
        kind = self.below(4)
        if kind == 0:
            return chr(ord("a") + self.below(26))
        if kind == 1:
            return chr(self.below(128))
        if kind == 2:
            return self.pick(ODD_CHARACTERS)
        code = self.below(0x110000)
        return chr(code) if not 0xD800 <= code <= 0xDFFF else "x"

    def text(self, most: int) -> str:
        """Choose a text of at most so many characters; no half of a surrogate pair is in it."""
        return "".join([self.character() for _ in range(self.between(0, most))])

    def whole(self, bits: int) -> int:
        """Choose a number of any length up to so many bits, or as long a one below 0, down to -2^63."""
        number = self.below(1 << self.below(bits + 1))
        return number if not self.flag() else max(-number - 1, -(1 << 63))

    def fraction(self) -> float:
        """Choose a float: one that is odd somewhere, one with few digits, or any at all."""
        kind = self.below(3)
        if kind == 0:
            return self.pick(ODD_FLOATS)
        if kind == 1:
            return self.below(1000) / self.pick((10, 8, 1000, -2))
        (any_float,) = struct.unpack("<d", self.below(1 << 64).to_bytes(8, "little"))
        return float(any_float)

    def data(self, form: Form, depth: int = 4) -> Any:
        """Choose data as a file holds it: nothing, a scalar, or lists and mappings at most so deep."""
        kind = self.below(18 if depth else 6)  # two times of three a list or mapping
        if 6 <= kind < 12:
            return [self.data(form, depth - 1) for _ in range(self.between(0, 4))]
        if kind >= 12:
            count = self.between(0, 4)
            return {
                self.pick(form.keys) if form.keys else self.text(5): self.data(form, depth - 1) for _ in range(count)
            }
        if kind == 0:
            return None
        if kind == 1:
            return self.flag()
        if kind == 2:
            return self.whole(form.bits)
        if kind == 3 and form.floats:
            number = self.fraction()
            return 0.5 if form.finite and not math.isfinite(number) else number
        return self.pick(form.texts) if kind == 4 and form.texts else self.text(8)

    def several(self, make: Callable[[Dice], T], least: int, most: int) -> list[T]:
        """Make a list of so many values."""
        return [make(self) for _ in range(self.between(least, most))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Bring values into an order, at the least that in which they are."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]


def rolled(make: Callable[[Dice], T], size: int = 600) -> st.SearchStrategy[T]:
    """Make a strategy of a function; `size`: how many bytes it may use before it gets the least of everything."""
    rolls = st.binary(min_size=size, max_size=size)

    @st.composite
    def one(draw: st.DrawFn) -> T:  # unlike `map` it has what fails reported as the value, not as the bytes
        return make(Dice(draw(rolls)))

    return one()
