"""Scope `container`: each container is decided and allocated before the next one is asked about.

docs/rules/topology-manager.md 4.2. Policy `none` decides nothing: every container is allocated without a hint.
"""

from __future__ import annotations

from numalign.kubelet.demand import PodDemand
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
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


def admit(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Admit a pod container by container, in the kubelet's order: init containers first."""
    hints: dict[str, TopologyHint] = {}
    decisions: list[Decision] = []
    own = manager.container_policies
    for container in pod.containers:
        hint = NO_HINT
        if (manager.policy_of(container.name) if own else manager.policy) != "none":
            try:
                decision = decide(manager, state, pod, container)
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
