"""Words for people: the known one that is nearest to one that nobody knows, a few of many, large numbers, times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log10
from typing import Final

MAX_COMPARED: Final = 100
"""Characters of a word that are compared: comparing takes time by the square."""


def nearest(word: str, known: Iterable[str], alike: float = 0.5) -> str | None:
    """Find the known word that was probably meant.

    Args:
        word: what was written; upper and lower case count as the same.
        known: the words that there are.
        alike: how much they must have in common, from 0 (the nearest of all) to 1 (the same).
    """
    from difflib import get_close_matches

    lower = {one.lower(): one for one in known}
    found = get_close_matches(word.lower()[:MAX_COMPARED], lower, n=1, cutoff=alike)
    return lower[found[0]] if found else None


def few_of(names: Sequence[str], most: int) -> str:
    """Name the first ones, and say how many more there are: `a, b and 3 more`; empty for none."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def sentence(text: str) -> str:
    """Write a clause as a sentence: a capital, unless it begins with a name that has none, and a full stop."""
    first = text.partition(" ")[0]
    return f"{text[:1].upper() if first.isalpha() and first.islower() else text[:1]}{text[1:].removesuffix('.')}."


def counted(number: int) -> str:
    """Write a number with a blank at each thousand."""
    return f"{number:,}".replace(",", " ")


def about(number: int) -> str:
    """Write a number that may be huge: from 10^15 on its power of ten."""
    return counted(number) if number < 10**15 else f"10^{log10(number):.0f}"


def duration(seconds: float) -> str:
    """Write a time to about one digit: `20 ms`, `4 s`, `12 minutes`, `3 years`; infinity, too."""
    if seconds >= 1e6 * 31_557_600:
        return "a million years or more"
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{counted(round(seconds / size))} {unit}"
    if seconds >= 1:
        return f"{seconds:.0f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"
