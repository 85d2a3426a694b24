"""Sets of CPUs (and of NUMA nodes) as ints: bit i set means CPU i is a member.

Text is the Linux list form, `0-3,8`. Inside numalign sets are always ints; text lives at the edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MAX_ID = 1 << 20
"""Largest CPU id that is read: far above any machine, and small enough that a set stays a small int."""


class CPUSetError(ValueError):
    """A text is no CPU list; the message is the kubelet's (docs/rules/cpu-manager.md 4.10)."""


def format_set(members: int) -> str:
    """Print a set as a Linux list, ascending, two or more neighbours as a range; the empty set as ``""``."""
    parts = []
    while members:
        low = (members & -members).bit_length() - 1
        run = members >> low
        length = ((run + 1) & -(run + 1)).bit_length() - 1
        parts.append(str(low) if length == 1 else f"{low}-{low + length - 1}")
        members = (run >> length) << (low + length)
    return ",".join(parts)


def ids(members: int) -> Iterator[int]:
    """Yield the members of a set in ascending order."""
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low


def from_ids(members: Iterable[int]) -> int:
    """Build a set from ids."""
    result = 0
    for member in members:
        result |= 1 << member
    return result
