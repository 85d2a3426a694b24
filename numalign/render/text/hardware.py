"""What the views say about the `hardware` section of a machine, which is plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numalign.model.machine import Machine
from numalign.render.text.amounts import bytes_text

Hardware = Mapping[str, Any]

KINDS = (("02", "network"), ("0108", "NVMe"), ("03", "display"), ("12", "accelerator"), ("0b40", "co-processor"))
"""PCI classes that a person looks for -> heading."""


def members(text: str) -> int:
    """Read a list that numalign itself has written, `0-3,8`."""
    result = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            result |= ((1 << (int(last or first) - int(first) + 1)) - 1) << int(first)
    return result


def socket_ids(machine: Machine, cpus: int) -> tuple[int, ...]:
    """Return the ids of the sockets that hold any of these CPUs."""
    return tuple(unit.id for unit in machine.sockets if unit.cpus & cpus)


def l3_groups(machine: Machine, hardware: Hardware) -> list[tuple[str, int]]:
    """Return (label, CPUs) of the level 3 caches, else of the uncore caches a machine file names."""
    found = []
    for index, cache in enumerate(hardware.get("l3Caches", ())):
        size = f" · {bytes_text(cache['size'])}" if "size" in cache else ""
        found.append((f"L3 {cache.get('id', index)}{size}", members(cache["cpus"])))
    return found or [(f"uncore cache {unit.id}", unit.cpus) for unit in machine.uncore_caches]


def machine_line(machine: Machine, hardware: Hardware) -> str:
    """Say in one line how big a machine is."""
    threads = {core.bit_count() for core in machine.cores}
    parts = [
        _count(len(machine.sockets), "socket"),
        _count(len(machine.numa_nodes), "NUMA node"),
        _count(len(machine.cores), "core"),
        _count(machine.cpus.bit_count(), "CPU"),
        *([f"{'/'.join(map(str, sorted(threads)))} threads a core"] if threads - {1} else []),
        f"{bytes_text(machine.memory)} memory",
    ]
    text = ", ".join(parts)
    return f"{hardware['model']}: {text}" if hardware.get("model") else text


def pci_devices(hardware: Hardware) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (kind, device) for the PCI devices that a person looks for."""
    for device in hardware.get("pci", ()):
        for prefix, kind in KINDS:
            if device.get("class", "").startswith(prefix):
                yield kind, device
                break


def short_address(address: str) -> str:
    """Leave out the domain where it is the usual one."""
    return address.removeprefix("0000:")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
