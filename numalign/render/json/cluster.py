"""A cluster's room and its schedulers' decisions, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import head, warnings

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.capacity import CapacityResult, NodeCapacity, ShapeCapacity
    from numalign.results.cluster import NodeAnswer, ScheduledPod, ScheduleResult
    from numalign.results.dra import PodClaims
    from numalign.scheduler.fragmentation import Fragmentation
    from numalign.scheduler.verdict import Verdict


def capacity_json(result: CapacityResult, origin: str, notices: Sequence[Notice]) -> dict[str, object]:
    """Write the result of `capacity` (keys are only ever added); amounts are CPUs, devices or bytes."""
    found = result.right_size
    return {
        **head("CapacityResult"),
        "cluster": origin,
        "shapes": [_shape(shape) for shape in result.shapes],
        "rightSize": None
        if found is None
        else {
            "shape": found.shape,
            "replicas": found.replicas,
            "container": found.container,
            "cpus": found.cpus,
            "memory": found.memory,
        },
        "warnings": warnings(notices),
    }


def _shape(shape: ShapeCapacity) -> dict[str, object]:
    return {
        "name": shape.name,
        "rounds": None
        if shape.rounds is None
        else {
            "now": shape.rounds.now,
            "empty": shape.rounds.empty,
            "blind": shape.rounds.blind,
            "blindEmpty": shape.rounds.blind_empty,
        },
        "now": shape.now,
        "aligned": shape.aligned,
        "empty": shape.empty,
        "emptyAligned": shape.empty_aligned,
        "nothingToAlign": shape.nothing,
        "emptyNothingToAlign": shape.empty_nothing,
        "blind": shape.blind,
        "blindEmpty": shape.blind_empty,
        "stranded": shape.stranded,
        "fragmentation": _fragmentation(shape.fragmentation),
        "nodes": [_room(one) for one in shape.nodes],
    }


def _room(one: NodeCapacity) -> dict[str, object]:
    return {
        "name": one.node,
        "now": one.now,
        "aligned": one.aligned,
        "empty": one.empty,
        "emptyAligned": one.empty_aligned,
        "nothingToAlign": one.nothing,
        "emptyNothingToAlign": one.empty_nothing,
        "blind": one.blind,
        "blindEmpty": one.blind_empty,
        "limit": None
        if one.limit is None
        else {
            "resource": one.limit.resource or None,
            "numaNodes": list(one.limit.numa_nodes),
            "reason": one.limit.reason,
        },
        "missing": list(one.missing),
        "stranded": dict(one.stranded),
        "fragmentation": None if one.fragmentation is None else _fragmentation(one.fragmentation),
        "numaNodes": [
            {
                "id": zone.id,
                "free": dict(zone.free),
                "total": dict(zone.total),
                "copies": zone.copies,
                "most": zone.most,
            }
            for zone in one.zones
        ],
    }


def _fragmentation(found: Fragmentation) -> dict[str, object]:
    return {"single": found.single, "total": found.total, "share": round(float(found.share), 6)}


def schedule_json(result: ScheduleResult, origin: str, notices: Sequence[Notice]) -> dict[str, object]:
    """Write the result of `schedule` (keys are only ever added)."""
    return {
        **head("ScheduleResult"),
        "cluster": origin,
        "scheduler": result.scheduler.kind,
        "strategy": result.scheduler.strategy,
        "claims": None if result.claims is None else result.claims._asdict(),
        "pods": [_pod(pod) for pod in result.pods],
        "warnings": warnings(notices),
    }


def _pod(pod: ScheduledPod) -> dict[str, object]:
    table = pod.table
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "node": pod.node,
        "runs": pod.runs,
        "claims": _claims(pod.claims),
        "feasible": sum(one.feasible for one in pod.answers),
        "verdicts": {
            "passAdmit": table[True, True],
            "passReject": table[True, False],
            "failAdmit": table[False, True],
            "failReject": table[False, False],
        },
        **({} if pod.preemption is None else {"preemption": pod.preemption._asdict()}),
        "endedBy": pod.ended_by,
        "schedulingGates": list(pod.gates),
        "notJudged": list(pod.not_judged),
        "nodes": [_node(one) for one in pod.answers],
    }


def _claims(claims: PodClaims | None) -> dict[str, object] | None:
    if claims is None:
        return None
    from numalign.render.json.dra import pod_claims_json

    return pod_claims_json(claims)


def _node(answer: NodeAnswer) -> dict[str, object]:
    kubelet = answer.kubelet
    return {
        "name": answer.node,
        "fit": _verdict(answer.fit),
        **{name: _verdict(one) for name, one in answer.verdicts.items()},
        "kubelet": None
        if kubelet is None
        else {
            "admit": kubelet.admitted,
            "stage": kubelet.stage,
            "reason": kubelet.reason,
            "message": kubelet.message,
            "aligned": kubelet.aligned,
            "missing": list(kubelet.missing),
        },
        "scores": dict(answer.scores),
        "feasible": answer.feasible,
        "score": answer.points,
        "cause": None if answer.cause is None else {"code": answer.cause.code, "text": answer.cause.text},
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "pass": verdict.passed,
        "message": verdict.message,
        "container": verdict.container or None,
        "resource": verdict.resource or None,
        "bestNumaNode": verdict.best_zone,
    }
