"""Explain the pods of an admission that were rejected or are not aligned: for reports that name them with a fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.situation import Event, Replays, Situation, arrivals
from numalign.kubelet.admission import Outcome, admit_in_order
from numalign.tasks.admit import node_before, refused_alike
from numalign.tasks.explain import explain_here, explained_pod
from numalign.tasks.loaded_pods import Terms

if TYPE_CHECKING:
    from numalign.model.pod import Pod
    from numalign.results.admit import AdmitResult, PodResult
    from numalign.results.explain import ExplainedPod
    from numalign.tasks.requests import SinceRequest

MAX_EXPLAINED = 50
"""How many pods are explained in one report: each is a search for fixes."""


def explain_problems(
    result: AdmitResult,
    pods: Sequence[Pod],
    terms: Terms,
    *,
    fit_check: bool = True,
    since: SinceRequest | None = None,
) -> Mapping[int, ExplainedPod]:
    """Explain pods by their place in a result; those in a row that are refused alike have one explanation.

    Args:
        result: what `admit` made of the same.
        pods: as for `admit`, as for the other arguments.
        terms: what is there before them, and how they come.
        fit_check: judge the node as a whole after the managers.
        since: what happened there before the first pod comes up.
    """
    if not any(map(_has_problem, result.pods)):
        return {}
    asked, started = terms.passing_over(pods, result.setup.machine), terms.started
    begun = node_before(result.setup, terms, fit_check=fit_check, since=since)
    changed = terms.there is not None or bool(since and (since.started or since.without))
    situation = Situation(result.setup, fit_check, there=begun.session if changed else None, replays=Replays())
    past: list[Event] = [] if changed else [*arrivals(terms.beside, started=started)]
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
