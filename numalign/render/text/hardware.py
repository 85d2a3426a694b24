"""What the views say about the `hardware` section of a machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.model.hardware import NOTHING_KNOWN, Hardware, PCIFunction
from numalign.model.machine import Machine
from numalign.render.text.amounts import bytes_text, many

if TYPE_CHECKING:
    from numalign.analysis.closeness import Closeness, Neighbours

KINDS = (("02", "network"), ("0108", "NVMe"), ("03", "display"), ("12", "accelerator"), ("0b40", "co-processor"))
"""PCI classes that a person looks for -> heading."""


def hardware_of(machine: Machine) -> Hardware:
    """Return the machine's section, one that says nothing where there is none."""
    return machine.hardware or NOTHING_KNOWN


def socket_ids(machine: Machine, cpus: int) -> tuple[int, ...]:
    """Return the ids of the sockets that hold any of these CPUs."""
    return tuple(unit.id for unit in machine.sockets if unit.cpus & cpus)


def l3_groups(machine: Machine, hardware: Hardware) -> list[tuple[str, int]]:
    """Return (label, CPUs) of the level 3 caches, else of the uncore caches a machine file names."""
    found = []
    for index, cache in enumerate(hardware.l3_caches):
        size = "" if cache.size is None else f" · {bytes_text(cache.size)}"
        found.append((f"L3 {index if cache.id is None else cache.id}{size}", cache.cpus))
    return found or [(f"uncore cache {unit.id}", unit.cpus) for unit in machine.uncore_caches]


def machine_line(machine: Machine, hardware: Hardware) -> str:
    """Say in one line how big a machine is."""
    threads = {core.bit_count() for core in machine.cores}
    parts = [
        many(len(machine.sockets), "socket"),
        many(len(machine.numa_nodes), "NUMA node"),
        many(len(machine.cores), "core"),
        many(machine.cpus.bit_count(), "CPU"),
        *([f"{'/'.join(map(str, sorted(threads)))} threads a core"] if threads - {1} else []),
        f"{bytes_text(machine.memory)} memory" if machine.memory else "memory unknown",
    ]
    text = ", ".join(parts)
    return f"{hardware.model}: {text}" if hardware.model else text


def pci_devices(hardware: Hardware) -> Iterator[tuple[str, PCIFunction]]:
    """Yield (kind, function) for the PCI devices that a person looks for."""
    for function in hardware.pci:
        for prefix, kind in KINDS:
            if (function.class_id or "").startswith(prefix):
                yield kind, function
                break


def short_address(address: str) -> str:
    """Leave out the domain where it is the usual one."""
    return address.removeprefix("0000:")


def function_name(function: PCIFunction) -> str:
    """Name a function in short: as the operating system does, else by its address."""
    return function.names[-1] if function.names else short_address(function.address)


def known_node(function: PCIFunction | None, machine: Machine) -> int | None:
    """Return the NUMA node of the machine that /sys tells of a function; None: it tells none."""
    node = function.numa_node if function else None
    return node if any(one.id == node for one in machine.numa_nodes if one.id >= 0) else None


CLOSENESS: Mapping[Closeness, str] = {
    "same switch": "below the same PCIe switch",
    "common bridge": "below a common PCIe bridge",
    "same root": "below the same PCIe root",
    "same node": "on the same NUMA node",
    "unknown": "distance unknown: /sys has none",
    "other node": "on different NUMA nodes",
}


def pair_text(pair: Neighbours) -> str:
    """Say how close two devices are: by links that join them, else by the bus."""
    if pair.joined is None:
        return CLOSENESS[pair.closeness]
    links = "XGMI" if pair.resource.startswith("amd.com/") else "NVLink"
    if pair.joined:
        return f"joined by {links}"
    return f"{CLOSENESS[pair.closeness]} without {links}" if pair.closeness != "unknown" else f"without {links}"
