"""The answer of `replay` to one scenario, in the shape of the recorded decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set
from numalign.render.json import Data
from numalign.render.json.admit import blocks_json, cpus_json, hint_json, holding_json

if TYPE_CHECKING:
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.results.replay import FinalState, PodPart, ReplayResult, StepResult


def replay_json(result: ReplayResult) -> Data:
    """Write what happened, step by step."""
    if result.start_error:
        return {"startError": result.start_error}
    if result.start_panic:
        return {"panic": result.start_panic}
    if result.hang:
        return {"hang": True}
    answer: Data = {}
    if result.reserved_cpus is not None:
        answer["reservedCPUs"] = format_set(result.reserved_cpus)
    hints = _Hints()
    answer["steps"] = [_step(step, hints) for step in result.steps]
    if result.final is not None:
        answer["finalState"] = _final(result.final)
    return answer


class _Hints(dict["TopologyHint", Data]):
    """Hints as they are written, each once: a scenario has few different ones."""

    def __missing__(self, hint: TopologyHint) -> Data:
        """Write a hint."""
        written = self[hint] = hint_json(hint)
        return written


def _step(step: StepResult, hints: _Hints) -> Data:
    if step.panic is not None:
        return {"panic": step.panic}
    if step.start_error:
        return {"startError": step.start_error}
    pool = cpus_json(step.shared_pool)
    if step.readmitted is not None:
        come = [{"pod": name, **_step(one, hints)} for name, one in step.readmitted]
        return {
            "readmitted": [{key: one[key] for key in one if key != "sharedPool"} for one in come],
            "sharedPool": pool,
        }
    if step.inactive:
        return {"inactive": True, "sharedPool": pool}
    if step.resized is not None:
        return _resized(step, hints)
    if step.qos is None:
        if step.start_errors:
            return {"startErrors": dict(step.start_errors), "sharedPool": pool}
        return {"sharedPool": pool}
    answer: Data = {"admit": step.admitted, "qos": step.qos}
    if step.admitted:
        answer["containers"] = _containers(step, hints)
        if step.pod_level:
            answer["podLevel"] = _part(step.pod_level)
    else:
        answer["reason"], answer["message"] = step.reason, step.message
    answer["sharedPool"] = pool
    return answer


def _containers(step: StepResult, hints: _Hints) -> Data:
    return {name: {"hint": hints[hint], **holding_json(holding)} for name, hint, holding in step.containers}


def _resized(step: StepResult, hints: _Hints) -> Data:
    answer: Data = {"changed": step.resized, "containers": _containers(step, hints)}
    if step.resized:
        answer["admit"] = step.admitted
    if step.resized and not step.admitted:
        answer |= {"reason": step.reason, "message": step.message}
    return {**answer, "sharedPool": cpus_json(step.shared_pool)}


def _part(part: PodPart) -> Data:
    cpus: Data = {} if part.cpus is None else {"cpus": format_set(part.cpus)}
    return cpus if part.memory is None else {**cpus, "memory": blocks_json(part.memory)}


def _final(state: FinalState) -> Data:
    level: Data = {"podLevel": {pod: _part(part) for pod, part in state.pod_level.items()}} if state.pod_level else {}
    return {
        **level,
        "memory": dict(state.memory),
        "pods": {
            pod: {name: holding_json(held) for name, held in containers.items()}
            for pod, containers in state.pods.items()
        },
        "sharedPool": cpus_json(state.shared_pool),
    }
