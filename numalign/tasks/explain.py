"""Explain what the kubelet decides about pods: what is in the way, what would admit them, where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.alternatives import alternatives
from numalign.analysis.explanation import Explanation, explain_outcome
from numalign.analysis.merging import merging
from numalign.analysis.whatif.situation import Event, Replays, Situation, arrivals, played
from numalign.errors import Notice
from numalign.kubelet.admission import Session, admit, odd_from_the_start
from numalign.results.explain import ExplainedPod, ExplainResult
from numalign.tasks.hardware import with_what_lacks
from numalign.tasks.missing import missing_notices, passing_over
from numalign.tasks.pod_result import beside_refused, pod_result
from numalign.tasks.setup import check_choices, load_machine

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod


def explain(
    setup: Setup,
    pods: Sequence[Pod],
    *,
    beside: Sequence[Pod] = (),
    started: bool = False,
    gone: Sequence[Pod] = (),
    elsewhere: Sequence[tuple[str, Setup]] = (),
    details: bool = False,
    all_alternatives: bool = False,
    there: Session | None = None,
    allow_missing: Sequence[str] = (),
) -> ExplainResult:
    """Admit pods one after another, on an empty node or on one in use, and explain each admission.

    Args:
        setup: the machine, the settings, the kubelet.
        pods: in the order in which they come up.
        beside: pods that are there already, admitted first.
        started: the containers of an admitted pod start before the next pod comes.
        gone: pods that end before the last one comes up.
        elsewhere: (name, setup) pairs of further machines where a refused pod is tried, with the same past.
        details: tell every step of each decision.
        all_alternatives: tell every aligned allocation there is.
        there: the node as it is; None: empty.
        allow_missing: devices that pods may go without where the machine does not have them.

    Raises:
        StartError: the kubelet would refuse to start.
        CrashError: it would crash, or hang, on the pods that are there.
        InputError: a pod chooses its policy by an annotation that is wrong.
    """
    for one in (setup, *(other for _, other in elsewhere)):
        check_choices(one, (*beside, *pods))
    pods = passing_over(pods, setup.machine, allow_missing)
    situation = Situation(setup, past=arrivals(beside, started=started), there=there, replays=Replays())
    session = situation.session()
    notices = [*odd_from_the_start(session), *_absent(beside, session)]
    told: list[ExplainedPod] = []
    for pod in pods:
        if pod is pods[-1]:
            ends = tuple(Event("end", one) for one in gone)
            situation = situation._replace(past=situation.past + ends)
            session = played(session, ends)
        outcome = admit(session, pod)
        others = [(name, situation._replace(setup=other, there=None)) for name, other in elsewhere]
        explained = explain_outcome(
            situation, outcome, others, known=_bundled(situation), altered=with_what_lacks(situation, outcome)
        )
        told.append(explained_pod(explained, details=details, all_alternatives=all_alternatives))
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

    machines = [(name, load_machine(name).machine) for name in bundled.names() if name != setup.machine.name]
    for name, machine in sorted(machines, key=lambda one: one[1].cpus.bit_count()):
        yield name, situation._replace(setup=setup._replace(machine=machine))


def _absent(beside: Iterable[Pod], session: Session) -> Iterator[Notice]:
    there = {pod.uid for pod in session.pods}
    return (beside_refused(pod.name, "refused") for pod in beside if pod.uid not in there)


def explained_pod(told: Explanation, *, details: bool = False, all_alternatives: bool = False) -> ExplainedPod:
    """Give what is told of a pod as a result; `details` and `all_alternatives` as of `explain`."""
    # The node with the policy that held for this pod, which its annotations may have chosen.
    node = told.outcome.before.node
    pairs = list(zip(told.decisions, told.matrices, strict=True))
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
        repair=told.repair,
        details=tuple(merging(node, decision) for decision, _ in pairs) if details else None,
        alternatives=tuple(alternatives(node, *pair) for pair in pairs) if all_alternatives else None,
    )
