"""Pods that ask the same, and which machine suits them best: worked out once, then only where something changed.

A scheduler that filtered and scored every machine at every attempt would do the same work again and again. Here each
shape keeps its own order of the machines. An attempt looks only at machines that changed since the shape's last
attempt, and machines that look alike share one answer, so thousands of equal machines cost little more than one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from heapq import heappop, heappush

from numalign.scheduler import choice
from numalign.scheduler.choice import TieBreak
from numalign.scheduler.request import PodRequest, effective, node_level
from numalign.scheduler.xxh64 import xxh64
from numalign.values import NamedTuple


class Half(NamedTuple):
    """One half of a judgement: of the machine as a bag, or of its NUMA nodes."""

    passed: bool
    message: str
    score: int | Fraction


class Judgement(NamedTuple):
    """What a scheduler thinks of one shape on one look of a machine."""

    passed: bool
    fits: bool
    """Whether the machine's total has room; the topology filter is only asked then."""
    message: str
    score: int | Fraction
    marks: bool
    """Whether the failure makes the plugin's cache doubt the machine (docs/rules/scheduling.md T-8)."""


class Shape:
    """Pods that ask the same of the same machines."""

    def __init__(self, number: int, request: PodRequest, selector: Mapping[str, str], count: int) -> None:
        """Start without knowing any of `count` machines."""
        self.number = number
        self.request = request
        self.selector = selector
        self.asked = node_level(request)
        """What it takes of a machine as a bag."""
        self.reserved = effective(request)
        """What the plugin's cache takes off every zone for it."""
        self.bags: dict[int, Half] = {}
        """Number of what a machine is as a bag -> the judgement of that."""
        self.zones: dict[int, Half] = {}
        """Number of what a scheduler sees of a machine's NUMA nodes -> the judgement of that."""
        self.judged: list[Judgement | None] = [None] * count
        self.read = 0
        """How far the shape has read the log of changes."""
        self.ranks: list[tuple[int | Fraction, int]] = []
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
        if self._said_since[machine] != self.failed_attempts:
            self._settle(machine, old)
        if old is not None:
            self.fitting -= old.fits
        self.judged[machine] = judgement
        self.fitting += judgement.fits
        if judgement.marks:
            self.fresh_failures.append(machine)
        if judgement.passed and (old is None or not old.passed or old.score != judgement.score):
            heappush(self.ranks, (-judgement.score, machine))

    def _settle(self, machine: int, judgement: Judgement | None) -> None:
        """Count the failed attempts for which a machine gave its present message."""
        failed = self.failed_attempts - self._said_since[machine]
        if failed and judgement is not None and not judgement.passed:
            self._tally[machine, judgement.message] += failed
        self._said_since[machine] = self.failed_attempts

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
        return equal[xxh64(attempt.to_bytes(8, "little", signed=True), seed & (1 << 64) - 1) % len(equal)]

    def _holds(self, rank: tuple[int | Fraction, int]) -> bool:
        judgement = self.judged[rank[1]]
        return judgement is not None and judgement.passed and judgement.score == -rank[0]

    def sampled(self, start: int, tie_break: TieBreak, seed: int, attempt: int) -> tuple[int | None, int]:
        """Choose as kube-scheduler does, which stops looking after enough feasible machines (2.5).

        Returns:
            The machine, and how many machines were looked at.
        """
        count = len(self.judged)
        enough = choice.enough_feasible(count)
        scores: dict[int, int | Fraction] = {}
        looked = 0
        while looked < count and len(scores) < enough:
            machine = (start + looked) % count
            judgement = self.judged[machine]
            if judgement is not None and judgement.passed:
                scores[machine] = judgement.score
            looked += 1
        if not scores:
            return None, looked
        most = max(scores.values())
        equal = [machine for machine, score in scores.items() if score == most]
        if tie_break == "first":
            return equal[0], looked
        return equal[xxh64(attempt.to_bytes(8, "little", signed=True), seed & (1 << 64) - 1) % len(equal)], looked

    def nth_fitting(self, place: int) -> int:
        """Name the machine at a place among those that pass the node-level fit."""
        for machine, judgement in enumerate(self.judged):
            if judgement is not None and judgement.fits:
                if not place:
                    return machine
                place -= 1
        raise IndexError(place)
