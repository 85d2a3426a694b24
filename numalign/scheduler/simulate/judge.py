"""What a scheduler thinks of a pod on a machine: the judgements of `scheduler.attempt`, each worked out once.

A judgement has two halves: the machine as a bag, and its NUMA nodes. Each half is remembered by what it depends on, so
machines share it whenever that much of them is equal. Why the kubelet disagreed (docs/rules/scheduling.md 1.5) is asked
of `scheduler.causes`, once, too.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from numalign.scheduler.attempt import Judgement, joined, judge_bag, judge_zones
from numalign.scheduler.causes import cause
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.disagreement import Case, Distrust
from numalign.scheduler.schedulers import SCHEDULERS
from numalign.scheduler.simulate.known import Numbers, remember
from numalign.scheduler.simulate.machines import Sight, SimulatedMachine
from numalign.scheduler.simulate.shapes import Shape
from numalign.scheduler.simulate.workloads import PodRecord


class Judge:
    """One scheduler's eyes."""

    def __init__(self, config: SchedulerConfig) -> None:
        """Know the settings."""
        self._scheduler = SCHEDULERS[config.kind]
        self._config = config
        self._bags, self._looks = Numbers(), Numbers()
        self._passed: dict[float | Fraction, Judgement] = {}
        """Score -> the judgement of a machine that passes with it."""

    def sight(self, machine: SimulatedMachine) -> Sight:
        """Look at a machine, if it has changed since the last time."""
        found = machine.sight
        if found is None:
            seen = self._scheduler.see(self._config, machine.belief)
            kind = machine.kind.number
            bag = self._bags.of((kind, machine.used, machine.pods, *machine.beyond.items()))
            found = machine.sight = Sight(bag, self._looks.of((kind, seen.key)), seen)
        return found

    def judge(self, machine: SimulatedMachine, shape: Shape) -> Judgement:
        """Filter and score one machine."""
        sight = self.sight(machine)
        key = (sight.bag, machine.number) if shape.by_name else sight.bag
        bag = shape.bags.get(key)
        if bag is None:
            judged = judge_bag(self._scheduler, self._config, machine.node, shape.entry)
            bag = remember(shape.bags, key, judged)
        if not bag.verdict.passed:
            return bag
        zones = shape.zones.get(sight.zones)
        if zones is None:
            judged = judge_zones(self._scheduler, self._config, sight.seen, machine.kind.totals, shape.request)
            zones = remember(shape.zones, sight.zones, judged)
        if not zones.verdict.passed:
            return zones
        score = bag.score + zones.score
        return self._passed.get(score) or remember(self._passed, score, joined(bag, zones))


class Causes:
    """Finds causes; a run-away pod asks the same again and again, so answers are remembered."""

    def __init__(self, config: SchedulerConfig) -> None:
        """Know the scheduler."""
        self._scheduler = SCHEDULERS[config.kind]
        self._config = config
        self._known: dict[Hashable, str] = {}

    def find(self, pod: PodRecord, machine: SimulatedMachine, *, passed: bool) -> str:
        """Name the cause of a disagreement: the scheduler said `passed`, the machine's kubelet says the opposite."""
        seen = self._scheduler.see(self._config, machine.belief) if pod.seen is None else pod.seen
        state = (machine.kind.number, machine.used, machine.pods, machine.free)
        key = (pod.shape.number, state, seen.key, passed)
        found = self._known.get(key)
        if found is None:
            nrt = seen.copy and seen.copy.nrt
            waiting: Distrust = "reserved" if self._config.cache.mode == "discard_reserved" else "foreign"
            case = Case(
                node=machine.node._replace(known="exact", nrt=nrt),
                session=machine.session,
                pod=pod.pod,
                request=pod.shape.request,
                nrt=nrt,
                kai=seen.ledger and seen.ledger.machine,
                passes=passed,
                admits=not passed,
                distrust="" if seen.fresh else waiting,
            )
            found = self._known[key] = cause(self._scheduler, case).code
        return found
