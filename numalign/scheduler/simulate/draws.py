"""Chance that repeats: every draw is a function of the seed and of what is drawn.

No generator is carried along, so one more draw somewhere changes no other, and a run can be split among processes.
"""

from __future__ import annotations

from numalign.scheduler.xxh64 import xxh64


def below(limit: int, seed: int, *what: str | int) -> int:
    """Draw a whole number from 0 to `limit` - 1."""
    return xxh64("\0".join(map(str, what)).encode(), seed) % limit


def fraction(seed: int, *what: str | int) -> float:
    """Draw a number from 0 (included) to 1 (not included)."""
    return below(1 << 53, seed, *what) / (1 << 53)
