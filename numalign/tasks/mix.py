"""Rounds of several pods together on a whole cluster: each pod goes to the first node that takes it."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.analysis import alignment
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.model.pod import Pod
from numalign.scheduler import node_filters, node_fit
from numalign.scheduler.node import ClusterNode, lacking
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.request import PodRequest
from numalign.scheduler.request import read as read_request
from numalign.values import NamedTuple

MAX_ROUNDS = 100_000
"""Pods that ask for nothing would fit for ever."""


class Place(NamedTuple):
    """A node that is filled: its twin, or where only the bag counts, its totals."""

    node: ClusterNode
    session: Session | None
    totals: NodeTotals | None

    def take(self, pod: Pod, request: PodRequest) -> tuple[Place, str] | None:
        """Take a pod; gives its verdict of alignment, in a bag none. None: it is refused."""
        if not node_filters.allows(self.node, pod).passed:
            return None
        if self.totals is not None:
            fits = node_fit.check(self.totals, request).passed
            return (self._replace(totals=self.totals.with_pod(request)), "") if fits else None
        if self.session is None:
            return None
        outcome = admission.admit(self.session, pod)
        if not outcome.admit:
            return None
        verdict = alignment.verdict_of(outcome)
        if verdict == "incomplete" and lacking(self.node, (pod,)):
            return None
        return self._replace(session=outcome.then), verdict


class Filled(NamedTuple):
    """What came of it. Counts are of pods, one a node."""

    rounds: int
    counts: tuple[int, ...]
    aligned: tuple[int, ...]
    nothing: tuple[int, ...]
    """Pods that have nothing to align."""
    places: tuple[Place, ...]


def twins(nodes: Sequence[ClusterNode], *, empty: bool = False) -> list[Place]:
    """Fill nodes as their kubelets admit."""
    return [
        Place(node, node.session.empty() if empty and node.session is not None else node.session, None)
        for node in nodes
    ]


def bags(nodes: Sequence[ClusterNode], *, empty: bool = False) -> list[Place]:
    """Fill nodes as somebody does who sees them as bags of resources."""
    return [Place(node, None, node.totals._replace(used={}, pods=0) if empty else node.totals) for node in nodes]


def fill(places: Sequence[Place], pods: Sequence[Pod]) -> Filled:
    """Place whole rounds of pods until one pod finds no node; what an incomplete round took is given back.

    A node that refused a pod is not asked for a copy of it again: nodes only get fuller.
    """
    now = list(places)
    counts, aligned, nothing = ([0] * len(now) for _ in range(3))
    shapes = {id(pod.containers): place for place, pod in reversed(list(enumerate(pods)))}
    first = [0] * len(pods)
    requests = [read_request(pod) for pod in pods]
    for rounds in range(MAX_ROUNDS):
        before: dict[int, Place] = {}
        taken: list[tuple[int, str]] = []
        for number, pod in enumerate(pods):
            shape = shapes[id(pod.containers)]
            named = pod._replace(name=f"copy-{rounds}-{number}", uid=f"copy-{rounds}-{number}")
            found = None
            while first[shape] < len(now):
                found = now[first[shape]].take(named, requests[number])
                if found is not None:
                    break
                first[shape] += 1
            if found is None:
                for place, old in before.items():
                    now[place] = old
                return Filled(rounds, tuple(counts), tuple(aligned), tuple(nothing), tuple(now))
            before.setdefault(first[shape], now[first[shape]])
            now[first[shape]] = found[0]
            taken.append((first[shape], found[1]))
        for place, verdict in taken:
            counts[place] += 1
            aligned[place] += verdict == "aligned"
            nothing[place] += verdict == "none"
    return Filled(MAX_ROUNDS, tuple(counts), tuple(aligned), tuple(nothing), tuple(now))
