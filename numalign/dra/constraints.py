"""What the devices of a claim must have in common, or not (docs/rules/dra.md 5).

A constraint keeps what it has seen; `add` takes a device in or refuses it, `remove` undoes `add`, with the quirks of
the scheduler's own (D-17, D-18a).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from numalign.dra.features import Features
from numalign.dra.values import Attribute, Device, DeviceID
from numalign.dra.values import Constraint as Written
from numalign.values import NamedTuple


class RequestName(NamedTuple):
    """The request a device is for: the main one, and the alternative."""

    main: str
    alternative: str = ""


class Constraint(Protocol):
    """What a search asks of a constraint."""

    def add(self, request: RequestName, device: Device, identity: DeviceID) -> bool:
        """Take a device in; False if that would break the constraint."""

    def remove(self, request: RequestName) -> None:
        """Give up the device that was taken in last."""


def lookup(device: Device, driver: str, name: str) -> Attribute | None:
    """Find an attribute under its full name, or without the domain if that is the driver's (D-15)."""
    found = device.attributes.get(name)
    if found is None:
        domain, slash, short = name.partition("/")
        if slash and domain == driver:
            found = device.attributes.get(short)
    return found


def covers(written: Written, request: RequestName) -> bool:
    """Tell whether a constraint is about a request (D-14)."""
    if not written.requests or request.main in written.requests:
        return True
    return bool(request.alternative) and f"{request.main}/{request.alternative}" in written.requests


def constraint(written: Written, features: Features) -> Constraint | None:
    """Make a constraint; None for a kind that is not known."""
    if written.match is not None:
        if features.list_constraints:
            return MatchLists(written, written.match, features)
        return Match(written, written.match)
    if written.distinct is not None:
        return Distinct(written, written.distinct, features)
    return None


class _ByAttribute:
    """What constraints about one attribute share: whose devices they look at, and that the attribute must be there."""

    def __init__(self, written: Written, name: str) -> None:
        self._written = written
        self._name = name

    def add(self, request: RequestName, device: Device, identity: DeviceID) -> bool:
        """Take a device in if it has the attribute, with a value that the constraint takes."""
        if not covers(self._written, request):
            return True
        found = lookup(device, identity.driver, self._name)
        return found is not None and self._take(request, found)

    def remove(self, request: RequestName) -> None:
        """Give up the device that was taken in last."""
        if covers(self._written, request):
            self._give_up(request)

    @abstractmethod
    def _take(self, request: RequestName, found: Attribute) -> bool: ...

    @abstractmethod
    def _give_up(self, request: RequestName) -> None: ...


class _Counting(_ByAttribute):
    """A constraint that counts its devices: what it has seen stays until the first one goes (D-17)."""

    def __init__(self, written: Written, name: str) -> None:
        super().__init__(written, name)
        self._count = 0

    def _take(self, _: RequestName, found: Attribute) -> bool:
        taken = self._joins(found)
        self._count += taken
        return taken

    def _give_up(self, _: RequestName) -> None:
        self._count -= 1

    @abstractmethod
    def _joins(self, found: Attribute) -> bool: ...


class Match(_Counting):
    """`matchAttribute` with single values: the first device fixes the value (D-16)."""

    _value: Attribute

    def _joins(self, found: Attribute) -> bool:
        if self._count == 0:
            self._value = found
            return True
        return not _is_odd(found) and found == self._value


def _is_odd(attribute: Attribute) -> bool:
    """Tell whether a value is none that can be compared: accepted as the first one, never as another (D-1a)."""
    return attribute.is_list or attribute.kind == "unknown"


class MatchLists(_Counting):
    """`matchAttribute` with sets: what all devices have in common must not become empty (D-17).

    Until 1.37 stepping back does not widen the set again while other devices remain: a quirk, kept.
    """

    def __init__(self, written: Written, name: str, features: Features) -> None:
        super().__init__(written, name)
        self._mended = features.mended
        self._common: list[frozenset[tuple[str, object]]] = []
        """What the devices so far have in common, after each of them."""

    def _joins(self, found: Attribute) -> bool:
        values = _value_set(found)
        common = values if self._count == 0 else self._common[-1] & values
        if self._count and not common:
            return False
        self._common.append(common)
        return True

    def _give_up(self, request: RequestName) -> None:
        super()._give_up(request)
        if self._mended:
            self._common.pop()


def _value_set(attribute: Attribute) -> frozenset[tuple[str, object]]:
    if attribute.is_list:
        return frozenset((attribute.kind[:-1], value) for value in attribute.value)
    return frozenset({(attribute.kind, attribute.value)})


class Distinct(_ByAttribute):
    """`distinctAttribute`: no value twice; before 1.37 only a request's last value is remembered (D-18, D-18a)."""

    def __init__(self, written: Written, name: str, features: Features) -> None:
        super().__init__(written, name)
        self._presence_only = features.release == "1.34"
        self._lists = features.list_constraints
        self._keeps_all = features.mended
        self._values: dict[str, tuple[Attribute, ...]] = {}

    def _take(self, request: RequestName, found: Attribute) -> bool:
        held = [one for values in self._values.values() for one in values]
        if not self._presence_only and any(self._collides(found, other) for other in held):
            return False
        earlier = self._values.get(request.main, ()) if self._keeps_all else ()
        self._values[request.main] = (*earlier, found)
        return True

    def _give_up(self, request: RequestName) -> None:
        """Forget the last value of the request, which before 1.37 is all that is known of it."""
        rest = self._values.pop(request.main, ())[:-1]
        if rest:
            self._values[request.main] = rest

    def _collides(self, found: Attribute, other: Attribute) -> bool:
        """Tell whether two values have something in common; what cannot be compared counts as the same."""
        if self._lists:
            return not _value_set(found).isdisjoint(_value_set(other))
        return _is_odd(found) or found == other
