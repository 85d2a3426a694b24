"""An object as a scheduler keeps it: what stays of it while its kubelet runs, and the free amounts that do not."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

from numalign.scheduler import fingerprint
from numalign.scheduler.nrt.value import (
    FINGERPRINT,
    PLACEMENT_METADATA,
    NodeResourceTopology,
    NUMAZone,
    manager_config,
    numa_zones,
    with_available,
)
from numalign.values import NamedTuple

Free = tuple[tuple[int, ...], ...]
"""Free amounts in billionths: for each zone of a layout, for each resource that says how much of it is free."""
_OF_PODS = (FINGERPRINT, PLACEMENT_METADATA)
"""Attributes that name pods; they decide whether an object is fresh, not what is in it."""


class Layout:
    """What an object says beside its free amounts, read once. Layouts that say the same are equal."""

    __slots__ = ("_hash", "_key", "_whole", "_zones", "listed", "manager", "names", "nrt", "only_exclusive")

    def __init__(self, nrt: NodeResourceTopology) -> None:
        """Read an object."""
        self.nrt = nrt
        """As it was written, free amounts too."""
        self.manager = manager_config(nrt)
        self.listed = nrt.listed
        """All resources that some zone lists."""
        self.only_exclusive = fingerprint.published(nrt).only_exclusive
        """Whether its fingerprint is of pods with something of their own only."""
        self.names = tuple(
            [tuple([name for name, one in zone.resources.items() if one.available is not None]) for zone in nrt.zones]
        )
        """For each zone the resources of which it says how much is free."""
        self._zones = numa_zones(nrt)
        self._whole = len(self._zones) == len(nrt.zones) and all(
            len(names) == len(zone.resources) for names, zone in zip(self.names, nrt.zones, strict=True)
        )
        """Whether every zone is a NUMA node that says of every resource how much is free."""
        self._key = _key(nrt)
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Layout) and self._key == other._key)

    def zones(self, free: Free, amount: Literal["available", "kep"]) -> tuple[NUMAZone, ...]:
        """List the zones that a filter looks at, with other free amounts."""
        if not self._whole:
            return numa_zones(self.written(free), amount)
        return tuple(
            [
                NUMAZone(zone.id, dict(zip(names, row, strict=True)), zone.costs)
                for zone, names, row in zip(self._zones, self.names, free, strict=True)
            ]
        )

    def written(self, free: Free) -> NodeResourceTopology:
        """Write the object with other free amounts."""
        rows = [dict(zip(names, row, strict=True)) for names, row in zip(self.names, free, strict=True)]
        return with_available(self.nrt, rows)


def _key(nrt: NodeResourceTopology) -> Hashable:
    """Make a key of all that decides in an object, but for its free amounts."""
    zones = tuple(
        [
            (
                zone.name,
                zone.type,
                tuple(
                    [
                        (name, one.capacity, one.allocatable, one.available is None)
                        for name, one in zone.resources.items()
                    ]
                ),
                frozenset(zone.costs.items()),
            )
            for zone in nrt.zones
        ]
    )
    attributes = tuple([one for one in nrt.attributes if one[0] not in _OF_PODS])
    return attributes, nrt.topology_policies, zones


class Copy(NamedTuple):
    """A copy of an object; copies that decide alike are equal."""

    layout: Layout
    free: Free

    def zones(self, amount: Literal["available", "kep"] = "available") -> tuple[NUMAZone, ...]:
        """List the zones that a filter looks at."""
        return self.layout.zones(self.free, amount)

    @property
    def nrt(self) -> NodeResourceTopology:
        """The object as it is written."""
        return self.layout.written(self.free)


def copied(nrt: NodeResourceTopology) -> Copy:
    """Copy an object."""
    rows = [[one.available for one in zone.resources.values() if one.available is not None] for zone in nrt.zones]
    return Copy(Layout(nrt), tuple([tuple(row) for row in rows]))


def copy_of(nrt: NodeResourceTopology | None) -> Copy | None:
    """Copy an object; None: there is none."""
    return None if nrt is None else copied(nrt)
