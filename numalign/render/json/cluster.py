"""A cluster's room and its schedulers' decisions, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import head, plain, warnings

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.capacity import CapacityResult, NodeCapacity, ShapeCapacity
    from numalign.results.cluster import NodeAnswer, ScheduledPod, ScheduleResult
    from numalign.results.dra import PodClaims
    from numalign.scheduler.fragmentation import Fragmentation
    from numalign.scheduler.verdict import Verdict


def capacity_json(result: CapacityResult, origin: str, notices: Sequence[Notice]) -> dict[str, object]:
    """Write the result of `capacity` (keys are only ever added); amounts are CPUs, devices or bytes."""
    return {
        **head("CapacityResult"),
        "cluster": origin,
        "shapes": [_shape(shape) for shape in result.shapes],
        "rightSize": plain(result.right_size),
        "warnings": warnings(notices),
    }


def _shape(shape: ShapeCapacity) -> dict[str, object]:
    return {
        "name": shape.name,
        "rounds": plain(shape.rounds),
        **_counts(shape.whole),
        "stranded": shape.stranded,
        "fragmentation": _fragmentation(shape.fragmentation),
        "nodes": [_room(one) for one in shape.nodes],
    }


def _counts(one: NodeCapacity) -> dict[str, object]:
    return {
        "now": one.now,
        "aligned": one.aligned,
        "empty": one.empty,
        "emptyAligned": one.empty_aligned,
        "nothingToAlign": one.nothing,
        "emptyNothingToAlign": one.empty_nothing,
        "blind": one.blind,
        "blindEmpty": one.blind_empty,
    }


def _room(one: NodeCapacity) -> dict[str, object]:
    return {
        "name": one.node,
        **_counts(one),
        "limit": one.limit
        and {
            "resource": one.limit.resource or None,
            "numaNodes": list(one.limit.numa_nodes),
            "reason": one.limit.reason,
        },
        "missing": list(one.missing),
        "stranded": dict(one.stranded),
        "fragmentation": one.fragmentation and _fragmentation(one.fragmentation),
        "numaNodes": [
            {
                "id": zone.id,
                "free": dict(zone.free),
                "total": dict(zone.total),
                "copies": zone.copies,
                "most": zone.most,
            }
            for zone in one.zones  # of many thousands of nodes
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
        "claims": plain(result.claims),
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
        **({} if pod.preemption is None else {"preemption": plain(pod.preemption)}),
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
        "kubelet": kubelet
        and {
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
        "cause": answer.cause and {"code": answer.cause.code, "text": answer.cause.text},
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "pass": verdict.passed,
        "message": verdict.message,
        "container": verdict.container or None,
        "resource": verdict.resource or None,
        "bestNumaNode": verdict.best_zone,
    }
