"""The cache of the plugin, rule by rule (docs/rules/scheduling.md 3.3, 7.6)."""

from __future__ import annotations

import pytest

from numalign.scheduler import cache
from numalign.scheduler.cache import BoundPod, CacheConfig, CachedNode
from numalign.scheduler.fingerprint import fingerprint
from numalign.scheduler.nrt.value import FINGERPRINT, FINGERPRINT_METHOD, NodeResourceTopology
from numalign.scheduler.request import PodRequest, effective
from tests.conformance.sched import amounts, zones_available
from tests.scheduler.make import cpus, object_of, pod, zone

OVER = CacheConfig("over_reserve")
FULL = object_of(zone(0, cpu="30", memory="60Gi"), zone(1, cpu="30", memory="60Gi"))
BIG, SMALL = cpus(8, memory="16Gi"), cpus(4, memory="8Gi")
PODS = (BoundPod("default", "big", "Running", BIG), BoundPod("default", "small", "Running", SMALL))


def published(*pods: BoundPod, method: str = "all", cpu: str = "18", memory: str = "36Gi") -> NodeResourceTopology:
    found = object_of(zone(0, cpu="30", memory="60Gi"), zone(1, cpu=cpu, memory=memory))
    text = fingerprint((one.namespace, one.name) for one in pods)
    return found._replace(attributes=(*found.attributes, (FINGERPRINT, text), (FINGERPRINT_METHOD, method)))


def reserved() -> CachedNode:
    entry = cache.reserve(OVER, cache.accept(FULL), "default/big", effective(BIG))
    return cache.reserve(OVER, entry, "default/small", effective(SMALL))


def seen(entry: CachedNode) -> list[dict[str, int]]:
    view = cache.read(OVER, entry, None)
    assert view.nrt is not None
    return zones_available(view.nrt)


def test_reservations_come_off_every_zone() -> None:
    once = cache.reserve(OVER, cache.accept(FULL), "default/big", effective(BIG))
    assert seen(once) == [amounts({"cpu": "22", "memory": "44Gi"})] * 2
    assert seen(reserved()) == [amounts({"cpu": "18", "memory": "36Gi"})] * 2


def test_a_resync_with_another_fingerprint_changes_nothing() -> None:
    entry = cache.failed(reserved())
    assert cache.resync(OVER, entry, published(PODS[0]), PODS) == entry


def test_a_resync_that_matches_replaces_the_object_and_forgets() -> None:
    found = published(*PODS)
    assert cache.resync(OVER, cache.failed(reserved()), found, PODS) == cache.accept(found, PODS)


def test_a_machine_that_is_not_marked_is_not_resynced() -> None:
    assert cache.resync(OVER, reserved(), published(*PODS), PODS) == reserved()


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
    pods = [one._replace(phase=phase) for one, phase in zip(PODS, phases, strict=True)]
    entry = cache.failed(reserved())
    assert (cache.resync(config, entry, published(*PODS), pods) != entry) == accepted


def test_pods_without_exclusive_resources_are_left_out_by_method() -> None:
    burstable = BoundPod("default", "web", "Running", pod({"cpu": "500m"}))
    entry = cache.failed(reserved())
    found = published(*PODS, method="with-exclusive-resources")
    assert cache.resync(OVER, entry, found, (*PODS, burstable)) != entry
    assert cache.resync(OVER._replace(method="All"), entry, found, (*PODS, burstable)) == entry


def test_a_machine_without_a_known_pod_or_fingerprint_is_skipped() -> None:
    entry = cache.failed(reserved())
    assert cache.resync(OVER, entry, published(), ()) == entry
    assert cache.resync(OVER, entry, FULL, PODS) == entry


def test_a_changed_policy_is_accepted_without_a_fingerprint() -> None:
    changed = object_of(*FULL.zones, scope="pod")
    entry = cache.updated(OVER, reserved(), FULL, changed)
    assert cache.resync(OVER, entry, changed, ()) == cache.accept(changed)
    only = OVER._replace(resync_scope="OnlyResources")
    assert cache.updated(only, reserved(), FULL, changed) == reserved()


@pytest.mark.parametrize(
    ("mode", "asked", "fresh"),
    [("All", cpus(1), False), ("OnlyExclusiveResources", pod({"cpu": "500m"}), True), ("None", cpus(1), True)],
)
def test_foreign_pods(mode: cache.ForeignPods, asked: PodRequest, fresh: bool) -> None:
    config = OVER._replace(foreign_pods=mode)
    entry = cache.foreign_seen(config, cache.accept(FULL), asked)
    assert cache.read(config, entry, FULL).fresh == fresh


def test_discard_reserved_trusts_nothing_between_reservation_and_binding() -> None:
    config = CacheConfig("discard_reserved")
    entry = cache.reserve(config, cache.accept(FULL), "default/big", effective(BIG))
    assert cache.read(config, entry, FULL) == (FULL, False)
    assert cache.read(config, cache.bound(config, entry, "default/big"), FULL) == (FULL, True)


def test_a_failed_binding_gives_back_and_a_machine_without_object_passes() -> None:
    assert seen(cache.unreserve(reserved(), "default/small")) == [amounts({"cpu": "22", "memory": "44Gi"})] * 2
    assert cache.read(OVER, cache.accept(None), FULL) == (None, True)
