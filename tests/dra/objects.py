"""Small slices, classes and claims for tests, and one call that allocates them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numalign.dra.allocator import MAX_WORK, allocate
from numalign.dra.features import Features, features
from numalign.dra.pools import published
from numalign.dra.reading import read_claim, read_class, read_node, read_slice
from numalign.dra.result import Outcome
from numalign.dra.usage import usage

NUMA = "resource.kubernetes.io/numaNode"


def device(name: str, **attributes: object) -> dict[str, Any]:
    """A device with attributes; `numa=1` stands for the standard name of the NUMA node."""
    kinds = {bool: "bool", int: "int", str: "string"}
    return {
        "name": name,
        "attributes": {
            (NUMA if key == "numa" else key): {kinds[type(value)]: value} for key, value in attributes.items()
        },
    }


def resource_slice(
    driver: str, devices: Sequence[Mapping[str, Any]], node: str = "node-1", **spec: Any
) -> dict[str, Any]:
    """A slice that is its whole pool."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return {
        "metadata": {"name": f"{node}-{driver}"},
        "spec": {"driver": driver, "pool": pool, "nodeName": node, "devices": list(devices), **spec},
    }


def request(name: str, device_class: str, count: int = 1, **fields: Any) -> dict[str, Any]:
    """A request for a count of devices."""
    return {"name": name, "exactly": {"deviceClassName": device_class, "count": count, **fields}}


def claim(name: str, *requests: Mapping[str, Any], match: str = "", distinct: str = "") -> dict[str, Any]:
    """A claim, with one constraint over all its requests or none."""
    constraints = [{"matchAttribute": match}] if match else [{"distinctAttribute": distinct}] if distinct else []
    spec = {"devices": {"requests": list(requests), "constraints": constraints}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def device_class(name: str) -> dict[str, Any]:
    """A class for all devices of the driver `NAME.example.com`."""
    expression = f"device.driver == '{name}.example.com'"
    return {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}


def outcome(
    slices: Sequence[Mapping[str, Any]],
    claims: Sequence[Mapping[str, Any]],
    classes: Sequence[str] = ("gpu", "nic"),
    using: Features | None = None,
    work: int = MAX_WORK,
) -> Outcome:
    """Allocate claims on `node-1`; those with a status are what is in use."""
    read = [read_claim(one) for one in claims]
    return allocate(
        read_node({"metadata": {"name": "node-1"}}),
        published(read_slice(one) for one in slices),
        {name: read_class(device_class(name)) for name in classes},
        [one for one in read if one.allocation is None],
        usage(read),
        using or features(),
        work=work,
    )


def names(found: Outcome) -> list[list[str]]:
    """The devices of each claim."""
    assert found.claims is not None
    return [[one.device.device for one in each.devices] for each in found.claims]
