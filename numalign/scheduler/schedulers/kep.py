"""kube-scheduler with the filter of the topology-aware scheduling proposal, which reads what is published."""

from __future__ import annotations

from numalign.scheduler import filter_kep
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.disagreement import KnownCause
from numalign.scheduler.nrt.causes import causes, knows_better
from numalign.scheduler.preemption import preempt
from numalign.scheduler.record import Belief, Scheduler, Seen
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import PASS, Verdict


def _see(_: SchedulerConfig, belief: Belief) -> Seen:
    copy = belief.published
    return Seen(()) if copy is None else Seen(copy, copy, copy.zones("kep"))


def _check(config: SchedulerConfig, seen: Seen, _: Amounts, pod: PodRequest) -> Verdict:
    if seen.copy is None:
        return PASS
    return filter_kep.check_zones(seen.copy.layout.manager, seen.zones, pod, seed_memory=config.seed_memory)


SCHEDULER = Scheduler(
    name="kep",
    title=lambda _: "kep: the filter of the topology-aware scheduling proposal",
    opened=lambda _, __, copy, ___: Belief(copy),
    see=_see,
    check=_check,
    causes=(
        KnownCause(
            "KEP",
            "the proposal ignores memory and scope pod; the plugin of today agrees with the kubelet",
            knows_better,
        ),
        *causes(lambda _, nrt, request: filter_kep.check_kep(nrt, request).passed),
    ),
    preempt=preempt,
)
