"""The answer of `replay` to one scenario, in the shape of the recorded decisions."""

from __future__ import annotations

from typing import Any, Protocol

from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.demand import read
from numalign.kubelet.setup import Setup
from numalign.model.cpuset import format_set
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.render.json.admit import final_state_json, shared_pool, step_json


class Step(Protocol):
    """One event of a scenario (`sources.recorded.scenario.Step`)."""

    @property
    def op(self) -> str:
        """`admit`, `start` or `remove`."""

    @property
    def name(self) -> str:
        """The pod's name."""

    @property
    def pod(self) -> Pod | None:
        """The pod that comes up for admission."""


def replay(config: KubeletConfig, machine: Machine, steps: tuple[Step, ...]) -> dict[str, Any]:
    """Run a scenario from an empty node and write what happened, step by step.

    The kubelet base always holds. A refusal to start, a crash and an endless loop are answers like any other.
    """
    try:
        node, state = twin.start(Setup(machine, config, "kubelet"))
    except StartError as error:
        return {"startError": error.message}
    answer: dict[str, Any] = {}
    if node.cpu.static:
        answer["reservedCPUs"] = format_set(node.cpu.reserved)
    answer["steps"] = written = []
    names: dict[str, str] = {}
    uids: dict[str, str] = {}
    for step in steps:
        if step.pod is None:
            uid = uids.get(step.name, "")
            change = twin.remove if step.op == "remove" else twin.start_containers
            state = change(node, state, uid)
            written.append({"sharedPool": shared_pool(node, state)})
            continue
        demand = read(step.pod)
        names[demand.uid], uids[step.name] = step.name, demand.uid
        state, result = twin.admit(node, state, demand)
        if result.stage == "hang":
            return {"hang": True}
        state = twin.collect(node, state)
        written.append(step_json(node, state, demand, step.pod.qos, result))
        if result.stage == "panic":
            return answer
    answer["finalState"] = final_state_json(node, state, names)
    return answer
