"""Why a scheduler and the kubelet disagree about a pod on a node (docs/rules/scheduling.md 1.5, 10).

What no scheduler passes over and no kubelet asks, a device that the node lacks or its taints, comes first. Each other
known cause is taken back alone: if both then agree, it is the cause. The first one in the order of the rules wins.
Each scheduler names its own (`Scheduler.causes`).
"""

from __future__ import annotations

from typing import Final

from numalign.scheduler import node_filters
from numalign.scheduler.disagreement import Case, KnownCause
from numalign.scheduler.node import lacking
from numalign.scheduler.record import Scheduler
from numalign.scheduler.schedulers import SCHEDULERS

UNKNOWN: Final = KnownCause("unknown", "cause unknown", lambda _: False)


def text_of(code: str) -> str:
    """Say a cause in words."""
    known = (*_OF_ALL, *(one for scheduler in SCHEDULERS.values() for one in scheduler.causes))
    return next((one.text for one in known if one.code == code), UNKNOWN.text)


def cause(scheduler: Scheduler, case: Case) -> KnownCause:
    """Find the first known cause."""
    return next((one for one in (*_OF_ALL, *scheduler.causes) if one.taken_back(case)), UNKNOWN)


def _passed_over(case: Case) -> bool:
    """Tell whether the kubelet passes over a device that its node lacks; kube-scheduler's own filters never do."""
    return not case.passes and bool(lacking(case.node, (case.pod,)))


def _kept_away(case: Case) -> bool:
    """Tell whether kube-scheduler keeps the pod away, whatever room there is, and the kubelet would take it."""
    return not case.passes and not node_filters.allows(case.node, case.pod).passed


_OF_ALL: Final = (
    KnownCause(
        "device-missing",
        "the node has no such device until its device plugin runs; the kubelet does not check",
        _passed_over,
    ),
    KnownCause(
        "taints",
        "kube-scheduler applies the node's taints and name, which the kubelet does not check",
        _kept_away,
    ),
)
