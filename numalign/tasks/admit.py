"""Admit pods in order on a machine, beside those that are there, and say what each container got.

Objects whose pods are tried together: how many of each come up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.analysis.holding import holding
from numalign.errors import InputError, Notice, StartError
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Outcome, Session, admit_in_order, end, odd_from_the_start, open_session
from numalign.kubelet.admission import admit as admit_one
from numalign.results.admit import AdmitResult, Gang, Occupant, PodResult, RefusedAlike
from numalign.tasks.loaded_pods import ALONE, Terms
from numalign.values import NamedTuple
from numalign.worlds.pod_result import beside_refused, pod_result

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod
    from numalign.sources.pods.manifest import PodSource
    from numalign.tasks.requests import SinceRequest


def admit(
    setup: Setup,
    pods: Iterable[Pod],
    terms: Terms = ALONE,
    *,
    fit_check: bool = True,
    reasons: bool = False,
    occupants: bool = False,
    impossible: bool = False,
    since: SinceRequest | None = None,
    keep: bool = False,
) -> AdmitResult:
    """Admit pods one after another, on an empty node or on one in use.

    Pods are taken one at a time and no state of the node is kept, so there may be very many of them.

    Args:
        setup: the machine, the settings, the kubelet.
        pods: in the order in which they come up.
        terms: what is there before them, and how they come.
        fit_check: judge the node as a whole after the managers.
        reasons: take refusals apart (`AdmitResult.refusals`).
        occupants: list who is on the node in the end (`AdmitResult.occupants`).
        impossible: find out for each refused pod whether an empty node refuses it, too.
        since: what happened to the pods there before the first one comes up.
        keep: return the node as it is in the end (`AdmitResult.session`).

    Raises:
        StartError: the kubelet would refuse to start.
    """
    pods, started = terms.passing_over(pods, setup.machine), terms.started
    groups = _Groups() if reasons else None
    tried: list[PodResult] = []
    before = node_before(setup, terms, fit_check=fit_check, since=since)
    session, earlier, notices = before.session, before.beside, [*before.notices]
    for outcome in admit_in_order(session, () if earlier and earlier[-1].fatal else pods, started=started):
        session, failed = _after(outcome, started=started)
        notices += (*outcome.notices, *failed)
        pod = pod_result(outcome)
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
        beside=earlier,
        notices=(*notices, *_missing(tried, setup)),
        refusals=tuple(groups.found) if groups is not None else (),
        occupants=tuple(occupants_of(session, (*terms.beside, *(terms.there.pods if terms.there else ()))))
        if occupants
        else (),
        session=session if keep else None,
    )


class Before(NamedTuple):
    """A node before the first pod comes up."""

    session: Session
    beside: tuple[PodResult, ...]
    """What became of the pods said to be there."""
    notices: tuple[Notice, ...]


def node_before(setup: Setup, terms: Terms, *, fit_check: bool, since: SinceRequest | None) -> Before:
    """Start the kubelet, admit the pods that are there, and let happen what happened since; arguments as of `admit`.

    Raises:
        StartError: the kubelet would refuse to start.
        InputError: no pod has the name of one that started or ended.
    """
    session, started = _opened(setup, terms.there, fit_check=fit_check), terms.started
    odd = odd_from_the_start(session)
    earlier: list[PodResult] = []
    notices: list[Notice] = []
    for outcome in admit_in_order(session, terms.beside, started=started):
        session, failed = _after(outcome, started=started)
        notices += (*outcome.notices, *failed)
        earlier.append(pod_result(outcome))
    uids = {pod.uid for pod in session.pods}
    session, failed = _since(session, since, [pod for pod in terms.beside if pod.uid not in uids])
    absent = (beside_refused(pod.name, pod.reason or pod.stage) for pod in earlier if not pod.admitted)
    return Before(session, tuple(earlier), (*odd, *absent, *notices, *failed))


def _missing(pods: Sequence[PodResult], setup: Setup) -> Iterator[Notice]:
    if any(pod.missing for pod in pods):
        from numalign.worlds.missing import missing_notices

        yield from missing_notices(pods, setup.machine)


def _opened(setup: Setup, there: Session | None, *, fit_check: bool) -> Session:
    """Start the kubelet, on an empty node or on one in use."""
    try:
        if there is None:
            return open_session(setup, fit_check=fit_check)
        from numalign.kubelet.start.take_over import take_over

        return take_over(setup, there, fit_check=fit_check)
    except StartError as error:
        from numalign.analysis.suggested import suggested, suggested_flags

        if suggested(setup) != setup.config:
            error.add_note(f"fix: add {suggested_flags(setup.machine)}, as the machine file suggests")
        raise


def _after(outcome: Outcome, *, started: bool) -> tuple[Session, tuple[Notice, ...]]:
    """Return the node after an admission, the pod's containers started where they start at once."""
    return _start(outcome.then, outcome.pod.uid, outcome.pod.name) if started and outcome.admit else (outcome.then, ())


def _start(session: Session, uid: str, name: str) -> tuple[Session, tuple[Notice, ...]]:
    """Start the containers of a pod; warn of those that do not start."""
    begun = twin.start_containers(session.node, session.state, uid)
    failed = [
        Notice("start-failed", f"container {one} does not start: {why}", name) for one, why in begun.errors.items()
    ]
    return session._replace(state=begun.state), tuple(failed)


def _since(session: Session, since: SinceRequest | None, refused: Sequence[Pod]) -> tuple[Session, tuple[Notice, ...]]:
    """Let what happened on the node since then happen: pods start, pods end. A refused pod can do neither.

    Raises:
        InputError: no pod has such a name.
    """
    notices: tuple[Notice, ...] = ()
    for name in since.started if since else ():
        session, failed = _start(session, pod_there(session, name, refused), name)
        notices += failed
    for name in since.without if since else ():
        session = end(session, pod_there(session, name, refused))
    return session, notices


def pod_there(session: Session, name: str, refused: Sequence[Pod] = ()) -> str:
    """Find a pod of a node by NAME, NAMESPACE/NAME or UID; returns its UID.

    Raises:
        InputError: there is none, or several in different namespaces.
    """
    here: list[Pod] = [*session.pods, *refused]
    found = [pod for pod in here if name in (pod.name, pod.full_name, pod.uid)]
    if len(found) == 1:
        return found[0].uid
    if found:
        names = ", ".join(pod.full_name for pod in found)
        raise InputError(f"several pods have the name {name}; fix: write one of {names}")
    from numalign.model.words import nearest

    meant = nearest(name, [pod.name for pod in here])
    raise InputError(f"no pod has the name {name}" + (f"; hint: similar: {meant}" if meant else ""))


class _Groups:
    """Collects refused pods; those in a row that are refused alike are taken apart once."""

    def __init__(self) -> None:
        self.found: list[RefusedAlike] = []
        self._last: Outcome | None = None

    def add(self, outcome: Outcome, pod: PodResult) -> None:
        """Count a refused pod to the last group, or open the next."""
        if self._last is not None and refused_alike(self._last, outcome):
            self.found[-1] = self.found[-1]._replace(number=self.found[-1].number + 1)
            return
        from numalign.analysis.refusal import refusal

        told = refusal(outcome)
        if any(numa.id < 0 for numa in outcome.before.node.machine.numa_nodes):
            told = told._replace(matrix=None)  # tables name nodes by masks, which do not hold this one
        self.found.append(RefusedAlike(pod, 1, told))
        self._last = outcome


def refused_alike(one: Outcome, other: Outcome) -> bool:
    """Tell whether two refused pods asked for the same and found the same."""
    return (one.demand.containers, one.message, one.before.state) == (
        other.demand.containers,
        other.message,
        other.before.state,
    )


def drawn(setup: Setup, session: Session, pods: Sequence[PodResult] = (), there: Iterable[Pod] = ()) -> AdmitResult:
    """Give a node as it is, to be drawn; `there`: pods that were there before those that came up."""
    return AdmitResult(
        setup=setup,
        exclusive_cpus=session.node.cpu.static,
        reserved_cpus=session.node.cpu.reserved,
        pods=tuple(pods),
        beside=(),
        notices=(),
        occupants=tuple(occupants_of(session, there)),
    )


def occupants_of(session: Session, there: Iterable[Pod]) -> Iterator[Occupant]:
    """List the containers on a node, in the order in which their pods were admitted."""
    beside = {pod.uid for pod in there}
    names = {pod.uid: pod for pod in session.pods}
    for uid, demand in session.state.pods.items():
        for container in demand.containers:
            held = holding(session.node, session.state, uid, container)
            pod = names[uid]
            yield Occupant(
                pod=pod.name,
                namespace=pod.namespace,
                container=container.name,
                kind=container.kind,
                holding=held,
                tried=uid not in beside,
            )


def gangs_of(sources: Sequence[PodSource], pods: Iterable[PodResult]) -> tuple[Gang, ...]:
    """Count the pods of each object, and those that were admitted.

    Args:
        sources: where the pods that were tried come from.
        pods: what became of them, in the same order; the last may be missing where the kubelet did not survive.
    """
    admitted = [pod.admitted for pod in pods]
    admitted += [False] * (len(sources) - len(admitted))
    tried = [one for one in zip(sources, admitted, strict=True) if one[0].kind != "Pod"]
    return tuple(_gang(list(members)) for _, members in groupby(tried, key=lambda one: one[0].belongs_to))


def _gang(members: Sequence[tuple[PodSource, bool]]) -> Gang:
    first = members[0][0]
    by_role = [
        (role, [fits for _, fits in each]) for role, each in groupby(members, key=lambda one: one[0].template.role)
    ]
    return Gang(
        kind=first.kind,
        name=first.owner,
        wanted=len(members),
        admitted=sum(fits for _, fits in members),
        roles=tuple((role, sum(fits), len(fits)) for role, fits in by_role) if len(by_role) > 1 else (),
    )
