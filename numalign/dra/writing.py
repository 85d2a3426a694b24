"""Slices and classes as the API writes them: the other direction of `reading`."""

from __future__ import annotations

from numalign.dra.values import Device, DeviceClass, Slice
from numalign.model.quantity import canonical

Written = dict[str, object]
"""An object of the API."""


def written_slice(slice_: Slice) -> Written:
    """Write a slice that belongs to one node."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": slice_.name},
        "spec": {
            "driver": slice_.driver,
            "nodeName": slice_.placement.node_name,
            "pool": {
                "name": slice_.pool,
                "generation": slice_.generation,
                "resourceSliceCount": slice_.slice_count,
            },
            "devices": [_device(device) for device in slice_.devices],
        },
    }


def _device(device: Device) -> Written:
    written: Written = {"name": device.name}
    if device.attributes:
        written["attributes"] = {
            name: {one.kind: list(one.value) if isinstance(one.value, tuple) else one.value}
            for name, one in device.attributes.items()
        }
    if device.capacity:
        written["capacity"] = {name: {"value": canonical(one.value)} for name, one in device.capacity.items()}
    if device.shared:
        written["allowMultipleAllocations"] = True
    return written


def written_class(class_: DeviceClass) -> Written:
    """Write a class."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": class_.name},
        "spec": {"selectors": [{"cel": {"expression": text}} for text in class_.selectors]},
    }
