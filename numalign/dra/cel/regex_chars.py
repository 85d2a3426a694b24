"""Sets of characters in patterns of RE2: ranges of code points, and the classes that have names."""

from __future__ import annotations

from typing import Final

from numalign.values import NamedTuple

Range = tuple[int, int]


class Chars(NamedTuple):
    """One character out of ranges of code points."""

    ranges: tuple[Range, ...]
    negated: bool = False

    def has(self, code: int) -> bool:
        """Tell whether a character is one of these."""
        return any(low <= code <= high for low, high in self.ranges) != self.negated


_DIGIT: Final = ((48, 57),)
_WORD: Final = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Final = ((9, 10), (12, 13), (32, 32))
CLASSES: Final = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
"""Letter behind a backslash -> its characters."""
POSIX: Final[dict[str, tuple[Range, ...]]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGIT,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": _WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
"""Name within `[:` and `:]` -> its characters."""
LAST_CODE: Final = 0x10FFFF
"""The greatest code point."""


def complement(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """Give the ranges of all characters that are not in these, which ascend; the first of them may be empty."""
    starts = (0, *[high + 1 for _, high in ranges])
    ends = (*[low - 1 for low, _ in ranges], LAST_CODE)
    return tuple(zip(starts, ends, strict=True))


def in_both_cases(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """Add the other case of ASCII letters, and of a character that stands alone."""
    more: list[Range] = []
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            start, end = max(low, first), min(high, last)
            if start <= end:
                more.append((start + shift, end + shift))
        if low == high:
            more += [(ord(other), ord(other)) for other in (chr(low).lower(), chr(low).upper()) if len(other) == 1]
    return (*ranges, *more)
