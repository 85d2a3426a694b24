"""The Topology Manager as a value: policy, scope, providers, and how their hints become one decision.

docs/rules/topology-manager.md 3, 4, 10. A scope (`scopes`) asks for decisions and has their
outcome allocated; what both share is here. A refused pod leaves a state, too: there is no rollback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.state import DeviceState
from numalign.kubelet.errors import AllocationError, KubeletHangError, KubeletPanicError
from numalign.kubelet.memory.state import MemoryState
from numalign.kubelet.topology.effort import NO_EFFORT, Effort, combinations, endure, may_be_slow
from numalign.kubelet.topology.hints import ProviderAnswer, TopologyHint
from numalign.kubelet.topology.merge.lists import NUMAInfo
from numalign.kubelet.topology.provider import HintProvider, ProviderName
from numalign.values import NamedTuple

NO_HINT = TopologyHint(None, False)
"""What a provider reads where no hint is stored (9.1), and always under policy `none`."""

Stage = Literal["", "merge", "allocate", "panic", "hang"]
"""Where a pod was refused; empty when admitted. `panic` and `hang`: the kubelet itself would not survive the call."""

PROVIDERS: tuple[ProviderName, ...] = ("device", "cpu", "memory")
"""The hint providers in the order in which the kubelet asks them (2.5)."""

StartedProvider = tuple[HintProvider[Any, Any], Any]
"""A provider and its manager, whose types only they themselves need to know."""

Refusal = tuple[str, str]
"""Reason and message where the policy refuses."""

Merge = Callable[[str, Iterable[ProviderAnswer], NUMAInfo], tuple[TopologyHint, bool]]
"""(policy, answers, nodes) -> the hint to store, and whether the policy admits it."""


ProviderStates = tuple[DeviceState, CPUState, MemoryState]
"""One a provider, in the order of `PROVIDERS`."""


class NodeState(NamedTuple):
    """What pods hold."""

    states: ProviderStates
    pods: Mapping[str, PodDemand] = {}
    """UID -> admitted pod, in order of admission."""
    hints: Mapping[str, TopologyHint] = {}
    """UID -> the hint of a pod that was allocated as a whole: its containers get their devices under it."""
    leftovers: tuple[str, ...] = ()
    """UIDs of refused pods whose allocations are not collected yet (10.3)."""

    @property
    def device(self) -> DeviceState:
        """Who holds which devices."""
        return self.states[0]

    @property
    def cpu(self) -> CPUState:
        """Who holds which CPUs."""
        return self.states[1]

    @property
    def memory(self) -> MemoryState:
        """Who holds which memory."""
        return self.states[2]


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
    effort: Effort = NO_EFFORT
    """What the kubelet went through, where that may take a second."""


class AdmitResult(NamedTuple):
    """The kubelet's decision on one pod."""

    admit: bool
    stage: Stage = ""
    reason: str = ""
    message: str = ""
    container: str | None = None
    """The container at which the pod was refused; None: admitted, or refused as a whole."""
    provider: ProviderName | Literal[""] = ""
    """Whose Allocate failed; empty: none did."""
    hints: Mapping[str, TopologyHint] = {}
    """Container name -> stored hint."""
    decisions: tuple[Decision, ...] = ()


class TopologyManager(NamedTuple):
    """What does not change while a kubelet runs."""

    policy: str
    scope: str
    scopes: Mapping[str, Scope]
    """Name -> how a pod is admitted."""
    numa: NUMAInfo
    providers: tuple[StartedProvider, ...]
    """Each provider with its manager, in the order in which they are asked (`PROVIDERS`)."""
    merge: Merge
    refusal: Refusal


Admission = tuple[NodeState, AdmitResult]
Scope = Callable[[TopologyManager, NodeState, PodDemand], Admission]
"""How a pod is admitted: the decisions, and after each what it lets containers have."""


def decide(
    manager: TopologyManager,
    state: NodeState,
    pod: PodDemand,
    container: ContainerDemand | None,
    before: Iterable[Decision] = (),
) -> Decision:
    """Ask all providers about one container, or (None) about the whole pod, and let the policy judge.

    Args:
        manager: the Topology Manager.
        state: what pods hold.
        pod: the pod.
        container: the container.
        before: the decisions on the same pod so far.

    Raises:
        KubeletPanicError: the kubelet would crash while it computes or merges hints.
        KubeletHangError: it would not come back.
    """
    asked = zip(manager.providers, state.states, strict=True)
    if container is None:
        name = None
        answers = tuple([provider.pod_hints(of, held, pod) for (provider, of), held in asked])
    else:
        name = container.name
        answers = tuple([provider.container_hints(of, held, pod, container) for (provider, of), held in asked])
    effort = NO_EFFORT
    if may_be_slow(manager.policy, sum(map(len, answers)), len(manager.numa.nodes)):
        asked = zip(manager.providers, state.states, strict=True)
        sets = sum([provider.sets_tried(of, held, pod, container) for (provider, of), held in asked])
        lists = [hints for answer in answers for hints in answer.values()]
        effort = Effort(sets, combinations(manager.policy, lists, manager.numa))
        endure(effort, sum([one.effort.seconds for one in before]))
    hint, admitted = manager.merge(manager.policy, answers, manager.numa)
    return Decision(name, answers, hint, admit=admitted, state=state, effort=effort)


def admitted(
    state: NodeState, pod: PodDemand, hints: Mapping[str, TopologyHint], decisions: Iterable[Decision]
) -> Admission:
    """The pod runs."""
    pods = {**state.pods, pod.uid: pod}
    return NodeState(state.states, pods, state.hints, state.leftovers), AdmitResult(
        True, hints=hints, decisions=tuple(decisions)
    )


def refused(
    refusal: Refusal,
    state: NodeState,
    pod: PodDemand,
    hints: Mapping[str, TopologyHint],
    decisions: list[Decision],
) -> Admission:
    """The policy refused the merged hint of the last decision (4.4)."""
    return _leave(state, pod), AdmitResult(
        False, "merge", *refusal, decisions[-1].container, hints=hints, decisions=tuple(decisions)
    )


def failed(
    failure: Failure,
    state: NodeState,
    pod: PodDemand,
    container: ContainerDemand | None,
    hints: Mapping[str, TopologyHint],
    decisions: Iterable[Decision],
) -> Admission:
    """A call to a provider went wrong (4.4): the pod is refused, or the kubelet does not survive."""
    error, provider = failure
    stage: Stage = "allocate"
    reason, message = "", str(error)
    if isinstance(error, AllocationError):
        reason = error.reason or "UnexpectedAdmissionError"
        message = error.message if error.reason else f"Allocate failed due to {error.message}, which is unexpected"
    else:
        stage = "panic" if isinstance(error, KubeletPanicError) else "hang"
    result = AdmitResult(
        admit=False,
        stage=stage,
        reason=reason,
        message=message,
        container=container.name if container else None,
        provider=provider,
        hints=hints,
        decisions=tuple(decisions),
    )
    return _leave(state, pod), result


class Failure(NamedTuple):
    """A call to a provider that went wrong."""

    error: AllocationError | KubeletPanicError | KubeletHangError
    """Where it is kept it comes without its frames, which would hold all that they know until the collector comes."""
    provider: ProviderName | Literal[""] = ""
    """Empty: it was while hints were made or merged."""


def allocate(
    manager: TopologyManager, state: NodeState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> tuple[NodeState, Failure | None]:
    """Let each provider give the container what it asks for; after a failure, what the earlier ones gave stays."""
    states: list[Any] = list(state.states)
    failure = None
    for place, (provider, of) in enumerate(manager.providers):
        try:
            states[place] = provider.allocate(of, states[place], pod, container, hint)
        except (AllocationError, KubeletPanicError, KubeletHangError) as error:
            failure = Failure(error.with_traceback(None), provider.name)
            break
    device, cpu, memory = states
    return NodeState((device, cpu, memory), state.pods, state.hints, state.leftovers), failure


def _leave(state: NodeState, pod: PodDemand) -> NodeState:
    """Keep what a refused pod got: there is no rollback (10.2)."""
    return state._replace(leftovers=(*state.leftovers, pod.uid))
