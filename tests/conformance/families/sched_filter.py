"""Family `sched_filter`: the filters of the proposal and of today's plugin, and their building blocks."""

from __future__ import annotations

from typing import Any

from numalign.scheduler import filter_nrt
from numalign.scheduler.nrt.value import TopologyManagerConfig, manager_config
from numalign.scheduler.request import effective
from numalign.scheduler.resources import is_affine, is_host_level
from numalign.scheduler.verdict import Verdict
from tests.conformance.sched import amounts, checked, container, nrt, numa_nodes, only, request, said, said_numa_nodes


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return _KINDS[case["kind"]](case)


def _verdict(case: dict[str, Any]) -> dict[str, Any]:
    pod, found = request(case["pod"]), nrt(case["nrt"])
    assert case.get("qos_derived", pod.qos) == pod.qos
    kep = checked("kep", found, {}, pod)
    answer: dict[str, Any] = {"code": _code(kep)}
    if not kep.passed:
        answer["container_index"] = [one.name for one in pod.containers].index(kep.container)
    assert answer == case["expect_kep"], f"proposal: {answer}"
    today = checked("nrt", found, amounts(case["node_allocatable"]), pod)
    return {"code": _code(today)} if today.passed else {"code": _code(today), "message": today.message}


def _code(verdict: Verdict) -> str:
    return "Success" if verdict.passed else "Unschedulable"


def _subtract(case: dict[str, Any]) -> dict[str, Any]:
    left = filter_nrt.subtract(
        numa_nodes(case["numa_nodes"]),
        case["numa_id"],
        container(case["requests"]),
        guaranteed=case["qos"] == "Guaranteed",
    )
    expect = case["expect"]
    if left is None:
        return {**expect, "error": True}
    return {"error": False, "numa_nodes": said_numa_nodes(left, expect.get("numa_nodes"))}


def _resource_class(case: dict[str, Any]) -> dict[str, Any]:
    name = case["resource"]
    return only({"host_level": is_host_level(name), "numa_affine": is_affine(name)}, case["expect"])


def _effective(case: dict[str, Any]) -> dict[str, Any]:
    return {"requests": said(effective(request(case["pod"])), case["expect"]["requests"])}


def _config(case: dict[str, Any]) -> dict[str, Any]:
    start = TopologyManagerConfig() if case["start_from_defaults"] else TopologyManagerConfig("", "", 0)
    found = nrt(case["nrt"])
    assert found is not None
    return manager_config(found, start)._asdict()


_KINDS = {
    "filter/verdict": _verdict,
    "filter/subtract_container": _subtract,
    "filter/resource_class": _resource_class,
    "filter/effective_request": _effective,
    "filter/topology_manager_config": _config,
}
