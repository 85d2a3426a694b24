"""The cache of the plugin, rule by rule (docs/rules/scheduling.md 3.3, 7.6)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from numalign.scheduler import cache
from numalign.scheduler.config import CacheConfig, ForeignPods, SchedulerConfig
from numalign.scheduler.fingerprint import fingerprint
from numalign.scheduler.nrt.copy import Copy, copy_of
from numalign.scheduler.nrt.value import FINGERPRINT, FINGERPRINT_METHOD, NodeResourceTopology
from numalign.scheduler.record import Belief, PodEntry, entry_of
from numalign.scheduler.request import PodRequest
from numalign.scheduler.schedulers import SCHEDULERS
from tests.conformance.sched import amounts, described, zones_available
from tests.conformance.sched import pod as read
from tests.scheduler.make import asking, cpus, object_of, pod, zone

OVER = CacheConfig("over_reserve")
FULL = object_of(zone(0, cpu="30", memory="60Gi"), zone(1, cpu="30", memory="60Gi"))
PODS = (asking(8, "16Gi", "big"), asking(4, "8Gi", "small"))
BIG, SMALL = (one.request for one in PODS)


def copied(found: NodeResourceTopology) -> Copy:
    copy = copy_of(found)
    assert copy is not None
    return copy


def published(*pods: PodEntry, method: str = "all", cpu: str = "18", memory: str = "36Gi") -> Copy:
    found = object_of(zone(0, cpu="30", memory="60Gi"), zone(1, cpu=cpu, memory=memory))
    text = fingerprint((one.pod.namespace, one.pod.name) for one in pods)
    return copied(found._replace(attributes=(*found.attributes, (FINGERPRINT, text), (FINGERPRINT_METHOD, method))))


def reserved() -> Belief:
    return cache.reserve(OVER, cache.reserve(OVER, cache.accept(copied(FULL)), BIG), SMALL)


def doubted() -> Belief:
    return reserved()._replace(over_reserved=True)


def accepts(
    config: CacheConfig, belief: Belief, found: Copy, pods: Sequence[PodEntry], phases: Sequence[str] = ()
) -> bool:
    """Publish an object, let a resync period end, and tell whether the cache took the object over; pods run."""
    there = tuple(zip(pods, phases or ["Running"] * len(pods), strict=True))
    told = cache.published(config, belief, found)
    after = cache.resync(config, told, partial(described, config, found, there), lambda: pods)
    assert after in (told, cache.accept(found, lambda: pods))
    return after.accepted is found


def seen(belief: Belief) -> list[dict[str, int]]:
    copy, _ = cache.read_cache(OVER, belief)
    assert copy is not None
    return zones_available(copy.nrt)


def test_reservations_come_off_every_zone() -> None:
    once = cache.reserve(OVER, cache.accept(copied(FULL)), BIG)
    assert seen(once) == [amounts({"cpu": "22", "memory": "44Gi"})] * 2
    assert seen(reserved()) == [amounts({"cpu": "18", "memory": "36Gi"})] * 2


def test_what_no_pod_asked_for_stays_as_it_is() -> None:
    found = object_of(zone(0, cpu="30", memory="60Gi", v__gpu="2"))
    left = amounts({"cpu": "22", "memory": "44Gi", "v/gpu": "2"})
    assert seen(cache.reserve(OVER, cache.accept(copied(found)), BIG)) == [left]


def test_a_resync_with_another_fingerprint_changes_nothing() -> None:
    assert not accepts(OVER, doubted(), published(PODS[0]), PODS)


def test_a_resync_that_matches_replaces_the_object_and_forgets() -> None:
    assert accepts(OVER, doubted(), published(*PODS), PODS)


def test_a_machine_that_is_not_marked_is_not_resynced() -> None:
    assert not accepts(OVER, reserved(), published(*PODS), PODS)


@pytest.mark.parametrize(
    ("config", "phases", "accepted"),
    [
        pytest.param(OVER, ("Running", "Running"), True, id="both run"),
        pytest.param(OVER, ("Running", "Pending"), False, id="a pending pod is not counted"),
        pytest.param(OVER, ("Running", "Failed"), True, id="a finished pod is"),
        pytest.param(OVER._replace(informer="Shared"), ("Running", "Failed"), False, id="not in the mode Shared"),
    ],
)
def test_which_pods_count(config: CacheConfig, phases: tuple[str, str], accepted: bool) -> None:
    assert accepts(config, doubted(), published(*PODS), PODS, phases) == accepted


def test_pods_without_exclusive_resources_are_left_out_by_method() -> None:
    burstable = entry_of(read({"containers": [{"requests": {"cpu": "500m"}}]}, "web"))
    found = published(*PODS, method="with-exclusive-resources")
    assert accepts(OVER, doubted(), found, (*PODS, burstable))
    assert not accepts(OVER._replace(method="All"), doubted(), found, (*PODS, burstable))


def test_a_machine_without_a_known_pod_or_fingerprint_is_skipped() -> None:
    assert not accepts(OVER, doubted(), published(), ())
    assert not accepts(OVER, doubted(), copied(FULL), PODS)


def test_a_changed_policy_is_accepted_without_a_fingerprint() -> None:
    changed = copied(object_of(*FULL.zones, scope="pod"))
    assert accepts(OVER, reserved(), changed, ())
    assert not accepts(OVER._replace(resync_scope="OnlyResources"), reserved(), changed, ())
    again = cache.published(OVER, cache.published(OVER, reserved(), changed), changed)
    assert again.config_changed, "until a resync"


@pytest.mark.parametrize(
    ("mode", "asked", "fresh"),
    [("All", cpus(1), False), ("OnlyExclusiveResources", pod({"cpu": "500m"}), True), ("None", cpus(1), True)],
)
def test_foreign_pods(mode: ForeignPods, asked: PodRequest, fresh: bool) -> None:
    config = OVER._replace(foreign_pods=mode)
    assert cache.read_cache(config, cache.foreign(config, cache.accept(copied(FULL)), asked))[1] == fresh


def test_discard_reserved_trusts_nothing_between_reservation_and_binding() -> None:
    config, full = CacheConfig("discard_reserved"), copied(FULL)
    belief = cache.reserve(config, cache.accept(full), BIG)
    assert cache.read_cache(config, belief) == (full, False)
    assert cache.read_cache(config, cache.settled(config, belief)) == (full, True)


def test_a_machine_that_had_no_object_is_not_tracked() -> None:
    """O-9: an object that comes later is not taken over."""
    belief = cache.accept(None)._replace(over_reserved=True)
    after = cache.published(OVER, belief, published(*PODS))
    assert cache.resync(OVER, after, lambda _: True, lambda: PODS) == after
    assert after.accepted is None


def test_a_machine_without_an_object_passes() -> None:
    assert cache.read_cache(OVER, cache.accept(None)) == (None, True)


CONFIG = SchedulerConfig("nrt", cache=OVER)
TOTAL = amounts({"cpu": "60", "memory": "120Gi"})
DISTRUSTED = cache.foreign(OVER, cache.accept(copied(FULL)), BIG)
SCORED = [
    ("an object that is trusted", cache.accept(copied(FULL)), BIG, True),
    ("one that is not", DISTRUSTED, BIG, False),
    ("no object", Belief(), BIG, False),
]


@pytest.mark.parametrize(("belief", "asked", "scored"), [row[1:] for row in SCORED], ids=[row[0] for row in SCORED])
def test_a_node_scores_by_an_object_that_is_trusted_and_by_no_other(
    belief: Belief, asked: PodRequest, scored: bool
) -> None:
    """C-1, C-2; of a pod that is not Guaranteed every node scores the most."""
    plugin = SCHEDULERS["nrt"]
    assert plugin.score is not None
    points = plugin.score(CONFIG, plugin.see(CONFIG, belief), asked)
    assert points > 0 if scored else points == 0
    assert plugin.score(CONFIG, plugin.see(CONFIG, belief), pod({"cpu": "1"})) == 100


GONE = [
    ("it fits", cache.accept(copied(FULL)), CONFIG, 20, True),
    ("it does not", cache.accept(copied(FULL)), CONFIG, 40, False),
    ("the object is not trusted", DISTRUSTED, CONFIG, 20, False),
    (
        "it takes part, but not at PreFilter",
        cache.accept(copied(FULL)),
        CONFIG._replace(preemption_mode="Enabled"),
        20,
        False,
    ),
]


@pytest.mark.parametrize(("belief", "config", "count", "fits"), [row[1:] for row in GONE], ids=[row[0] for row in GONE])
def test_whether_a_pod_would_fit_without_others(
    belief: Belief, config: SchedulerConfig, count: int, fits: bool
) -> None:
    """P-1 to P-3."""
    plugin = SCHEDULERS["nrt"]
    assert plugin.fits_without is not None
    assert plugin.fits_without(config, belief, TOTAL, cpus(count), [PODS[0]]) is fits
