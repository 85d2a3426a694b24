"""Family `sched_cache`: fingerprints, pods with exclusive resources, the over-reserve cache."""

from __future__ import annotations

from typing import Any

from numalign.scheduler import fingerprint
from numalign.scheduler.config import CacheConfig, SchedulerConfig
from numalign.scheduler.kai.topology import Around
from numalign.scheduler.nrt.copy import copy_of
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource
from numalign.scheduler.record import entry_of
from numalign.scheduler.request import exclusive_containers, has_devices
from numalign.scheduler.schedulers import SCHEDULERS
from tests.conformance.sched import amounts, attributes, only, pod, request, said, zones_available


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return _KINDS[case["kind"]](case)


def _fingerprint(case: dict[str, Any]) -> dict[str, Any]:
    return {"fingerprint": fingerprint.fingerprint([(namespace, name) for namespace, name in case["pods"]])}


def _check(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "result": fingerprint.check_fingerprint(
            case["fingerprint"], [(namespace, name) for namespace, name in case["pods"]]
        )
    }


def _lookup(case: dict[str, Any]) -> dict[str, Any]:
    found = fingerprint.published(
        NodeResourceTopology(
            "node", attributes=attributes(case["attributes"]), annotations=case.get("annotations") or {}
        )
    )
    return only({"fingerprint": found.text, "only_exclusive": found.only_exclusive}, case["expect"])


def _exclusive(case: dict[str, Any]) -> dict[str, Any]:
    asked = request(case["pod"])
    assert case.get("qos_derived", asked.qos) == asked.qos
    exclusive = bool(exclusive_containers(asked, frozenset(case["nrt_resources"])))
    return only({"exclusive": exclusive, "non_native": has_devices(asked)}, case["expect"])


def _over_reserve(case: dict[str, Any]) -> dict[str, Any]:
    zones = [
        Zone(f"node-{number}", "Node", {name: ZoneResource(available=free) for name, free in amounts(written).items()})
        for number, written in enumerate(case["zones_available"])
    ]
    config = SchedulerConfig("nrt", cache=CacheConfig("over_reserve"))
    scheduler = SCHEDULERS["nrt"]
    belief = scheduler.opened(config, Around(), copy_of(NodeResourceTopology("node", tuple(zones))), ())
    for number, written in enumerate(case["reserved_pods"]):
        belief = scheduler.bound(config, belief, entry_of(pod(written, str(number))))
    seen = scheduler.see(config, belief)
    assert seen.fresh
    assert seen.copy is not None
    return {"zones_available": said(zones_available(seen.copy.nrt), case["expect"]["zones_available"])}


_KINDS = {
    "cache/fingerprint": _fingerprint,
    "cache/fingerprint_check": _check,
    "cache/fingerprint_lookup": _lookup,
    "cache/exclusive": _exclusive,
    "cache/over_reserve": _over_reserve,
}
