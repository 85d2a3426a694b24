"""Replay a scenario from an empty node, step by step, as the recorded decisions were made: by the managers alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.holding import holding
from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.memory.state import machine_state
from numalign.kubelet.node import StartedPod
from numalign.kubelet.start.feature_gates import StartPanicError
from numalign.results.replay import FinalState, PodPart, ReplayedContainer, ReplayResult, StepResult

if TYPE_CHECKING:
    from numalign.kubelet.demand import PodDemand
    from numalign.kubelet.node import AdmitResult, Node, NodeState
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import QoS
    from numalign.sources.recorded.scenario import Step


def replay(setup: Setup, steps: Iterable[Step]) -> ReplayResult:
    """Run a scenario. A refusal to start, a crash and an endless loop are answers like any other."""
    try:
        node, state = twin.start(setup)
    except StartPanicError as error:
        return ReplayResult(start_panic=error.message)
    except StartError as error:
        return ReplayResult(start_error=error.message)
    static = node.cpu.static
    reserved = node.cpu.reserved if static else None
    done: list[StepResult] = []
    names: dict[str, str] = {}
    uids: dict[str, str] = {}
    for step in steps:
        if step.pod is None:
            state, errors = _without_pod(node, state, step.op, uids.get(step.name, ""))
            done.append(StepResult(state.cpu.default if static else None, start_errors=errors))
            continue
        pod, demand = node.read_pod(step.pod)
        names[demand.uid], uids[step.name] = step.name, demand.uid
        state, result = twin.admit(node, state, demand)
        if result.stage == "hang":
            return ReplayResult(hang=True)
        state = twin.collect(node, state)
        done.append(_admission(node, state, demand, pod.qos, result))
        if result.stage == "panic":
            return ReplayResult(reserved_cpus=reserved, steps=tuple(done))
    return ReplayResult(reserved_cpus=reserved, steps=tuple(done), final=_final(node, state, names))


def _without_pod(node: Node, state: NodeState, op: str, uid: str) -> StartedPod:
    """End a pod, or start its containers."""
    if op == "remove":
        return StartedPod(twin.remove(node, state, uid))
    return twin.start_containers(node, state, uid)


def _admission(node: Node, state: NodeState, pod: PodDemand, qos: QoS, result: AdmitResult) -> StepResult:
    pool = _shared_pool(node, state)
    if result.stage == "panic":
        return StepResult(pool, qos, panic=result.message)
    if not result.admit:
        return StepResult(pool, qos, False, result.reason, result.message)
    containers = tuple(
        [
            ReplayedContainer(container.name, result.hints[container.name], holding(node, state, pod.uid, container))
            for container in pod.containers
        ]
    )
    return StepResult(pool, qos, True, containers=containers, pod_level=_whole(state, pod.uid))


def _whole(state: NodeState, uid: str) -> PodPart | None:
    """Read what a pod holds as a whole."""
    _, of_cpu, of_memory = state.states
    cpus, memory_blocks = of_cpu.pods.get(uid), of_memory.pods.get(uid)
    return None if cpus is None and memory_blocks is None else PodPart(cpus, memory_blocks)


def _shared_pool(node: Node, state: NodeState) -> int | None:
    return state.cpu.default if node.cpu.static else None


def _final(node: Node, state: NodeState, names: Mapping[str, str]) -> FinalState:
    return FinalState(
        machine_state(node.memory, state.memory),
        {
            names[uid]: {container.name: holding(node, state, uid, container) for container in pod.containers}
            for uid, pod in state.pods.items()
        },
        _shared_pool(node, state),
        {names[uid]: whole for uid in state.pods if (whole := _whole(state, uid))},
    )
