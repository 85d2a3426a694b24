"""Counting while a run goes on (docs/rules/scheduling.md 4.4, 6.3, 6.4)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from numalign.scheduler.fragmentation import Fragmentation as Room
from numalign.scheduler.fragmentation import fragmentation
from numalign.scheduler.nrt.copy import Free
from numalign.scheduler.resources import Amounts, is_host_level
from numalign.scheduler.simulate.known import remember
from numalign.scheduler.simulate.machines import SimulatedMachine
from numalign.scheduler.simulate.report import Share
from numalign.scheduler.simulate.settings import SECOND

FAILED_RATE_WINDOW = 60 * SECOND
"""Over which `peak_failed_rate` counts."""


class OverTime:
    """A whole number that changes over time: its sum weighted by time, and its largest value."""

    __slots__ = ("_late", "most", "now")

    def __init__(self) -> None:
        """Start at zero."""
        self.now = 0
        self.most = 0
        self._late = 0
        """What the sum lacks of a number that was the present one all the time."""

    def add(self, change: int, time: int) -> None:
        """Change the number at a time."""
        self.now += change
        self.most = max(self.most, self.now)
        self._late += change * time

    def share(self, whole: int, end: int) -> Share:
        """Return mean and maximum as shares of a whole."""
        if not whole:
            return Share(0.0, 0.0)
        mean = (self.now * end - self._late) / (whole * end) if end else self.now / whole
        return Share(mean, self.most / whole)


class Utilisation:
    """What admitted pods hold, of the cluster and of its NUMA nodes."""

    def __init__(self, machines: Iterable[SimulatedMachine]) -> None:
        """Add up what there is."""
        self._cluster: dict[str, OverTime] = {}
        self._zones: dict[tuple[int, str], OverTime] = {}
        self._all: Counter[str] = Counter()
        self._all_zones: Counter[tuple[int, str]] = Counter()
        for machine in machines:
            self._all.update({name: amount for name, amount in machine.kind.totals.items() if name != "pods"})
            kind = machine.kind
            for zone, names, row in zip(kind.numbers, kind.layout.names, kind.whole, strict=True):
                self._all_zones.update({(zone, name): amount for name, amount in zip(names, row, strict=True)})

    def pod(self, asked: Amounts, sign: int, time: int) -> None:
        """Count a pod that was admitted (1), or ended (-1)."""
        for name, amount in asked.items():
            if name in self._all:
                self._cluster.setdefault(name, OverTime()).add(sign * amount, time)

    def moved(self, machine: SimulatedMachine, free: Free, time: int) -> None:
        """Count that a machine's free amounts are now others."""
        kind = machine.kind
        for zone, names, before, after in zip(kind.numbers, kind.layout.names, machine.free, free, strict=True):
            if before != after:
                for name, old, new in zip(names, before, after, strict=True):
                    if old != new:
                        self._zones.setdefault((zone, name), OverTime()).add(old - new, time)

    def now(self, name: str) -> float:
        """Return the present share of one resource."""
        held = self._cluster.get(name)
        return held.now / self._all[name] if held is not None and self._all[name] else 0.0

    def cluster(self, end: int) -> dict[str, Share]:
        """Return the shares of the whole cluster."""
        return {name: self._cluster[name].share(self._all[name], end) for name in sorted(self._cluster)}

    def zones(self, end: int) -> dict[str, dict[str, Share]]:
        """Return the shares NUMA node by NUMA node, over all machines; those that nobody used are 0."""
        result: dict[str, dict[str, Share]] = {}
        for (zone, name), whole in sorted(self._all_zones.items()):
            held = self._zones.get((zone, name)) or OverTime()
            result.setdefault(f"node-{zone}", {})[name] = held.share(whole, end)
        return result


class FragmentationOverTime:
    """What NUMA boundaries cost for the shapes of a trace, each weighted by its number of replicas (6.4)."""

    def __init__(self, machines: Iterable[SimulatedMachine], probes: Sequence[tuple[Amounts, int]]) -> None:
        """Know the machines, the shapes and their weights."""
        self._probes = probes
        self._weights = sum(weight for _, weight in probes)
        self._known: dict[tuple[int, Free], tuple[Room, ...]] = {}
        self._rooms = [self._room(machine, machine.free) for machine in machines]
        """Of each machine the room for each probe."""
        self._single = [sum(rooms[place].single for rooms in self._rooms) for place in range(len(probes))]
        self._total = [sum(rooms[place].total for rooms in self._rooms) for place in range(len(probes))]
        """Of each probe the sums over all machines."""
        lost = zip(probes, self._single, self._total, strict=True)
        value = sum(weight * (1 - single / total) for (_, weight), single, total in lost if total)
        self.now = value / self._weights if self._weights else 0.0
        self._since = 0
        self._sum = self._most = 0.0

    def _room(self, machine: SimulatedMachine, free: Free) -> tuple[Room, ...]:
        key = (machine.kind.number, free)
        found = self._known.get(key)
        if found is None:
            layout = machine.kind.layout
            zones = [dict(zip(names, row, strict=True)) for names, row in zip(layout.names, free, strict=True)]
            rooms = []
            for asked, _ in self._probes:
                host = [name for name in asked if name not in layout.listed and is_host_level(name)]
                rooms.append(fragmentation(zones, asked, host=machine.kind.totals, host_level=host))
            found = remember(self._known, key, tuple(rooms))
        return found

    def moved(self, machine: SimulatedMachine, free: Free, time: int) -> None:
        """Count that a machine's free amounts are now others."""
        self.pass_time(time)
        before, after = self._rooms[machine.number], self._room(machine, free)
        self._rooms[machine.number] = after
        singles, totals = self._single, self._total
        value = 0.0
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            single = singles[place] = singles[place] + new[0] - old[0]
            total = totals[place] = totals[place] + new[1] - old[1]
            if total:
                value += self._probes[place][1] * (1 - single / total)
        self.now = value / self._weights

    def pass_time(self, time: int) -> None:
        """Let time pass with the present value."""
        self._sum += self.now * (time - self._since)
        self._since = time
        self._most = max(self._most, self.now)

    def share(self, end: int) -> Share:
        """Return mean and maximum."""
        self.pass_time(end)
        return Share(self._sum / end if end else self.now, self._most)


class PeakRate:
    """The most events in any window of 60 s."""

    def __init__(self) -> None:
        """Start empty."""
        self._recent: deque[int] = deque()
        self.most = 0

    def add(self, time: int) -> None:
        """Count an event."""
        self._recent.append(time)
        while self._recent[0] <= time - FAILED_RATE_WINDOW:
            self._recent.popleft()
        self.most = max(self.most, len(self._recent))
