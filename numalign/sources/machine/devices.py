"""The devices of a machine file: their nodes, the sets a plugin prefers, the links between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.model.document import (
    NAME,
    Form,
    anything,
    field,
    nullable,
    read,
    record,
)
from numalign.model.document.values import (
    MAX_NODE_ID,
    boolean,
    either,
    integer,
    list_of,
    map_of,
    name,
    turned,
)
from numalign.model.machine import Device
from numalign.model.path import FieldError
from numalign.model.resources import NATIVE, is_hugepages

MAX_DEVICES: Final = 4096
"""Most devices of one resource on one NUMA node, and of one output of a tool."""
_NOT_DEVICES = (*NATIVE, "pods", "storage")
NODE_ID: Final = integer(-MAX_NODE_ID, MAX_NODE_ID, "a NUMA node id")
UNSAID: Final[tuple[int, ...]] = (MAX_NODE_ID + 1,)
"""The nodes of a device that says none."""
Link = tuple[str, str, int]


def check_resource(resource: str) -> None:
    """Check that a name can be an extended resource's.

    Raises:
        FieldError: it cannot.
    """
    domain, slash, rest = resource.partition("/")
    if resource in _NOT_DEVICES or is_hugepages(resource) or not (slash and domain and rest):
        raise FieldError((), 'expected the name of an extended resource like "nvidia.com/gpu"')


RESOURCE: Final = {
    "propertyNames": {NAME: "resource", "type": "string", "pattern": "^[^/]+/.+$", "not": {"pattern": "^hugepages-"}}
}
"""What a schema says of keys that are extended resources."""
_DEVICE: Final = "a device like {id: gpu0, numaNodes: [0]}"


def _device(*, label: str, numa_nodes: tuple[int, ...] | None, numa_node: int | None, unhealthy: bool) -> Device:
    if numa_node is None:
        return Device(label, numa_nodes, not unhealthy)
    if numa_nodes != UNSAID:
        raise FieldError(("numaNode",), "expected numaNode or numaNodes, got both")
    return Device(label, (numa_node,), not unhealthy)


DEVICE: Final = either(
    record(
        _device,
        field("id", name("a device id"), to="label", missing=f"expected {_DEVICE}, got no id"),
        field(
            "numaNodes",
            nullable(list_of(NODE_ID, "a list of NUMA node ids, or null for no topology")),
            UNSAID,
            says="null: no topology. []: a topology without nodes. [-1]: an unknown node was passed on.",
        ),
        field("numaNode", NODE_ID, None),
        field("unhealthy", boolean, False),
        parts=lambda device: {
            **device._asdict(),
            "label": device.id,
            "numa_node": None,
            "unhealthy": not device.healthy,
        },
        also={"not": {"required": ["numaNode", "numaNodes"]}},
    ),
    turned(name(_DEVICE), lambda label: Device(label, UNSAID), lambda device: device.id),
)
DEVICES: Final = map_of(
    list_of(DEVICE, "a list of devices"), "a mapping of resources to devices", check_resource, RESOURCE
)
"""Resource -> list of devices (docs/rules/device-manager.md 1.3)."""


_ID: Final = name("a device id")
PREFERRED: Final = map_of(
    list_of(list_of(_ID, "a list of device ids"), "a list of lists of device ids"),
    "a mapping of resources to lists of device sets",
)
"""Resource -> list of lists of device ids."""


def _link(value: object) -> Link:
    listed = _TRIPLE.read(value)
    if len(listed) != 3:
        raise FieldError((), f"expected a link like [gpu0, gpu3, 2], got {len(listed)} elements")
    one, other = (read(_ID, listed[end], (end,)) for end in (0, 1))
    return one, other, read(_NUMBER, listed[2], (2,))


_TRIPLE: Final = list_of(anything, "a link like [gpu0, gpu3, 2]")
_NUMBER: Final = integer(1, 1024, "a number of links")
_LINK: Final[Form[Link]] = Form(
    _link,
    list,
    {"type": "array", "prefixItems": [_ID.schema, _ID.schema, _NUMBER.schema], "minItems": 3, "maxItems": 3},
)
_LINKS: Final = list_of(_LINK, "a list of links like [gpu0, gpu3, 2]")
UNNAMED: Final = "\n"
"""In place of the resource whose links they are; no key of a document can be this."""
LINKS: Final[Form[Mapping[str, tuple[Link, ...]]]] = either(
    map_of(_LINKS), turned(_LINKS, lambda listed: {UNNAMED: listed}, lambda known: known[UNNAMED])
)
"""Resource -> `[device, device, number]`s, or such a list alone."""
