"""On which NUMA node a claimed device is: what its driver says, else what the machine knows of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from numalign.dra.drivers import PCIE_ROOT, numa_node, pci_address
from numalign.dra.publish.slices import driver_of
from numalign.dra.values import Device, DeviceID
from numalign.model.machine import Machine
from numalign.values import NamedTuple

ToldBy = Literal["driver", "machine", "nobody"]


class Place(NamedTuple):
    """Where a device is."""

    numa: tuple[int, ...] | None
    told_by: ToldBy


def places(devices: Mapping[DeviceID, Device], machine: Machine) -> dict[DeviceID, Place]:
    """Find out where each of a node's devices is."""
    buses, roots = _pci(machine)
    plugins = {driver: _numbered(devices, driver, machine) for driver in {identity.driver for identity in devices}}
    found: dict[DeviceID, Place] = {}
    for identity, device in devices.items():
        said = numa_node(device, identity.driver)
        if said is not None:
            found[identity] = Place((said,), "driver")
            continue
        known = _known(device, buses, roots) or plugins[identity.driver].get(identity.device)
        found[identity] = Place(known, "machine") if known else Place(None, "nobody")
    return found


def _pci(machine: Machine) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Give PCI address -> node, and PCIe root -> node where all functions below it are on one."""
    buses: dict[str, tuple[int, ...]] = {}
    below: dict[str, set[int]] = {}
    for one in machine.hardware.pci if machine.hardware is not None else ():
        if one.numa_node is not None and one.numa_node >= 0:
            buses[one.address] = (one.numa_node,)
            if one.root is not None:
                below.setdefault(one.root, set()).add(one.numa_node)
    return buses, {root: tuple(nodes) for root, nodes in below.items() if len(nodes) == 1}


def _known(
    device: Device, buses: Mapping[str, tuple[int, ...]], roots: Mapping[str, tuple[int, ...]]
) -> tuple[int, ...] | None:
    address = pci_address(device)
    if address is not None and address[1] in buses:
        return buses[address[1]]
    root = device.attributes.get(PCIE_ROOT)
    return roots.get(root.value) if root is not None else None


def _numbered(devices: Iterable[DeviceID], driver: str, machine: Machine) -> dict[str, tuple[int, ...]]:
    """Match `gpu-4` with the machine's device `gpu4`, if there are as many of both and the numbers are the same."""
    names = [identity.device for identity in devices if identity.driver == driver]
    for resource, known in machine.devices.items():
        numbers = {_number(one.id): one for one in known}
        if driver_of(resource) == driver and len(known) == len(names) and set(map(_number, names)) == set(numbers):
            told = {name: numbers[_number(name)].numa_nodes or () for name in names}
            placed = {name: tuple([node for node in nodes if node >= 0]) for name, nodes in told.items()}
            return {name: nodes for name, nodes in placed.items() if nodes}
    return {}


def _number(name: str) -> int | None:
    digits = re.search(r"([0-9]{1,9})\D*$", name)
    return int(digits[1]) if digits else None
