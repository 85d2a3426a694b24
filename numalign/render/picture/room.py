"""A NUMA node as a room: its CPUs as seats, its devices as chips, its memory; and where each of them was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set, ids
from numalign.render.picture.canvas import Canvas, shorten, text_width
from numalign.render.picture.looks import Look, State
from numalign.render.text.amounts import amount_text, bytes_text
from numalign.render.text.hardware import known_node, short_address
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix
    from numalign.model.machine import Device, Machine, NUMANode
    from numalign.model.pod import QoS
    from numalign.results.admit import AdmitResult, ContainerResult, Occupant

PAD = 12.0
SEAT, PITCH = 14.0, 16.0
CHIP, GAP = 19.0, 8.0
"""Height of a device, and between two rows of them: lines to what is far run there."""
MARGIN = 16.0
"""Left and right of all rooms."""
TEXT = 12.0
"""Size of the texts in a room; seats have smaller letters."""
ROOM = 'fill="#fbf8f1" stroke="#4a4a4a" stroke-width="2"'
BARE = 'fill="#f3f3f3" stroke="#4a4a4a" stroke-width="2" stroke-dasharray="10 4"'
FREE = 'fill="#ffffff" stroke="#999999" stroke-width="0.8" rx="3"'
RESERVED = 'fill="url(#hatch)" stroke="#8a8a8a" stroke-width="0.8" rx="0"'
GUESSED = 'stroke-dasharray="4 2"'


class Box(NamedTuple):
    """Where something was drawn."""

    x: float
    y: float
    width: float
    height: float
    column: int
    """Of its room; -1: below all."""

    def around(self, other: Box | None) -> Box:
        """Return the box around both."""
        if other is None:
            return self
        x, y = min(self.x, other.x), min(self.y, other.y)
        right, bottom = (
            max(self.x + self.width, other.x + other.width),
            max(self.y + self.height, other.y + other.height),
        )
        return Box(x, y, right - x, bottom - y, self.column)


class Guest(NamedTuple):
    """A container that holds something, as it is drawn."""

    look: Look
    state: State
    occupant: Occupant
    result: ContainerResult | None
    """None: it was there before."""
    qos: QoS

    @property
    def name(self) -> str:
        """POD/CONTAINER."""
        return f"{self.occupant.pod}/{self.occupant.container}"


Placed = tuple[str, "Device", int | None, bool]
"""A resource, a device, the NUMA node that it is drawn in, and whether its plugin says so."""


class Rooms:
    """The rooms of one machine, on a canvas."""

    def __init__(self, canvas: Canvas, result: AdmitResult, guests: Sequence[Guest], asked: Matrix | None) -> None:
        self.canvas = canvas
        self.machine: Machine = result.setup.machine
        self.result = result
        self.guests = guests
        self.asked = asked
        """What a rejected pod requests, NUMA node by NUMA node."""
        self.pinned = result.setup.config.memory_manager_policy != "None"
        self.devices = list(placed_devices(self.machine))
        self.seats: dict[tuple[int, int], Box] = {}
        """(place of a guest, NUMA node) -> where its CPUs are."""
        self.chips: dict[tuple[str, str], Box] = {}
        """(resource, device) -> where it is."""
        self.bars: dict[tuple[int, int], Box] = {}
        """(place of a guest, NUMA node) -> where its memory is."""
        self.signs: set[str] = set()
        """What the key has to explain: `free`, `reserved`, `guessed`."""

    def draw(self, nodes: Sequence[NUMANode], y: float, width: float, gutter: float, *, bare: bool = False) -> float:
        """Draw NUMA nodes side by side, equally high; returns where they end."""
        lefts = [MARGIN + place * (width + gutter) for place in range(len(nodes))]
        columns = [-1 if bare else place for place in range(len(nodes))]
        placed = list(zip(nodes, lefts, columns, strict=True))
        end = max(self._inside(Canvas(self.canvas.width), one, x, y, width, column) for one, x, column in placed)
        for node, x, column in placed:
            self.canvas.rect(x, y, width, end - y, ROOM if node.cpus else BARE)
            self._inside(self.canvas, node, x, y, width, column)
        return end

    def _inside(self, canvas: Canvas, node: NUMANode, x: float, y: float, width: float, column: int) -> float:
        inner = width - 2 * PAD
        canvas.text(x + PAD, y + 21, shorten(self._title(node), inner, 14), 14, bold=True)
        top = y + 30
        if node.cpus:
            canvas.text(x + PAD, top + 10, shorten(f"CPUs {format_set(node.cpus)}", inner, 11), 11)
            top = self._cores(canvas, node, x + PAD, top + 22, inner, column)
        for row in self._rows(node):
            canvas.text(x + PAD, top + 12, shorten(row, inner, TEXT), TEXT, bold=not row.startswith("✓"))
            top += 17
        top += 5 * (self.asked is not None)
        for chips in device_rows([one for one in self.devices if one[2] == node.id], inner):
            for left, one in chips:
                self._chip(canvas, one, x + PAD + left, top, inner, column)
            top += CHIP + GAP
        return self._memory(canvas, node, x + PAD, top, inner, column) + 8

    def _title(self, node: NUMANode) -> str:
        if not node.cpus:
            return f"NUMA {node.id}: no CPUs"
        taken = self.result.reserved_cpus
        for guest in self.guests:
            taken |= guest.occupant.holding.cpus or 0
        return f"NUMA {node.id}: {(node.cpus & ~taken).bit_count()} of {node.cpus.bit_count()} CPUs free"

    def _rows(self, node: NUMANode) -> Iterator[str]:
        """Say of each resource that a rejected pod requests what is free here."""
        if self.asked is None or node.id not in self.asked.nodes:
            return
        place = self.asked.nodes.index(node.id)
        for row in self.asked.rows:
            cell = row.cells[place]
            free, total, wanted = (amount_text(row.resource, one) for one in (cell.free, cell.total, row.requested))
            sign = "✓" if cell.free + cell.handed >= row.requested else "✗"
            name = row.resource.rpartition("/")[2]
            yield f"{sign} {name}: {wanted} requested, {free} of {total} free"

    def _cores(self, canvas: Canvas, node: NUMANode, x: float, y: float, width: float, column: int) -> float:
        cores = [sorted(ids(core & node.cpus)) for core in self.machine.cores if core & node.cpus]
        threads = max(map(len, cores), default=0)
        a_row = max(int(width // PITCH), 1)
        for place, core in enumerate(cores):
            for thread, cpu in enumerate(core):
                left, top = x + place % a_row * PITCH, y + place // a_row * (threads * PITCH + 5) + thread * PITCH
                self._seat(canvas, cpu, Box(left, top, SEAT, SEAT, column), node.id)
        return y + -(-len(cores) // a_row) * (threads * PITCH + 5)

    def _seat(self, canvas: Canvas, cpu: int, box: Box, numa: int) -> None:
        place = next((n for n, one in reversed(list(enumerate(self.guests))) if _has(one, cpu)), None)
        reserved = self.result.reserved_cpus >> cpu & 1
        look, who = (RESERVED, "reserved") if reserved else (FREE, "shared pool")
        if place is not None:
            guest = self.guests[place]
            look, who = guest.look.attributes, guest.name
            self.seats[place, numa] = box.around(self.seats.get((place, numa)))
        else:
            self.signs.add("reserved" if reserved else "free")
        canvas.rect(box.x, box.y, box.width, box.height, look, f"CPU {cpu}: {who}")
        if place is not None:
            label = self.guests[place].look.label
            canvas.text(box.x + SEAT / 2, box.y + 10.5, label, 9 if len(label) == 1 else 6, anchor="middle")

    def _chip(self, canvas: Canvas, placed: Placed, x: float, y: float, most: float, column: int) -> None:
        resource, device, _, sure = placed
        guest = next((one for one in self.guests if _holds(one, resource, device.id)), None)
        label = shorten(chip_label(resource, device.id), most - 34, TEXT)
        wide = text_width(label, TEXT) + 26
        look = f"{guest.look.attributes if guest else FREE} {'' if sure else GUESSED}"
        told = "" if sure else "; NUMA node from /sys, not from the device plugin"
        who = guest.name if guest else "free"
        if not sure:
            self.signs.add("guessed")
        if guest is None:
            self.signs.add("free")
        canvas.rect(x, y, wide, CHIP, look, f"{resource} {device.id}: {who}{told}")
        if guest is None:
            canvas.text(x + wide / 2, y + 13.5, label, TEXT, anchor="middle")
        else:
            canvas.text(x + 5, y + 13.5, guest.look.label, TEXT, bold=True)
            canvas.text(x + 20, y + 13.5, label, TEXT, bold=True)
        self.chips[resource, device.id] = Box(x, y, wide, CHIP, column)

    def _memory(self, canvas: Canvas, node: NUMANode, x: float, y: float, width: float, column: int) -> float:
        """Draw pinned memory as a bar, in which what lies on several nodes counts in each; else say that it is not."""
        size = f"memory {bytes_text(node.memory)}" if node.memory else "no memory"
        if not (self.pinned and node.memory):
            canvas.text(x, y + 12, size + ", not pinned" * bool(node.memory), TEXT)
            return y + 16
        canvas.rect(x, y, width, 17, FREE, f"memory of NUMA {node.id}: {bytes_text(node.memory)}")
        left = x
        for place, guest in enumerate(self.guests):
            for block in guest.occupant.holding.memory:
                if block.mask >> node.id & 1 and block.size:
                    share = max(width * min(block.size / block.mask.bit_count() / node.memory, 1), 3.0)
                    share = min(share, x + width - left)
                    title = f"{guest.name}: {bytes_text(block.size)} {block.type}"
                    canvas.rect(left, y, share, 17, guest.look.attributes, title)
                    box = Box(left, y, share, 17, column)
                    self.bars[place, node.id] = box.around(self.bars.get((place, node.id)))
                    left += share
        canvas.text(x + 5, y + 12.5, size, TEXT)
        return y + 21

    def loose(self, x: float, y: float, width: float) -> float:
        """Draw the devices that no NUMA node has; returns where they end."""
        rows = device_rows([(*one[:3], True) for one in self.devices if one[2] is None], width)
        if not rows:
            return y
        self.canvas.text(x, y + 12, "devices with unknown NUMA node", 13, bold=True)
        y += 22
        for row in rows:
            for left, one in row:
                self._chip(self.canvas, one, x + left, y, width, -1)
            y += CHIP + GAP
        return y + 6


def _has(guest: Guest, cpu: int) -> bool:
    return bool((guest.occupant.holding.cpus or 0) >> cpu & 1)


def _holds(guest: Guest, resource: str, device: str) -> bool:
    return any(held.resource == resource and device in held.ids for held in guest.occupant.holding.devices)


def placed_devices(machine: Machine) -> Iterator[Placed]:
    """Yield each device with the NUMA node it is drawn in, and whether its plugin says so."""
    known = machine.functions()
    there = {node.id for node in machine.numa_nodes}
    for resource, devices in sorted(machine.devices.items()):
        for device in devices:
            told = [node for node in device.numa_nodes or () if node in there]
            node = told[0] if told else known_node(known.get(device.id), machine)
            yield resource, device, node if node in there else None, bool(told)


def chip_label(resource: str, device: str) -> str:
    """Name a device in short: `gpu gpu0`."""
    return f"{resource.rpartition('/')[2]} {short_address(device)}"


def device_rows(devices: Sequence[Placed], width: float) -> list[list[tuple[float, Placed]]]:
    """Put devices in rows of a width, each with its distance from the left."""
    rows: list[list[tuple[float, Placed]]] = []
    left = width + 1
    for one in devices:
        label = shorten(chip_label(one[0], one[1].id), width - 34, TEXT)
        wide = text_width(label, TEXT) + 31
        if left + wide > width + 5:
            rows.append([])
            left = 0.0
        rows[-1].append((left, one))
        left += wide
    return rows


def distance(machine: Machine, start: int, end: int) -> int | None:
    """Return the largest distance from a NUMA node of one mask to one of another; None: the machine does not say."""
    numbers = {node.id: place for place, node in enumerate(sorted(machine.numa_nodes, key=lambda node: node.id))}
    rows: Mapping[int, Sequence[int]] = {node.id: node.distances or () for node in machine.numa_nodes}
    found = [rows[one][numbers[other] :][:1] for one in ids(start) for other in ids(end)]
    return max((each[0] for each in found if each), default=None) if all(found) else None
