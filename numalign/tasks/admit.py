"""Admit pods in order on a machine, beside those that are there, and say what each container got."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from numalign.analysis.holding import holding
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome, Session, admit_in_order, odd_from_the_start, open_session
from numalign.kubelet.admission import admit as admit_one
from numalign.results.admit import AdmitResult, Occupant, PodResult, RefusedAlike
from numalign.tasks.pod_result import pod_result
from numalign.tasks.setup import check_choices

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod


def admit(
    setup: Setup,
    pods: Iterable[Pod],
    *,
    beside: Sequence[Pod] = (),
    started: bool = False,
    fit_check: bool = True,
    reasons: bool = False,
    occupants: bool = False,
    impossible: bool = False,
) -> AdmitResult:
    """Admit pods one after another on an empty node.

    Pods are taken one at a time and no state of the node is kept, so there may be very many of them.

    Args:
        setup: the machine, the settings, the kubelet.
        pods: in the order in which they come up.
        beside: pods that are there already, admitted first.
        started: the containers of an admitted pod start before the next pod comes.
        fit_check: judge the node as a whole after the managers.
        reasons: take refusals apart (`AdmitResult.refusals`).
        occupants: list who is on the node in the end (`AdmitResult.occupants`).
        impossible: find out for each refused pod whether an empty node refuses it, too.

    Raises:
        StartError: the kubelet would refuse to start.
        InputError: a pod chooses its policy by an annotation that is wrong.
    """
    if setup.kubelet.choose:
        pods = tuple(pods)
        check_choices(setup, (*beside, *pods))
    session = open_session(setup, fit_check=fit_check)
    order = admit_in_order(session, chain(beside, pods), started=started)
    groups = _Groups() if reasons else None
    notices: list[Notice] = []
    there: list[PodResult] = []
    tried: list[PodResult] = []
    for outcome in order:
        notices += outcome.notices
        session = outcome.then
        pod = pod_result(outcome)
        if len(there) < len(beside):
            there.append(pod)
            continue
        if impossible and not pod.admitted:
            pod = pod._replace(impossible=not admit_one(outcome.before.empty(), outcome.pod).admit)
        if groups is not None and not pod.admitted:
            groups.add(outcome, pod)
        tried.append(pod)
    return AdmitResult(
        setup=setup,
        exclusive_cpus=session.node.cpu.static,
        reserved_cpus=session.node.cpu.reserved,
        pods=tuple(tried),
        beside=tuple(there),
        notices=(*odd_from_the_start(session), *_absent(there), *notices),
        refusals=tuple(groups.found) if groups is not None else (),
        occupants=tuple(_occupants(session, {pod.uid for pod in beside})) if occupants else (),
    )


def _absent(beside: Iterable[PodResult]) -> Iterator[Notice]:
    """Warn of pods that are said to be there and that this node refuses: the answer is about a node without them."""
    for pod in beside:
        if not pod.admitted:
            reason = pod.reason or pod.stage
            yield Notice("beside-refused", f"{reason} on this node, so it is not beside the pods", pod.name)


class _Groups:
    """Collects refused pods; those in a row that are refused alike are taken apart once."""

    def __init__(self) -> None:
        self.found: list[RefusedAlike] = []
        self._last: Outcome | None = None

    def add(self, outcome: Outcome, pod: PodResult) -> None:
        """Count a refused pod to the last group, or open the next."""
        if self._last is not None and _alike(self._last, outcome):
            self.found[-1] = self.found[-1]._replace(number=self.found[-1].number + 1)
            return
        from numalign.analysis.refusal import refusal

        self.found.append(RefusedAlike(pod, 1, refusal(outcome)))
        self._last = outcome


def _alike(one: Outcome, other: Outcome) -> bool:
    """Tell whether two refused pods asked for the same and found the same."""
    return (one.demand.containers, one.message, one.before.state) == (
        other.demand.containers,
        other.message,
        other.before.state,
    )


def _occupants(session: Session, beside: set[str]) -> Iterator[Occupant]:
    """List the containers on a node, in the order in which their pods were admitted."""
    names = {pod.uid: pod for pod in session.pods}
    for uid, demand in session.state.pods.items():
        for container in demand.containers:
            held = holding(session.node, session.state, uid, container)
            pod = names[uid]
            yield Occupant(pod.name, pod.namespace, container.name, container.kind, held, uid not in beside)
