"""Family `sched_preempt`: preemption in today's plugin."""

from __future__ import annotations

from typing import Any

from numalign.scheduler import preemption
from numalign.scheduler.preemption import EvictionError, Victim
from numalign.scheduler.request import read_request
from tests.conformance.sched import amounts, nrt, only, pod, request, said, zones_available


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return _KINDS[case["kind"]](case)


def _victims_of(case: dict[str, Any]) -> list[Victim]:
    return [
        Victim(
            one["namespace"],
            one["name"],
            read_request(pod(one["pod"], one["name"], one["namespace"] or "default", one.get("qos"))),
        )
        for one in case["victims"]
    ]


def _placement_of(case: dict[str, Any]) -> dict[tuple[str, str, str], int] | None:
    if case["placement"] is None:
        return None
    return {(namespace, name, container): node for namespace, name, container, node in case["placement"]}


def _evict(case: dict[str, Any]) -> dict[str, Any]:
    found = nrt(case["nrt"])
    assert found is not None
    try:
        changed = preemption.after_eviction(found, _victims_of(case), _placement_of(case))
    except EvictionError as error:
        return {"error": str(error)}
    return {"zones_available": said(zones_available(changed), case["expect"].get("zones_available"))}


def _filter(case: dict[str, Any]) -> dict[str, Any]:
    answer = preemption.check_after_eviction(
        nrt(case["nrt"]),
        amounts(case["node_allocatable"]),
        request(case["pod"]),
        mode=case["preemption_mode"],
        victims=_victims_of(case),
        known=_placement_of(case),
    )
    result: dict[str, Any] = {
        "code": "Success" if answer.verdict.passed else "Unschedulable",
        "marks_over_reserved": answer.marks_over_reserved,
    }
    if not answer.verdict.passed:
        result["message"] = answer.verdict.message
    assert result.keys() >= case["expect"].keys() - {"message"}
    return only({"message": "", **result}, case["expect"])


def _victims(case: dict[str, Any]) -> dict[str, Any]:
    gone: list[str] = []
    listed: frozenset[str] | None = frozenset()
    failed = []
    for place, (operation, key) in enumerate(case["ops"]):
        gone = [other for other in gone if other != key] + [key] * (operation == "remove")
        listed = preemption.listed(case["preemption_mode"], case["prefilter"], gone)
        if listed is None:
            failed.append(place)
    return {"victims": _ordered(listed or frozenset(), case["expect"]["victims"]), "failed_ops": failed}


def _ordered(keys: frozenset[str], expected: list[str]) -> list[str]:
    return expected if keys == set(expected) and len(keys) == len(expected) else sorted(keys)


def _placement(case: dict[str, Any]) -> dict[str, Any]:
    found = nrt(case["nrt"])
    assert found is not None
    containers = [
        (one["namespace"], one["name"], container) for one in case["pods"] for container in one["exclusive_containers"]
    ]
    decoded = sorted([*key, node] for key, node in preemption.decode_placement(found, containers).items())
    expected = case["expect"]["placement"]
    return {"placement": expected if decoded == sorted(expected) else decoded}


_KINDS = {
    "preempt/evict": _evict,
    "preempt/filter": _filter,
    "preempt/victims": _victims,
    "preempt/placement": _placement,
}
