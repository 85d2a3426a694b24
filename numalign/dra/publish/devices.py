"""Devices that drivers would publish: what device plugins hand out today, and memory (docs/rules/dra.md D-25)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from numalign.dra.drivers import PCIE_ROOT, STANDARD_NUMA, Driver
from numalign.dra.values import Attribute, Capacity, Device
from numalign.model.hardware import PCIFunction
from numalign.model.machine import Device as PluginDevice
from numalign.model.machine import Machine, NUMANode
from numalign.model.quantity import from_int, parse, value
from numalign.values import NamedTuple


class Made(NamedTuple):
    """A device with the NUMA nodes it is on, whether or not its driver says so."""

    device: Device
    numa: tuple[int, ...] = ()


def number(value: int) -> Attribute:
    """Make an attribute that is a whole number."""
    return Attribute("int", value)


def text(value: str) -> Attribute:
    """Make an attribute that is text."""
    return Attribute("string", value)


def flag(value: bool) -> Attribute:
    """Make an attribute that is true or false."""
    return Attribute("bool", value)


_ADDRESS: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_RDMA: Final = ("ib", "rdma", "hca", "roce", "efa")


def plugin_devices(machine: Machine, driver: Driver, resources: Iterable[str]) -> list[Made]:
    """Give the devices of a driver, in the order of the machine's resources and devices."""
    found: list[Made] = []
    functions = machine.functions()
    for resource in resources:
        for device in machine.devices.get(resource, ()):
            numa = tuple(node for node in device.numa_nodes or () if node >= 0)
            function = functions.get(device.id)
            if driver.kind == "gpu":
                found.append(Made(_gpu(driver, device, len(found), numa, function), numa))
            else:
                found.append(Made(_nic(driver, resource, device, numa, function), numa))
    return found


def _pci(driver: Driver, function: PCIFunction | None, address: str | None) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    address = function.address if function is not None else address
    if address is not None:
        found[driver.address] = text(address)
    if function is not None and function.root is not None:
        found[PCIE_ROOT] = text(function.root)
    return found


def _address(name: str) -> str | None:
    return name if _ADDRESS.fullmatch(name) else None


def _gpu(
    driver: Driver, device: PluginDevice, index: int, numa: tuple[int, ...], function: PCIFunction | None
) -> Device:
    attributes = _pci(driver, function, _address(device.id))
    if driver.name == "gpu.amd.com":
        attributes["type"] = text("amdgpu")
    else:
        attributes["uuid"] = text(device.id)
        attributes |= {"type": text("gpu")} if driver.name == "gpu.nvidia.com" else {"index": number(index)}
    if driver.numa and numa:
        attributes[STANDARD_NUMA if STANDARD_NUMA in driver.numa else "numaNode"] = number(numa[0])
    return Device(name=f"gpu-{index}", attributes=attributes)


def _nic(
    driver: Driver, resource: str, device: PluginDevice, numa: tuple[int, ...], function: PCIFunction | None
) -> Device:
    address = _address(device.id)
    words = resource.rpartition("/")[2].replace("-", "_").lower().split("_")
    attributes: dict[str, Attribute] = {
        **_pci(driver, function, address),
        "dra.net/rdma": flag(any(word in _RDMA for word in words) or device.id.startswith("mlx5_")),
    }
    if address is None:
        attributes["dra.net/rdmaDevice" if device.id.startswith("mlx5_") else "dra.net/ifName"] = text(device.id)
    if numa:
        attributes["dra.net/numaNode"] = number(numa[0])
    return Device(name=_name(device.id, address), attributes=attributes)


def _name(given: str, address: str | None) -> str:
    """Make a DNS label: `mlx5_0` is `mlx5-0`, a PCI address gets a prefix."""
    label = re.sub(r"[^a-z0-9]+", "-", given.lower()).strip("-")[:60].strip("-") or "device"
    return f"pci-{label}" if address is not None else label


PAGE = "4k"
"""How the driver names ordinary pages."""
CAPACITY = "size"


def memory_devices(machine: Machine) -> list[Made]:
    """Give the devices that the driver publishes: memory beside the huge pages, and each size of these."""
    return [made for node in machine.numa_nodes if node.id >= 0 for made in _of_node(node)]


def _of_node(node: NUMANode) -> Iterator[Made]:
    plain = node.memory - sum(node.hugepages.values())
    if plain > 0:
        yield _device(f"memory-{node.id}", node.id, PAGE, plain, huge=False)
    for size in sorted(node.hugepages, key=lambda name: value(parse(name))):
        if node.hugepages[size]:
            short = size.removesuffix("i").lower()
            yield _device(f"hugepages-{short}-{node.id}", node.id, short, node.hugepages[size], huge=True)


def _device(name: str, node: int, page: str, size: int, *, huge: bool) -> Made:
    where = number(node)
    attributes: dict[str, Attribute] = {
        "dra.memory/numaNode": where,
        "dra.cpu/numaNode": where,
        "dra.net/numaNode": where,
        "dra.memory/pageSize": text(page),
        "dra.memory/hugeTLB": flag(huge),
    }
    amount = Capacity(from_int(size, "BinarySI"))
    return Made(Device(name=name, attributes=attributes, capacity={CAPACITY: amount}, shared=True), (node,))
