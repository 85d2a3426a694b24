"""Devices that serve several requests at once: what a request takes of each capacity (docs/rules/dra.md D-13)."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.dra.values import Capacity, Device, RequestPolicy
from numalign.model.quantity import Quantity, from_int, value

Capacities = Mapping[str, int]
"""Capacity -> amount in billionths."""


def consumed(asked: Quantity | None, capacity: Capacity) -> Quantity:
    """Give what a request takes: the amount asked for, rounded as the policy says (D-13, D-13a)."""
    policy = capacity.policy
    if asked is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return asked
    if policy.has_range and policy.minimum is not None:
        return _rounded(asked, policy.minimum, policy.step)
    larger = [one for one in policy.valid_values if one.nano >= asked.nano]
    return min(larger, key=lambda one: one.nano) if larger else asked


def _rounded(asked: Quantity, minimum: Quantity, step: Quantity | None) -> Quantity:
    if asked.nano <= minimum.nano:
        return minimum
    if step is None or not value(step):
        return asked
    start, width = value(minimum), value(step)
    steps = -(-(value(asked) - start) // width)
    return from_int(start + steps * width, asked.format)


def violates(amount: Quantity, policy: RequestPolicy | None) -> bool:
    """Tell whether a policy refuses a rounded amount. The default is never refused."""
    if policy is None or (policy.default is not None and policy.default.nano == amount.nano):
        return False
    if policy.has_range:
        if policy.maximum is not None and amount.nano > policy.maximum.nano:
            return True
        if policy.step is not None and policy.minimum is not None and value(policy.step):
            return bool((value(amount) - value(policy.minimum)) % value(policy.step))
        return False
    return bool(policy.valid_values) and all(one.nano != amount.nano for one in policy.valid_values)


def taken_of(device: Device, asked: Mapping[str, Quantity] | None) -> dict[str, Quantity] | None:
    """Give what a request takes of each capacity of a device; None if the device cannot serve it at all."""
    wanted = asked or {}
    if any(name not in device.capacity for name in wanted):
        return None
    if not device.shared:
        fits = all(not _is_over(amount, device.capacity[name]) for name, amount in wanted.items())
        return {} if fits else None
    found = {name: consumed(wanted.get(name), capacity) for name, capacity in device.capacity.items()}
    if any(violates(amount, device.capacity[name].policy) for name, amount in found.items()):
        return None
    return found


def _is_over(asked: Quantity, capacity: Capacity) -> bool:
    """Tell whether a device that is taken whole has less than what is asked for, or refuses the amount."""
    amount = consumed(asked, capacity)
    return amount.nano > capacity.value.nano or violates(amount, capacity.policy)


def fits(device: Device, taken: Mapping[str, Quantity], used: Capacities) -> bool:
    """Tell whether a device has what a request takes, beside what others have of it."""
    return all(used.get(name, 0) + amount.nano <= device.capacity[name].value.nano for name, amount in taken.items())


def added(used: Capacities, taken: Mapping[str, Quantity], sign: int = 1) -> Capacities:
    """Add amounts to what is used."""
    return {**used, **{name: used.get(name, 0) + sign * amount.nano for name, amount in taken.items()}}
