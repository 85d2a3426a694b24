"""What `schedule` says to programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import head, warnings

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.claimed import PodClaims
    from numalign.results.schedule import NodeAnswer, ScheduledPod, ScheduleResult
    from numalign.scheduler.verdict import Verdict


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
        "kep": _verdict(answer.kep),
        "nrt": _verdict(answer.nrt),
        "kai": _verdict(answer.kai),
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
