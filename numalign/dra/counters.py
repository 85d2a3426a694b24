"""Shared counters of partitionable devices (docs/rules/dra.md D-12, D-12a)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from numalign.dra.pools import Pool
from numalign.dra.values import Device, DeviceID

Counter = tuple[str, str]
"""(counter set, counter)."""


class Counters:
    """What is left of the counters of each pool, while a search takes devices and gives them back.

    Kept by the pool's *name*, without the driver, as the allocator does: the first driver of a name gives the sets
    (D-12a).
    """

    def __init__(self, pools: Iterable[Pool], in_use: Callable[[DeviceID], bool]) -> None:
        self._pools = {(pool.driver, pool.name): pool for pool in pools}
        self._in_use = in_use
        self._left: dict[str, dict[Counter, int]] = {}

    def take(self, device: Device, identity: DeviceID) -> bool:
        """Take a device's counters if all counters of the pool stay at 0 or above."""
        if identity.pool not in self._left:
            self._left[identity.pool] = self._start(self._pools[identity.driver, identity.pool])
        left = self._left[identity.pool]
        _change(left, device, -1)
        if min(left.values(), default=0) >= 0:
            return True
        _change(left, device, 1)
        return False

    def give_back(self, device: Device, identity: DeviceID) -> None:
        """Undo `take`."""
        _change(self._left[identity.pool], device, 1)

    def _start(self, pool: Pool) -> dict[Counter, int]:
        """Give a pool's counters without what its allocated devices use, on this node or any other."""
        slices = (*pool.slices, *pool.elsewhere)
        left: dict[Counter, int] = {
            (name, counter): amount.nano
            for slice_ in slices
            for name, counters in slice_.counters
            for counter, amount in counters.items()
        }
        for slice_ in slices:
            for device in slice_.devices:
                if device.consumes and self._in_use(DeviceID(pool.driver, pool.name, device.name)):
                    _change(left, device, -1)
        return left


def _change(left: dict[Counter, int], device: Device, sign: int) -> None:
    """Add or take away what a device uses; counters that are not there limit nothing."""
    for use in device.consumes:
        for counter, amount in use.counters.items():
            key = (use.counter_set, counter)
            if key in left:
                left[key] += sign * amount.nano
