"""The scopes: what is decided at once, each container or the whole pod.

Scope `container` (docs/rules/topology-manager.md 4.2): each container is decided and allocated before the next one is
asked about; policy `none` decides nothing: every container is allocated without a hint. Scope `pod` (4.3): one decision
for the whole pod, and its hint holds for every container. 1.36 adds to both for pods with pod-level resources
(docs/rules/kubelet-versions.md 6.5, 6.6).
"""

from __future__ import annotations

from typing import Any

from numalign.kubelet.demand import PodDemand
from numalign.kubelet.errors import AllocationError, KubeletHangError, KubeletPanicError
from numalign.kubelet.topology.hints import TopologyHint
from numalign.kubelet.topology.manager import (
    NO_HINT,
    Admission,
    Decision,
    Failure,
    NodeState,
    TopologyManager,
    admitted,
    allocate,
    decide,
    failed,
    refused,
)


def admit_as_one(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Decide once, then allocate container by container under the same hint."""
    try:
        decision = decide(manager, state, pod, None)
    except (KubeletPanicError, KubeletHangError) as error:
        return failed(Failure(error), state, pod, None, {}, ())
    if not decision.admit:
        return refused(manager.refusal, state, pod, {}, [decision])
    hints: dict[str, TopologyHint] = {}
    for container in pod.containers:
        hints[container.name] = decision.hint
        state, failure = allocate(manager, state, pod, container, decision.hint)
        if failure:
            return failed(failure, state, pod, container, hints, (decision,))
    return admitted(state, pod, hints, (decision,))


def admit_each_container(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Admit a pod container by container, in the kubelet's order: init containers first."""
    hints: dict[str, TopologyHint] = {}
    decisions: list[Decision] = []
    for container in pod.containers:
        hint = NO_HINT
        if manager.policy != "none":
            try:
                decision = decide(manager, state, pod, container, decisions)
            except (KubeletPanicError, KubeletHangError) as error:
                return failed(Failure(error), state, pod, container, hints, decisions)
            decisions.append(decision)
            if not decision.admit:
                return refused(manager.refusal, state, pod, hints, decisions)
            hint = decision.hint
        hints[container.name] = hint
        state, failure = allocate(manager, state, pod, container, hint)
        if failure:
            return failed(failure, state, pod, container, hints, decisions)
    return admitted(state, pod, hints, decisions)


IN_SCOPE_CONTAINER = "Pod Scope pod with pod-level resources failed admission with a container-level topology manager"
IN_SCOPE_POD = "Pod Scope pod with pod-level resources failed admission under pod-scope topology manager"


def admit_by_container(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Admit container by container; a pod with pod-level resources is refused in words of its own."""
    if pod.as_a_whole:
        manager = manager._replace(refusal=(manager.refusal[0], IN_SCOPE_CONTAINER))
    return admit_each_container(manager, state, pod)


def admit_pod(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Admit in scope `pod`; a pod with pod-level resources is allocated as a whole, too."""
    if not pod.as_a_whole:
        return admit_as_one(manager, state, pod)
    try:
        decision = decide(manager, state, pod, None)
    except (KubeletPanicError, KubeletHangError) as error:
        return failed(Failure(error), state, pod, None, {}, ())
    if not decision.admit:
        return refused((manager.refusal[0], IN_SCOPE_POD), state, pod, {}, [decision])
    hints = dict.fromkeys([container.name for container in pod.containers], decision.hint)
    state, failure = _allocate(manager, state, pod, decision.hint)
    if failure:
        return failed(failure, state, pod, None, hints, (decision,))
    state = state._replace(hints={**state.hints, pod.uid: decision.hint})
    return admitted(state, pod, hints, (decision,))


def _allocate(
    manager: TopologyManager, state: NodeState, pod: PodDemand, hint: TopologyHint
) -> tuple[NodeState, Failure | None]:
    """Let each provider give the pod what it asks for; after a failure, what the earlier ones gave stays."""
    states: list[Any] = list(state.states)
    failure = None
    for place, (provider, of) in enumerate(manager.providers):
        try:
            states[place] = provider.allocate_pod(of, states[place], pod, hint)
        except (AllocationError, KubeletPanicError, KubeletHangError) as error:
            if isinstance(error, AllocationError) and error.left is not None:
                states[place] = error.left
            failure = Failure(error.with_traceback(None), provider.name)
            break
    return state._replace(states=tuple(states)), failure
