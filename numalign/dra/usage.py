"""What is taken already of devices: whole ones, shares of capacities, counters of pools.

See docs/rules/dra.md D-6, D-12, D-12a, D-13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from numalign.dra.features import Features
from numalign.dra.pools import Pool
from numalign.dra.selection import AllocationError
from numalign.dra.values import Capacity, Claim, Device, DeviceID, RequestPolicy
from numalign.model.quantity import NANO, Quantity, canonical, from_int, value
from numalign.values import NamedTuple

Capacities = Mapping[str, int]
"""Capacity -> amount in billionths."""


_MILLI: Final = NANO // 1000
_MOST: Final = 2**63 - 1


RECORDED: Final = Features()
"""What is taken where nobody says: before 1.37 no amount is an error, and ranges have no fractions."""


def consumed(asked: Quantity | None, capacity: Capacity, features: Features = RECORDED) -> Quantity:
    """Give what a request takes: the amount asked for, rounded as the policy says (D-13, D-13a; kubelet-1.37.md 11).

    Raises:
        AllocationError: from 1.37 on no such amount can be counted.
    """
    policy = capacity.policy
    if asked is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return asked
    if policy.has_range and policy.minimum is not None:
        return _rounded(asked, policy.minimum, policy, features)
    larger = [one for one in policy.valid_values if one.nano >= asked.nano]
    return min(larger, key=lambda one: one.nano) if larger else asked


def _rounded(asked: Quantity, minimum: Quantity, policy: RequestPolicy, features: Features) -> Quantity:
    step = policy.step
    if asked.nano <= minimum.nano:
        return minimum
    if step is None or not value(step):
        return asked
    if _in_thousandths(policy, features):
        if not _is_milli(asked):
            raise AllocationError(f"{_UNCOUNTABLE}: request {canonical(asked)} is not a representable milli value")
        rounded = minimum.nano + -(-(asked.nano - minimum.nano) // step.nano) * step.nano
        _check_range(rounded // _MILLI, asked, features)
        return step._replace(nano=rounded, int64=None)
    _check_range(-(-asked.nano // NANO), asked, features)
    start, width = value(minimum), value(step)
    steps = -(-(value(asked) - start) // width)
    _check_range(start + steps * width, asked, features)
    return from_int(start + steps * width, asked.format)


_UNCOUNTABLE: Final = "capacity request cannot be represented in the device's range arithmetic"


def _check_range(number: int, asked: Quantity, features: Features) -> None:
    if features.mended and number > _MOST:
        raise AllocationError(f"{_UNCOUNTABLE}: request {canonical(asked)} exceeds the range")


def _in_thousandths(policy: RequestPolicy, features: Features) -> bool:
    ends = [one for one in (policy.minimum, policy.maximum, policy.step) if one is not None]
    return features.fractions and all(_is_milli(one) for one in ends)


def _is_milli(amount: Quantity) -> bool:
    return not amount.nano % _MILLI and abs(amount.nano) <= _MOST * _MILLI


def violates(amount: Quantity, policy: RequestPolicy | None, features: Features = RECORDED) -> bool:
    """Tell whether a policy refuses a rounded amount. The default is never refused."""
    if policy is None or (policy.default is not None and policy.default.nano == amount.nano):
        return False
    if policy.has_range:
        if policy.maximum is not None and amount.nano > policy.maximum.nano:
            return True
        if policy.step is not None and policy.minimum is not None and value(policy.step):
            if _in_thousandths(policy, features):
                return not _is_milli(amount) or bool((amount.nano - policy.minimum.nano) % policy.step.nano)
            return bool((value(amount) - value(policy.minimum)) % value(policy.step))
        return False
    return bool(policy.valid_values) and all(one.nano != amount.nano for one in policy.valid_values)


def taken_of(
    device: Device, asked: Mapping[str, Quantity] | None, features: Features = RECORDED
) -> dict[str, Quantity] | None:
    """Give what a request takes of each capacity of a device; None if the device cannot serve it at all.

    Raises:
        AllocationError: from 1.37 on an amount is below 0 or cannot be counted.
    """
    wanted = asked or {}
    if any(name not in device.capacity for name in wanted):
        return None
    found = {}
    for name, capacity in device.capacity.items():
        if name in wanted or device.shared:
            try:
                found[name] = consumed(wanted.get(name), capacity, features)
            except AllocationError as error:
                raise AllocationError(f'capacity "{name}": {error}') from None
            if features.mended and found[name].nano < 0:
                raise AllocationError(f'capacity "{name}": capacity value is negative')
    if any(violates(amount, device.capacity[name].policy, features) for name, amount in found.items()):
        return None
    if device.shared:
        return found
    return {} if fits(device, found, {}) else None


def fits(device: Device, taken: Mapping[str, Quantity], used: Capacities) -> bool:
    """Tell whether a device has what a request takes, beside what others have of it."""
    return all(used.get(name, 0) + amount.nano <= device.capacity[name].value.nano for name, amount in taken.items())


def added(used: Capacities, taken: Mapping[str, Quantity], sign: int = 1) -> Capacities:
    """Add amounts to what is used."""
    return {**used, **{name: used.get(name, 0) + sign * amount.nano for name, amount in taken.items()}}


class Usage(NamedTuple):
    """The devices that claims hold."""

    whole: frozenset[DeviceID] = frozenset()
    """Taken by one claim."""
    shared: frozenset[DeviceID] = frozenset()
    """Serving one or more claims by shares."""
    amounts: Mapping[DeviceID, Capacities] = {}
    """What the shares take."""

    def holds(self, identity: DeviceID) -> bool:
        """Tell whether a device is allocated in any way."""
        return identity in self.whole or identity in self.shared


def usage(claims: Iterable[Claim]) -> Usage:
    """Sum up allocated claims. Allocations with admin access count for nothing (D-10a)."""
    whole: set[DeviceID] = set()
    shared: set[DeviceID] = set()
    amounts: dict[DeviceID, Capacities] = {}
    for claim in claims:
        for taken in claim.allocation or ():
            if taken.admin:
                continue
            if taken.share:
                shared.add(taken.device)
                amounts[taken.device] = added(amounts.get(taken.device, {}), taken.consumed)
            else:
                whole.add(taken.device)
    return Usage(frozenset(whole), frozenset(shared), amounts)


Counter = tuple[str, str]
"""(counter set, counter)."""


class Counters:
    """What is left of the counters of each pool, while a search takes devices and gives them back.

    Kept by the pool's *name*, without the driver, as the allocator does before 1.37: the first driver of a name gives
    the sets (D-12a).
    """

    def __init__(self, pools: Iterable[Pool], in_use: Callable[[DeviceID], bool], *, by_driver: bool = False) -> None:
        self._pools = {(pool.driver, pool.name): pool for pool in pools}
        self._in_use = in_use
        self._by_driver = by_driver
        self._left: dict[tuple[str, str], dict[Counter, int]] = {}

    def take(self, device: Device, identity: DeviceID) -> bool:
        """Take a device's counters if all counters of the pool stay at 0 or above."""
        key = self._key(identity)
        if key not in self._left:
            self._left[key] = self._start(self._pools[identity.driver, identity.pool])
        left = self._left[key]
        _change(left, device, -1)
        if min(left.values(), default=0) >= 0:
            return True
        _change(left, device, 1)
        return False

    def give_back(self, device: Device, identity: DeviceID) -> None:
        """Undo `take`."""
        _change(self._left[self._key(identity)], device, 1)

    def _key(self, identity: DeviceID) -> tuple[str, str]:
        return identity.driver if self._by_driver else "", identity.pool

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
