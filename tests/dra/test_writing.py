"""Slices and classes as the API writes them."""

from __future__ import annotations

from numalign.dra.values import Attribute, Capacity, Device, DeviceClass, Placement, Slice
from numalign.dra.writing import written_class, written_slice
from numalign.model.quantity import parse

FULL = Device(
    "a",
    attributes={"nodes": Attribute("ints", (1, 2)), "model": Attribute("string", "x")},
    capacity={"memory": Capacity(parse("80Gi"))},
    shared=True,
)


def test_a_slice_is_written_as_the_api_has_it() -> None:
    slice_ = Slice("s", "d", "p", 3, 2, Placement("n"), devices=(FULL, Device("b")))

    assert written_slice(slice_) == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "d",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 3, "resourceSliceCount": 2},
            "devices": [
                {
                    "name": "a",
                    "attributes": {"nodes": {"ints": [1, 2]}, "model": {"string": "x"}},
                    "capacity": {"memory": {"value": "80Gi"}},
                    "allowMultipleAllocations": True,
                },
                {"name": "b"},
            ],
        },
    }


def test_a_class_is_written_as_the_api_has_it() -> None:
    assert written_class(DeviceClass("c", ("true", "false"))) == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "c"},
        "spec": {"selectors": [{"cel": {"expression": "true"}}, {"cel": {"expression": "false"}}]},
    }
