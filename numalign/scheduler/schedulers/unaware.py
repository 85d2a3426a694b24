"""kube-scheduler alone: it looks at no object."""

from __future__ import annotations

from numalign.scheduler.disagreement import KnownCause
from numalign.scheduler.nrt.causes import SHARED_POOL
from numalign.scheduler.preemption import preempt
from numalign.scheduler.record import Belief, Scheduler, Seen, all_pass

_SEEN = Seen(())

SCHEDULER = Scheduler(
    name="unaware",
    title=lambda _: "unaware: kube-scheduler alone, which counts node totals only",
    opened=lambda *_: Belief(),
    see=lambda *_: _SEEN,
    check=all_pass,
    causes=(SHARED_POOL, KnownCause("blind", "node totals only", lambda _: True)),
    reads_objects=False,
    published=lambda _, belief, *__: belief,
    preempt=preempt,
)
