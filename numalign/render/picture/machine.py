"""A machine as a picture for a report: NUMA nodes as rooms, CPUs as seats, devices on the walls, distances between.

Every state is told by shape, dashes or hatching as well as by colour, and the key at the bottom names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.analysis.closeness import buses
from numalign.model.cpuset import format_set, ids
from numalign.model.machine import Machine, NUMANode
from numalign.render.picture.bus import draw_buses
from numalign.render.picture.canvas import CHIP_HEIGHT, SMALL, WIDTH, Canvas, Picture, shorten, text_width
from numalign.render.picture.chips import (
    GUESSED,
    LOOSE,
    PLAIN,
    RESOURCE,
    Chip,
    chips_of,
    columns_of,
    groups_of,
    shade_of,
    states_of,
)
from numalign.render.picture.machine_looks import BARE, CACHE, KEY, SEATS, SOCKET, TABLE, WALL
from numalign.render.text.amounts import bytes_text
from numalign.render.text.hardware import (
    hardware_of,
    l3_groups,
    machine_line,
    socket_ids,
)

MARGIN = 24.0
GUTTER = 40.0
"""Between two rooms of a row; the distance between them stands in it."""
PAD = 10.0
"""Between a wall and what stands inside."""
SEAT_HEIGHT = 14.0
MATRIX_NODES = 40
"""Most nodes whose distances fit as a table into the width."""


def draw(machine: Machine) -> Picture:
    """Draw a machine, 1200 pixels wide and as high as it needs."""
    return Picture(_Drawing(machine).svg(), machine.name, machine_line(machine, hardware_of(machine)))


class _Drawing:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.hardware = hardware_of(machine)
        self.canvas = Canvas()
        self.states = states_of(machine, self.hardware)
        self.digits = max((len(str(cpu)) for cpu in self.states), default=1)
        self.seat_width = round(self.digits * SMALL * 0.61 + 5, 1)
        self.caches = l3_groups(machine, self.hardware)
        self.walls, self.corridor = chips_of(machine, self.hardware)
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
        columns = columns_of(len(nodes))
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
        for label, cpus in groups_of(self.caches, node.cpus):
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
                    x, down, cell - 1, 16, f'fill="{shade_of(value, values)}" stroke="#cccccc" stroke-width="0.5"'
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
