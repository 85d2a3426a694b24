"""Who sits where after an admission, as a picture: the verdict, NUMA nodes as rooms, what is far, and the fix.

Each container has a letter and a look, cold where it is aligned and warm where it is not. What is away from the CPUs of
its container has a red frame and a red line to them, with the distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from numalign.analysis.placed import Part
from numalign.model.cpuset import format_set, ids
from numalign.model.machine import Machine, NUMANode
from numalign.model.resources import CPU
from numalign.model.words import few_of
from numalign.render.picture.canvas import Canvas, Picture, text_width, wrap
from numalign.render.picture.looks import JUDGED, RED, draw_sign, look_of
from numalign.render.picture.room import BARE, FREE, GAP, GUESSED, MARGIN, RESERVED, Box, Guest, Rooms, distance
from numalign.render.picture.said import (
    MAX_FAR,
    MAX_NAMED,
    WIDTH,
    Far,
    Said,
    draw_between,
    draw_not_started,
    fared,
    holders_of,
    key_of,
    said_of,
    whys,
)
from numalign.render.text.alignment import bus_text
from numalign.render.text.amounts import devices_text, listed, named
from numalign.results.admit import AdmitResult, ContainerResult
from numalign.results.compare import Scene
from numalign.values import grouped

GUTTER, WIDE_GUTTER = 20.0, 100.0
BARE_COLUMNS = 3
"""Rooms side by side of NUMA nodes without CPUs."""
LINE = f'stroke="{RED}" stroke-width="3"'
HALO = 'stroke="#ffffff" stroke-width="7"'
FRAME = f'fill="none" stroke="{RED}" stroke-width="3.5"'


LOOSE = f'fill="none" stroke="{RED}" stroke-width="3" stroke-dasharray="3 3"'


def draw_occupants(result: AdmitResult) -> Picture:
    """Draw the node after the last admission; `result` has to list its occupants."""
    return draw_scenes((Scene("", result),))


def draw_scenes(
    scenes: Sequence[Scene], said: Said | None = None, between: Sequence[str] = (), verdict: str = ""
) -> Picture:
    """Draw nodes one below the other; a container has the same letter on each.

    Args:
        scenes: the nodes.
        said: what stands above the first one; None: what became of its pods.
        between: lines between the first and the second, such as the fix that makes one of the other.
        verdict: what all of it comes to; empty: what stands above the first one.
    """
    canvas, top, described = Canvas(WIDTH), 0.0, list[str]()
    holders = [key_of(one) for scene in scenes for one in holders_of(scene)]
    places = {key: place for place, key in enumerate(dict.fromkeys(holders))}
    for number, scene in enumerate(scenes):
        if number == 1 and between:
            top = draw_between(canvas, between, said_of(scene.result).state if scene.result else "rejected", top)
        if scene.result is None:
            top = draw_not_started(canvas, scene, top)
            described.append(f"{scene.title}: the kubelet would not start: {scene.error}")
            continue
        about = said if said is not None and number == 0 else said_of(scene.result)
        drawn = _Drawn(scene, scene.result, canvas, places, about)
        top = drawn.draw(top) + 16
        described += [*([scene.title] if scene.title else []), *drawn.described]
        verdict = verdict or about.verdict
    names = ", ".join(dict.fromkeys(scene.result.setup.machine.name for scene in scenes if scene.result))
    title = f"{verdict.removesuffix('.')}. Machine {names}" if verdict else names
    return Picture(canvas.finish(title, " ".join([*described, *between])), names, verdict)


class _Drawn:
    def __init__(
        self, scene: Scene, result: AdmitResult, canvas: Canvas, places: Mapping[tuple[str, str, str], int], said: Said
    ) -> None:
        self.title = scene.title
        self.result = result
        self.machine: Machine = result.setup.machine
        self.canvas = canvas
        self.said = said
        told = {(pod.namespace, pod.name, one.name): (one, pod) for pod in result.pods for one in pod.containers}
        self.guests: list[Guest] = []
        for one in holders_of(scene):
            found, pod = told.get(key_of(one), (None, None))
            state = "there" if found is None else JUDGED[found.aligned]
            look = look_of(canvas, places[key_of(one)], state)
            self.guests.append(Guest(look, state, one, found, pod.qos if pod else "Guaranteed"))
        self.rooms = Rooms(canvas, result, self.guests, said.asked)
        self.described: list[str] = []

    def draw(self, top: float) -> float:
        """Draw from `top` downwards; returns where the picture ends."""
        top = self._head(top)
        nodes = sorted(self.machine.numa_nodes, key=lambda node: node.id)
        seated = [node for node in nodes if node.cpus]
        holding = {one[2] for one in self.rooms.devices}
        bare = [node for node in nodes if not node.cpus and (node.memory or node.id in holding)]
        two = len(seated) > 1
        gutter = WIDE_GUTTER if two and self._spread() else GUTTER
        width = (WIDTH - 2 * MARGIN - gutter) / 2 if two else WIDTH - 2 * MARGIN - (80 if self._spread() else 0)
        middle = MARGIN + width + (gutter / 2 if two else 40)
        ceiling = top
        for start in range(0, len(seated), 2):
            top = self.rooms.draw(seated[start : start + 2], top, width, gutter) + 14
        floor = top
        small = (WIDTH - 2 * MARGIN - (BARE_COLUMNS - 1) * GUTTER) / BARE_COLUMNS
        for start in range(0, len(bare), BARE_COLUMNS):
            top = self.rooms.draw(bare[start : start + BARE_COLUMNS], top + 8, small, GUTTER, bare=True) + 10
        top = self._folded([node for node in nodes if node not in seated and node not in bare], top)
        top = self.rooms.loose(MARGIN, top, WIDTH - 2 * MARGIN)
        far = list(self._far())
        self._lines(far, middle, ceiling, floor)
        return self._key(self._names(top, far), far)

    def _head(self, top: float) -> float:
        """Write the verdict with its sign, why, and the settings; returns where that ends."""
        if self.title:
            title = f"{self.title}: {self.machine.name}"
            self.canvas.text(MARGIN, top + 30, title[:90], 18, bold=True)
            top += 30
        draw_sign(self.canvas, self.said.state, MARGIN, top + 14, 32)
        y = self.canvas.paragraph(MARGIN + 46, top + 38, self.said.verdict, WIDTH - 2 * MARGIN - 46, 24, 30, bold=True)
        y -= 2
        for text in self.said.why:
            y = self.canvas.paragraph(MARGIN, y, text, WIDTH - 2 * MARGIN, 15, 20)
        config = self.result.setup.config
        policy = f"policy {config.topology_manager_policy}, scope {config.topology_manager_scope}"
        managers = f"CPU Manager {config.cpu_manager_policy}, Memory Manager {config.memory_manager_policy}"
        settings = f"{self.machine.name}: {policy}, {managers}"
        y = self.canvas.paragraph(MARGIN, y + 2, settings, WIDTH - 2 * MARGIN, 13, 17)
        self.described += [self.said.verdict, *self.said.why]
        return y - 2

    def _spread(self) -> bool:
        return any(guest.result is not None and guest.result.alignment.verdict == "spread" for guest in self.guests)

    def _folded(self, nodes: Sequence[NUMANode], top: float) -> float:
        """Name the NUMA nodes that have nothing, in a line."""
        if not nodes:
            return top
        numbers = format_set(sum(1 << node.id for node in nodes if node.id >= 0))
        text = f"NUMA {numbers}: no CPUs, no memory, no devices ({len(nodes)} NUMA node{'s' * (len(nodes) > 1)})"
        lines = wrap(text, WIDTH - 2 * MARGIN - 24, 12)
        self.canvas.rect(MARGIN, top + 4, WIDTH - 2 * MARGIN, 12 + 16 * len(lines), BARE)
        return self.canvas.paragraph(MARGIN + 12, top + 22, text, WIDTH - 2 * MARGIN - 24, 12, 16) + 8

    def _far(self) -> Iterator[Far]:
        """Find what is away from its container's CPUs: devices, memory, or CPUs beyond the fewest NUMA nodes."""
        for place, guest in enumerate(self.guests):
            found = guest.result
            if found is None or found.alignment.verdict != "spread":
                continue
            home = found.alignment.places.get(CPU, 0)
            seats = [self.rooms.seats[place, numa] for numa in ids(home) if (place, numa) in self.rooms.seats]
            if not found.alignment.remote:
                yield from self._split(place, guest, found)
            for nodes, parts in grouped((part.nodes, part) for part in found.alignment.remote).items():
                what = [devices_text(one.resource, one.ids) if one.ids else named(one.resource) for one in parts]
                boxes = [box for part in parts for box in self._boxes(place, part)]
                text = f"{guest.name}: {listed(what)} on NUMA {format_set(nodes)}"
                yield Far(text, distance(self.machine, home, nodes), tuple(boxes), next(iter(seats), None))

    def _boxes(self, place: int, part: Part) -> Iterator[Box]:
        """Find where devices, or the memory of a guest, were drawn."""
        found = [self.rooms.chips.get((part.resource, one)) for one in part.ids]
        if not part.ids:
            found = [self.rooms.bars.get((place, numa)) for numa in ids(part.nodes)]
        yield from filter(None, found)

    def _split(self, place: int, guest: Guest, found: ContainerResult) -> Iterator[Far]:
        """Find CPUs on another NUMA node than most of them, of a container that needs fewer."""
        seats = {numa: box for (number, numa), box in self.rooms.seats.items() if number == place}
        cpus = {node.id: (node.cpus & (found.holding.cpus or 0)).bit_count() for node in self.machine.numa_nodes}
        first, *others = sorted(seats, key=lambda numa: (-cpus[numa], numa)) or [-1]
        for numa in others:
            away = distance(self.machine, 1 << first, 1 << numa)
            text = f"{guest.name}: {cpus[numa]} of its CPUs on NUMA {numa}"
            yield Far(text, away, (seats[numa],), seats[first])

    def _lines(self, far: Sequence[Far], middle: float, ceiling: float, floor: float) -> None:
        """Frame what is far in red, and draw a line to its CPUs with the distance in the gutter."""
        pills: list[tuple[Far, float]] = []
        for guest in self.guests:
            if guest.result is not None and guest.result.alignment.cpus_float:
                for one in guest.result.holding.devices:
                    for box in self._boxes(0, Part(one.resource, 0, one.ids)):
                        self._frame(box, LOOSE, f"{guest.name}: the CPUs are not pinned")
        for each in far:
            for box in each.boxes:
                self._frame(box, FRAME, each.text)
        for each in far[:MAX_FAR]:
            if each.cpus is None or not each.boxes:
                continue
            start, end = self._way(each.boxes[0], middle, floor), self._way(each.cpus, middle, floor, above=True)
            for look in (HALO, LINE):
                self.canvas.path([*start, *end[::-1]], f'{look} stroke-linejoin="round"')
            x, y = end[0]
            self.canvas.rect(x - 4, y - 6, 8, 8, f'fill="{RED}" rx="4"')
            pills.append((each, start[-1][1]))
        taken: list[tuple[float, int | None]] = []
        for each, y in pills:
            self._pill(each, middle, y, (ceiling + 22, floor - 36), taken)

    def _frame(self, box: Box, look: str, title: str) -> None:
        self.canvas.rect(box.x - 2, box.y - 2, box.width + 4, box.height + 4, look, title)

    @staticmethod
    def _way(box: Box, middle: float, floor: float, *, above: bool = False) -> list[tuple[float, float]]:
        """Return the way from a box to the gutter: between rows, so that no text lies under it."""
        x = box.x + box.width / 2
        y = box.y - 4 if above else box.y + box.height + GAP / 2 + 1
        way = [(x, box.y - 1 if above else box.y + box.height + 2), (x, y)]
        if box.column < 0:
            return [(x, box.y - 2), (x, floor + 2), (middle, floor + 2)]
        return [*way, (middle, y)]

    def _pill(
        self, one: Far, x: float, y: float, room: tuple[float, float], taken: list[tuple[float, int | None]]
    ) -> None:
        """Write a distance into the gutter, where there is room; one that is there already says it for both."""
        top, bottom = room
        near = [min(max(y + step * 41 * sign, top), bottom) for step in range(20) for sign in (1, -1)]
        if any(abs(near[0] - other) < 41 and away == one.distance for other, away in taken):
            return
        y = next((each for each in near if all(abs(each - other) >= 41 for other, _ in taken)), near[0])
        taken.append((y, one.distance))
        lines = ["distance", str(one.distance)] if one.distance else ["far"]
        self.canvas.rect(x - 42, y - 19, 84, 38, f'fill="#ffffff" stroke="{RED}" stroke-width="2.5" rx="8"', one.text)
        for place, line in enumerate(lines):
            at = y - 5 + place * 18 if len(lines) > 1 else y + 5
            self.canvas.text(x, at, line, 13 if place == 0 else 17, bold=True, anchor="middle")

    def _names(self, y: float, far: Sequence[Far]) -> float:
        """Name who is who, and what came of each pod; returns where that ends."""
        for guest in self.guests:
            self.canvas.rect(MARGIN, y + 2, 26, 17, guest.look.attributes)
            self.canvas.text(MARGIN + 13, y + 15, guest.look.label, 12, bold=True, anchor="middle")
            said = f"{guest.name}: {fared(guest)}"
            close = [bus_text(guest.result.neighbours)] if guest.result is not None and guest.result.neighbours else []
            for text in (said, *close):
                bold = guest.state == "bad" and text is said
                y = self.canvas.paragraph(MARGIN + 36, y + 15, text, WIDTH - 2 * MARGIN - 40, 13, 18, bold=bold) - 15
            y += 4
            self.described += [f"{said.removesuffix('.')}.", *(f"{text}." for text in close)]
        self.described += [f"{one.text}." for one in far]
        rejected: dict[str, list[str]] = {}
        pods = [pod for pod in self.result.pods if not pod.admitted and len(self.result.pods) > 1]
        for pod, why in zip_longest(pods, whys(self.result) if pods else ()):
            rejected.setdefault(f"rejected ({pod.reason or pod.stage}){f'. {why}' if why else ''}", []).append(pod.name)
        shown = [f"{few_of(names, MAX_NAMED)}: {text}" for text, names in rejected.items()]
        more = sum(map(len, [*rejected.values()][MAX_NAMED:]))
        for text in (*shown[:MAX_NAMED], *[f"{more} more pod{'s' * (more > 1)}: rejected"] * bool(more)):
            draw_sign(self.canvas, "rejected", MARGIN + 4, y + 2, 16)
            y = self.canvas.paragraph(MARGIN + 36, y + 15, text, WIDTH - 2 * MARGIN - 40, 13, 18, bold=True) - 11
            self.described.append(f"{text.removesuffix('.')}.")
        return y

    def _key(self, y: float, far: Sequence[Far]) -> float:
        """Explain the looks that occur; returns where that ends."""
        signs, every = self.rooms.signs, [one.result for one in self.guests if one.result]
        floats = any(one.alignment.cpus_float and one.devices for one in every)
        rows = [
            (FREE, "free, or in the shared pool") if "free" in signs else None,
            (RESERVED, "reserved") if "reserved" in signs else None,
            (f"{FREE} {GUESSED}", "NUMA node from /sys, not from the device plugin") if "guessed" in signs else None,
            (FRAME, "far from the CPUs of its container") if far else None,
            (LOOSE, "the CPUs of its container are not pinned") if floats else None,
        ]
        x = MARGIN
        for look, label in filter(None, rows):
            if x + 30 + text_width(label, 12) > WIDTH - MARGIN:
                x, y = MARGIN, y + 22
            self.canvas.rect(x + 2, y + 3, 20, 14, look)
            self.canvas.text(x + 30, y + 14, label, 12)
            x += 54 + text_width(label, 12)
        return y + 24
