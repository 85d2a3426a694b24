"""What kubelets before 1.20 did otherwise at admission (docs/rules/topology-manager.md 13, device-manager.md 10)."""

from __future__ import annotations

from numalign.kubelet.cpu.hints import container_hints as cpu_hints
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.hints import container_hints as device_hints
from numalign.kubelet.device.state import DeviceManager, DeviceState, build
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.topology.hints import ProviderAnswer, TopologyHint
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
from numalign.kubelet.topology.provider import StartInput
from numalign.model.machine import Machine


def admit_after_all_hints(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Decide for all containers on the same state, and only then allocate, as up to 1.17."""
    hints: dict[str, TopologyHint] = {}
    decisions: list[Decision] = []
    for container in pod.containers:
        if manager.policy_of(container.name) == "none":
            continue
        try:
            decisions.append(decide(manager, state, pod, container))
        except (KubeletPanicError, KubeletHangError) as error:
            return failed(Failure(error), state, pod, None, {}, decisions)
        if not decisions[-1].admit:
            return refused(manager.refusal, state, pod, {}, decisions)
        hints[container.name] = decisions[-1].hint
    stored: dict[str, TopologyHint] = {}
    for container in pod.containers:
        stored[container.name] = hint = hints.get(container.name, NO_HINT)
        state, failure = allocate(manager, state, pod, container, hint)
        if failure:
            return failed(failure, state, pod, container, stored, decisions)
    return admitted(state, pod, stored, decisions)


def admit_guaranteed_after_all_hints(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Decide only for Guaranteed pods, as the first alpha; the others are allocated without a hint."""
    if pod.guaranteed:
        return admit_after_all_hints(manager, state, pod)
    return admit_after_all_hints(manager._replace(policy="none", container_policies={}), state, pod)


def device_hints_without_reuse(
    manager: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Return hints that do not see the devices of ended init containers, as up to 1.18."""
    return device_hints(manager, state._replace(reusable={}), pod, container)


def cpu_hints_without_reuse(
    manager: CPUManager, state: CPUState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Return hints that do not see the CPUs of ended init containers, as up to 1.18."""
    return cpu_hints(manager, state._replace(reuse=0), pod, container)


def start_without_asking(given: StartInput) -> DeviceManager:
    """Start the Device Manager as up to 1.18."""
    return build_without_asking(given.machine)


def build_without_asking(machine: Machine) -> DeviceManager:
    """Read a machine's devices, but no plugin's preferences: GetPreferredAllocation came with 1.19."""
    manager = build(machine)
    resources = {name: resource._replace(preferred_sets=None, links={}) for name, resource in manager.resources.items()}
    return manager._replace(resources=resources)
