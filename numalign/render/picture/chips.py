"""The devices of a machine as chips of its picture."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.model.cpuset import ids
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Machine
from numalign.render.text.hardware import (
    known_node,
    pci_devices,
    short_address,
)
from numalign.values import NamedTuple

RESOURCE = 'fill="#cfe0f5" stroke="#2f5d9b" stroke-width="1.2"'
GUESSED = f'{RESOURCE} stroke-dasharray="4 2"'
"""A kubelet takes it for a device without a node."""
LOOSE = 'fill="#fbe3e0" stroke="#b0392b" stroke-width="1.2" stroke-dasharray="4 2"'
PLAIN = 'fill="#ffffff" stroke="#777777" stroke-width="0.8" rx="6"'


class Chip(NamedTuple):
    """A device as it is drawn."""

    label: str
    kind: str
    """`resource`, `guessed`, `loose` or `plain`: its outline."""
    title: str


def columns_of(count: int) -> int:
    """How many rooms stand side by side."""
    return count if count <= 2 else 2 if count == 4 else 3 if count in (3, 5, 6, 9) else 4


def shade_of(value: int, values: Sequence[int]) -> str:
    """Give a distance its shade among all."""
    low, high = min(values), max(values)
    depth = (value - low) / (high - low) if high > low else 0.0
    red, green, blue = (int(start - depth * drop) for start, drop in ((255, 70), (255, 45), (255, 15)))
    return f"#{red:02x}{green:02x}{blue:02x}"


def states_of(machine: Machine, hardware: Hardware) -> dict[int, str]:
    """Give each CPU the state that its seat shows."""
    allowed = hardware.allowed.cpus if hardware.allowed else None
    barred = machine.cpus & ~allowed if allowed else 0
    states = dict.fromkeys(ids(machine.cpus & ~barred), "usable") | dict.fromkeys(ids(barred), "barred")
    states |= dict.fromkeys(ids(hardware.offline_cpus), "offline")
    return states | dict.fromkeys(ids(hardware.unseen(machine.cpus)), "unseen")


def groups_of(caches: Sequence[tuple[str, int]], cpus: int) -> list[tuple[str, int]]:
    """Split the CPUs of a room by level 3 cache; without caches they are one group without a name."""
    groups = [(label, found & cpus) for label, found in caches if found & cpus]
    rest = cpus
    for _, found in groups:
        rest &= ~found
    return groups + ([("", rest)] if rest else [])


def chips_of(machine: Machine, hardware: Hardware) -> tuple[dict[int, dict[str, list[Chip]]], dict[str, list[Chip]]]:
    """Return node -> heading -> devices on its walls, and the same for devices of no room."""
    walls: dict[int, dict[str, list[Chip]]] = {node.id: {} for node in machine.numa_nodes}
    corridor: dict[str, list[Chip]] = {}
    known = set()
    named = machine.functions()
    for resource, devices in machine.devices.items():
        for device in devices:
            function = named.get(device.id)
            known.add(function.address if function else device.id)
            numbers = [number for number in device.numa_nodes or () if number in walls]
            label = short_address(device.id)
            if len(numbers) == 1:
                walls[numbers[0]].setdefault(resource, []).append(Chip(label, "resource", f"{resource} {device.id}"))
                continue
            node = None if numbers else known_node(function, machine)
            if node is not None:
                title = f"{resource} {device.id}: NUMA node from /sys, not from the device plugin"
                walls[node].setdefault(resource, []).append(Chip(label, "guessed", title))
                continue
            many = f" {','.join(map(str, numbers))}" if numbers else ""
            chip = Chip(label + many, "resource" if numbers else "loose", f"{resource} {device.id}")
            corridor.setdefault(resource, []).append(chip)
    for kind, function in pci_devices(hardware):
        if function.address not in known:
            _add_plain(walls, corridor, kind, function)
    return walls, corridor


def _add_plain(
    walls: dict[int, dict[str, list[Chip]]], corridor: dict[str, list[Chip]], kind: str, function: PCIFunction
) -> None:
    label = ",".join(function.names) or short_address(function.address)
    node = function.numa_node
    place = walls.get(node) if node is not None and node >= 0 else None
    if place is None and len(walls) == 1:
        (place,) = walls.values()
    title = f"{function.address} {kind}"
    (corridor if place is None else place).setdefault(kind, []).append(Chip(label, "plain", title))
