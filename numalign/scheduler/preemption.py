"""Preemption: kube-scheduler's own choice of whom to evict, and the plugin's part in it (docs/rules/scheduling.md 8).

The plugin of today takes part through its filter only: it looks at the NRT as it would be after an eviction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from numalign.scheduler import filter_nrt, node_filters, placement
from numalign.scheduler.config import PreemptionMode, SchedulerConfig
from numalign.scheduler.nrt.value import POLICY, NodeResourceTopology, attribute, with_available, zone_id
from numalign.scheduler.placement import ContainerId, Placement
from numalign.scheduler.record import KnownNode, PodEntry, Preemption, Scheduler
from numalign.scheduler.request import PodRequest, add, exclusive_amounts, has_devices
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import Verdict
from numalign.values import NamedTuple

NO_VICTIMS: Final = "no victims found, cannot process eviction simulation"
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


class Filtered(NamedTuple):
    """The filter's answer, and what it leaves behind in the cache."""

    verdict: Verdict
    marks_over_reserved: bool
    """Whether the machine is now marked as maybe over-reserved (T-8, P-3)."""


def after_eviction(
    nrt: NodeResourceTopology, victims: Sequence[Victim], known: Placement | None
) -> NodeResourceTopology:
    """Build the object as it would be without the victims (P-4).

    Args:
        nrt: the object as the cache gives it, reservations taken off.
        victims: the pods that would be evicted.
        known: the placement decoded from the accepted object; None: there is none.

    Raises:
        EvictionError: it cannot be worked out.
    """
    if not victims:
        raise EvictionError(NO_VICTIMS)
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
        exclusive = exclusive_amounts(request.guaranteed, container, listed)
        if exclusive:
            add(back.setdefault(node, {}), exclusive.items())


def check_after_eviction(
    nrt: NodeResourceTopology | None,
    total: Amounts,
    pod: PodRequest,
    *,
    mode: PreemptionMode,
    victims: Sequence[Victim],
    known: Placement | None,
) -> Filtered:
    """Run today's filter, with the preemption branch where pods were taken off the machine (P-2, P-3)."""
    if mode == "Disabled" or not victims or nrt is None:
        verdict = filter_nrt.check_nrt(nrt, total, pod)
        return Filtered(verdict, not verdict.passed)
    if not known:
        return Filtered(filter_nrt.check_nrt(nrt, total, pod), marks_over_reserved=False)
    try:
        changed = after_eviction(nrt, victims, known)
    except EvictionError as error:
        return Filtered(Verdict(False, f"{IMPOSSIBLE}{error}"), marks_over_reserved=False)
    return Filtered(filter_nrt.check_nrt(changed, total, pod), marks_over_reserved=False)


def listed(mode: PreemptionMode, prefilter: bool, gone: Iterable[str]) -> frozenset[str] | None:
    """Name the pods that the plugin believes are taken off a machine in one scheduling cycle (P-1, P-2).

    Args:
        mode: whether it takes part.
        prefilter: whether it is on at the extension point PreFilter; without it there is no list to write to.
        gone: those that are taken off and were not put back, `namespace/name` each.

    Returns:
        Their keys; None: the calls fail. With preemption off they succeed and do nothing.
    """
    if mode == "Disabled":
        return frozenset()
    return frozenset(gone) if prefilter else None


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


def preempt(
    scheduler: Scheduler, config: SchedulerConfig, nodes: Iterable[KnownNode], pod: PodEntry
) -> Preemption | None:
    """Choose whom to evict for a pod that fits nowhere; None: nobody helps.

    The node is taken whose most important victim is the least important, then the smallest sum, then the fewest
    victims; on ties the first one.
    """
    if not config.preempts:
        return None
    choices = [(node.node.name, found) for node in nodes if (found := _victims(scheduler, config, node, pod))]
    best = min(
        choices,
        key=lambda one: (max(pod.priority for pod in one[1]), sum(pod.priority for pod in one[1]), len(one[1])),
        default=None,
    )
    return None if best is None else Preemption(best[0], tuple([victim.key for victim in best[1]]))


def _victims(scheduler: Scheduler, config: SchedulerConfig, node: KnownNode, pod: PodEntry) -> list[PodEntry]:
    """Choose the victims on one node; none: not even all of lower priority are enough.

    All pods of lower priority are taken off, then put back one by one, the most important first, as long as the pod
    still fits.
    """
    lower = sorted([one for one in node.pods.values() if one.priority < pod.priority], key=lambda one: -one.priority)
    if not lower or not _fits_without(scheduler, config, node, pod, lower):
        return []
    gone = lower
    for one in lower:
        rest = [other for other in gone if other is not one]
        if _fits_without(scheduler, config, node, pod, rest):
            gone = rest
    return gone


def _fits_without(
    scheduler: Scheduler, config: SchedulerConfig, node: KnownNode, pod: PodEntry, gone: Sequence[PodEntry]
) -> bool:
    """Tell whether a pod would fit on a node without some of its pods."""
    totals = node.node.totals
    for one in gone:
        totals = totals.with_pod(one.load, -1)
    left = node.node._replace(totals=totals)
    if config.node_fit and not node_filters.check_node(left, pod.pod, pod.load).passed:
        return False
    if scheduler.fits_without is not None:
        return scheduler.fits_without(config, node.belief, totals.allocatable, pod.request, gone)
    return scheduler.check(config, scheduler.see(config, node.belief), totals.allocatable, pod.request).passed
