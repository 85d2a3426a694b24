"""Preemption in the plugin: the NRT as it would be after an eviction (docs/rules/scheduling.md 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from numalign.scheduler import filter_nrt, placement
from numalign.scheduler.nrt.value import POLICY, NodeResourceTopology, attribute, with_available, zone_id
from numalign.scheduler.placement import ContainerId, Placement
from numalign.scheduler.request import PodRequest, exclusive_amounts, has_devices
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import Verdict
from numalign.values import NamedTuple

Mode = Literal["Disabled", "Enabled"]

NO_PLACEMENT: Final = "numa placement info not found, cannot process eviction simulation"
NO_CONTAINERS: Final = "no containers found in numa placement info, cannot process eviction simulation"
TOO_MUCH: Final = "resource release request exceeds NUMA allocatable"
NOTHING: Final = "no resources to add, cannot process eviction simulation"
IMPOSSIBLE: Final = "eviction simulation in NRT is not possible:"


class EvictionError(ValueError):
    """The NRT after an eviction cannot be worked out; the text is the plugin's cause."""


class Victim(NamedTuple):
    """A pod that may have to go."""

    namespace: str
    name: str
    request: PodRequest

    @property
    def key(self) -> str:
        """What the plugin remembers of it."""
        return f"{self.namespace}/{self.name}"


class Filtered(NamedTuple):
    """The filter's answer, and what it leaves behind in the cache."""

    verdict: Verdict
    marks_over_reserved: bool
    """Whether the machine is now marked as maybe over-reserved (T-8, P-3)."""


def after_eviction(
    nrt: NodeResourceTopology, victims: Iterable[Victim], known: Placement | None
) -> NodeResourceTopology:
    """Build the object as it would be without the victims (P-4).

    Args:
        nrt: the object as the cache gives it, reservations taken off.
        victims: the pods that would be evicted.
        known: the placement decoded from the accepted object; None: there is none.

    Raises:
        EvictionError: it cannot be worked out.
    """
    if known is None:
        raise EvictionError(NO_PLACEMENT)
    if not known:
        raise EvictionError(NO_CONTAINERS)
    back: dict[int, dict[str, int]] = {}
    for victim in victims:
        _release(victim, known, nrt.listed, back)
    if not back:
        raise EvictionError(NOTHING)
    zones: list[Amounts] = []
    for zone in nrt.zones:
        number = zone_id(zone.name)
        given = back.get(number, {}) if number is not None else {}
        free = {}
        for name, amount in given.items():
            resource = zone.resources.get(name)
            if resource is None:
                continue
            free[name] = (resource.available or 0) + amount
            if free[name] > (resource.allocatable or 0):
                raise EvictionError(TOO_MUCH)
        zones.append(free)
    return with_available(nrt, zones)


def _release(victim: Victim, known: Placement, listed: frozenset[str], back: dict[int, dict[str, int]]) -> None:
    """Add to `back` what the app containers of a victim with a known NUMA node hold for themselves."""
    request = victim.request
    if not request.guaranteed and not has_devices(request):
        return
    for container in request.containers:
        node = known.get((victim.namespace, victim.name, container.name))
        if container.kind != "app" or node is None:
            continue
        for name, amount in exclusive_amounts(request.guaranteed, container, listed).items():
            zone = back.setdefault(node, {})
            zone[name] = zone.get(name, 0) + amount


def check(
    nrt: NodeResourceTopology | None,
    total: Amounts,
    pod: PodRequest,
    *,
    mode: Mode,
    victims: Sequence[Victim] = (),
    known: Placement | None = None,
) -> Filtered:
    """Run today's filter, with the preemption branch where pods were taken off the machine (P-2, P-3)."""
    if mode == "Disabled" or not victims or nrt is None:
        verdict = filter_nrt.check(nrt, total, pod)
        return Filtered(verdict, not verdict.passed)
    if not known:
        return Filtered(filter_nrt.check(nrt, total, pod), marks_over_reserved=False)
    try:
        changed = after_eviction(nrt, victims, known)
    except EvictionError as error:
        return Filtered(Verdict(False, f"{IMPOSSIBLE}{error}"), marks_over_reserved=False)
    return Filtered(filter_nrt.check(changed, total, pod), marks_over_reserved=False)


class VictimList(NamedTuple):
    """The pods that the plugin believes are taken off a machine in one scheduling cycle (P-1, P-2)."""

    mode: Mode
    prefilter: bool
    """Whether the plugin is on at the extension point PreFilter. Without it there is no list to write to."""
    keys: frozenset[str] = frozenset()
    """`namespace/name` of the pods."""

    @property
    def works(self) -> bool:
        """Tell whether a call succeeds; with preemption off it succeeds and does nothing."""
        return self.prefilter or self.mode == "Disabled"

    def removed(self, key: str) -> VictimList:
        """Note a pod that was taken off."""
        return self._replace(keys=self.keys | {key}) if self._listens else self

    def put_back(self, key: str) -> VictimList:
        """Strike off a pod that was put back."""
        return self._replace(keys=self.keys - {key}) if self._listens else self

    @property
    def _listens(self) -> bool:
        return self.mode == "Enabled" and self.prefilter


def decode_placement(nrt: NodeResourceTopology, containers: Iterable[ContainerId]) -> Mapping[ContainerId, int]:
    """Decode the placement of an accepted object with the exclusive containers that the scheduler knows (P-6).

    Returns:
        Container -> NUMA id; empty where there is no placement, or it does not go with these containers.
    """
    if attribute(nrt.attributes, POLICY) != "single-numa-node":
        return {}
    try:
        payload = placement.payload_of(nrt)
        return placement.decode(payload, containers) if payload else {}
    except placement.PlacementError:
        return {}
