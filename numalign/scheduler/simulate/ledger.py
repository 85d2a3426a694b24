"""Counting while a run goes on (docs/rules/scheduling.md 4.4, 6.3, 6.4)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping

from numalign.scheduler.fragmentation import Fragmentation as Room
from numalign.scheduler.fragmentation import fragmentation
from numalign.scheduler.request import PodRequest, effective, node_level
from numalign.scheduler.resources import is_host_level
from numalign.scheduler.simulate.machines import SimulatedMachine
from numalign.scheduler.simulate.report import Share
from numalign.scheduler.simulate.settings import SECOND
from numalign.scheduler.simulate.truth import Free

WINDOW = 60 * SECOND
"""The window of `peak_failed_rate`."""


class OverTime:
    """A whole number that changes over time: its sum weighted by time, and its largest value."""

    __slots__ = ("_since", "most", "now", "total")

    def __init__(self) -> None:
        """Start at zero."""
        self.now = 0
        self.total = 0
        self.most = 0
        self._since = 0

    def add(self, change: int, time: int) -> None:
        """Change the number at a time."""
        self.total += self.now * (time - self._since)
        self._since = time
        self.now += change
        self.most = max(self.most, self.now)

    def share(self, whole: int, end: int) -> Share:
        """Give mean and maximum as shares of a whole."""
        self.add(0, end)
        if not whole:
            return Share(0.0, 0.0)
        return Share(self.total / (whole * end) if end else self.now / whole, self.most / whole)


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
            known = machine.kind.layout
            for zone, names, row in zip(known.zones, known.names, known.allocatable, strict=True):
                self._all_zones.update({(zone, name): amount for name, amount in zip(names, row, strict=True)})

    def pod(self, request: PodRequest, sign: int, time: int) -> None:
        """Count a pod that was admitted (1), or ended (-1)."""
        for name, amount in node_level(request).items():
            if name in self._all:
                self._cluster.setdefault(name, OverTime()).add(sign * amount, time)

    def moved(self, machine: SimulatedMachine, free: Free, time: int) -> None:
        """Count that a machine's free amounts are now others."""
        known = machine.kind.layout
        for zone, names, before, after in zip(known.zones, known.names, machine.free, free, strict=True):
            if before != after:
                for name, old, new in zip(names, before, after, strict=True):
                    if old != new:
                        self._zones.setdefault((zone, name), OverTime()).add(old - new, time)

    def now(self, name: str) -> float:
        """Give the present share of one resource."""
        held = self._cluster.get(name)
        return held.now / self._all[name] if held is not None and self._all[name] else 0.0

    def cluster(self, end: int) -> dict[str, Share]:
        """Give the shares of the whole cluster."""
        return {name: self._cluster[name].share(self._all[name], end) for name in sorted(self._cluster)}

    def zones(self, end: int) -> dict[str, dict[str, Share]]:
        """Give the shares NUMA node by NUMA node, over all machines."""
        result: dict[str, dict[str, Share]] = {}
        for zone, name in sorted(self._zones):
            shares = self._zones[zone, name].share(self._all_zones[zone, name], end)
            result.setdefault(f"node-{zone}", {})[name] = shares
        return result


class FragmentationOverTime:
    """What NUMA boundaries cost for the shapes of a trace, each weighted by its number of replicas (6.4)."""

    def __init__(self, machines: Iterable[SimulatedMachine]) -> None:
        """Know the machines; shapes are added later."""
        self._machines = tuple(machines)
        self._probes: list[tuple[Mapping[str, int], int]] = []
        self._rooms: list[list[Room]] = []
        self._sums: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int, Free], Room] = {}
        self._weights = 0
        self.now = 0.0
        self._since = 0
        self._total = 0.0
        self._most = 0.0

    def probe(self, request: PodRequest, weight: int) -> None:
        """Add a shape, before anything happens."""
        asked = effective(request)
        self._probes.append((asked, weight))
        self._weights += weight
        rooms = [self._room(len(self._probes) - 1, machine, machine.free) for machine in self._machines]
        self._rooms.append(rooms)
        self._sums.append((sum(one.single for one in rooms), sum(one.total for one in rooms)))

    def _room(self, probe: int, machine: SimulatedMachine, free: Free) -> Room:
        key = (probe, machine.kind.number, free)
        found = self._known.get(key)
        if found is None:
            layout = machine.kind.layout
            zones = [dict(zip(names, row, strict=True)) for names, row in zip(layout.names, free, strict=True)]
            asked = self._probes[probe][0]
            host = [name for name in asked if name not in layout.listed and is_host_level(name)]
            found = self._known[key] = fragmentation(zones, asked, host=machine.kind.totals, host_level=host)
        return found

    def moved(self, machine: SimulatedMachine, free: Free, time: int) -> None:
        """Count that a machine's free amounts are now others."""
        self.pass_time(time)
        value = 0.0
        for probe, (_, weight) in enumerate(self._probes):
            before = self._rooms[probe][machine.number]
            after = self._rooms[probe][machine.number] = self._room(probe, machine, free)
            single, total = self._sums[probe]
            single, total = self._sums[probe] = (
                single + after.single - before.single,
                total + after.total - before.total,
            )
            value += weight * (1 - single / total) if total else 0.0
        self.now = value / self._weights if self._weights else 0.0

    def pass_time(self, time: int) -> None:
        """Let time pass with the present value."""
        self._total += self.now * (time - self._since)
        self._since = time
        self._most = max(self._most, self.now)

    def share(self, end: int) -> Share:
        """Give mean and maximum."""
        self.pass_time(end)
        return Share(self._total / end if end else self.now, self._most)


class PeakRate:
    """The most events in any window of 60 s."""

    def __init__(self) -> None:
        """Start empty."""
        self._recent: deque[int] = deque()
        self.most = 0

    def add(self, time: int) -> None:
        """Count an event."""
        self._recent.append(time)
        while self._recent[0] <= time - WINDOW:
            self._recent.popleft()
        self.most = max(self.most, len(self._recent))
