"""A discovered machine as tables: what the kubelet believes, then the devices, then what is apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.analysis.closeness import NEAREST_FIRST, reaches
from numalign.model.cpuset import format_set
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Machine
from numalign.model.words import few_of
from numalign.render.page.document import NOTHING, Block, Cell, Document, Note, Paragraph, Styled, Table, Title
from numalign.render.text.amounts import bytes_text
from numalign.render.text.hardware import (
    function_name,
    hardware_of,
    known_node,
    machine_line,
    pci_devices,
    socket_ids,
)

MAX_PORTS_NAMED = 8
"""How many ports a cell names; the rest it counts."""


def discover_document(machine: Machine, *, hint: str, wide: bool = False) -> Document:
    """Return the tables of a machine; `wide` adds uncore caches, distances and every PCI device."""
    hardware = hardware_of(machine)
    parts: list[Block] = [
        Title(f"{machine.name}: {machine_line(machine, hardware)}"),
        Paragraph(),
        _nodes(machine, wide),
    ]
    if machine.devices:
        parts += [Paragraph(), Title("Devices, with the resource names of their device plugins"), _devices(machine)]
    others = _pci(machine, hardware, wide)
    if others.rows:
        parts += [Paragraph(), Title("PCI devices" if wide else "Other PCI devices"), others]
    bus = _bus(machine)
    if bus.rows:
        parts += [Paragraph(), Title("Network cards on the PCI bus, from each accelerator"), bus]
    parts += _apart(machine, hardware)
    return [*parts, Paragraph(), Note(hint, "dim")]


def hardware_document(name: str, hardware: Hardware) -> Document:
    """Return what is known of a machine whose kubelet view cannot be had."""
    parts: list[Block] = [Title(f"{name}: the hardware alone"), Paragraph()]
    rows: list[tuple[Cell, ...]] = [("CPUs", format_set(hardware.cpus or 0))]
    if hardware.offline_cpus:
        rows.append(("offline CPUs", format_set(hardware.offline_cpus)))
    if hardware.model is not None:
        rows.append(("model", hardware.model))
    rows.append(("cores", str(len(hardware.cores or ()))))
    rows += [
        (f"socket {'?' if one.id is None else one.id}", f"CPUs {format_set(one.cpus)}")
        for one in hardware.sockets or ()
    ]
    for node in hardware.numa_nodes or ():
        memory = "memory unknown" if node.memory is None else bytes_text(node.memory)
        rows.append((f"NUMA node {node.id}", f"CPUs {format_set(node.cpus) or 'none'}, {memory}"))
    if hardware.memory is not None:
        rows.append(("memory", bytes_text(hardware.memory)))
    parts.append(Table(("WHAT", "VALUE"), tuple(rows)))
    return parts


def _nodes(machine: Machine, wide: bool) -> Table:
    rows = []
    for node in sorted(machine.numa_nodes, key=lambda node: node.id):
        cores = [core for core in machine.cores if core & node.cpus]
        pages = ", ".join(f"{size}: {bytes_text(amount)}" for size, amount in node.hugepages.items() if amount)
        row: tuple[Cell, ...] = (
            str(node.id),
            ",".join(map(str, socket_ids(machine, node.cpus))) or "-",
            format_set(node.cpus) or Styled("none", "dim"),
            str(len(cores)),
            bytes_text(node.memory) if node.memory else Styled("none", "dim"),
            pages or "-",
        )
        if wide:
            caches = [str(unit.id) for unit in machine.uncore_caches if unit.cpus & node.cpus]
            row += (",".join(caches) or "-",)
        row += (" ".join(map(str, node.distances)) if node.distances else "-",)
        rows.append(row)
    columns: tuple[str, ...] = ("NUMA NODE", "SOCKET", "CPUS", "CORES", "MEMORY", "HUGE PAGES")
    if wide:
        columns += ("UNCORE CACHES",)
    return Table((*columns, "DISTANCES"), tuple(rows), frozenset(("NUMA NODE", "CORES", "MEMORY")))


def _devices(machine: Machine) -> Table:
    named = machine.functions()
    rows: list[tuple[Cell, ...]] = []
    for resource, devices in machine.devices.items():
        for device in devices:
            function = named.get(device.id)
            told = known_node(function, machine)
            if device.numa_nodes:
                node: Cell = ",".join(map(str, device.numa_nodes))
            elif told is not None:
                node = Styled(f"{told}, none reported", "warn")
            elif function and (function.numa_node is None or function.numa_node < 0):
                node = Styled("-1 (unknown)", "warn")
            else:
                node = Styled("none reported", "warn")
            rows.append((resource, device.id, node, *_place(function or PCIFunction(device.id))))
    return Table(("RESOURCE", "DEVICE", "NUMA NODE", "NAMES", "DRIVER", "SWITCH"), tuple(rows))


def _pci(machine: Machine, hardware: Hardware, wide: bool) -> Table:
    resources = {device.id for devices in machine.devices.values() for device in devices}
    listed: Iterable[tuple[str, PCIFunction]] = pci_devices(hardware)
    if wide:
        listed = [(function.class_id or "?", function) for function in hardware.pci]
    rows: list[tuple[Cell, ...]] = []
    for kind, function in listed:
        if wide or resources.isdisjoint((function.address, *function.names)):
            identity = f"{function.vendor or '????'}:{function.device or '????'}"
            node = function.numa_node
            where: Cell = (
                str(node) if node is not None and node >= 0 else Styled("-1" if node is not None else "?", "dim")
            )
            row = (kind, function.address, identity, where, *_place(function))
            rows.append((*row, function.root_port or "-", function.root or "-") if wide else row)
    columns = ("CLASS" if wide else "KIND", "ADDRESS", "ID", "NUMA NODE", "NAMES", "DRIVER", "SWITCH")
    return Table((*columns, "ROOT PORT", "ROOT") if wide else columns, tuple(rows))


def _bus(machine: Machine) -> Table:
    """Lay out which network ports are how close to each accelerator."""
    found = list(reaches(machine))
    columns = [near for near in NEAREST_FIRST if any(near in one.ports for one in found)]
    titles = {"unknown": "NUMA UNKNOWN"}
    rows = [(function_name(one.accelerator), *(_ports(one.ports.get(near, ())) for near in columns)) for one in found]
    return Table(("ACCELERATOR", *(titles.get(near, near.upper()) for near in columns)), tuple(rows))


def _ports(ports: Sequence[PCIFunction]) -> str:
    return few_of([function_name(port) for port in ports], MAX_PORTS_NAMED) or NOTHING


def _place(function: PCIFunction) -> tuple[Cell, Cell, Cell]:
    return ",".join(function.names) or "-", function.driver or "-", function.switch or "-"


def _apart(machine: Machine, hardware: Hardware) -> list[Block]:
    lines: list[Block] = []
    if hardware.offline_cpus:
        lines.append(Paragraph(f"Offline CPUs: {format_set(hardware.offline_cpus)}"))
    allowed = hardware.allowed
    if allowed:
        parts = []
        if allowed.cpus is not None:
            parts.append(f"CPUs {format_set(allowed.cpus) or 'none'}")
        if allowed.numa_nodes is not None:
            parts.append(f"memory of NUMA nodes {format_set(allowed.numa_nodes) or 'none'}")
        if allowed.cpu_quota is not None:
            parts.append(f"{allowed.cpu_quota:g} CPUs' worth of time")
        if allowed.memory is not None:
            parts.append(f"{bytes_text(allowed.memory)} of memory")
        lines.append(Paragraph(f"This process may use only {', '.join(parts)}; the kubelet has no such limit."))
    if any(one is not None for one in (hardware.cpus, hardware.cores, hardware.sockets, hardware.numa_nodes)):
        lines.append(Note(_difference(machine, hardware), "warn"))
    return [Paragraph(), *lines] if lines else []


def _difference(machine: Machine, hardware: Hardware) -> str:
    parts = []
    if hardware.sockets is not None:
        parts.append(_counted(len(hardware.sockets), len(machine.sockets), "packages", "other CPUs"))
    if hardware.cores is not None:
        parts.append(_counted(len(hardware.cores), len(machine.cores), "cores", "other CPUs"))
    if hardware.numa_nodes is not None:
        inside = "other CPUs, memory or distances"
        parts.append(_counted(len(hardware.numa_nodes), len(machine.numa_nodes), "NUMA nodes", inside))
    if hardware.cpus is not None:
        parts.append(f"online CPUs {format_set(hardware.cpus)}")
    return "The hardware differs from the kubelet's view: " + ", ".join(parts)


def _counted(there: int, believed: int, what: str, inside: str) -> str:
    return f"{there} {what} (kubelet: {believed})" if there != believed else f"{inside} in its {what}"
