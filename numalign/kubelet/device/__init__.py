"""The Device Manager (docs/rules/device-manager.md)."""

from numalign.kubelet.device.allocate import allocate
from numalign.kubelet.device.hints import container_hints, pod_hints
from numalign.kubelet.device.state import (
    EMPTY,
    DeviceManager,
    DeviceState,
    build,
    device_ids,
    per_numa,
    remove,
)

__all__ = [
    "EMPTY",
    "DeviceManager",
    "DeviceState",
    "allocate",
    "build",
    "container_hints",
    "device_ids",
    "per_numa",
    "pod_hints",
    "remove",
]
