"""One scheduling attempt: filter the nodes, score those that pass, choose (docs/rules/scheduling.md 1, 2, 4.3).

Who drives a scheduler says in what order nodes are looked at and what is remembered of them; what is asked of a node,
and which one is taken, is here, for all schedulers and all who drive them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Generic, TypeVar

from numalign.scheduler import choice, node_filters, node_fit
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.record import KnownNode, PodEntry, Scheduler, Seen
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import PASS, Verdict
from numalign.values import NamedTuple

Place = TypeVar("Place", bound=Hashable)
"""What nodes are known by: their names, or their numbers."""


class Judgement(NamedTuple):
    """What a scheduler thinks of a pod on a node."""

    verdict: Verdict
    score: float | Fraction = 0
    fits: bool = True
    """Whether the node passes as a bag; its NUMA nodes are only asked then."""
    marks: bool = False
    """Whether the filter failed for the sake of NUMA nodes, on data that are trusted (T-8)."""

    @property
    def passed(self) -> bool:
        """Whether the node passes."""
        return self.verdict.passed


def judge_bag(scheduler: Scheduler, config: SchedulerConfig, node: ClusterNode, pod: PodEntry) -> Judgement:
    """Filter and score a node by its name, labels and taints, and as one bag of resources; a failure is the answer."""
    verdict = node_filters.check_node(node, pod.pod, pod.load) if config.node_fit else PASS
    if not verdict.passed:
        return Judgement(verdict, fits=False)
    if config.node_score is None or not scheduler.scores_nodes:
        return Judgement(PASS)
    return Judgement(PASS, node_fit.score(node.totals, pod.load, config.node_score))


def judge_zones(
    scheduler: Scheduler, config: SchedulerConfig, seen: Seen, total: Amounts, request: PodRequest
) -> Judgement:
    """Filter and score a node that passes as a bag by its NUMA nodes; a failure is the answer."""
    verdict = scheduler.check(config, seen, total, request)
    if not verdict.passed:
        return Judgement(verdict, marks=seen.fresh)
    return Judgement(PASS, 0 if scheduler.score is None else scheduler.score(config, seen, request))


def joined(bag: Judgement, zones: Judgement) -> Judgement:
    """Make one judgement of both, where the first one passes."""
    return Judgement(PASS, bag.score + zones.score) if zones.verdict.passed else zones


def judge(scheduler: Scheduler, config: SchedulerConfig, node: KnownNode, pod: PodEntry) -> Judgement:
    """Filter and score one node."""
    bag = judge_bag(scheduler, config, node.node, pod)
    if not bag.verdict.passed:
        return bag
    seen, total = scheduler.see(config, node.belief), node.node.totals.allocatable
    return joined(bag, judge_zones(scheduler, config, seen, total, pod.request))


def with_pod(scheduler: Scheduler, config: SchedulerConfig, node: KnownNode, pod: PodEntry) -> KnownNode:
    """Give a node to a pod (O-2)."""
    bag = node.node._replace(totals=node.node.totals.with_pod(pod.load))
    return KnownNode(bag, scheduler.bound(config, node.belief, pod), {**node.pods, pod.key: pod})


def without(scheduler: Scheduler, config: SchedulerConfig, node: KnownNode, pod: PodEntry) -> KnownNode:
    """Take a pod off its node."""
    bag = node.node._replace(totals=node.node.totals.with_pod(pod.load, -1))
    rest = {key: other for key, other in node.pods.items() if key != pod.key}
    return KnownNode(bag, scheduler.released(config, node.belief, pod), rest)


class Attempt(Generic[Place]):
    """What came of an attempt."""

    __slots__ = ("chosen", "judgements", "next_start")

    def __init__(self, chosen: Place | None, judgements: Mapping[Place, Judgement], next_start: int) -> None:
        """Know it."""
        self.chosen = chosen
        self.judgements = judgements
        """For every node that was looked at, in that order."""
        self.next_start = next_start
        """Where the next attempt begins to look, with `node_sampling: kube`."""

    @property
    def feasible(self) -> tuple[Place, ...]:
        """The nodes that pass."""
        return tuple([place for place, one in self.judgements.items() if one.passed])

    @property
    def best(self) -> tuple[Place, ...]:
        """The nodes that pass with the highest score."""
        return choice.best({place: one.score for place, one in self.judgements.items() if one.passed})


def attempt(
    config: SchedulerConfig,
    places: Sequence[Place],
    ask: Callable[[Place], Judgement],
    *,
    start: int = 0,
    number: int = 0,
) -> Attempt[Place]:
    """Try to schedule a pod.

    Args:
        config: the scheduler's settings.
        places: all nodes, in the cluster's order.
        ask: gives the judgement of a node.
        start: the node to begin with; only `node_sampling: kube` looks at it.
        number: the number of this attempt, for random tie-breaks.
    """
    sampled = config.node_sampling == "kube"
    count = len(places)
    enough = choice.enough_feasible(count) if sampled else count
    first = start if sampled else 0
    judgements: dict[Place, Judgement] = {}
    passed = 0
    for offset in range(count):
        if passed >= enough:
            break
        place = places[(first + offset) % count]
        judgement = judgements[place] = ask(place)
        passed += judgement.passed
    tried = Attempt(None, judgements, (first + len(judgements)) % count if count else 0)
    tried.chosen = choice.pick(tried.best, config.tie_break, config.seed, number)
    return tried
