"""Which pods a critical pod evicts where the node is short of resources (docs/rules/admission-fit.md 5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.model.pod import Pod
from numalign.model.resources import whole

CRITICAL_PRIORITY = 2_000_000_000
"""From this priority on a pod is critical (1.7)."""
CLASS_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Name of a priority class that every cluster has -> its priority."""

Needs = Mapping[str, int]
"""Resource -> how much is missing: CPU in milli-CPUs, others in whole units; in the order of the failures."""


def is_critical(pod: Pod) -> bool:
    """Tell whether the kubelet evicts others to admit the pod (1.7)."""
    if pod.is_static or "kubernetes.io/config.mirror" in pod.annotations:
        return True
    number = priority(pod)
    return number is not None and number >= CRITICAL_PRIORITY


def priority(pod: Pod) -> int | None:
    """Return the priority; for the two system classes also where the manifest has the class alone."""
    number: int | None = pod.spec.get("priority")
    return CLASS_PRIORITIES.get(pod.spec.get("priorityClassName", "")) if number is None else number


def victims(pod: Pod, others: Sequence[Pod], needs: Needs) -> tuple[tuple[Pod, ...], Needs]:
    """Choose the pods to evict; a full tie goes to the first in `others`.

    Returns:
        The victims, best effort first; and what is still missing if all candidates went (then nobody goes).
    """
    candidates = [other for other in others if _may_preempt(pod, other)]
    rest = _less(needs, candidates)
    if rest:
        return (), rest
    best_effort, burstable, guaranteed = (
        [other for other in candidates if other.qos == qos] for qos in ("BestEffort", "Burstable", "Guaranteed")
    )
    third = _pick(guaranteed, _less(_less(needs, best_effort), burstable))
    second = _pick(burstable, _less(_less(needs, best_effort), third))
    first = _pick(best_effort, _less(_less(needs, second), third))
    return (*first, *second, *third), {}


def _may_preempt(pod: Pod, other: Pod) -> bool:
    if is_critical(pod) and not is_critical(other):
        return True
    mine, its = priority(pod), priority(other)
    return mine is not None and its is not None and mine > its


def _gives(pod: Pod, resource: str) -> int:
    """Tell what evicting a pod would give (5.1.3): not its effective request, sidecars count as init containers."""
    if resource == "pods":
        return 1
    apps = peak = 0
    for container in pod.containers:
        if resource in container.requests:
            nano = container.requests[resource].nano
            if container.kind == "app":
                apps += nano
            else:
                peak = max(peak, nano)
    nano = max(apps, peak)
    if nano and resource in pod.overhead:
        nano += pod.overhead[resource].nano
    return whole(resource, nano)


def _less(needs: Needs, pods: Iterable[Pod]) -> Needs:
    """Subtract what pods give; needs that are met drop out (5.1.4)."""
    rest = dict(needs)
    for pod in pods:
        rest = {resource: left for resource, need in rest.items() if (left := need - _gives(pod, resource)) > 0}
    return rest


def _pick(pods: Sequence[Pod], needs: Needs) -> list[Pod]:
    """Take the closest pod until nothing is needed (5.1.7)."""
    left = list(pods)
    picked = []
    while needs:  # all of them are enough
        wanted = needs
        best = min(left, key=lambda pod: (_distance(pod, wanted), _gives(pod, "memory"), _gives(pod, "cpu")))
        left.remove(best)
        picked.append(best)
        needs = _less(needs, [best])
    return picked


def _distance(pod: Pod, needs: Needs) -> float:
    return sum((max(0, need - _gives(pod, resource)) / need) ** 2 for resource, need in needs.items())
