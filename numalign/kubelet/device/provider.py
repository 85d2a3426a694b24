"""The Device Manager as a hint provider."""

from __future__ import annotations

from numalign.kubelet.demand import PodDemand
from numalign.kubelet.device.allocate import allocate
from numalign.kubelet.device.hints import container_hints, pod_hints
from numalign.kubelet.device.state import EMPTY, DeviceManager, DeviceState, build, remove
from numalign.kubelet.topology.provider import HintProvider, StartInput


def start(given: StartInput) -> DeviceManager:
    """Read the machine's devices; nothing can be wrong with them."""
    return build(given.machine)


def empty(_manager: DeviceManager) -> DeviceState:
    """Nobody holds anything."""
    return EMPTY


def release(_manager: DeviceManager, state: DeviceState, uid: str) -> DeviceState:
    """Free all devices of a pod."""
    return remove(state, uid)


def start_containers(_manager: DeviceManager, state: DeviceState, _pod: PodDemand) -> DeviceState:
    """Devices were given at admission; a start changes nothing."""
    return state


DEVICE = HintProvider(
    name="device",
    start=start,
    empty=empty,
    container_hints=container_hints,
    pod_hints=pod_hints,
    allocate=allocate,
    release=release,
    start_containers=start_containers,
)
