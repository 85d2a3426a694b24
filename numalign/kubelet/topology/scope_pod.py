"""Scope `pod`: one decision for the whole pod, and its hint holds for every container.

docs/rules/topology-manager.md 4.3.
"""

from __future__ import annotations

from numalign.kubelet.demand import PodDemand
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.topology.hints import TopologyHint
from numalign.kubelet.topology.manager import (
    Admission,
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
