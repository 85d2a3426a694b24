"""Pods that ask the same, and which machine suits them best: worked out once, then only where something changed.

A scheduler that filtered and scored every machine at every attempt would do the same work again and again. Here each
shape keeps its own order of the machines. An attempt looks only at machines that changed since the shape's last
attempt, and machines that look alike share one answer, so thousands of equal machines cost little more than one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Hashable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from typing import Final

from numalign.model.pod import Pod
from numalign.scheduler import choice
from numalign.scheduler.attempt import Judgement
from numalign.scheduler.choice import TieBreak
from numalign.scheduler.node import needs_name
from numalign.scheduler.record import QUEUE, PodEntry, entry_of
from numalign.scheduler.verdict import Verdict

_JUDGED = (
    *("nodeName", "nodeSelector", "affinity", "tolerations", "hostNetwork", "os", "priorityClassName"),
    "topologySpreadConstraints",
)
"""What a pod asks of a node beside resources: pods of one shape say the same of it."""


_UNSEEN: Final = Judgement(Verdict(False), fits=False)
"""A machine that was not looked at yet."""


class Shape:
    """Pods that ask the same of the same machines."""

    def __init__(self, number: int, entry: PodEntry, count: int) -> None:
        """Start without knowing any of `count` machines."""
        self.number = number
        self.entry = entry
        """One of the pods."""
        self.request = entry.request
        self.by_name = needs_name(entry.pod)
        """Whether machines that are alike but for their names may be judged apart."""
        self.asked = dict(entry.load.asked)
        """What it takes of a machine as a bag."""
        self.beyond = dict(entry.load.beyond)
        """What the score counts beyond that."""
        self.bags: dict[Hashable, Judgement] = {}
        """Number of what a machine is as a bag -> the judgement of that."""
        self.zones: dict[int, Judgement] = {}
        """Number of what a scheduler sees of a machine's NUMA nodes -> the judgement of that."""
        self.judged = [_UNSEEN] * count
        self.read: int | None = None
        """How far the shape has read the log of changes; None: it has looked at no machine yet."""
        self.ranks: list[tuple[float | Fraction, int]] = []
        """Heap of (-score, machine); entries that no longer hold are dropped when they come up."""
        self.fitting = 0
        """How many machines pass the node-level fit now."""
        self.fresh_failures: list[int] = []
        """Machines on which the topology test failed since the last attempt."""
        self.failed_attempts = 0
        """Attempts that found no machine."""
        self._said_since = [0] * count
        self._tally: Counter[tuple[int, str]] = Counter()

    def put(self, machine: int, judgement: Judgement) -> None:
        """Replace what is known of a machine."""
        old = self.judged[machine]
        if old is judgement and not judgement.marks:
            return
        if self._said_since[machine] != self.failed_attempts:
            self._settle(machine, old)
        self.judged[machine] = judgement
        self.fitting += judgement.fits - old.fits
        if judgement.marks:
            self.fresh_failures.append(machine)
        passed = judgement.verdict.passed
        if passed and (not old.verdict.passed or old.score != judgement.score):
            heappush(self.ranks, (-judgement.score, machine))

    def _settle(self, machine: int, judgement: Judgement) -> None:
        """Count the failed attempts for which a machine gave its present message."""
        failed = self.failed_attempts - self._said_since[machine]
        if failed and not judgement.passed:
            self._tally[machine, judgement.verdict.message] += failed
        self._said_since[machine] = self.failed_attempts

    def missed(self, machine: int, message: str) -> None:
        """Count a failed attempt in which a machine that would do was kept away by its pods."""
        self._tally[machine, message] += 1

    def tally(self) -> Counter[tuple[int, str]]:
        """Count (machine, message) over the attempts that found no machine."""
        for machine, judgement in enumerate(self.judged):
            self._settle(machine, judgement)
        return self._tally

    def best(self, tie_break: TieBreak, seed: int, attempt: int) -> int | None:
        """Choose the machine with the highest score; None: no machine passes."""
        ranks = self.ranks
        while ranks and not self._holds(ranks[0]):
            heappop(ranks)
        if not ranks:
            return None
        if tie_break == "first":
            return ranks[0][1]
        top = ranks[0][0]
        equal = sorted({machine for rank, machine in ranks if rank == top and self._holds((rank, machine))})
        return choice.pick(equal, tie_break, seed, attempt)

    def _holds(self, rank: tuple[float | Fraction, int]) -> bool:
        judgement = self.judged[rank[1]]
        return judgement.verdict.passed and judgement.score == -rank[0]

    def nth_fitting(self, place: int, without: Container[int]) -> int:
        """Name the machine at a place among those that pass the node-level fit, without some."""
        found = (machine for machine, one in enumerate(self.judged) if one.fits and machine not in without)
        return next(islice(found, place, None))


class Shapes:
    """The shapes of a run's pods: those that ask the same share one."""

    def __init__(self, count: int) -> None:
        """Start without any shape, before `count` machines."""
        self._count = count
        self._known: dict[object, Shape] = {}
        self._templates: dict[int, Shape] = {}
        """By the identity of a template: generated workloads share theirs."""

    def of(self, pod: Pod) -> Shape:
        """Return the shape of a template."""
        shape = self._templates.get(id(pod))
        if shape is None:
            entry = entry_of(pod)
            ports = [container.ports for container in pod.containers]
            asked = json.dumps([[pod.spec.get(name) for name in _JUDGED], ports, pod.labels.get(QUEUE)], sort_keys=True)
            key = entry.request, entry.priority, asked
            if key not in self._known:
                self._known[key] = Shape(len(self._known), entry, self._count)
            shape = self._templates[id(pod)] = self._known[key]
        return shape
