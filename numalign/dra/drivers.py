"""The drivers that people use, and under which names each publishes where a device is (docs/rules/dra.md D-19, D-25).

One thing has several names: a `matchAttribute` over two drivers holds only if both publish that very name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from numalign.dra.values import Attribute, Device, DeviceClass
from numalign.values import NamedTuple

Kind = Literal["cpu", "gpu", "memory", "nic"]

STANDARD_NUMA: Final = "resource.kubernetes.io/numaNode"
"""The standard name, from 1.37 on (KEP-6072); gpu.nvidia.com 0.5.0 and dra.cpu publish it already."""
PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
PCI_BUS_ID: Final = "resource.kubernetes.io/pciBusID"
PCI_ADDRESSES: Final = (PCI_BUS_ID, "dra.net/pciAddress", "pcieBusID")
"""Names under which drivers publish a PCI address; `gpu.nvidia.com` the last one until January 2026."""

_NUMA_NAMES: Final = (
    STANDARD_NUMA,
    "dra.cpu/numaNodeID",
    "dra.cpu/numaNode",
    "dra.net/numaNode",
    "dra.memory/numaNode",
)
"""Full names under which some driver publishes a NUMA node."""
_NUMA_BARE: Final = ("numaNode", "numaNodeID", "numa")
"""Names without a domain, and in the driver's own."""


class Driver(NamedTuple):
    """What is known of a driver."""

    name: str
    kind: Kind
    numa: tuple[str, ...]
    """Full names under which it publishes the NUMA node; empty: it does not."""
    pcie_root: bool
    """Whether it publishes `resource.kubernetes.io/pcieRoot`."""
    address: str = PCI_BUS_ID
    """The name under which it publishes a PCI address."""
    resources: tuple[str, ...] = ()
    """The device plugin resources it takes the place of: exact names, or words in the part behind the slash."""
    classes: tuple[DeviceClass, ...] = ()
    """DeviceClasses that its installation brings."""


def _class(name: str, driver: str, more: str = "") -> DeviceClass:
    return DeviceClass(name, (f'device.driver == "{driver}"' + (f" && {more}" if more else ""),))


DRIVERS: Final[Mapping[str, Driver]] = {
    one.name: one
    for one in (
        Driver(
            "dra.cpu",
            "cpu",
            ("dra.cpu/numaNodeID", "dra.net/numaNode", STANDARD_NUMA),
            pcie_root=False,
            classes=(_class("dra.cpu", "dra.cpu"),),
        ),
        Driver(
            "gpu.nvidia.com",
            "gpu",
            (STANDARD_NUMA,),
            pcie_root=True,
            resources=("nvidia.com/gpu",),
            classes=(_class("gpu.nvidia.com", "gpu.nvidia.com", "device.attributes['gpu.nvidia.com'].type == 'gpu'"),),
        ),
        Driver(
            "gpu.amd.com",
            "gpu",
            ("gpu.amd.com/numaNode",),
            pcie_root=True,
            resources=("amd.com/gpu",),
            classes=(_class("gpu.amd.com", "gpu.amd.com"),),
        ),
        Driver(
            "gpu.example.com",
            "gpu",
            (),
            pcie_root=False,
            resources=("gpu",),
            classes=(_class("gpu.example.com", "gpu.example.com"),),
        ),
        Driver(
            "dra.net",
            "nic",
            ("dra.net/numaNode",),
            pcie_root=True,
            address="dra.net/pciAddress",
            resources=("nic", "ib", "eth", "rdma", "hca", "sriov", "net", "efa"),
            classes=(_class("dra.net", "dra.net"),),
        ),
        Driver(
            "dra.memory",
            "memory",
            ("dra.memory/numaNode", "dra.cpu/numaNode", "dra.net/numaNode"),
            pcie_root=False,
            classes=(
                _class("dra.memory", "dra.memory", 'device.attributes["dra.memory"].hugeTLB == false'),
                _class("dra.hugepages-2m", "dra.memory", 'device.attributes["dra.memory"].pageSize == "2m"'),
                _class("dra.hugepages-1g", "dra.memory", 'device.attributes["dra.memory"].pageSize == "1g"'),
            ),
        ),
    )
}
"""By name. docs/dra.md has the sources."""


def pci_address(device: Device) -> tuple[str, str] | None:
    """Give the PCI address of a device, and the name under which it is published."""
    for name in PCI_ADDRESSES:
        attribute = device.attributes.get(name)
        if attribute is not None and isinstance(attribute.value, str):
            return name, attribute.value
    return None


def is_place_name(name: str) -> bool:
    """Tell whether a full name says where a device is: its NUMA node or its PCIe root."""
    domain, _, short = name.partition("/")
    return name in (*_NUMA_NAMES, PCIE_ROOT) or (domain in DRIVERS and short in _NUMA_BARE)


def numa_names(device: Device, driver: str) -> dict[str, Attribute]:
    """Give the attributes of a device that say its NUMA node, under their full names."""
    found: dict[str, Attribute] = {}
    for name, attribute in device.attributes.items():
        full = name if "/" in name else f"{driver}/{name}"
        domain, _, short = full.partition("/")
        if full in _NUMA_NAMES or (domain == driver and short in _NUMA_BARE):
            found[full] = attribute
    return found


def numa_node(device: Device, driver: str) -> int | None:
    """Give the NUMA node a device says it is on; None: it says nothing, or -1."""
    for attribute in numa_names(device, driver).values():
        # Of a list the device's own node stands first; the others are near it (D-19).
        for own in attribute.value[:1] if attribute.is_list else (attribute.value,):
            if type(own) is int and own >= 0:
                return own
    return None
