"""NUMA fragmentation: what the borders between NUMA nodes cost pods of one shape (docs/rules/scheduling.md 6.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction

from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple


class Fragmentation(NamedTuple):
    """How many copies of a shape fit, with and without a look at NUMA nodes."""

    single: int
    """Copies that fit with each copy in one zone."""
    total: int
    """Copies that a scheduler would see room for that knows only the machine's sum."""

    @property
    def share(self) -> Fraction:
        """Return the part of the room that is useless for aligned copies: 0 nothing, 1 all."""
        return 1 - Fraction(self.single, self.total) if self.total else Fraction(0)

    @property
    def stranded(self) -> int:
        """Count the copies that a topology-unaware scheduler could send to a sure rejection."""
        return self.total - self.single


def of_cluster(machines: Collection[Fragmentation]) -> Fragmentation:
    """Add up machines."""
    return Fragmentation(sum([one.single for one in machines]), sum([one.total for one in machines]))


def fragmentation(
    zones: Sequence[Amounts], probe: Amounts, *, host: Amounts | None = None, host_level: Collection[str] = ()
) -> Fragmentation:
    """Count how often a probe fits a machine.

    Args:
        zones: the free amounts of each zone.
        probe: the shape; names with an amount of 0 do not count.
        host: the free amounts of the machine as a whole, for host-level resources.
        host_level: the names of the probe that belong to the machine as a whole.
    """
    wanted = {name: amount for name, amount in probe.items() if amount > 0 and name not in host_level}
    outside = {name: probe[name] for name in host_level if probe.get(name, 0) > 0}
    most = _fits(host or {}, outside) if outside else None
    single = sum([_fits(zone, wanted) or 0 for zone in zones])
    total = _fits(_in_all(zones, wanted), wanted) or 0
    if most is not None:
        single, total = min(single, most), min(total, most)
    return Fragmentation(single, total)


def _in_all(zones: Sequence[Amounts], names: Iterable[str]) -> dict[str, int]:
    """Add up what is free; a zone that lacks some has none."""
    total = dict.fromkeys(names, 0)
    for zone in zones:
        for name, free in zone.items():
            if name in total and free > 0:
                total[name] += free
    return total


def _fits(free: Amounts, wanted: Amounts) -> int | None:
    """Count how often amounts fit; None: nothing is wanted, so there is no bound.

    A simulation asks for every shape whenever a machine changes: without generators it takes half the time.
    """
    fewest: int | None = None
    for name, amount in wanted.items():
        copies = max(free.get(name, 0), 0) // amount
        if fewest is None or copies < fewest:
            fewest = copies
    return fewest
