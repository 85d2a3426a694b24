"""The hardware view as plain data: the `hardware` section of a machine file.

In a machine file a key that both views have (`cpus`, `sockets`, `cores`, `numaNodes`, `memory`) is written only where
the hardware differs from the machine; a key that only the hardware has is written whenever it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.model.cpuset import format_set
from numalign.model.machine import Machine
from numalign.sources.host.confinement import Allowed
from numalign.sources.host.hardware import Hardware
from numalign.sources.host.pci import PCIDevice
from numalign.sources.host.text import page_name


def hardware_section(hardware: Hardware, machine: Machine | None) -> dict[str, Any]:
    """Return the section: everything where `machine` is None, else without what the machine says itself."""
    result: dict[str, Any] = {}
    if hardware.model:
        result["model"] = hardware.model
    if machine is None or machine.cpus != hardware.online:
        result["cpus"] = format_set(hardware.online)
    if hardware.offline:
        result["offlineCPUs"] = format_set(hardware.offline)
    if hardware.isolated:
        result["isolatedCPUs"] = format_set(hardware.isolated)
    if machine is None or packages_differ(hardware, machine):
        result["sockets"] = [_with_id(number, cpus) for number, cpus in hardware.packages]
    if machine is None or cores_differ(hardware, machine):
        result["cores"] = [format_set(cpus) for cpus in hardware.cores]
    if machine is None or nodes_differ(hardware, machine):
        result["numaNodes"] = [_node(hardware, index) for index in range(len(hardware.nodes))]
    if hardware.memory is not None and (machine is None or machine.memory != hardware.memory):
        result["memory"] = hardware.memory
    return result | _of_the_hardware_alone(hardware)


def _of_the_hardware_alone(hardware: Hardware) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if any(hardware.hugepages.values()):
        result["hugepages"] = _pages(hardware.hugepages)
    if hardware.l3:
        result["l3Caches"] = [
            {**_with_id(cache.id, cache.cpus), **({"size": cache.size} if cache.size else {})} for cache in hardware.l3
        ]
    for key, groups in (("dies", hardware.dies), ("clusters", hardware.clusters)):
        if groups:
            result[key] = [format_set(cpus) for cpus in groups]
    if hardware.cpu_kinds:
        result["cpuKinds"] = [{"kind": kind, "cpus": format_set(cpus)} for kind, cpus in hardware.cpu_kinds]
    if hardware.allowed:
        result["allowed"] = _allowed(hardware.allowed)
    if hardware.pci:
        result["pci"] = [_pci(device) for device in hardware.pci]
    return result


def cores_differ(hardware: Hardware, machine: Machine) -> bool:
    """Tell whether the kubelet groups its CPUs into other cores than the hardware."""
    known = machine.cpus
    return {cpus & known for cpus in hardware.cores} - {0} != set(machine.cores)


def packages_differ(hardware: Hardware, machine: Machine) -> bool:
    """Tell whether the kubelet groups its CPUs into other sockets than the hardware, or under other ids."""
    known = machine.cpus
    seen = {(number, cpus & known) for number, cpus in hardware.packages if cpus & known}
    return seen != {(unit.id, unit.cpus) for unit in machine.sockets}


def nodes_differ(hardware: Hardware, machine: Machine) -> bool:
    """Tell whether a NUMA node has other CPUs, memory or distances for the kubelet than in the hardware."""
    mine = sorted((node.id, node.cpus, node.memory, node.distances) for node in machine.numa_nodes)
    rows: tuple[tuple[int, ...] | None, ...] = hardware.distances or (None,) * len(hardware.nodes)
    theirs = [(node.id, node.cpus, node.memory, row) for node, row in zip(hardware.nodes, rows, strict=True)]
    return mine != theirs


def _node(hardware: Hardware, index: int) -> dict[str, Any]:
    node = hardware.nodes[index]
    result: dict[str, Any] = {"id": node.id, "cpus": format_set(node.cpus)}
    if node.memory is not None:
        result["memory"] = node.memory
    if node.hugepages is not None:
        result["hugepages"] = _pages(node.hugepages)
    if hardware.distances is not None:
        result["distances"] = list(hardware.distances[index])
    return result


def _pages(pages: Mapping[int, int]) -> dict[str, int]:
    return {page_name(size): size * 1024 * count for size, count in pages.items()}


def _with_id(number: int | None, cpus: int) -> dict[str, Any]:
    return {**({} if number is None else {"id": number}), "cpus": format_set(cpus)}


def _allowed(allowed: Allowed) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if allowed.cpus is not None:
        result["cpus"] = format_set(allowed.cpus)
    if allowed.numa_nodes is not None:
        result["numaNodes"] = format_set(allowed.numa_nodes)
    if allowed.cpu_quota is not None:
        result["cpuQuota"] = allowed.cpu_quota
    if allowed.memory is not None:
        result["memory"] = allowed.memory
    return result


def _pci(device: PCIDevice) -> dict[str, Any]:
    """One device; a key that is missing is not known, `numaNode: -1` is what the firmware did not say."""
    items = {
        "address": device.address,
        "class": device.class_id,
        "vendor": device.vendor,
        "device": device.device,
        "numaNode": device.numa_node,
        "driver": device.driver,
        "names": list(device.names) or None,
        "root": device.path[0] if device.path else None,
        "rootPort": device.root_port,
        "switch": device.switch,
        "physicalFunction": device.pf,
        "virtualFunctions": list(device.vfs) or None,
        "totalVFs": device.total_vfs,
        "numVFs": device.num_vfs,
    }
    return {key: value for key, value in items.items() if value is not None}
