"""How a published NodeResourceTopology object differs from what the node would publish now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from numalign.scheduler import fingerprint
from numalign.scheduler.nrt.value import (
    NodeResourceTopology,
    ZoneResource,
    manager_config,
    number_of,
)
from numalign.values import NamedTuple

What = Literal["stale", "amount", "zone", "policy", "scope"]


class Difference(NamedTuple):
    """One thing that is not as it should be."""

    what: What
    path: str
    """The field, `zones[node-0].resources.cpu.available`."""
    published: str | int | None
    """What the object says, amounts in billionths; None: nothing."""
    actual: str | int | None
    """What the node says."""


def differences(published: NodeResourceTopology, actual: NodeResourceTopology) -> Iterator[Difference]:
    """Compare an object with the one that the node would publish now.

    A fingerprint that differs is told first: the object then speaks of other pods, which explains free amounts that
    are off.
    """
    said, now = fingerprint.published(published), fingerprint.published(actual)
    if said.text and now.text and said.text != now.text:
        yield Difference("stale", "fingerprint", said.text, now.text)
    theirs, ours = manager_config(published), manager_config(actual)
    if theirs.policy != ours.policy:
        yield Difference("policy", "topologyManagerPolicy", theirs.policy, ours.policy)
    if theirs.scope != ours.scope and ours.policy != "none":
        yield Difference("scope", "topologyManagerScope", theirs.scope, ours.scope)
    yield from _zones(published, actual)


def _zones(published: NodeResourceTopology, actual: NodeResourceTopology) -> Iterator[Difference]:
    theirs = {number_of(zone.name): zone for zone in published.zones if number_of(zone.name) is not None}
    ours = {number_of(zone.name): zone for zone in actual.zones}
    for number, zone in ours.items():
        other = theirs.get(number)
        if other is None:
            yield Difference("zone", f"zones[{zone.name}]", None, zone.name)
            continue
        names = [*zone.resources, *(name for name in other.resources if name not in zone.resources)]
        for name in names:
            path = f"zones[{zone.name}].resources.{name}"
            yield from _amounts(path, other.resources.get(name), zone.resources.get(name))
    for number, zone in theirs.items():
        if number not in ours:
            yield Difference("zone", f"zones[{zone.name}]", zone.name, None)


def _amounts(path: str, published: ZoneResource | None, actual: ZoneResource | None) -> Iterator[Difference]:
    if published is None or actual is None:
        one = published or actual
        amount = one.allocatable if one else None
        if amount:
            yield Difference("amount", path, amount if published else None, amount if actual else None)
        return
    for field in ZoneResource._fields:
        theirs, ours = getattr(published, field), getattr(actual, field)
        if theirs != ours and theirs is not None:
            yield Difference("amount", f"{path}.{field}", theirs, ours)
