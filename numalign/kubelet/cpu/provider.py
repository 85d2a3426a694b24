"""The CPU Manager as a hint provider."""

from __future__ import annotations

from collections.abc import Callable

from numalign.kubelet.cpu import hints
from numalign.kubelet.cpu.allocate import allocate
from numalign.kubelet.cpu.hints import container_hints, sets_tried
from numalign.kubelet.cpu.manager import CPUManager, Distribute, distribute, distribute_until_1_36
from numalign.kubelet.cpu.manager import start as start_manager
from numalign.kubelet.cpu.state import CPUState, initial_state, remove_pod
from numalign.kubelet.cpu.uncore import PartialFit, exact_fit, fit_of_whole_cores
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.topology.hints import ProviderAnswer, TopologyHint
from numalign.kubelet.topology.provider import HintProvider, StartInput


def _starting(partial_fit: PartialFit, distribute: Distribute) -> Callable[[StartInput], CPUManager]:
    """Make what starts the manager (row 8 of docs/rules/kubelet-files.md 56), or raises StartError."""

    def start(given: StartInput) -> CPUManager:
        reserved = given.reservation.get("cpu")
        return start_manager(
            given.machine,
            policy=given.config.cpu_manager_policy,
            options=given.config.cpu_manager_policy_options,
            gates=given.gates,
            levels=given.levels,
            topology_policy=given.config.topology_manager_policy,
            reserved=given.reserved_cpus,
            reservation_nano=reserved.nano if reserved else None,
            waive_reservation=given.waive_cpu_reservation,
            partial_fit=partial_fit,
            distribute=distribute,
        )

    return start


start_until_1_36 = _starting(exact_fit, distribute_until_1_36)
"""CPUs are spread over NUMA nodes whatever their sockets."""
start_until_1_33 = _starting(fit_of_whole_cores, distribute_until_1_36)
"""Beside that, uncore caches give whole cores only."""


def pod_hints(manager: CPUManager, state: CPUState, pod: PodDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for a whole pod, with pod-level resources or without."""
    if not pod.as_a_whole:
        return hints.pod_hints(manager, state, pod)
    from numalign.kubelet.cpu.pod_level import pod_hints

    return pod_hints(manager, state, pod)


def allocate_pod(manager: CPUManager, state: CPUState, pod: PodDemand, hint: TopologyHint) -> CPUState:
    """Give a pod as a whole its CPUs, and each container its part. Errors as in `pod_level.allocate_pod`."""
    from numalign.kubelet.cpu.pod_level import allocate_pod

    return allocate_pod(manager, state, pod, hint)


def release(_manager: CPUManager, state: CPUState, uid: str) -> CPUState:
    """Put all CPUs of a pod back into the shared pool."""
    return remove_pod(state, uid)


def start_container(
    _manager: CPUManager, state: CPUState, _pod: PodDemand, _container: ContainerDemand, _hint: TopologyHint
) -> CPUState:
    """CPUs of finished init containers stay theirs, for later containers of the pod (docs/rules/cpu-manager.md 9)."""
    return state


CPU = HintProvider(
    name="cpu",
    start=_starting(exact_fit, distribute),
    empty=initial_state,
    container_hints=container_hints,
    pod_hints=pod_hints,
    sets_tried=sets_tried,
    allocate=allocate,
    release=release,
    allocate_pod=allocate_pod,
    start_container=start_container,
)
