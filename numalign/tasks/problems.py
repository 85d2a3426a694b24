"""Explain the pods of an admission that were rejected or are not aligned: for reports that name them with a fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.situation import Event, Replays, Situation, arrivals
from numalign.kubelet.admission import admit_in_order
from numalign.tasks.admit import node_before, refused_alike
from numalign.tasks.explain import explain_here, explained_pod
from numalign.worlds.missing import passing_over

if TYPE_CHECKING:
    from numalign.kubelet.admission import Outcome, Session
    from numalign.model.pod import Pod
    from numalign.results.admit import AdmitResult, PodResult
    from numalign.results.explain import ExplainedPod
    from numalign.tasks.requests import SinceRequest

MAX_EXPLAINED = 50
"""How many pods are explained in one report: each is a search for fixes."""


def explain_problems(
    result: AdmitResult,
    pods: Sequence[Pod],
    *,
    beside: Sequence[Pod] = (),
    started: bool = False,
    fit_check: bool = True,
    there: Session | None = None,
    since: SinceRequest | None = None,
    allow_missing: Sequence[str] = (),
) -> Mapping[int, ExplainedPod]:
    """Explain pods by their place in a result; those in a row that are refused alike have one explanation.

    Args:
        result: what `admit` made of the same.
        pods: as for `admit`, as for the other arguments.
        beside: pods that are there already.
        started: the containers of an admitted pod start before the next pod comes.
        fit_check: judge the node as a whole after the managers.
        there: the node as it is.
        since: what happened there before the first pod comes up.
        allow_missing: devices that pods may go without where the machine does not have them.
    """
    if not any(map(_has_problem, result.pods)):
        return {}
    asked = passing_over(pods, result.setup.machine, allow_missing)
    begun = node_before(result.setup, beside=beside, started=started, fit_check=fit_check, there=there, since=since)
    changed = there is not None or bool(since and (since.started or since.without))
    situation = Situation(result.setup, fit_check, there=begun.session if changed else None, replays=Replays())
    past: list[Event] = [] if changed else [*arrivals(beside, started=started)]
    found: dict[int, ExplainedPod] = {}
    last: tuple[Outcome, ExplainedPod] | None = None
    left = MAX_EXPLAINED
    for number, outcome in enumerate(admit_in_order(begun.session, asked, started=started)):
        pod = result.pods[number]
        if last is not None and not pod.admitted and refused_alike(last[0], outcome):
            found[number] = last[1]
        elif left and _has_problem(pod):
            found[number] = explained_pod(explain_here(situation._replace(past=tuple(past)), outcome))
            last, left = (outcome, found[number]), left - 1
        past += arrivals((outcome.pod,), started=started)
    return found


def _has_problem(pod: PodResult) -> bool:
    return not pod.admitted or pod.aligned is False
