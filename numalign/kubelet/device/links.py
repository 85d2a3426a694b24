"""Preferred sets of devices from the links between them (NVLinks of a DGX-1): the more links in a set, the better."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb

from numalign.model.cpuset import DeviceSet

MAX_SETS = 20_000
"""How many sets are compared; beyond it one good set is grown link by link."""

Links = Mapping[int, int]
"""A pair of devices, as a set of two, -> the number of links between them."""


def links_within(links: Links, members: DeviceSet) -> int:
    """Count the links between the devices of a set."""
    return sum(count for pair, count in links.items() if not pair & ~members)


def best_sets(links: Links, pool: DeviceSet, must_include: DeviceSet, size: int) -> tuple[int, ...]:
    """Return the sets of `size` devices of `pool` with the most links, in natural order of their devices.

    Args:
        links: the links.
        pool: what there is to choose from; all of `must_include` belong to it.
        must_include: devices that every set has.
        size: how many devices a set has.
    """
    missing = size - must_include.bit_count()
    free = [1 << place for place in range(pool.bit_length()) if (pool & ~must_include) >> place & 1]
    if missing < 0 or missing > len(free):
        return ()
    if comb(len(free), missing) > MAX_SETS:
        return (_grow(links, free, must_include, missing),)
    best = -1
    found: list[int] = []
    for chosen in combinations(free, missing):
        members = must_include | sum(chosen)
        count = links_within(links, members)
        if count >= best:
            if count > best:
                best, found = count, []
            found.append(members)
    return tuple(found)


def _grow(links: Links, free: list[int], members: DeviceSet, missing: int) -> int:
    """Add the device with the most links to the set, again and again; of equal ones the first."""
    left = list(free)
    if not members and missing > 1:
        pairs = [(-count, pair) for pair, count in links.items() if not pair & ~sum(free)]
        members = min(pairs)[1] if pairs else 0
        missing -= members.bit_count()
        left = [device for device in left if not device & members]
    for _ in range(missing):
        closest = max(left, key=lambda device: links_within(links, members | device))
        members |= closest
        left.remove(closest)
    return members
