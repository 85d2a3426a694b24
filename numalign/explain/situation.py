"""What a pod met: a kubelet's settings, a machine, and all that happened there before. Replayed, it gives a session.

A "what if" is the same situation with one thing changed, replayed from an empty node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from numalign.kubelet import node as twin
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.profile import REFERENCE, Profile
from numalign.kubelet.session import Session, admit, end, open_session
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.model.quantity import NANO, Quantity


class Event(NamedTuple):
    """Something that happened on the node."""

    op: Literal["admit", "start", "end"]
    pod: Pod


class Situation(NamedTuple):
    """A kubelet on a machine, and what happened there so far."""

    config: KubeletConfig
    machine: Machine
    ideal: bool = False
    fit_check: bool = True
    profile: Profile = REFERENCE
    past: tuple[Event, ...] = ()

    def session(self) -> Session:
        """Replay the past.

        Raises:
            StartError: the kubelet would refuse to start.
        """
        session = open_session(
            self.config, self.machine, ideal=self.ideal, fit_check=self.fit_check, profile=self.profile
        )
        for op, pod in self.past:
            if op == "admit":
                session = admit(session, pod).then
            elif op == "end":
                session = end(session, pod.uid)
            else:
                session = session._replace(state=twin.start_containers(session.node, session.state, pod.uid))
        return session


def arrivals(pods: Iterable[Pod], *, started: bool = False) -> tuple[Event, ...]:
    """Let pods come up one after another; `started`: their containers start before the next pod comes."""
    events = []
    for pod in pods:
        events.append(Event("admit", pod))
        if started:
            events.append(Event("start", pod))
    return tuple(events)


def with_amounts(pod: Pod, container: str, amounts: Mapping[str, int]) -> Pod:
    """Let a container ask for other amounts, in billionths; a limit that equals the request goes along with it."""
    changed = []
    for one in pod.containers:
        if one.name != container:
            changed.append(one)
            continue
        requests, limits = dict(one.requests), dict(one.limits)
        for resource, nano in amounts.items():
            old = requests[resource]
            new = Quantity(nano, old.format, None if nano % NANO else nano // NANO)
            if resource in limits and limits[resource].nano == old.nano:
                limits[resource] = new
            requests[resource] = new
        changed.append(one._replace(requests=requests, limits=limits))
    return pod._replace(containers=tuple(changed))
