"""Explain what the kubelet decides about pods: what is in the way, what would admit them, where they are.

What if: a pod left out, one pod asked about alone, or a container that asks for other amounts. What a refused pod lacks
of a machine, devices and huge pages, is said as flags of the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.alternatives import alternatives
from numalign.analysis.closeness import rail
from numalign.analysis.explanation import Explanation, explain_outcome
from numalign.analysis.merging import merging
from numalign.analysis.situation import (
    ContainerAmounts,
    Event,
    Replays,
    Situation,
    arrivals,
    played,
    with_amounts,
)
from numalign.errors import InputError, Notice
from numalign.kubelet.admission import Outcome, Session, admit, odd_from_the_start
from numalign.model.apiserver import amount
from numalign.model.quantity import QuantityError
from numalign.model.resources import CPU, LIMIT, MEMORY
from numalign.model.words import few_of
from numalign.results.explain import Closer, ExplainedPod, ExplainResult
from numalign.tasks.hardware_to_add import with_what_lacks
from numalign.tasks.loaded_pods import ALONE, LoadedPods, Terms
from numalign.tasks.setup import load_machine
from numalign.worlds.missing import missing_notices
from numalign.worlds.pod_result import beside_refused, pod_result

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod
    from numalign.tasks.requests import WhatIfRequest


MAX_PODS_NAMED = 5
"""How many pods an error names."""


def explain(
    setup: Setup,
    pods: Sequence[Pod],
    terms: Terms = ALONE,
    *,
    gone: Sequence[Pod] = (),
    elsewhere: Sequence[tuple[str, Setup]] = (),
    details: bool = False,
    all_alternatives: bool = False,
) -> ExplainResult:
    """Admit pods one after another, on an empty node or on one in use, and explain each admission.

    Args:
        setup: the machine, the settings, the kubelet.
        pods: in the order in which they come up.
        terms: what is there before them, and how they come.
        gone: pods that end before the last one comes up.
        elsewhere: (name, setup) pairs of further machines where a refused pod is tried, with the same past.
        details: tell every step of each decision.
        all_alternatives: tell every aligned allocation there is.

    Raises:
        StartError: the kubelet would refuse to start.
        CrashError: it would crash, or hang, on the pods that are there.
    """
    pods, started = tuple(terms.passing_over(pods, setup.machine)), terms.started
    past = arrivals(terms.beside, started=started)
    situation = Situation(setup, past=past, there=terms.there, replays=Replays())
    session = situation.session()
    notices = [*odd_from_the_start(session), *_absent(terms.beside, session)]
    told: list[ExplainedPod] = []
    for pod in pods:
        if pod is pods[-1]:
            ends = tuple(Event("end", one) for one in gone)
            situation = situation._replace(past=situation.past + ends)
            session = played(session, ends)
        outcome = admit(session, pod)
        explained = explain_here(situation, outcome, elsewhere)
        told.append(explained_pod(explained, details=details, all_alternatives=all_alternatives))
        told[-1] = told[-1]._replace(closer=_closer(setup, outcome, told[-1]))
        notices += outcome.notices
        if told[-1].pod.fatal:
            break
        events = arrivals((pod,), started=started)
        situation = situation._replace(past=situation.past + events)
        session = played(outcome.then, events[1:])
    return ExplainResult(
        setup,
        session.node.cpu.reserved,
        tuple(told),
        (*notices, *missing_notices((one.pod for one in told), setup.machine)),
        session=session,
    )


def _closer(setup: Setup, outcome: Outcome, told: ExplainedPod) -> tuple[Closer, ...]:
    """Find what brings GPUs and NICs closer, where they share no switch."""
    if all(rail(setup.machine, one.holding) != "far" for one in told.pod.containers):
        return ()
    from numalign.worlds.closer import ways_closer

    return tuple(ways_closer(setup, outcome, told.pod))


def explain_here(situation: Situation, outcome: Outcome, elsewhere: Sequence[tuple[str, Setup]] = ()) -> Explanation:
    """Explain an admission, with other machines and what this one lacks; `elsewhere` as of `explain`."""
    others = [(name, situation._replace(setup=other, there=None)) for name, other in elsewhere]
    return explain_outcome(
        situation, outcome, others, known=_bundled(situation), altered=with_what_lacks(situation, outcome)
    )


def explain_one(situation: Situation, pod: Pod) -> ExplainedPod:
    """Explain the admission of one pod; `situation.past` is all that happened before it came up.

    Raises:
        StartError: the kubelet would refuse to start.
        CrashError: it would crash, or hang, on the way.
    """
    outcome = admit(situation.session(), pod)
    return explained_pod(explain_outcome(situation, outcome), details=True, all_alternatives=True)


def _bundled(situation: Situation) -> Iterator[tuple[str, Situation]]:
    """Read the bundled machines, the smallest first, when they are asked for: none that has pods on it as it is."""
    setup = situation.setup
    if situation.there is not None or setup.machine.kubelet is not None:
        return
    from numalign.sources.machine import bundled

    for name in bundled.SMALLEST_FIRST:
        if name != setup.machine.name:
            yield name, situation._replace(setup=setup._replace(machine=load_machine(name).machine))


def _absent(beside: Iterable[Pod], session: Session) -> Iterator[Notice]:
    there = {pod.uid for pod in session.pods}
    return (beside_refused(pod.name, "rejected") for pod in beside if pod.uid not in there)


def explained_pod(told: Explanation, *, details: bool = False, all_alternatives: bool = False) -> ExplainedPod:
    """Give what is told of a pod as a result; `details` and `all_alternatives` as of `explain`."""
    # The node with the policy that held for this pod, which its annotations may have chosen.
    node = told.outcome.before.node
    pairs, worst = list(zip(told.decisions, told.matrices, strict=True)), told.least_bad
    return ExplainedPod(
        pod=pod_result(told.outcome, why_apart=True)._replace(impossible=told.refusal and told.refusal.never),
        containers=len(told.outcome.pod.containers),
        matrices=told.matrices,
        refusal=told.refusal,
        changes=told.changes,
        after=tuple(change.tried and pod_result(change.tried, why_apart=True) for change in told.changes),
        alone=tuple(change.alone and pod_result(change.alone) for change in told.changes),
        placements=told.placements,
        unpinned=told.unpinned,
        besides=told.besides,
        untied=told.untied,
        doubled=told.doubled,
        no_policy=told.no_policy,
        least_bad=(worst, pod_result(worst.tried, why_apart=True)) if worst is not None and worst.tried else None,
        repair=told.repair,
        details=tuple(merging(node, decision) for decision, _ in pairs) if details else None,
        alternatives=tuple(alternatives(node, *pair) for pair in pairs) if all_alternatives else None,
    )


def as_asked(up: LoadedPods, request: WhatIfRequest) -> LoadedPods:
    """Make the pod asked about the last one, and let it ask for other amounts.

    Raises:
        InputError: no such pod, container or resource, or no quantity.
    """
    tried = up.tried
    if request.pod is not None:
        place = tried.index(_named(tried, request.pod, "--pod"))
        up = up._replace(beside=(*up.beside, *tried[:place]), tried=(tried[place],))
    if request.amounts:
        last = with_amounts(up.tried[-1], _read_amounts(request.amounts, up.tried[-1]))
        up = up._replace(tried=(*up.tried[:-1], last))
    return up


def gone(up: LoadedPods, request: WhatIfRequest, there: Sequence[Pod] = ()) -> tuple[Pod, ...]:
    """Find the pods that are gone when the last one comes up; `there`: pods of the node.

    Raises:
        InputError: no such pod comes earlier.
    """
    earlier = (*there, *up.beside, *up.tried[:-1])
    return tuple(_named(earlier, name, "--without") for name in request.without)


def _named(pods: Sequence[Pod], name: str, flag: str) -> Pod:
    found = [pod for pod in pods if name in (pod.name, pod.full_name)]
    if len(found) != 1:
        known = few_of([pod.name for pod in pods], MAX_PODS_NAMED) or "none"
        said = "several pods have this name; fix: write NAMESPACE/NAME" if found else f"unknown pod; allowed: {known}"
        raise InputError(said, f"{flag} {name}")
    return found[0]


def _read_amounts(texts: Iterable[str], pod: Pod) -> ContainerAmounts:
    """Read CONTAINER:RESOURCE=AMOUNT."""
    amounts = {}
    limits = [f"{LIMIT}{name}" for name in (CPU, MEMORY)]
    asked = {container.name: (*container.requests, *limits) for container in pod.containers}
    for text in texts:
        key, _, written = text.partition("=")
        container, _, resource = key.partition(":")
        if resource not in asked.get(container, ()):
            known = ", ".join(f"{name}:{one}" for name, requests in asked.items() for one in requests)
            raise InputError(f"expected CONTAINER:RESOURCE=AMOUNT with one of {known}", f"--set {text}")
        try:
            amounts[container, resource] = amount(written).nano
        except QuantityError as error:
            raise InputError(str(error), f"--set {text}") from None
    return amounts
