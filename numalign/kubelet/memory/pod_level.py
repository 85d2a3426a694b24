"""Memory of a pod as a whole, and how its containers share it (docs/rules/kubelet-versions.md 6.8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from numalign.kubelet.demand import PodDemand, ResourcePairs
from numalign.kubelet.errors import EMPTY_POD_SHARED_POOL, AllocationError
from numalign.kubelet.memory import hints
from numalign.kubelet.memory.allocate import GROUP_BROKEN, charge, settle
from numalign.kubelet.memory.hints import breaks_group
from numalign.kubelet.memory.state import STATIC, WORD, Block, MemoryManager, MemoryState
from numalign.kubelet.topology.hints import CANNOT_FIT, ProviderAnswer, TopologyHint

UNREADABLE = "[memorymanager] failed to represent quantity as int64"


def budget_problem(pod: PodDemand) -> str | None:
    """Say why the pod's memory cannot be divided among its containers; None: they can.

    Of several resources that are used up the kubelet names any; here it is the first by name.
    """
    budget = dict(pod.memory or ())
    exclusive = Counter[str]()
    shared = False
    for container in pod.containers:
        if container.memory is None:
            return UNREADABLE
        if container.kind == "init":
            used_up = None if container.memory else _used_up(budget, exclusive)
            if used_up:
                return f"pod rejected, pod has shared init containers but no {used_up} available for them"
        elif container.memory:
            for resource, amount in container.memory:
                exclusive[resource] += amount
        else:
            shared = True
    used_up = _used_up(budget, exclusive) if shared else None
    if used_up:
        return (
            f"pod rejected, sum of exclusive container {used_up} requests equals pod budget, "
            "leaving no memory for shared containers"
        )
    return None


def _used_up(budget: Mapping[str, int], exclusive: Mapping[str, int]) -> str | None:
    return next((resource for resource in budget if exclusive[resource] >= budget[resource]), None)


def pod_hints(manager: MemoryManager, state: MemoryState, pod: PodDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for a pod with pod-level resources."""
    if pod.guaranteed and pod.memory and manager.policy == STATIC and budget_problem(pod):
        return {resource: CANNOT_FIT for resource, _ in pod.memory}
    return hints.pod_hints(manager, state, pod)


def allocate_pod(manager: MemoryManager, state: MemoryState, pod: PodDemand, hint: TopologyHint) -> MemoryState:
    """Give a pod its memory, and each container its part of it.

    Raises:
        AllocationError: the kubelet refuses; the state stays as it was.
        KubeletPanicError: a node has no table for a requested resource.
    """
    if not pod.guaranteed or manager.policy != STATIC or pod.memory is None:
        return state
    problem = budget_problem(pod)
    if problem:
        raise AllocationError(problem, EMPTY_POD_SHARED_POOL)
    mask = settle(manager, state, pod.uid, pod.memory, hint)
    if breaks_group(manager, state, mask):
        raise AllocationError(GROUP_BROKEN)
    blocks = tuple([Block(mask, resource, amount) for resource, amount in pod.memory])
    held = {
        name: tuple([Block(mask, resource, amount) for resource, amount in sorted(amounts.items()) if amount > 0])
        for name, amounts in _divided(pod, pod.memory).items()
    }
    return charge(manager, state, pod.uid, blocks, held)._replace(pods={**state.pods, pod.uid: blocks})


def _divided(pod: PodDemand, budget: ResourcePairs) -> Mapping[str, Mapping[str, int]]:
    """Divide a pod's memory: what a sidecar or app container takes is gone, each of the others lists all that is left.

    Sums are unsigned words: an app container's huge pages that the pod has no budget for make what is left wrap.
    """
    left = dict(budget)
    held: dict[str, Mapping[str, int]] = {}
    for container in pod.containers:
        own = dict(container.memory or ())
        if own:
            held[container.name] = own
            if container.kind != "init":
                for resource, amount in own.items():
                    left[resource] = (left.get(resource, 0) - amount) % WORD
        elif container.kind == "init":
            held[container.name] = dict(left)
    for container in pod.containers:
        held.setdefault(container.name, left)
    return held
