"""Family `sched_cache`: fingerprints, pods with exclusive resources, the over-reserve cache."""

from __future__ import annotations

from typing import Any

from numalign.scheduler import cache, fingerprint
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource
from numalign.scheduler.request import effective, exclusive_containers, has_devices
from tests.conformance.sched import amounts, attributes, only, request, said, zones_available


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return _KINDS[case["kind"]](case)


def _fingerprint(case: dict[str, Any]) -> dict[str, Any]:
    return {"fingerprint": fingerprint.fingerprint([(namespace, name) for namespace, name in case["pods"]])}


def _check(case: dict[str, Any]) -> dict[str, Any]:
    return {"result": fingerprint.check(case["fingerprint"], [(namespace, name) for namespace, name in case["pods"]])}


def _lookup(case: dict[str, Any]) -> dict[str, Any]:
    found = fingerprint.published(
        NodeResourceTopology(
            "node", attributes=attributes(case["attributes"]), annotations=case.get("annotations") or {}
        )
    )
    return only({"fingerprint": found.text, "only_exclusive": found.only_exclusive}, case["expect"])


def _exclusive(case: dict[str, Any]) -> dict[str, Any]:
    pod = request(case["pod"])
    assert case.get("qos_derived", pod.qos) == pod.qos
    exclusive = bool(exclusive_containers(pod, frozenset(case["nrt_resources"])))
    return only({"exclusive": exclusive, "non_native": has_devices(pod)}, case["expect"])


def _over_reserve(case: dict[str, Any]) -> dict[str, Any]:
    zones = [
        Zone(f"node-{number}", "Node", {name: ZoneResource(available=free) for name, free in amounts(written).items()})
        for number, written in enumerate(case["zones_available"])
    ]
    config = cache.CacheConfig("over_reserve")
    entry = cache.accept(NodeResourceTopology("node", tuple(zones)))
    for number, pod in enumerate(case["reserved_pods"]):
        entry = cache.reserve(config, entry, f"default/{number}", effective(request(pod)))
    view = cache.read(config, entry, None)
    assert view.fresh
    assert view.nrt is not None
    return {"zones_available": said(zones_available(view.nrt), case["expect"]["zones_available"])}


_KINDS = {
    "cache/fingerprint": _fingerprint,
    "cache/fingerprint_check": _check,
    "cache/fingerprint_lookup": _lookup,
    "cache/exclusive": _exclusive,
    "cache/over_reserve": _over_reserve,
}
