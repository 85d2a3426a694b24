"""Family `e2e`: pods one after another on one node, through the reader and the writer of `replay`."""

from __future__ import annotations

from typing import Any

from numalign.analysis.merging import SECONDS_PER_COMBINATION, merging
from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.setup import Setup
from numalign.render.json.replay import replay_json
from numalign.sources.recorded import scenario
from numalign.sources.recorded.scenario import Scenario
from numalign.tasks.replay import replay
from tests.conformance.versions import kubelet_of

PATIENCE = 60
"""Seconds after which the recording of a version gave a kubelet up (tests/vectors/versions/README.md)."""

FEW_NODES = 8
"""With fewer NUMA nodes no recorded merge takes a second."""


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Replay the case; `expect` is taken away first."""
    one = scenario.from_data({key: value for key, value in case.items() if key != "expect"})
    setup = Setup(one.machine, one.config, "kubelet", kubelet_of(case))
    if one.version is not None and len(one.machine.numa_nodes) >= FEW_NODES and _seconds(setup, one) > PATIENCE:
        return {"hang": True}
    return replay_json(replay(setup, one.steps))


def _seconds(setup: Setup, one: Scenario) -> float:
    """Say about how long the kubelet walks over the combinations of hints in the longest step, if that is long."""
    try:
        node, state = twin.start(setup)
    except StartError:
        return 0
    uids: dict[str, str] = {}
    longest = 0.0
    every_set = 2 ** len(one.machine.numa_nodes)
    for step in one.steps:
        if step.pod is not None:
            pod, demand = node.read_pod(step.pod)
            uids[step.name] = pod.uid
            state, result = twin.admit(node, state, demand)
            for decision in result.decisions:
                lists = sum(len(answer) for answer in decision.answers)  # each names every set of nodes, at most
                if SECONDS_PER_COMBINATION * every_set**lists > PATIENCE:
                    longest = max(longest, merging(node, decision).seconds)
        elif step.op == "remove":
            state = twin.remove(node, state, uids.get(step.name, ""))
    return longest
