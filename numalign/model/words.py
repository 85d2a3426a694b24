"""Words for people: the known one that is nearest to one that nobody knows, and a few of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
