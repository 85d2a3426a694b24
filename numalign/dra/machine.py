"""A machine from the slices that its drivers publish: the other direction of `publish` (docs/rules/podresources.md 10).

Slices were never made to describe a machine. What they do not say is named, and made up only where there must be
something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from numalign.dra.drivers import DRIVERS, PCIE_ROOT, numa_node, pci_address
from numalign.dra.features import features
from numalign.dra.machine_cpus import DRIVER as CPU_DRIVER
from numalign.dra.machine_cpus import CPUs, cpus_of
from numalign.dra.pools import pools_of, published
from numalign.dra.values import Device, Node, Slice
from numalign.errors import InputError
from numalign.model.cpuset import MAX_ID
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device as PluginDevice
from numalign.model.machine import Machine, NodeObject, NUMANode
from numalign.model.quantity import value
from numalign.values import NamedTuple

AMPLE_MEMORY: Final = 1 << 46
"""Memory of a NUMA node where nobody says, in bytes."""
MAX_NODES: Final = 1024
_MEMORY_DRIVER: Final = "dra.memory"
_PAGES: Final = {"2m": "2Mi", "1g": "1Gi", "64k": "64Ki", "512m": "512Mi", "16g": "16Gi", "32m": "32Mi"}
"""Sizes of huge pages as `dra.memory` writes them -> as Kubernetes does."""


class ReadBack(NamedTuple):
    """A machine, and what its slices do not say."""

    machine: Machine
    left_out: tuple[str, ...]
    """A sentence each."""


class _Found(NamedTuple):
    """A device that becomes one of a plugin."""

    driver: str
    device: Device
    numa: int | None


def nodes_of(slices: Sequence[Slice]) -> tuple[str, ...]:
    """Name the nodes that have slices of their own."""
    return tuple(sorted({one.placement.node_name for one in slices if one.placement.node_name is not None}))


def machine_of(slices: Sequence[Slice], node: str) -> ReadBack:
    """Make the machine of a node: exact for CPUs if `dra.cpu` publishes each of them, else with their number.

    Raises:
        InputError: no slice says which NUMA nodes with how many CPUs there are, or a number is none.
    """
    by_driver: dict[str, list[Device]] = {}
    left_out: list[str] = []
    for pool in pools_of(Node(node), published(slices), features()):
        if not pool.is_usable:
            left_out.append(f"skipped pool {pool}: {pool.invalid or 'some slices are missing'}")
            continue
        by_driver.setdefault(pool.driver, []).extend(one for slice_ in pool.slices for one in slice_.devices)
    cpus = cpus_of(by_driver.pop(CPU_DRIVER, ()))
    left_out += cpus.left_out
    memory = by_driver.pop(_MEMORY_DRIVER, ())
    found = list(_placed(by_driver, left_out))
    machine = Machine(
        node,
        _nodes(cpus, memory, found, left_out),
        cpus.sockets,
        cpus.cores,
        cpus.caches,
        devices=_devices(found),
        node=NodeObject(name=node),
        hardware=_hardware(cpus, found),
    )
    left_out.append("slices have no distances, no links between devices and no kubelet settings")
    return ReadBack(machine, tuple(left_out))


def _nodes(cpus: CPUs, devices: Sequence[Device], found: Sequence[_Found], left_out: list[str]) -> tuple[NUMANode, ...]:
    """Give the NUMA nodes that something is on, with the memory that `dra.memory` publishes."""
    plain: dict[int, int] = {}
    pages: dict[int, dict[str, int]] = {}
    for device in devices:
        numa = _numa_node(device, _MEMORY_DRIVER)
        size, page = device.capacity.get("size"), device.attributes.get(f"{_MEMORY_DRIVER}/pageSize")
        if numa is None or size is None or page is None:
            left_out.append(f"skipped {device.name} of {_MEMORY_DRIVER}: no NUMA node, size or pages")
            continue
        amount = max(0, value(size.value))
        plain[numa] = plain.get(numa, 0) + amount
        if page.value in _PAGES:
            inside = pages.setdefault(numa, {})
            inside[_PAGES[page.value]] = inside.get(_PAGES[page.value], 0) + amount
    if not plain:
        left_out.append("memory unknown: numalign assumes 64 TiB on each NUMA node, without huge pages")
        plain = dict.fromkeys(cpus.nodes, AMPLE_MEMORY)
    numbers = {*cpus.nodes, *plain, *(one.numa for one in found if one.numa is not None)}
    if len(numbers) > MAX_NODES:
        raise InputError(f"{len(numbers)} NUMA nodes; Linux has at most {MAX_NODES}")
    return tuple(
        NUMANode(numa, cpus.nodes.get(numa, 0), plain.get(numa, 0), pages.get(numa, {})) for numa in sorted(numbers)
    )


def _placed(by_driver: Mapping[str, Sequence[Device]], left_out: list[str]) -> Iterator[_Found]:
    """Yield the devices that a plugin would have, with their NUMA nodes: said, or known from a neighbour."""
    below: dict[str, set[int]] = {}
    for driver, devices in by_driver.items():
        for device in devices:
            said = _numa_node(device, driver)
            if said is not None:
                below.setdefault(_text(device, PCIE_ROOT), set()).add(said)
    for driver, devices in by_driver.items():
        whole = [device for device in devices if _is_whole(driver, device)]
        if len(whole) < len(devices):
            parts = len(devices) - len(whole)
            left_out.append(f"skipped {parts} devices of {driver}: parts or other views of whole devices")
        lost = by_root = 0
        for device in whole:
            root = _text(device, PCIE_ROOT)
            said = _numa_node(device, driver)
            if said is None and root and len(below.get(root, ())) == 1:
                [said] = below[root]
                by_root += 1
            lost += said is None
            yield _Found(driver, device, said)
        if by_root:
            left_out.append(f"{driver} reports no NUMA node: {by_root} devices are on the NUMA node of their PCIe root")
        if lost:
            left_out.append(f"NUMA node unknown: {lost} devices of {driver}")


def _numa_node(device: Device, driver: str) -> int | None:
    said = numa_node(device, driver)
    if said is not None and said > MAX_ID:
        raise InputError(f"{device.name} of {driver}: {said} is not a NUMA node of Linux")
    return said


def _is_whole(driver: str, device: Device) -> bool:
    """Tell whether a device is a card, and not a part of one that others share."""
    if driver == "gpu.nvidia.com":
        return _text(device, "type") in ("gpu", "")
    return not device.consumes


def _text(device: Device, name: str) -> str:
    attribute = device.attributes.get(name)
    return attribute.value if attribute is not None and isinstance(attribute.value, str) else ""


def _devices(found: Sequence[_Found]) -> dict[str, tuple[PluginDevice, ...]]:
    devices: dict[str, tuple[PluginDevice, ...]] = {}
    for one in found:
        resource = _resource(one.driver, one.device)
        device = PluginDevice(_id(one.driver, one.device), (one.numa,) if one.numa is not None else None)
        taken = {known.id for known in devices.get(resource, ())}
        if device.id in taken:
            device = device._replace(id=one.device.name)
        devices[resource] = (*devices.get(resource, ()), device)
    return devices


def _resource(driver: str, device: Device) -> str:
    """Name the resource that a device plugin has in the driver's place; slices do not say it."""
    known = DRIVERS.get(driver)
    if known is not None and known.kind == "gpu":
        return next((name for name in known.resources if "/" in name), f"{driver}/gpu")
    if known is None:
        return f"{driver}/device"
    rdma = device.attributes.get("dra.net/rdma")
    return f"{driver}/rdma" if rdma is not None and rdma.value is True else f"{driver}/nic"


def _id(driver: str, device: Device) -> str:
    """Give the id that its plugin uses: the card's own, else the name of the interface, else the address."""
    kind = DRIVERS[driver].kind if driver in DRIVERS else None
    names = ("uuid",) if kind == "gpu" else ("dra.net/rdmaDevice", "dra.net/ifName")
    _, address = pci_address(device) or ("", "")
    return next((text for name in names if (text := _text(device, name))), address or device.name)


def _hardware(cpus: CPUs, found: Sequence[_Found]) -> Hardware | None:
    """Keep what a kubelet does not know: kinds of cores, and where on the PCI bus devices are."""
    pci = {
        address[1]: PCIFunction(
            address[1],
            numa_node=one.numa,
            names=(name,) if (name := _id(one.driver, one.device)) != address[1] else (),
            root=_text(one.device, PCIE_ROOT) or None,
        )
        for one in found
        if (address := pci_address(one.device))
    }
    if not pci and not cpus.kinds:
        return None
    return Hardware(pci=tuple(pci.values()), cpu_kinds=cpus.kinds)
