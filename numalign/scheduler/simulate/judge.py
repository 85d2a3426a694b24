"""What a scheduler thinks of a pod on a machine: the filters and scores of `numalign.scheduler`, each worked out once.

A judgement has two halves: the machine as a bag, and its NUMA nodes. Each half is remembered by what it depends on, so
machines share it whenever that much of them is equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from numalign.scheduler import attempt, filter_nrt, node_fit, score
from numalign.scheduler.attempt import SchedulerConfig
from numalign.scheduler.cache import View
from numalign.scheduler.kai import evaluate as kai
from numalign.scheduler.kai import score as kai_score
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.node_filters import WRONG_LABELS
from numalign.scheduler.nrt.value import NUMAZone, TopologyManagerConfig, manager_config, numa_zones
from numalign.scheduler.simulate.known import Numbers, remember
from numalign.scheduler.simulate.machines import MachineClass, Sight, SimulatedMachine, nrt_of
from numalign.scheduler.simulate.shapes import Half, Judgement, Shape
from numalign.scheduler.simulate.truth import Free
from numalign.scheduler.verdict import MAX_SCORE, PASS, Verdict

Read = tuple[TopologyManagerConfig, tuple[NUMAZone, ...]]


class Judge:
    """One scheduler's eyes."""

    def __init__(self, config: SchedulerConfig, classes: tuple[MachineClass, ...]) -> None:
        """Know the settings and the kinds of machines."""
        self._config = config
        self._others: Mapping[str, KaiTopology | None] = {str(kind.number): kind.kai for kind in classes}
        self._read: dict[Hashable, Read] = {}
        self._bags, self._looks = Numbers(), Numbers()

    def sight(self, machine: SimulatedMachine) -> Sight:
        """Look at a machine, if it has changed since the last time."""
        return machine.seen or machine.sight(self._config.kind, self._config.cache, self._bags, self._looks)

    def judge(self, machine: SimulatedMachine, shape: Shape) -> Judgement:
        """Filter and score one machine."""
        sight = self.sight(machine)
        bag = shape.bags.get(sight.bag)
        if bag is None:
            bag = remember(shape.bags, sight.bag, self._bag(machine, shape))
        if not bag.passed:
            return Judgement(False, False, bag.message, 0, False)
        zones = shape.zones.get(sight.zones)
        if zones is None:
            zones = remember(shape.zones, sight.zones, self._zones(machine.kind, shape, sight.free, sight.fresh))
        if not zones.passed:
            return Judgement(False, True, zones.message, 0, self._config.kind == "nrt" and sight.fresh)
        return Judgement(True, True, "", bag.score + zones.score, False)

    def _bag(self, machine: SimulatedMachine, shape: Shape) -> Half:
        """Judge the machine as a bag of resources, and its labels."""
        labels, totals = machine.kind.labels, machine.node_totals
        if any(labels.get(name) != value for name, value in shape.selector.items()):
            return Half(False, WRONG_LABELS, 0)
        fits = node_fit.check(totals, shape.request)
        strategy = self._config.node_score
        if not fits.passed or strategy is None or self._config.kind == "kai":
            return Half(fits.passed, fits.message, 0)
        return Half(True, "", node_fit.score(totals, shape.request, strategy))

    def _zones(self, kind: MachineClass, shape: Shape, free: Free | None, fresh: bool) -> Half:
        """Judge the machine's NUMA nodes."""
        request, config = shape.request, self._config
        if config.kind == "kai":
            return self._kai(kind, shape, free)
        if config.kind != "nrt" or free is None:
            empty = node_fit.NodeTotals(kind.totals, {}, 0)
            view = View(nrt_of(kind, free), fresh)
            verdict = attempt.check(config._replace(node_fit=False), empty, view, request)
            points = score.score(None, request, config.strategy) if config.kind == "nrt" else 0
            return Half(verdict.passed, verdict.message, points)
        unseen = filter_nrt.passes_unseen(request)
        if not fresh:
            verdict = PASS if unseen else filter_nrt.NOT_FRESH
            return Half(verdict.passed, verdict.message, score.score(None, request, config.strategy))
        manager, zones = self._object(kind, free)
        verdict = PASS if unseen else filter_nrt.check_zones(manager, zones, kind.totals, request)
        if not verdict.passed:
            return Half(False, verdict.message, 0)
        points = MAX_SCORE
        if request.guaranteed:
            points = score.score_zones(manager, zones, request, config.strategy, config.weights)
        return Half(True, "", points)

    def _object(self, kind: MachineClass, free: Free) -> Read:
        """Read the object of a machine with these free amounts; all shapes share it."""
        key = (kind.number, free)
        found = self._read.get(key)
        if found is None:
            nrt = nrt_of(kind, free)
            assert nrt is not None  # noqa: S101 (a machine without an object gives no free amounts)
            found = remember(self._read, key, (manager_config(nrt), numa_zones(nrt)))
        return found

    def _kai(self, kind: MachineClass, shape: Shape, free: Free | None) -> Half:
        known = kai_view(kind, free)
        verdict: Verdict = kai.check(shape.request, known)
        if not verdict.passed:
            return Half(False, verdict.message, 0)
        name = str(kind.number)
        return Half(True, "", kai_score.score(shape.request, name, {**self._others, name: known}))


def kai_view(kind: MachineClass, free: Free | None) -> KaiTopology | None:
    """Write a machine as KAI reads it."""
    if kind.kai is None or free is None:
        return kind.kai
    layout = kind.layout
    amounts = {
        zone.name: dict(zip(names, row, strict=True))
        for zone, names, row in zip(layout.empty.zones, layout.names, free, strict=True)
    }
    return kind.kai.with_available([amounts[zone.name] for zone in kind.kai.zones])
