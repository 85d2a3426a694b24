"""What a pod met: a kubelet's settings, a machine, and all that happened there before. Replayed, it gives a session.

A "what if" is the same situation with one thing changed, replayed from an empty node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from numalign.errors import CrashError, StartError
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Session, admit, end, open_session
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.take_over import take_over
from numalign.model.apiserver.defaulting import qos_class
from numalign.model.pod import Container, Pod
from numalign.model.quantity import NANO, Quantity
from numalign.model.resources import of_limit
from numalign.values import NamedTuple

Operation = Literal["admit", "start", "end"]


class Event(NamedTuple):
    """Something that happened on the node."""

    op: Operation
    pod: Pod


class Replays:
    """How far situations were replayed already, so that a longer past costs only what is new in it.

    Who explains very many pods, one after another, asks for each setting again with one event more.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: list[tuple[Situation, Session | StartError]] = []

    def session(self, asked: Situation) -> Session:
        """Replay a situation from the furthest point that is known of it."""
        place, start = self._find(asked)
        if isinstance(start, StartError):
            raise start.with_traceback(None)
        done = 0 if start is None else len(self._known[place][0].past)
        found: Session | StartError
        try:
            found = played(asked.fresh() if start is None else start, asked.past[done:])
        except StartError as error:
            found = error
        self._known[place : place + 1] = [(asked, found)]
        if isinstance(found, StartError):
            raise found
        return found

    def _find(self, asked: Situation) -> tuple[int, Session | StartError | None]:
        """Find the same situation with a past that the asked one begins with; else where a new one goes."""
        for place, (known, session) in enumerate(self._known):
            same = known.setup == asked.setup and known.fit_check == asked.fit_check and known.there == asked.there
            if same and asked.past[: len(known.past)] == known.past:
                return place, session
        return len(self._known), None


class Situation(NamedTuple):
    """A kubelet on a machine, and what happened there so far."""

    setup: Setup
    fit_check: bool = True
    past: tuple[Event, ...] = ()
    there: Session | None = None
    """The node as it was before; None: empty."""
    replays: Replays | None = None
    """What was replayed of situations like this one; None: nothing is remembered."""

    def session(self) -> Session:
        """Replay the past.

        Raises:
            StartError: the kubelet would refuse to start.
            CrashError: it would crash, or hang, on the way.
        """
        if self.replays is not None:
            return self.replays.session(self)
        return played(self.fresh(), self.past)

    def fresh(self) -> Session:
        """Return the node before the past.

        Raises:
            StartError: the kubelet would refuse to start.
        """
        if self.there is None:
            return open_session(self.setup, fit_check=self.fit_check)
        return take_over(self.setup, self.there, fit_check=self.fit_check)


def played(session: Session, events: Iterable[Event]) -> Session:
    """Let events happen.

    Raises:
        CrashError: the kubelet would crash, or hang, on the way.
    """
    for op, pod in events:
        if op == "admit":
            outcome = admit(session, pod)
            if outcome.stage in ("panic", "hang"):
                raise CrashError(pod.name, outcome.message)
            session = outcome.then
        elif op == "end":
            session = end(session, pod.uid)
        else:
            session = session._replace(state=twin.start_containers(session.node, session.state, pod.uid).state)
    return session


def arrivals(pods: Iterable[Pod], *, started: bool = False) -> tuple[Event, ...]:
    """Let pods come up one after another; `started`: their containers start before the next pod comes."""
    ops: tuple[Operation, ...] = ("admit", "start") if started else ("admit",)
    return tuple([Event(op, pod) for pod in pods for op in ops])


ContainerAmounts = Mapping[tuple[str, str], int]
"""(container, resource) -> amount, in billionths; with `LIMIT` before the resource that of its limit."""


def with_amounts(pod: Pod, amounts: ContainerAmounts) -> Pod:
    """Let containers ask for other amounts; a limit that equals the request goes along with it.

    An amount of 0 leaves the resource out: to name it with 0 is not the same for the kubelet. A limit that is set is
    the request, too, where there is none. So a pod may become Guaranteed.
    """
    named = {name for name, _ in amounts}
    containers = tuple([_with_amounts(one, amounts) if one.name in named else one for one in pod.containers])
    if pod.qos == "Guaranteed" or not named:
        return pod._replace(containers=containers)
    return pod._replace(containers=containers, qos=qos_class(containers), status=pod.status._replace(qos=None))


def _with_amounts(container: Container, amounts: ContainerAmounts) -> Container:
    requests, limits = dict(container.requests), dict(container.limits)
    for (name, resource), nano in amounts.items():
        if name != container.name:
            continue
        if limit := of_limit(resource):
            limits[limit] = Quantity(nano, "DecimalSI", None if nano % NANO else nano // NANO)
            requests.setdefault(limit, limits[limit])
            continue
        old = requests[resource]
        if not nano:
            del requests[resource]
            limits.pop(resource, None)
            continue
        new = Quantity(nano, old.format, None if nano % NANO else nano // NANO)
        if resource in limits and limits[resource].nano == old.nano:
            limits[resource] = new
        requests[resource] = new
    return container._replace(requests=requests, limits=limits)
