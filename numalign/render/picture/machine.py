"""A machine as a picture for a report: NUMA nodes as rooms, CPUs as seats, devices on the walls, distances between.

Every state is told by shape, dashes or hatching as well as by colour, and the key at the bottom names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.analysis.closeness import buses
from numalign.model.cpuset import format_set, ids
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Machine, NUMANode
from numalign.render.picture.bus import draw_buses
from numalign.render.picture.canvas import CHIP_HEIGHT, SMALL, WIDTH, Canvas, Picture, shorten, text_width
from numalign.render.text.amounts import bytes_text
from numalign.render.text.hardware import (
    hardware_of,
    known_node,
    l3_groups,
    machine_line,
    pci_devices,
    short_address,
    socket_ids,
)
from numalign.values import NamedTuple

MARGIN = 24.0
GUTTER = 40.0
"""Between two rooms of a row; the distance between them stands in it."""
PAD = 10.0
"""Between a wall and what stands inside."""
SEAT_HEIGHT = 14.0
MATRIX_NODES = 40
"""Most nodes whose distances fit as a table into the width."""

WALL = 'fill="#fbf8f1" stroke="#4a4a4a" stroke-width="3"'
BARE = 'fill="#f3f3f3" stroke="#4a4a4a" stroke-width="3" stroke-dasharray="10 4"'
SOCKET = 'fill="#eef2f7" stroke="#9aa7b8" stroke-width="1.5" rx="8"'
CACHE = 'fill="#ffffff" stroke="#c3b99b" stroke-width="1" rx="4"'
TABLE = 'fill="#e7dfc8" stroke="#b5a67a" stroke-width="0.8" rx="3"'
SEATS = {
    "usable": 'fill="#d3ead9" stroke="#3b7d4f" stroke-width="1" rx="3"',
    "barred": 'fill="url(#dots)" stroke="#a86f12" stroke-width="1" rx="0"',
    "offline": 'fill="url(#hatch)" stroke="#8a8a8a" stroke-width="1" stroke-dasharray="3 2" rx="0"',
    "unseen": 'fill="#ffffff" stroke="#7a4fa3" stroke-width="1.5" stroke-dasharray="1 2" rx="7"',
}
KEY = {
    "usable": "CPU",
    "barred": "CPU this process may not use",
    "offline": "CPU that is offline",
    "unseen": "CPU that the kubelet does not see",
    "resource": "device of a device plugin",
    "guessed": "device with NUMA node from /sys, not from the device plugin",
    "loose": "device without NUMA node",
    "plain": "other PCI device",
}
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


def draw(machine: Machine) -> Picture:
    """Draw a machine, 1200 pixels wide and as high as it needs."""
    return Picture(_Drawing(machine).svg(), machine.name, machine_line(machine, hardware_of(machine)))


class _Drawing:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.hardware = hardware_of(machine)
        self.canvas = Canvas()
        self.states = _states(machine, self.hardware)
        self.digits = max((len(str(cpu)) for cpu in self.states), default=1)
        self.seat_width = round(self.digits * SMALL * 0.61 + 5, 1)
        self.caches = l3_groups(machine, self.hardware)
        self.walls, self.corridor = _chips(machine, self.hardware)
        self.buses = buses(machine)
        self.used: set[str] = set()

    def svg(self) -> str:
        """Draw from top to bottom."""
        canvas, machine = self.canvas, self.machine
        canvas.text(MARGIN, 38, shorten(machine.name, WIDTH - 2 * MARGIN, 20), 20, bold=True)
        canvas.text(MARGIN, 58, shorten(machine_line(machine, self.hardware), WIDTH - 2 * MARGIN, 12), 12)
        y = 76.0
        for label, nodes in self._floors():
            y = self._floor(label, nodes, y) + 16
        y = self._corridor(y)
        y = self._lost_cpus(y)
        y = self._distances(y)
        self._key(y)
        return canvas.finish(f"{machine.name}: {machine_line(machine, self.hardware)}")

    def _floors(self) -> list[tuple[str, list[NUMANode]]]:
        """Nodes by socket, where sockets hold several nodes; else all in one row after the other."""
        by_socket: dict[tuple[int, ...], list[NUMANode]] = {}
        for node in sorted(self.machine.numa_nodes, key=lambda node: node.id):
            by_socket.setdefault(socket_ids(self.machine, node.cpus), []).append(node)
        bare = by_socket.pop((), [])
        floors: list[tuple[str, list[NUMANode]]]
        if not by_socket:
            floors = []
        elif any(len(sockets) > 1 for sockets in by_socket) or all(len(nodes) == 1 for nodes in by_socket.values()):
            floors = [("", sorted((node for nodes in by_socket.values() for node in nodes), key=lambda node: node.id))]
        else:
            floors = [(f"socket {sockets[0]}", nodes) for sockets, nodes in sorted(by_socket.items())]
        if bare:
            floors.append(("memory without CPUs", bare))
        return floors

    def _floor(self, label: str, nodes: Sequence[NUMANode], y: float) -> float:
        """Draw the rooms of a socket; return where they end."""
        columns = _columns(len(nodes))
        inset = PAD if label else 0.0
        top = y + (24 if label else 0)
        width = (WIDTH - 2 * MARGIN - 2 * inset - (columns - 1) * GUTTER) / columns
        rows = [nodes[start : start + columns] for start in range(0, len(nodes), columns)]
        heights = [max(self._room(node, 0, 0, width, Canvas()) for node in row) for row in rows]
        bottom = top + sum(heights) + 14 * (len(rows) - 1)
        if label:
            self.canvas.rect(MARGIN, y, WIDTH - 2 * MARGIN, bottom + PAD - y, SOCKET)
            self.canvas.text(MARGIN + PAD, y + 17, label, 12, bold=True)
        for row, height in zip(rows, heights, strict=True):
            for column, node in enumerate(row):
                x = MARGIN + inset + column * (width + GUTTER)
                self.canvas.rect(x, top, width, height, WALL if node.cpus else BARE)
                self._room(node, x, top, width, self.canvas)
                if column:
                    self._door(row[column - 1], node, x - GUTTER, top + min(height / 2, 60))
            top += height + 14
        return bottom + (PAD if label else 0)

    def _door(self, left: NUMANode, right: NUMANode, x: float, y: float) -> None:
        """Write the distance between neighbours into the gutter; both, where they differ."""
        there, back = self._distance(left, right), self._distance(right, left)
        if there is None:
            return
        self.canvas.line(
            x + 3, y + 4, x + GUTTER - 3, y + 4, 'stroke="#4a4a4a" stroke-width="1" stroke-dasharray="2 2"'
        )
        self.canvas.text(x + GUTTER / 2, y, str(there), SMALL, anchor="middle")
        if back is not None and back != there:
            self.canvas.text(x + GUTTER / 2, y + 14, str(back), SMALL, anchor="middle")

    def _distance(self, one: NUMANode, other: NUMANode) -> int | None:
        numbers = sorted(node.id for node in self.machine.numa_nodes)
        place = numbers.index(other.id)
        row = one.distances
        return row[place] if row is not None and place < len(row) else None

    def _room(self, node: NUMANode, x: float, y: float, width: float, canvas: Canvas) -> float:
        """Draw what is in a room; return the height it needs."""
        inner = width - 2 * PAD
        memory = bytes_text(node.memory) if node.memory else "no memory"
        canvas.text(x + PAD, y + 19, f"NUMA node {node.id}", 12, bold=True)
        room_left = inner - text_width(f"NUMA node {node.id} ", 12)
        canvas.text(x + width - PAD, y + 19, shorten(memory, room_left, 11), 11, anchor="end")
        down = y + 33
        for line in self._room_lines(node):
            canvas.text(x + PAD, down, shorten(line, inner), SMALL)
            down += 12
        down -= 4
        for label, cpus in _groups(self.caches, node.cpus):
            down = self._cache(label, cpus, x + PAD, down, inner, canvas) + 6
        chips = self.walls.get(node.id, {})
        if chips:
            down = self._wall(chips, x + PAD, down + 4, inner, canvas)
        if node.id in self.buses:
            down = draw_buses(canvas, self.buses[node.id], x + PAD, down + 4, inner)
        return down + 6 - y

    def _room_lines(self, node: NUMANode) -> list[str]:
        sockets = ",".join(map(str, socket_ids(self.machine, node.cpus)))
        where = f"socket {sockets} · " * (len(self.machine.sockets) > 1)
        cpus = f"{where}CPUs {format_set(node.cpus)}" if node.cpus else "no CPUs"
        pages = [f"{size} {bytes_text(amount)}" for size, amount in node.hugepages.items() if amount]
        return [cpus, *[f"huge pages {', '.join(pages)}"] * bool(pages)]

    def _cache(self, label: str, cpus: int, x: float, y: float, width: float, canvas: Canvas) -> float:
        """Draw the cores under one cache as tables with seats; return where they end."""
        top = y + (15 if label else 3)
        cores = [core & cpus for core in self.machine.cores if core & cpus]
        spots, bottom = self._placed(cores, x + 5, top, width - 10)
        canvas.rect(x, y, width, bottom + 3 - y, CACHE)
        if label:
            canvas.text(x + 5, y + 11, shorten(label, width - 10), SMALL)
        for core, (left, up) in zip(cores, spots, strict=True):
            self._core(core, left, up, canvas)
        return bottom + 3

    def _placed(
        self, cores: Iterable[int], x: float, y: float, width: float
    ) -> tuple[list[tuple[float, float]], float]:
        spots = []
        left, top, row = x, y, 0.0
        for core in cores:
            wide, high = self._core_size(core)
            if left > x and left + wide > x + width:
                left, top, row = x, top + row + 4, 0.0
            spots.append((left, top))
            left += wide + 4
            row = max(row, high)
        return spots, top + row

    def _core_size(self, core: int) -> tuple[float, float]:
        count = core.bit_count()
        across = min(count, 8)
        return across * (self.seat_width + 2) + 2, -(-count // across) * (SEAT_HEIGHT + 2) + 2

    def _core(self, core: int, x: float, y: float, canvas: Canvas) -> None:
        wide, high = self._core_size(core)
        canvas.rect(x, y, wide, high, TABLE, f"core with CPUs {format_set(core)}")
        for index, cpu in enumerate(ids(core)):
            left = x + 2 + index % 8 * (self.seat_width + 2)
            self._seat(cpu, left, y + 2 + index // 8 * (SEAT_HEIGHT + 2), canvas)

    def _seat(self, cpu: int, x: float, y: float, canvas: Canvas) -> None:
        state = self.states.get(cpu, "usable")
        self.used.add(state)
        canvas.rect(x, y, self.seat_width, SEAT_HEIGHT, SEATS[state], f"CPU {cpu}: {KEY[state]}")
        canvas.text(x + self.seat_width / 2, y + 10.2, str(cpu), SMALL, anchor="middle")

    def _wall(self, chips: Mapping[str, Sequence[Chip]], x: float, y: float, width: float, canvas: Canvas) -> float:
        """Draw devices, a heading for each resource; return where they end."""
        canvas.line(x - PAD, y, x + width + PAD, y, 'stroke="#4a4a4a" stroke-width="2"')
        down = y + 4
        for resource, devices in chips.items():
            canvas.text(x, down + 9, shorten(f"{resource} ×{len(devices)}", width), SMALL, bold=True)
            down += 13
            left = x
            for chip in devices:
                label = shorten(chip.label, width - 14)
                wide = text_width(label) + 12
                if left > x and left + wide > x + width:
                    left, down = x, down + CHIP_HEIGHT + 3
                self._chip(chip, label, left, down, wide, canvas)
                left += wide + 4
            down += CHIP_HEIGHT + 5
        return down

    def _chip(self, chip: Chip, label: str, x: float, y: float, wide: float, canvas: Canvas) -> None:
        self.used.add(chip.kind)
        if chip.kind == "plain":
            canvas.rect(x, y, wide, CHIP_HEIGHT, PLAIN, chip.title)
        elif chip.kind == "loose":
            canvas.rect(x, y, wide, CHIP_HEIGHT, LOOSE, chip.title)
        else:
            corner = [(x, y), (x + wide - 5, y), (x + wide, y + 5), (x + wide, y + CHIP_HEIGHT), (x, y + CHIP_HEIGHT)]
            canvas.shape(corner, GUESSED if chip.kind == "guessed" else RESOURCE, chip.title)
        canvas.text(x + wide / 2, y + 10.8, label, SMALL, anchor="middle")

    def _corridor(self, y: float) -> float:
        """Draw the devices that belong to no room."""
        if not self.corridor:
            return y
        self.canvas.text(MARGIN, y + 12, "Devices of no NUMA node, or of several", 12, bold=True)
        return self._wall(self.corridor, MARGIN + PAD, y + 20, WIDTH - 2 * MARGIN - 2 * PAD, self.canvas) + 12

    def _lost_cpus(self, y: float) -> float:
        """Draw the CPUs that are in no room: offline, or not seen by a kubelet."""
        for state in ("offline", "unseen"):
            cpus = [cpu for cpu, found in self.states.items() if found == state]
            if not cpus:
                continue
            self.canvas.text(MARGIN, y + 12, f"{KEY[state]} ×{len(cpus)}", 12, bold=True)
            spots, bottom = self._placed([1 << cpu for cpu in cpus], MARGIN, y + 20, WIDTH - 2 * MARGIN)
            for cpu, (left, top) in zip(cpus, spots, strict=True):
                self._seat(cpu, left, top, self.canvas)
            y = bottom + 16
        return y

    def _distances(self, y: float) -> float:
        """Draw the distance table, darker where farther; the number says the same."""
        nodes = sorted(self.machine.numa_nodes, key=lambda node: node.id)
        values = [value for node in nodes for value in node.distances or ()]
        if len(nodes) < 2 or not values:
            return y
        self.canvas.text(MARGIN, y + 12, "Distances from row to column", 12, bold=True)
        if len(nodes) > MATRIX_NODES:
            text = f"{len(nodes)} nodes are too many to draw: " + ", ".join(map(str, sorted(set(values))[:20]))
            self.canvas.text(MARGIN, y + 28, text, SMALL)
            return y + 40
        cell = max(26.0, 3 + text_width(str(max(values))))
        left, top = MARGIN + 70, y + 36
        for index, node in enumerate(nodes):
            self.canvas.text(left + (index + 0.5) * cell, top - 5, str(node.id), SMALL, bold=True, anchor="middle")
            self.canvas.text(left - 6, top + index * 17 + 11.5, f"NUMA {node.id}", SMALL, bold=True, anchor="end")
            for place, value in enumerate((node.distances or ())[: len(nodes)]):
                x, down = left + place * cell, top + index * 17
                self.canvas.rect(
                    x, down, cell - 1, 16, f'fill="{_shade(value, values)}" stroke="#cccccc" stroke-width="0.5"'
                )
                self.canvas.text(x + cell / 2 - 0.5, down + 11.5, str(value), SMALL, anchor="middle")
        return top + len(nodes) * 17 + 14

    def _key(self, y: float) -> None:
        """Name the shapes that occur."""
        x = MARGIN
        for name, label in KEY.items():
            if name not in self.used:
                continue
            if x + 30 + text_width(label) > WIDTH - MARGIN:
                x, y = MARGIN, y + 20
            if name in SEATS:
                self.canvas.rect(x, y, 22, SEAT_HEIGHT, SEATS[name])
            else:
                self._chip(Chip("", name, ""), "", x, y, 22, self.canvas)
            self.canvas.text(x + 28, y + 10.5, label, SMALL)
            x += 28 + text_width(label) + 18


def _columns(count: int) -> int:
    """How many rooms stand side by side."""
    return count if count <= 2 else 2 if count == 4 else 3 if count in (3, 5, 6, 9) else 4


def _shade(value: int, values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    depth = (value - low) / (high - low) if high > low else 0.0
    red, green, blue = (int(start - depth * drop) for start, drop in ((255, 70), (255, 45), (255, 15)))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _states(machine: Machine, hardware: Hardware) -> dict[int, str]:
    allowed = hardware.allowed.cpus if hardware.allowed else None
    barred = machine.cpus & ~allowed if allowed else 0
    states = dict.fromkeys(ids(machine.cpus & ~barred), "usable") | dict.fromkeys(ids(barred), "barred")
    states |= dict.fromkeys(ids(hardware.offline_cpus), "offline")
    return states | dict.fromkeys(ids(hardware.unseen(machine.cpus)), "unseen")


def _groups(caches: Sequence[tuple[str, int]], cpus: int) -> list[tuple[str, int]]:
    """Split the CPUs of a room by level 3 cache; without caches they are one group without a name."""
    groups = [(label, found & cpus) for label, found in caches if found & cpus]
    rest = cpus
    for _, found in groups:
        rest &= ~found
    return groups + ([("", rest)] if rest else [])


def _chips(machine: Machine, hardware: Hardware) -> tuple[dict[int, dict[str, list[Chip]]], dict[str, list[Chip]]]:
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
