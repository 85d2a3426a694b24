"""The bundled machines as a table and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import Data, head
from numalign.render.page.document import Document, Line, Table
from numalign.render.text.amounts import bytes_text

if TYPE_CHECKING:
    from numalign.results.machines import BundledMachine

COLUMNS = ("NAME", "SOCKETS", "NUMA NODES", "CPUS", "MEMORY", "DEVICES", "DESCRIPTION")


def machines_document(machines: Sequence[BundledMachine]) -> Document:
    """Return the table of machines."""
    rows = tuple(
        (
            machine.name,
            str(len(machine.sockets)),
            str(len(machine.numa_nodes)),
            str(machine.cpus.bit_count()),
            bytes_text(machine.memory) if machine.memory else "unknown",
            ", ".join(f"{len(devices)} {name}" for name, devices in sorted(machine.devices.items())) or "-",
            about,
        )
        for machine, about in machines
    )
    hint = Line("One of them as a file to start from: numalign machines NAME > machine.yaml", "dim")
    return [Table(COLUMNS, rows, frozenset(COLUMNS[1:5]), droppable=("SOCKETS",)), Line(), hint]


def machines_json(machines: Sequence[BundledMachine]) -> Data:
    """Return the table as data, memory in bytes."""
    return {
        **head("MachineList"),
        "items": [
            {
                "name": machine.name,
                "description": about,
                "sockets": len(machine.sockets),
                "numaNodes": len(machine.numa_nodes),
                "cpus": machine.cpus.bit_count(),
                "memory": machine.memory,
                "devices": {name: len(devices) for name, devices in sorted(machine.devices.items())},
            }
            for machine, about in machines
        ],
    }
