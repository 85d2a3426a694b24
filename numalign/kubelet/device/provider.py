"""The Device Manager as a hint provider."""

from __future__ import annotations

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.allocate import allocate
from numalign.kubelet.device.hints import container_hints, pod_hints, sets_tried
from numalign.kubelet.device.state import EMPTY, DeviceManager, DeviceState, build, remove, with_hints_everywhere
from numalign.kubelet.topology.hints import TopologyHint
from numalign.kubelet.topology.provider import HintProvider, StartInput


def start(given: StartInput) -> DeviceManager:
    """Read the machine's devices; nothing can be wrong with them."""
    return build(given.machine)


def start_until_1_35(given: StartInput) -> DeviceManager:
    """Read the machine's devices; hints name every NUMA node, whether it has devices or not."""
    return with_hints_everywhere(build(given.machine))


def empty(_manager: DeviceManager) -> DeviceState:
    """Nobody holds anything."""
    return EMPTY


def release(_manager: DeviceManager, state: DeviceState, uid: str) -> DeviceState:
    """Free all devices of a pod."""
    return remove(state, uid)


def allocate_pod(_manager: DeviceManager, state: DeviceState, _pod: PodDemand, _hint: TopologyHint) -> DeviceState:
    """A pod as a whole gets no devices; its containers do when they start (docs/rules/kubelet-versions.md 6.6)."""
    return state


def start_container(
    manager: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> DeviceState:
    """Give a container the devices that it did not get at admission (docs/rules/kubelet-versions.md 6.9).

    Raises:
        AllocationError: no devices, or not enough.
    """
    held = state.holdings.get(pod.uid, {}).get(container.name, {})
    missing = tuple([(name, amount) for name, amount in container.devices if amount and name not in held])
    if not pod.as_a_whole:
        return state
    return allocate(manager, state, pod, container._replace(devices=missing), hint)


DEVICE = HintProvider(
    name="device",
    start=start,
    empty=empty,
    container_hints=container_hints,
    pod_hints=pod_hints,
    sets_tried=sets_tried,
    allocate=allocate,
    release=release,
    allocate_pod=allocate_pod,
    start_container=start_container,
)
