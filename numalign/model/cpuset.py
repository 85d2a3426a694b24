"""Sets of CPUs (and of NUMA nodes) as ints: bit i set means CPU i is a member.

Text is the Linux list form, `0-3,8`. Inside numalign sets are always ints; text lives at the edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from typing import TypeAlias

from numalign.model.gotext import quote

CPUSet: TypeAlias = int
"""Bit i: CPU i."""

NUMAMask: TypeAlias = int
"""Bit i: the NUMA node with id i."""

DeviceSet: TypeAlias = int
"""Bit i: device i of its resource."""

MAX_ID = 1 << 20
"""Largest CPU id that is read: far above any machine, and small enough that a set stays a small int."""


class CPUSetError(ValueError):
    """A text is no CPU list; the message is the kubelet's (docs/rules/cpu-manager.md 4.10)."""


def parse(text: str) -> int:
    """Read a Linux list as the kubelet does (docs/rules/cpu-manager.md 4.10).

    Raises:
        CPUSetError: the text is no list (the kubelet's words), or names an id above `MAX_ID` (ours).
    """
    members = 0
    for low, high in ranges(text):
        if high > MAX_ID:
            raise CPUSetError(f"CPU id {high} is too large: numalign reads ids up to {MAX_ID}")
        members |= ((1 << (high - low + 1)) - 1) << low
    return members


def ranges(text: str) -> list[tuple[int, int]]:
    """Read a Linux list into ascending (first, last) pairs, neighbours joined; ids may have any size.

    Raises:
        CPUSetError: the text is no list, in the kubelet's words.
    """
    joined: list[tuple[int, int]] = []
    for low, high in sorted(_parts(text)):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) pairs of a list as written."""
    if not text:
        return
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low = _number(first)
        high = _number(last) if dash else low
        if low > high:
            raise CPUSetError(f'invalid range "{part}" ({low} > {high})')
        yield low, high


def _number(text: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdecimal()):
        raise CPUSetError(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if len(digits) > 18:
        digits = digits.lstrip("0") or "0"
        if len(digits) > 19 or int(digits) > 2**63 - (text[0] != "-"):
            raise CPUSetError(f"strconv.Atoi: parsing {quote(text)}: value out of range")
    return -int(digits) if text[0] == "-" else int(digits)


def format_set(members: int) -> str:
    """Print a set as a Linux list, ascending, two or more neighbours as a range; the empty set as ``""``."""
    parts = []
    while members:
        lowest = members & -members
        carried = members + lowest  # the lowest run is gone, and the bit above it set
        low, above = lowest.bit_length() - 1, (carried & -carried).bit_length() - 1
        parts.append(str(low) if above == low + 1 else f"{low}-{above - 1}")
        members &= carried
    return ",".join(parts)


def ids(members: int) -> Iterator[int]:
    """Yield the members of a set in ascending order."""
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low


def node_mask(numa: int) -> NUMAMask:
    """Return the mask of one NUMA node; of a negative id, which has no place in a mask, that of none."""
    return 1 << numa if numa >= 0 else 0


def union(sets: Iterable[int]) -> int:
    """Return what is in any of several sets."""
    return reduce(or_, sets, 0)


def from_ids(members: Iterable[int]) -> int:
    """Build a set from ids."""
    result = 0
    for member in members:
        result |= 1 << member
    return result
