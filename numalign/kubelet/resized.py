"""What pods count for beside others while they are resized in place (docs/rules/kubelet-1.37.md 8).

A status has its own amounts: what the kubelet has set aside, what is in force. Of these and the spec's the largest
counts, so that nobody takes what a shrinking pod still has; the spec's do not where the resize can never be done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from numalign.kubelet.demand import effective, effective_of
from numalign.kubelet.pod_level import is_own
from numalign.model.pod import Container, Pod, ResizeStatus
from numalign.model.quantity import Quantity

Count = Callable[[Pod], Mapping[str, int] | None]
"""A pod as a kubelet sees it -> what it counts for in billionths, without overhead; None: what its spec says."""

_Amounts = Mapping[str, Quantity]

_NONE = ResizeStatus()


def by_spec(_pod: Pod) -> None:
    """Count by the spec alone: kubelets without resizing in place."""


def by_container(pod: Pod) -> dict[str, int]:
    """Count the largest amounts of each container, and add these up: from 1.33 until 1.37."""
    total = effective_of(pod.containers, [_largest_of(pod, container) for container in pod.containers])
    level = _level(pod)
    named = pod.level.requests if pod.level else ()
    return total | {name: level.get(name, 0) for name in named if is_own(name)}


def _largest_of(pod: Pod, container: Container) -> _Amounts:
    """Take a container's largest amounts, where its status says which are in force."""
    if container.kind == "init":
        return container.requests
    said = pod.status.containers.get(container.name) or pod.status.init_containers.get(container.name, _NONE)
    if said.actuated is None:
        return container.requests
    own = {} if pod.status.infeasible else container.requests
    return _largest([own, said.actuated, said.allocated or {}])


def by_sum(pod: Pod) -> dict[str, int]:
    """Count the largest of three sums: of the spec, of what is set aside, of what is in force (from 1.37 on).

    Pods are resized as a whole, too: what the status says of the pod takes the place of the last two sums.
    """
    return _by_sum(pod, _of_the_pod(pod.status.level))


def by_sum_of_containers(pod: Pod) -> dict[str, int]:
    """Do the same where only containers are resized (InPlacePodLevelResourcesVerticalScaling off)."""
    return _by_sum(pod, None)


def _by_sum(pod: Pod, whole: list[dict[str, int]] | None) -> dict[str, int]:
    status = pod.status
    allocated: list[_Amounts] = []
    actuated: list[_Amounts] = []
    for container in pod.containers:
        said = status.containers.get(container.name) or status.init_containers.get(container.name, _NONE)
        own = {} if status.infeasible else container.requests
        allocated.append(own if said.allocated is None else said.allocated)
        actuated.append(said.actuated or allocated[-1])
    sums = whole or [
        effective_of(pod.containers, allocated),
        effective_of(pod.containers, actuated),
    ]
    if not status.infeasible:
        sums.append(effective(pod, "requests"))
    total: dict[str, int] = defaultdict(int)
    for one in sums:
        for name, nano in one.items():
            total[name] = max(total[name], nano)
    return {**total, **_level(pod)}


def _of_the_pod(said: ResizeStatus) -> list[dict[str, int]] | None:
    """Return what the status says is set aside and in force for the pod as a whole; None: it says too little."""
    if said.allocated is None or not said.actuated:
        return None
    return [{name: quantity.nano for name, quantity in one.items()} for one in (said.allocated, said.actuated)]


def _level(pod: Pod) -> dict[str, int]:
    """Return the pod-level amounts that take the place of the sum; a pod without such requests has none."""
    own = {} if pod.level is None else pod.level.requests
    if not any(map(is_own, own)):
        return {}
    said = pod.status.level
    found = own
    if said.actuated is not None:
        found = _largest([{} if pod.status.infeasible else own, said.actuated, said.allocated or {}])
    return {name: quantity.nano for name, quantity in found.items() if is_own(name)}


def _largest(given: Iterable[_Amounts]) -> dict[str, Quantity]:
    found: dict[str, Quantity] = {}
    for amounts in given:
        for name, quantity in amounts.items():
            found[name] = max(found.get(name, quantity), quantity, key=lambda one: one.nano)
    return found
