"""A GPU to ask selectors about, and short ways to ask."""

from __future__ import annotations

from typing import Any

from numalign.dra.cel.device import compile_selector, device_value
from numalign.dra.reading import read_slice
from numalign.dra.values import Device

GPU: dict[str, Any] = {
    "name": "gpu-0",
    "attributes": {
        "model": {"string": "H100"},
        "index": {"int": 3},
        "healthy": {"bool": True},
        "driverVersion": {"version": "550.54.14"},
        "resource.kubernetes.io/numaNode": {"int": 1},
    },
    "capacity": {"memory": {"value": "80Gi"}},
}


def device(written: dict[str, Any], driver: str = "gpu.example.com") -> Device:
    """A device as a slice writes it."""
    return read_slice({"spec": {"driver": driver, "pool": {"name": "p"}, "devices": [written]}}).devices[0]


def asked(text: str, written: dict[str, Any] = GPU, *, lists: bool = False) -> tuple[bool, int]:
    """Whether a selector holds for a device, and what it cost."""
    value = device_value(device(written), "gpu.example.com", lists=lists)
    return compile_selector(text, lists=lists).matches(value)


def matches(text: str, written: dict[str, Any] = GPU, *, lists: bool = False) -> bool:
    """Whether a selector holds for a device."""
    return asked(text, written, lists=lists)[0]


def cost(text: str) -> int:
    """What a selector costs."""
    return asked(text)[1]
