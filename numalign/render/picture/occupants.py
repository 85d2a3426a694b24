"""Who sits where after an admission, as a picture: NUMA nodes as rooms, CPUs as seats, devices and memory below.

Each container has a letter and a colour; what nobody holds stays white, so that what is stranded can be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.closeness import functions
from numalign.model.cpuset import format_set, ids
from numalign.render.picture.canvas import WIDTH, Canvas, Picture, shorten, text_width, wrap
from numalign.render.text.alignment import bus_text, reason_of
from numalign.render.text.amounts import bytes_text
from numalign.render.text.drawing import LETTERS
from numalign.render.text.hardware import known_node
from numalign.results.compare import Scene
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.machine import Device, Machine, NUMANode
    from numalign.results.admit import AdmitResult, Occupant

MARGIN, GUTTER, PAD = 24.0, 32.0, 12.0
SEAT, PITCH = 15.0, 17.0
CHIP = 16.0
COLOURS = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9", "#fccde5", "#bebada")
ROOM = 'fill="#fbf8f1" stroke="#4a4a4a" stroke-width="2"'
BARE = 'fill="#f3f3f3" stroke="#4a4a4a" stroke-width="2" stroke-dasharray="10 4"'
FREE = 'fill="#ffffff" stroke="#999999" stroke-width="0.8" rx="3"'
RESERVED = 'fill="url(#hatch)" stroke="#8a8a8a" stroke-width="0.8" rx="0"'
SIGNS = "white: free, or in the shared pool; hatched: reserved; dashed: NUMA node from /sys, not from the device plugin"
GUESSED = 'stroke-dasharray="4 2"'


class Guest(NamedTuple):
    """A container that holds something, as it is drawn."""

    letter: str
    colour: str
    occupant: Occupant

    @property
    def look(self) -> str:
        """SVG attributes of what it holds."""
        return f'fill="{self.colour}" stroke="#333333" stroke-width="1" rx="3"'

    @property
    def name(self) -> str:
        """POD/CONTAINER."""
        return f"{self.occupant.pod}/{self.occupant.container}"


def draw_occupants(result: AdmitResult) -> Picture:
    """Draw the node after the last admission; `result` has to list its occupants."""
    return draw_scenes((Scene("", result),))


def draw_scenes(scenes: Sequence[Scene]) -> Picture:
    """Draw nodes one below the other; a container has the same letter and colour on each."""
    canvas, top = Canvas(), 0.0
    holders = [_key(one) for scene in scenes for one in _holders(scene)]
    places = {key: place for place, key in enumerate(dict.fromkeys(holders))}
    for scene in scenes:
        if scene.result is None:
            canvas.text(MARGIN, top + 34, scene.title, 18, bold=True)
            for text in wrap(f"the kubelet would not start: {scene.error}", WIDTH - 2 * MARGIN, 12):
                canvas.text(MARGIN, top + 56, text, 12)
                top += 16
            top += 60
        else:
            top = _Picture(scene.title, scene.result, canvas, places).draw(top) + 20
    names = ", ".join(dict.fromkeys(scene.result.setup.machine.name for scene in scenes if scene.result))
    return Picture(canvas.finish(f"{names}: allocation"), names)


def _holders(scene: Scene) -> Iterator[Occupant]:
    """Yield the containers that hold something."""
    return (one for one in (scene.result.occupants if scene.result else ()) if any(one.holding[:3]))


def _key(one: Occupant) -> tuple[str, str, str]:
    return one.namespace, one.pod, one.container


class _Picture:
    def __init__(
        self, title: str, result: AdmitResult, canvas: Canvas, places: Mapping[tuple[str, str, str], int]
    ) -> None:
        self.title = title
        self.result = result
        self.machine: Machine = result.setup.machine
        self.canvas = canvas
        self.guests = [
            Guest(LETTERS[places[_key(one)] % len(LETTERS)], COLOURS[places[_key(one)] % len(COLOURS)], one)
            for one in _holders(Scene(title, result))
        ]
        self.width = (WIDTH - 2 * MARGIN - GUTTER) / 2

    def draw(self, top: float) -> float:
        """Draw from `top` downwards; returns where the picture ends."""
        config = self.result.setup.config
        title = f"{self.title}: {self.machine.name}" if self.title else self.machine.name
        self.canvas.text(MARGIN, top + 34, shorten(title, WIDTH - 2 * MARGIN, 18), 18, bold=True)
        settings = f"policy {config.topology_manager_policy}, scope {config.topology_manager_scope}, CPU manager "
        admitted = sum(pod.admitted for pod in self.result.pods)
        text = f"{settings}{config.cpu_manager_policy}"
        if self.result.pods:
            text += f"; {admitted} of {len(self.result.pods)} pods admitted"
        self.canvas.text(MARGIN, top + 56, text, 12)
        top += 72
        for pair in _pairs(sorted(self.machine.numa_nodes, key=lambda node: node.id)):
            ends = [self._room(node, MARGIN + place * (self.width + GUTTER), top) for place, node in enumerate(pair)]
            top = max(ends) + 20
        return self._names(self._loose(top))

    def _room(self, node: NUMANode, x: float, y: float) -> float:
        """Draw one NUMA node; returns where it ends."""
        cores = [sorted(ids(core & node.cpus)) for core in self.machine.cores if core & node.cpus]
        threads = max(map(len, cores), default=0)
        a_row = int((self.width - 2 * PAD) // PITCH)
        rows = -(-len(cores) // a_row)
        devices = [each for each in self._devices() if each[2] == node.id]
        height = 34 + rows * (threads * PITCH + 6) + len(devices_rows(devices, self.width)) * (CHIP + 4) + 36
        self.canvas.rect(x, y, self.width, height, ROOM if node.cpus else BARE)
        self.canvas.text(x + PAD, y + 20, shorten(self._title(node), self.width - 2 * PAD, 11), 11, bold=True)
        top = y + 32
        for place, core in enumerate(cores):
            for thread, cpu in enumerate(core):
                left = x + PAD + place % a_row * PITCH
                self._seat(cpu, left, top + place // a_row * (threads * PITCH + 6) + thread * PITCH)
        top += rows * (threads * PITCH + 6)
        for row in devices_rows(devices, self.width):
            for left, resource, device, sure in row:
                self._chip(resource, device, x + PAD + left, top, sure=sure)
            top += CHIP + 4
        self._memory(node, x + PAD, top + 4)
        return y + height

    def _title(self, node: NUMANode) -> str:
        taken = 0
        for guest in self.guests:
            taken |= guest.occupant.holding.cpus or 0
        free = (node.cpus & ~taken & ~self.result.reserved_cpus).bit_count()
        return f"NUMA node {node.id}: CPUs {format_set(node.cpus) or 'none'}, {free} free"

    def _seat(self, cpu: int, x: float, y: float) -> None:
        guest = next((one for one in self.guests[::-1] if (one.occupant.holding.cpus or 0) >> cpu & 1), None)
        reserved = self.result.reserved_cpus >> cpu & 1
        look = guest.look if guest else RESERVED if reserved else FREE
        who = guest.name if guest else "reserved" if reserved else "shared pool"
        self.canvas.rect(x, y, SEAT, SEAT, look, f"CPU {cpu}: {who}")
        if guest:
            self.canvas.text(x + SEAT / 2, y + 11, guest.letter, 9, anchor="middle")

    def _devices(self) -> Iterator[tuple[str, Device, int | None, bool]]:
        """Yield each device with the node it is drawn in, and whether its plugin says so."""
        known = functions(self.machine)
        there = {node.id for node in self.machine.numa_nodes}
        for resource, devices in sorted(self.machine.devices.items()):
            for device in devices:
                told = [node for node in device.numa_nodes or () if node in there]
                node = told[0] if told else known_node(known.get(device.id), self.machine)
                yield resource, device, node if node in there else None, bool(told)

    def _chip(self, resource: str, device: Device, x: float, y: float, *, sure: bool) -> None:
        guest = next((one for one in self.guests if _holds(one.occupant, resource, device.id)), None)
        look = f"{guest.look if guest else FREE} {'' if sure else GUESSED}"
        label = chip_label(resource, device.id)
        who = guest.name if guest else "free"
        told = "" if sure else "; NUMA node from /sys, not from the device plugin"
        self.canvas.rect(x, y, text_width(label) + 22, CHIP, look, f"{resource} {device.id}: {who}{told}")
        self.canvas.text(x + 4, y + 11.5, f"{guest.letter if guest else ' '} {label}")

    def _memory(self, node: NUMANode, x: float, y: float) -> None:
        """Draw the memory of a node as a bar: what is pinned where it lies on several nodes counts in each."""
        full = self.width - 2 * PAD
        self.canvas.rect(x, y, full, 14, FREE, f"memory of NUMA {node.id}: {bytes_text(node.memory)}")
        left = x
        for guest in self.guests:
            for block in guest.occupant.holding.memory:
                if block.mask >> node.id & 1 and node.memory and block.size:
                    share = full * min(block.size / block.mask.bit_count() / node.memory, 1)
                    self.canvas.rect(
                        left, y, share, 14, guest.look, f"{guest.name}: {bytes_text(block.size)} {block.type}"
                    )
                    left = min(left + share, x + full)
        self.canvas.text(x + 4, y + 10.5, f"memory {bytes_text(node.memory)}" if node.memory else "no memory")

    def _loose(self, y: float) -> float:
        """Draw the devices that no node has."""
        loose = [(resource, device, 0, True) for resource, device, node, _ in self._devices() if node is None]
        if not loose:
            return y
        self.canvas.text(MARGIN, y + 12, "devices with unknown NUMA node", 11, bold=True)
        y += 20
        for row in devices_rows(loose, WIDTH - 2 * MARGIN):
            for left, resource, device, _ in row:
                self._chip(resource, device, MARGIN + left, y, sure=True)
            y += CHIP + 4
        return y + 12

    def _names(self, y: float) -> float:
        """Name who is who, and what came of each pod; returns where that ends."""
        told = {(pod.name, one.name): (one, pod.qos) for pod in self.result.pods for one in pod.containers}
        for guest in self.guests:
            self.canvas.rect(MARGIN, y, SEAT, SEAT, guest.look)
            self.canvas.text(MARGIN + SEAT / 2, y + 11, guest.letter, 9, anchor="middle")
            found = told.get((guest.occupant.pod, guest.occupant.container))
            said = [found[0].alignment.verdict, reason_of(*found)] if found else ["on the node"]
            close = [bus_text(found[0])] if found and found[0].neighbours else []
            for text in (": ".join([guest.name, *filter(None, said)]), *close):
                for line in wrap(text, WIDTH - 2 * MARGIN - 30, 11):
                    self.canvas.text(MARGIN + SEAT + 8, y + 11, line, 11)
                    y += PITCH
            y += 3
        for pod in self.result.pods:
            if not pod.admitted:
                text = f"{pod.name}: rejected, {pod.reason or pod.stage}"
                self.canvas.text(MARGIN, y + 11, shorten(text, WIDTH - 2 * MARGIN, 11), 11)
                y += PITCH + 3
        self.canvas.text(MARGIN, y + 11, SIGNS, 10)
        return y + PITCH


def _holds(occupant: Occupant, resource: str, device: str) -> bool:
    return any(held.resource == resource and device in held.ids for held in occupant.holding.devices)


def _pairs(nodes: Sequence[NUMANode]) -> Iterator[Sequence[NUMANode]]:
    for start in range(0, len(nodes), 2):
        yield nodes[start : start + 2]


def chip_label(resource: str, device: str) -> str:
    """Name a device in short: `gpu gpu0`."""
    return f"{resource.rpartition('/')[2]} {device}"


Row = list[tuple[float, str, "Device", bool]]


def devices_rows(devices: Sequence[tuple[str, Device, int | None, bool]], width: float) -> list[Row]:
    """Put devices in rows of a width: (distance from the left, resource, device, whether its node is sure)."""
    rows: list[Row] = []
    left = width
    for resource, device, _, sure in devices:
        wide = text_width(chip_label(resource, device.id)) + 26
        if left + wide > width - 2 * PAD:
            rows.append([])
            left = 0.0
        rows[-1].append((left, resource, device, sure))
        left += wide
    return rows
