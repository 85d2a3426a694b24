"""One scheduling attempt: filter all machines, score those that pass, choose (docs/rules/scheduling.md 1, 2, 4.3).

Machines that look equal to the scheduler share the work: a verdict and a score are computed once for each different
look (`Candidate.look`), so a cluster of thousands of equal machines costs little more than one of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, Literal

from numalign.scheduler import choice, filter_kep, filter_nrt, node_fit, score
from numalign.scheduler.cache import CacheConfig, View
from numalign.scheduler.filter_kep import SeedMemory
from numalign.scheduler.kai.topology import KaiOptions
from numalign.scheduler.node_fit import NodeStrategy, NodeTotals
from numalign.scheduler.nrt.value import FINGERPRINT, PLACEMENT_METADATA, NodeResourceTopology
from numalign.scheduler.preemption import Mode
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import Amounts
from numalign.scheduler.score import Strategy
from numalign.scheduler.verdict import PASS, Verdict
from numalign.values import NamedTuple

Kind = Literal["unaware", "kep", "nrt", "kai"]
"""Which scheduler: kube-scheduler alone, with the proposal's filter, with today's plugin; or KAI."""


class SchedulerConfig(NamedTuple):
    """The settings of a scheduler (docs/rules/scheduling.md 6.1)."""

    kind: Kind = "nrt"
    node_fit: bool = True
    """Whether a machine's total is checked too."""
    node_score: NodeStrategy | None = "LeastAllocated"
    """How the machine's total is scored; None: not at all."""
    strategy: Strategy = "LeastAllocated"
    weights: Mapping[str, int] = {}
    cache: CacheConfig = CacheConfig()
    preemption_mode: Mode = "Disabled"
    prefilter: bool = False
    """Whether the plugin is on at PreFilter (P-1)."""
    preempts: bool = True
    """Whether kube-scheduler's own preemption is on."""
    seed_memory: SeedMemory = "literal"
    tie_break: choice.TieBreak = "first"
    node_sampling: choice.Sampling = "all"
    seed: int = 0
    kai: KaiOptions = KaiOptions()


class Candidate(NamedTuple):
    """A machine as a scheduler sees it in one attempt."""

    name: str
    totals: NodeTotals
    view: View
    """What the cache gives; for the proposal's filter the published object."""
    look: Hashable
    """Equal for machines that no scheduler can tell apart."""


class Attempt(NamedTuple):
    """What came of an attempt."""

    chosen: str | None
    verdicts: Mapping[str, Verdict]
    """Machine -> the verdict, for every machine that was looked at, in that order."""
    scores: Mapping[str, int]
    """Machine -> sum of its scores, for those that pass."""
    next_start: int = 0
    """Where the next attempt begins to look, with `node_sampling: kube`."""

    @property
    def feasible(self) -> tuple[str, ...]:
        """The machines that pass."""
        return tuple(self.scores)

    @property
    def best(self) -> tuple[str, ...]:
        """The machines with the highest score."""
        return choice.best(self.scores)


def attempt(
    config: SchedulerConfig, candidates: Sequence[Candidate], pod: PodRequest, *, start: int = 0, number: int = 0
) -> Attempt:
    """Try to schedule a pod.

    Args:
        config: the scheduler.
        candidates: all machines, in the cluster's order.
        pod: what the pod asks.
        start: the machine to begin with; only `node_sampling: kube` looks at it.
        number: the number of this attempt, for random tie-breaks.
    """
    sampled = config.node_sampling == "kube"
    enough = choice.enough_feasible(len(candidates)) if sampled else len(candidates)
    first = start if sampled else 0
    verdicts: dict[str, Verdict] = {}
    scores: dict[str, int] = {}
    known: dict[Hashable, tuple[Verdict, int]] = {}
    for offset in range(len(candidates)):
        if len(scores) >= enough:
            break
        one = candidates[(first + offset) % len(candidates)]
        answer = known.get(one.look)
        if answer is None:
            verdict = check(config, one.totals, one.view, pod)
            answer = known[one.look] = verdict, rate(config, one, pod) if verdict.passed else 0
        verdicts[one.name] = answer[0]
        if answer[0].passed:
            scores[one.name] = answer[1]
    after = (first + len(verdicts)) % len(candidates) if candidates else 0
    chosen = choice.pick(choice.best(scores), config.tie_break, config.seed, number)
    return Attempt(chosen, verdicts, scores, after)


def check(config: SchedulerConfig, totals: NodeTotals, view: View, pod: PodRequest) -> Verdict:
    """Filter one machine."""
    if config.node_fit:
        fits = node_fit.check(totals, pod)
        if not fits.passed:
            return fits
    if config.kind == "kep":
        return filter_kep.check(view.nrt, pod, seed_memory=config.seed_memory)
    if config.kind == "nrt":
        return check_plugin(view, totals.allocatable, pod)
    return PASS


def check_plugin(view: View, total: Amounts, pod: PodRequest) -> Verdict:
    """Run today's plugin on what the cache gave; whoever is let through unseen never asks the cache (T-1 to T-3)."""
    verdict = filter_nrt.check(view.nrt, total, pod)
    if not view.fresh and not filter_nrt.passes_unseen(pod):
        return filter_nrt.NOT_FRESH
    return verdict


def rate(config: SchedulerConfig, one: Candidate, pod: PodRequest) -> int:
    """Score one machine: the plugin's score and the node-level one, each with weight 1."""
    points = 0
    if config.kind == "nrt":
        points += score.score(one.view.nrt if one.view.fresh else None, pod, config.strategy, config.weights)
    if config.node_score is not None:
        points += node_fit.score(one.totals, pod, config.node_score)
    return points


def look_of(totals: NodeTotals, view: View) -> Hashable:
    """Make the key under which machines share work: everything about a machine but its name."""
    return (
        tuple(sorted(totals.allocatable.items())),
        tuple(sorted(totals.used.items())),
        totals.pods,
        view.fresh,
        nrt_key(view.nrt),
    )


def nrt_key(nrt: NodeResourceTopology | None) -> Hashable:
    """Make a key of all that decides in an object."""
    if nrt is None:
        return None
    zones = tuple(
        [
            (zone.name, zone.type, tuple(sorted(zone.resources.items())), tuple(sorted(zone.costs.items())))
            for zone in nrt.zones
        ]
    )
    attributes = tuple([one for one in nrt.attributes if one[0] not in _OF_PODS])
    return attributes, nrt.topology_policies, zones


_OF_PODS: Final = (FINGERPRINT, PLACEMENT_METADATA)
"""Attributes that name pods; they decide whether an object is fresh, not what is in it."""
