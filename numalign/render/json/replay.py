"""The answer of `replay` to one scenario, in the shape of the recorded decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set
from numalign.render.json.admit import cpus_json, hint_json, holding_json
from numalign.render.json.data import Data

if TYPE_CHECKING:
    from numalign.results.replay import FinalState, ReplayResult, StepResult


def replay_json(result: ReplayResult) -> Data:
    """Write what happened, step by step."""
    if result.start_error:
        return {"startError": result.start_error}
    if result.hang:
        return {"hang": True}
    answer: Data = {}
    if result.reserved_cpus is not None:
        answer["reservedCPUs"] = format_set(result.reserved_cpus)
    answer["steps"] = [_step(step) for step in result.steps]
    if result.final is not None:
        answer["finalState"] = _final(result.final)
    return answer


def _step(step: StepResult) -> Data:
    if step.panic is not None:
        return {"panic": step.panic}
    pool = cpus_json(step.shared_pool)
    if step.qos is None:
        return {"sharedPool": pool}
    answer: Data = {"admit": step.admitted, "qos": step.qos}
    if step.admitted:
        answer["containers"] = {
            one.name: {"hint": hint_json(one.hint), **holding_json(one.holding)} for one in step.containers
        }
    else:
        answer["reason"], answer["message"] = step.reason, step.message
    answer["sharedPool"] = pool
    return answer


def _final(state: FinalState) -> Data:
    return {
        "memory": dict(state.memory),
        "pods": {
            pod: {name: holding_json(held) for name, held in containers.items()}
            for pod, containers in state.pods.items()
        },
        "sharedPool": cpus_json(state.shared_pool),
    }
