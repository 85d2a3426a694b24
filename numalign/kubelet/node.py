"""A node: what it is, what its pods hold, and the admission of the next pod (docs/rules/topology-manager.md 3, 4, 10).

`admit` takes a state and a pod and returns the next state and a result, also for a refused pod: what a refusal leaves
behind is part of the truth until it is collected. States never change, so "what if" costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from numalign.kubelet import cpu, device, memory
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.errors import AllocationError, KubeletHangError, KubeletPanicError
from numalign.kubelet.profile import REFERENCE, Profile
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import LAST_NUMA_ID, check
from numalign.kubelet.start.reservation import Reservation
from numalign.kubelet.topology.hints import ProviderAnswer, TopologyHint
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info
from numalign.kubelet.topology.policy import merge
from numalign.model.machine import Machine

NO_HINT = TopologyHint(None, False)
"""What a provider reads where no hint is stored (9.1), and always under policy `none`."""

Stage = Literal["", "merge", "allocate", "panic", "hang"]
"""Where a pod was refused; empty when admitted. `panic` and `hang`: the kubelet itself would not survive the call."""

PROVIDERS = ("device", "cpu", "memory")
"""The hint providers in the order in which the kubelet asks them (2.5)."""


class Node(NamedTuple):
    """What does not change while a kubelet runs: the machine, the settings in force and the three managers."""

    machine: Machine
    config: KubeletConfig
    policy: str
    scope: str
    numa: NUMAInfo
    device: device.DeviceManager
    cpu: cpu.CPUManager
    memory: memory.MemoryManager
    reservation: Reservation
    """What the node keeps back."""
    profile: Profile = REFERENCE
    """Which kubelet it is."""
    container_policies: Mapping[str, str] = {}
    """Container name -> policy, where it is not `policy` (see `per_pod`)."""

    def policy_of(self, container: str | None) -> str:
        """Return the policy that holds for a container; None: for the whole pod."""
        return self.container_policies.get(container, self.policy) if container else self.policy


class NodeState(NamedTuple):
    """What pods hold."""

    device: device.DeviceState
    cpu: cpu.CPUState
    memory: memory.MemoryState
    pods: Mapping[str, PodDemand] = {}
    """UID -> admitted pod, in order of admission."""
    leftovers: tuple[str, ...] = ()
    """UIDs of refused pods whose allocations are not collected yet (10.3)."""


class Decision(NamedTuple):
    """One topology decision: for a container, or in scope `pod` for the whole pod."""

    container: str | None
    """Name; None for the whole pod."""
    answers: tuple[ProviderAnswer, ...]
    """In the order of `PROVIDERS`."""
    hint: TopologyHint
    """The merged hint; of a refusal the one that lost, its mask not worked out."""
    admit: bool
    state: NodeState
    """What pods held when the providers were asked."""


class AdmitResult(NamedTuple):
    """The kubelet's decision on one pod."""

    admit: bool
    stage: Stage = ""
    reason: str = ""
    message: str = ""
    container: str | None = None
    """The container at which the pod was refused; None: admitted, or refused as a whole."""
    provider: str = ""
    """Which provider's Allocate failed (one of `PROVIDERS`)."""
    hints: Mapping[str, TopologyHint] = {}
    """Container name -> stored hint."""
    decisions: tuple[Decision, ...] = ()


def start(setup: Setup) -> tuple[Node, NodeState]:
    """Start a kubelet on an empty node.

    Raises:
        StartError: the kubelet would refuse to start (docs/rules/kubelet-files.md 10).
    """
    machine, config, _, profile = setup
    started = check(setup)
    distances = {node.id: node.distances or () for node in machine.numa_nodes}
    node = Node(
        machine=machine,
        config=config,
        policy=config.topology_manager_policy,
        scope=config.topology_manager_scope,
        numa=numa_info(
            (node.id for node in machine.numa_nodes if 0 <= node.id <= LAST_NUMA_ID),
            distances if started.options.prefer_closest else None,
        ),
        device=device.build(machine, profile),
        cpu=started.cpu,
        memory=started.memory,
        reservation=started.reservation,
        profile=profile,
    )
    return node, empty_state(node)


def empty_state(node: Node) -> NodeState:
    """Return the state of a node that no pod has come to yet."""
    return NodeState(device.EMPTY, cpu.initial_state(node.cpu), memory.initial_state(node.memory))


def admit(node: Node, state: NodeState, pod: PodDemand) -> tuple[NodeState, AdmitResult]:
    """Run the kubelet's resource admission for one pod (4)."""
    state = collect(node, state)
    hints: dict[str, TopologyHint] = {}
    decisions: list[Decision] = []
    container: ContainerDemand | None = None
    ahead: Mapping[str, TopologyHint] = {}
    provider = ""
    try:
        if (node.scope == "pod" and node.policy != "none") or node.profile.hints_first:
            ahead = _decide_ahead(node, state, pod, decisions)
            if decisions and not decisions[-1].admit:
                return _refuse(node, state, pod, hints, decisions)
        for container in pod.containers:
            provider = ""
            hint = ahead.get(container.name)
            if hint is None:
                if node.container_policies.get(container.name, node.policy) == "none":
                    hint = NO_HINT
                else:
                    decision = decide(node, state, pod, container)
                    decisions.append(decision)
                    if not decision.admit:
                        return _refuse(node, state, pod, hints, decisions)
                    hint = decision.hint
            hints[container.name] = hint
            mask = hint.numa_affinity
            provider = "device"
            devices = device.allocate(node.device, state.device, pod, container, mask)
            state = state._replace(device=devices)
            provider = "cpu"
            if container.cpus:
                state = state._replace(cpu=cpu.allocate(node.cpu, state.cpu, pod, container, mask))
            provider = "memory"
            if pod.guaranteed:
                state = state._replace(memory=memory.allocate(node.memory, state.memory, pod, container, hint))
    except AllocationError as error:
        reason = error.reason or "UnexpectedAdmissionError"
        message = error.message if error.reason else f"Allocate failed due to {error.message}, which is unexpected"
        name = container.name if container else None
        result = AdmitResult(False, "allocate", reason, message, name, provider, hints, tuple(decisions))
        return _leave(state, pod), result
    except (KubeletPanicError, KubeletHangError) as error:
        stage: Stage = "panic" if isinstance(error, KubeletPanicError) else "hang"
        name = container.name if container else None
        return _leave(state, pod), AdmitResult(False, stage, "", str(error), name, provider, hints, tuple(decisions))
    admitted = state._replace(pods={**state.pods, pod.uid: pod})
    return admitted, AdmitResult(True, hints=hints, decisions=tuple(decisions))


def _decide_ahead(
    node: Node, state: NodeState, pod: PodDemand, decisions: list[Decision]
) -> Mapping[str, TopologyHint]:
    """Decide before anything is allocated: scope `pod` (4.3), and all containers of a pod up to v1.17 (13)."""
    if node.scope == "pod":
        decisions.append(decide(node, state, pod, None))
        return {container.name: decisions[-1].hint for container in pod.containers}
    hints = {}
    for container in pod.containers:
        if node.policy_of(container.name) == "none":
            continue
        decisions.append(decide(node, state, pod, container))
        if not decisions[-1].admit:
            break
        hints[container.name] = decisions[-1].hint
    return hints


def decide(node: Node, state: NodeState, pod: PodDemand, container: ContainerDemand | None) -> Decision:
    """Ask all providers about one container, or (None) about the whole pod, and let the policy judge.

    Raises:
        KubeletPanicError: the kubelet would crash while it computes or merges hints.
        KubeletHangError: it would not come back.
    """
    answers = _pod_answers(node, state, pod) if container is None else _container_answers(node, state, pod, container)
    name = container.name if container else None
    hint, admitted = judge(node, name, answers)
    return Decision(name, answers, hint, admitted, state)


def judge(node: Node, container: str | None, answers: tuple[ProviderAnswer, ...]) -> tuple[TopologyHint, bool]:
    """Merge answers with the policy that holds for a container; returns the merged hint and whether it admits."""
    if node.profile is REFERENCE:
        return merge(node.policy, answers, node.numa)
    from numalign.kubelet.proposals.feedback_policies import merge_as

    return merge_as(node.profile, node.policy_of(container), answers, node.numa)


def _container_answers(
    node: Node, state: NodeState, pod: PodDemand, container: ContainerDemand
) -> tuple[ProviderAnswer, ProviderAnswer, ProviderAnswer]:
    """Ask every provider for one container (4.2 step 1)."""
    if not node.profile.reuse_in_hints:
        state = state._replace(device=state.device._replace(reusable={}), cpu=state.cpu._replace(reuse=0))
    return (
        device.container_hints(node.device, state.device, pod, container),
        cpu.container_hints(node.cpu, state.cpu, pod, container),
        memory.container_hints(node.memory, state.memory, pod, container),
    )


def _pod_answers(node: Node, state: NodeState, pod: PodDemand) -> tuple[ProviderAnswer, ProviderAnswer, ProviderAnswer]:
    """Ask every provider for the whole pod (4.3 step 1)."""
    return (
        device.pod_hints(node.device, state.device, pod),
        cpu.pod_hints(node.cpu, state.cpu, pod),
        memory.pod_hints(node.memory, state.memory, pod),
    )


def _refuse(
    node: Node, state: NodeState, pod: PodDemand, hints: Mapping[str, TopologyHint], decisions: list[Decision]
) -> tuple[NodeState, AdmitResult]:
    """The policy refused the merged hint (4.4)."""
    return _leave(state, pod), AdmitResult(
        False,
        "merge",
        *node.profile.refusal,
        decisions[-1].container,
        hints=hints,
        decisions=tuple(decisions),
    )


def _leave(state: NodeState, pod: PodDemand) -> NodeState:
    """Keep what a refused pod got: there is no rollback (10.2)."""
    return state._replace(leftovers=(*state.leftovers, pod.uid))


def collect(node: Node, state: NodeState) -> NodeState:
    """Free what refused pods left, as the managers do before they compute hints or allocate again (10.3)."""
    if not state.leftovers:
        return state
    for uid in state.leftovers:
        if uid not in state.pods:
            state = _release(node, state, uid)
    return state._replace(leftovers=())


def remove(node: Node, state: NodeState, uid: str) -> NodeState:
    """End a pod: it stops being active and everything it held is free. Unknown or refused pods change nothing."""
    if uid not in state.pods:
        return state
    pods = {other: pod for other, pod in state.pods.items() if other != uid}
    return _release(node, state._replace(pods=pods), uid)


def _release(node: Node, state: NodeState, uid: str) -> NodeState:
    return state._replace(
        device=device.remove(state.device, uid),
        cpu=cpu.remove_stale(state.cpu, state.pods),
        memory=memory.remove_pod(node.memory, state.memory, uid),
    )


def start_containers(node: Node, state: NodeState, uid: str) -> NodeState:
    """Start all containers of an admitted pod in order: memory of ended init containers is freed."""
    pod = state.pods.get(uid)
    if pod is None:
        return state
    return state._replace(memory=memory.started(node.memory, state.memory, pod))
