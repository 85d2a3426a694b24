"""Replay a scenario from an empty node, step by step, as the recorded decisions were made: by the managers alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.holding import holding
from numalign.errors import StartError, StartPanicError
from numalign.kubelet import node as twin
from numalign.kubelet.memory.state import machine_state
from numalign.results.replay import FinalState, PodPart, ReplayedContainer, ReplayResult, StepResult

if TYPE_CHECKING:
    from numalign.kubelet.demand import PodDemand
    from numalign.kubelet.node import AdmitResult, Node, NodeState
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.model.pod import Pod, QoS
    from numalign.sources.recorded.scenario import Restart, Step


def replay(setup: Setup, steps: Iterable[Step]) -> ReplayResult:
    """Run a scenario. A refusal to start, a crash and an endless loop are answers like any other."""
    try:
        run = _Run(setup)
    except StartPanicError as error:
        return ReplayResult(start_panic=error.message)
    except StartError as error:
        return ReplayResult(start_error=error.message)
    reserved = run.node.cpu.reserved if run.node.cpu.static else None
    for step in steps:
        if not run.take(step):
            return ReplayResult(hang=True)
        if run.ended:
            return ReplayResult(reserved_cpus=reserved, steps=tuple(run.done))
    return ReplayResult(reserved_cpus=reserved, steps=tuple(run.done), final=_final(run.node, run.state, run.names))


class _Run:
    """A scenario on its way: the node, what pods hold, who they are."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.node, self.state = twin.start(setup)
        self.done: list[StepResult] = []
        self.names: dict[str, str] = {}
        self._pods: dict[str, tuple[Pod, PodDemand]] = {}
        self._hints: dict[str, Mapping[str, TopologyHint]] = {}
        self._started: set[str] = set()
        """UIDs of pods whose containers run."""
        self._written = self.state.device
        """What the device file says: it is written when a container gets devices, and only then (41)."""
        self.ended = False

    def take(self, step: Step) -> bool:
        """Take a step; False: the kubelet would not come back from it."""
        if step.restart is not None:
            return self._restart(step.restart)
        if step.op == "resize" and step.pod is not None:
            return self._resize(step.pod)
        if step.pod is None:
            self._without_pod(step)
            return True
        pod, demand = self.node.read_pod(step.pod)
        self.names[demand.uid] = step.name
        self._pods[step.name] = step.pod, demand
        self.state, result = twin.admit(self.node, self.state, demand)
        self._write_devices(demand.uid)
        if result.stage == "hang":
            return False
        self.state = twin.collect(self.node, self.state)
        self._hints[demand.uid] = result.hints
        self.done.append(_admission(self.node, self.state, demand, pod.qos, result))
        self.ended = result.stage == "panic"
        return True

    def _without_pod(self, step: Step) -> None:
        """End a pod, or start its containers."""
        _, demand = self._pods.get(step.name, (None, None))
        uid = demand.uid if demand else ""
        errors: Mapping[str, str] = {}
        if step.op == "remove":
            self.state = twin.remove(self.node, self.state, uid)
            self._started.discard(uid)
        else:
            self.state, errors = twin.start_containers(self.node, self.state, uid)
            self._write_devices(uid)
            if uid in self.state.pods:
                self._started.add(uid)
        self.done.append(StepResult(_shared_pool(self.node, self.state), start_errors=errors))

    def _write_devices(self, uid: str) -> None:
        held, written = self.state.device.holdings.get(uid), self._written.holdings.get(uid)
        if held is not None and held != written:
            self._written = self.state.device

    def _restart(self, how: Restart) -> bool:
        from numalign.kubelet.start.restart import restart

        setup = self.setup
        if how.config is not None:
            setup = setup._replace(config=how.config)
        if how.devices is not None:
            setup = setup._replace(machine=setup.machine._replace(devices=how.devices))
        active = [self._pods[name] for name in how.readmit if name in self._pods]
        pods = [pod for pod, demand in active if demand.uid in self.state.pods]
        if how.reboot:
            self._started.clear()
        running = {
            (uid, one.name)
            for uid in self._started & self.state.pods.keys()
            for one in self.state.pods[uid].containers
            if one.kind != "init"
        }
        try:
            if how.config_error:
                raise StartError(how.config_error)
            files = self.state._replace(states=(self._written, *self.state.states[1:]))
            again = restart(setup, self.node, files, pods, registered=how.registered, running=running)
        except StartError as error:
            self.done.append(StepResult(None, start_error=error.message))
            self.ended = True
            return True
        self.setup, (self.node, self.state, *_) = setup, again.there
        self._written = again.stale.device
        come = []
        for one in again.pods:
            if one.result.stage == "hang":
                return False
            self._hints[one.demand.uid] = one.result.hints
            come.append((one.pod.name, _admission(self.node, one.after, one.demand, one.pod.qos, one.result)))
            self.ended = self.ended or one.result.stage == "panic"
        self._started &= self.state.pods.keys()
        self.done.append(StepResult(_shared_pool(self.node, self.state), readmitted=tuple(come)))
        return True

    def _resize(self, wanted: Pod) -> bool:
        from numalign.kubelet.start.resize import resize

        pod, demand = self.node.read_pod(wanted)
        before = self.state.pods.get(demand.uid)
        pool = _shared_pool(self.node, self.state)
        if before is None:
            self.done.append(StepResult(pool, inactive=True))
            return True
        there, _ = self._pods[self.names[demand.uid]]
        answer = resize(self.node, self.state, there, pod, demand)
        if answer.stage == "hang":
            return False
        self.state = answer.state
        if answer.admit:
            self._pods[self.names[demand.uid]] = wanted, demand
        hints = self._hints[demand.uid] = {**self._hints[demand.uid], **answer.hints}
        self.done.append(
            StepResult(
                _shared_pool(self.node, self.state),
                resized=answer.changed,
                admitted=answer.admit,
                reason=answer.reason,
                message=answer.message,
                containers=tuple(_replayed(self.node, self.state, demand, hints)),
            )
        )
        return True


def _admission(node: Node, state: NodeState, pod: PodDemand, qos: QoS, result: AdmitResult) -> StepResult:
    pool = _shared_pool(node, state)
    if result.stage == "panic":
        return StepResult(pool, qos, panic=result.message)
    if not result.admit:
        return StepResult(pool, qos, False, result.reason, result.message)
    containers = tuple(_replayed(node, state, pod, result.hints))
    return StepResult(pool, qos, True, containers=containers, pod_level=_whole(state, pod.uid))


def _replayed(
    node: Node, state: NodeState, pod: PodDemand, hints: Mapping[str, TopologyHint]
) -> Iterator[ReplayedContainer]:
    for one in pod.containers:
        yield ReplayedContainer(one.name, hints[one.name], holding(node, state, pod.uid, one))


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
