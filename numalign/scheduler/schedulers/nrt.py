"""kube-scheduler with today's plugin NodeResourceTopologyMatch, and its cache."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.scheduler import cache, filter_nrt, preemption, score
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.nrt.causes import causes, plugin_passes
from numalign.scheduler.preemption import preempt
from numalign.scheduler.record import Belief, PodEntry, Scheduler, Seen
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import MAX_SCORE, PASS, Verdict


def _see(config: SchedulerConfig, belief: Belief) -> Seen:
    copy, fresh = cache.read_cache(config.cache, belief)
    if copy is None:
        return Seen(((), fresh), fresh=fresh)
    return Seen((copy, fresh), copy, copy.zones(), fresh)


def _check(_: SchedulerConfig, seen: Seen, total: Amounts, pod: PodRequest) -> Verdict:
    """Whoever is let through unseen never asks the cache (T-1 to T-4)."""
    if filter_nrt.passes_unseen(pod):
        return PASS
    if not seen.fresh:
        return filter_nrt.NOT_FRESH
    return PASS if seen.copy is None else filter_nrt.check_zones(seen.copy.layout.manager, seen.zones, total, pod)


def _score(config: SchedulerConfig, seen: Seen, pod: PodRequest) -> int:
    """Score a node; without an object that the cache trusts it has nothing to go by (C-1, C-2)."""
    if not pod.guaranteed:
        return MAX_SCORE
    if not seen.fresh or seen.copy is None:
        return 0
    return score.score_zones(seen.copy.layout.manager, seen.zones, pod, config.strategy, config.weights)


def _fits_without(
    config: SchedulerConfig, belief: Belief, total: Amounts, pod: PodRequest, gone: Sequence[PodEntry]
) -> bool:
    """Run the filter on the object as it would be (P-1 to P-4)."""
    listed = preemption.listed(config.preemption_mode, config.prefilter, [one.key for one in gone])
    if listed is None:
        return False
    copy, fresh = cache.read_cache(config.cache, belief)
    answer = preemption.check_after_eviction(
        copy.nrt if copy is not None else None,
        total,
        pod,
        mode=config.preemption_mode,
        victims=[preemption.Victim(one.pod.namespace, one.pod.name, one.request) for one in gone if one.key in listed],
        known=belief.placement if config.cache.mode == "over_reserve" else None,
    )
    return fresh and answer.verdict.passed


SCHEDULER = Scheduler(
    name="nrt",
    title=lambda config: f"nrt: the NodeResourceTopologyMatch plugin, strategy {config.strategy}",
    opened=lambda _, __, copy, ___: cache.accept(copy),
    see=_see,
    check=_check,
    score=_score,
    causes=causes(plugin_passes),
    bound=lambda config, belief, pod: cache.reserve(config.cache, belief, pod.request),
    settled=lambda config, belief: cache.settled(config.cache, belief),
    foreign=lambda config, belief, pod: cache.foreign(config.cache, belief, pod.request),
    failed=lambda _, belief: belief._replace(over_reserved=True),
    published=lambda config, belief, copy, _: cache.published(config.cache, belief, copy),
    resynced=lambda config, belief, describes, pods: cache.resync(config.cache, belief, describes, pods),
    resync_s=lambda config: config.cache.resync_s if config.cache.mode == "over_reserve" else None,
    fits_without=_fits_without,
    preempt=preempt,
)
