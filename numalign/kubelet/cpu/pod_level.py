"""Exclusive CPUs of a pod as a whole, and how its containers share them (docs/rules/kubelet-versions.md 6.7)."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet.cpu import hints
from numalign.kubelet.cpu.allocate import check_full_cores, choose
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.errors import EMPTY_POD_SHARED_POOL, AllocationError
from numalign.kubelet.topology.hints import CANNOT_FIT, ProviderAnswer, TopologyHint
from numalign.model.cpuset import CPUSet


def budget_problem(pod: PodDemand) -> str | None:
    """Say why the pod's CPUs cannot be divided among its containers; None: they can."""
    exclusive, shared = 0, False
    for container in pod.containers:
        if container.kind == "init":
            if not container.cpus and exclusive >= pod.cpus:
                return "pod rejected, pod has shared init containers but no cpus available for them"
        elif container.cpus:
            exclusive += container.cpus
        else:
            shared = True
    if shared and exclusive >= pod.cpus:
        return (
            "pod rejected, sum of exclusive container cpu requests equals pod budget, "
            "leaving no cpus for shared containers"
        )
    return None


def pod_hints(manager: CPUManager, state: CPUState, pod: PodDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for a pod with pod-level resources."""
    if pod.cpus and manager.static and budget_problem(pod):
        return {"cpu": CANNOT_FIT}
    return hints.pod_hints(manager, state, pod)


def allocate_pod(manager: CPUManager, state: CPUState, pod: PodDemand, hint: TopologyHint) -> CPUState:
    """Give a pod its CPUs, and each container its part of them.

    CPUs that cannot be divided stay the pod's although it is refused: only pods whose containers hold some are ever
    collected (docs/rules/cpu-manager.md 15.6 item 7).

    Raises:
        AllocationError: there are not enough, or they cannot be divided.
        KubeletHangError: the kubelet would search for ever.
    """
    if not pod.cpus or not manager.static:
        return state
    problem = budget_problem(pod)
    if problem:
        raise AllocationError(problem, EMPTY_POD_SHARED_POOL)
    if manager.options.full_pcpus_only:
        check_full_cores(manager, state, pod.cpus)
    cpus = choose(manager, state.default & ~manager.reserved, pod.cpus, hint.numa_affinity)
    taken = state._replace(default=state.default & ~cpus, pods={**state.pods, pod.uid: cpus})
    try:
        held = _divided(manager, pod, cpus)
    except AllocationError as error:
        raise AllocationError(error.message, error.reason, taken) from None
    return taken._replace(assignments={**state.assignments, pod.uid: held})


def _divided(manager: CPUManager, pod: PodDemand, cpus: CPUSet) -> Mapping[str, int]:
    """Divide a pod's CPUs: what a sidecar or app container takes is gone, the others share what is left."""
    held: dict[str, int] = {}
    left = cpus
    for container in pod.containers:
        if container.cpus:
            held[container.name] = taken = manager.take(left, container.cpus)
            if container.kind != "init":
                left &= ~taken
        elif container.kind == "init":
            held[container.name] = left
    for container in pod.containers:
        held.setdefault(container.name, left)
    return held
