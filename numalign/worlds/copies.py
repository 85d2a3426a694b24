"""How much comes up: copies of a pod on a node, rounds of several pods on a cluster, the best shape of replicas.

Copies are admitted by a node's kubelet one after another until it refuses. In a round each pod goes to the first node
that takes it. The best shape has the most CPUs, then the most memory, with which all replicas are aligned.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final

from numalign.analysis import alignment
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome, Session
from numalign.kubelet.fit import predicates
from numalign.model.apiserver.defaulting import qos_class
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO, from_int
from numalign.model.resources import CPU, MEMORY
from numalign.results.capacity import RightSize
from numalign.scheduler import node_filters, node_fit
from numalign.scheduler.node import ClusterNode, Fleet, lacking, look, needs_name
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.request import NodeLoad, node_load, read_request
from numalign.values import NamedTuple

MAX_COPIES: Final = 100_000
"""Copies, or rounds: pods that ask for nothing would fit for ever."""


class Probe(NamedTuple):
    """What is tried again and again: a pod, or the pods of one round of a mix."""

    name: str
    pods: tuple[Pod, ...]

    @property
    def by_name(self) -> bool:
        """Whether answers depend on the node's name."""
        return any(needs_name(pod) for pod in self.pods)

    def selects(self, node: ClusterNode) -> tuple[bool, ...]:
        """Tell of each pod whether its selectors take a node."""
        return tuple([predicates.matches_node(pod, node.labels, node.name) for pod in self.pods])


class Copies(NamedTuple):
    """Copies that came in one after another."""

    fit: int
    aligned: int
    nothing: int
    """Those that have nothing to align."""
    last: Session
    """The node then."""
    refused: Outcome | None
    """The copy that did not come in; None: nobody waited for it."""


def copies(session: Session, probe: Probe, most: int = MAX_COPIES) -> Copies:
    """Admit copies of a pod until one is refused, or `most` are in."""
    count = aligned = nothing = 0
    while count < most:
        uid = f"copy-{count}"
        outcome = admission.admit(session, probe.pods[0]._replace(name=uid, uid=uid))
        if not outcome.admit:
            return Copies(count, aligned, nothing, session, outcome)
        session = outcome.then
        verdict = alignment.verdict_of(outcome)
        count += 1
        aligned += verdict == "aligned"
        nothing += verdict == "none"
    return Copies(count, aligned, nothing, session, None)


def right_size_of(fleet: Fleet, probe: Probe, replicas: int) -> RightSize:
    """Find the most CPUs, then the most memory, with which so many copies are all aligned; devices are kept.

    The container with the most CPUs is the one that is sized.
    """
    pod = probe.pods[0]
    place = max(range(len(pod.containers)), key=lambda one: pod.containers[one].requests.get(CPU, from_int(0)).nano)
    name = pod.containers[place].name
    nodes = [node for node in fleet.nodes if node.session is not None and node_filters.allows(node, pod).passed]
    kinds = _kinds(nodes, by_name=needs_name(pod))
    most_cpus = max((_widest(node, CPU) for node in nodes), default=0)
    most_memory = max((_widest(node, MEMORY) for node in nodes), default=0) // MEBI
    cpus = _largest(most_cpus, lambda count: _hold(kinds, _sized(pod, place, count, 1), replicas))
    if not cpus:
        return RightSize(probe.name, replicas, name, None, None)
    memory = _largest(most_memory, lambda count: _hold(kinds, _sized(pod, place, cpus, count), replicas))
    return RightSize(probe.name, replicas, name, cpus, (memory or 1) * MEBI)


def _kinds(nodes: Iterable[ClusterNode], *, by_name: bool) -> list[tuple[Session, int]]:
    """Give a kubelet for all nodes that look equal, and how many they are."""
    found: dict[Hashable, tuple[Session, int]] = {}
    for node in nodes:
        if node.session is not None:
            key = node.name if by_name else look(node)
            found[key] = node.session, found.get(key, (None, 0))[1] + 1
    return list(found.values())


def _widest(node: ClusterNode, resource: str) -> int:
    return node.totals.allocatable.get(resource, 0) // NANO


def _largest(high: int, holds: Callable[[int], bool]) -> int:
    """Find the largest number that holds, where all smaller ones hold too; 0: not even 1."""
    return bisect_left(range(1, high + 1), True, key=lambda number: not holds(number))


def _sized(pod: Pod, place: int, cpus: int, mebibytes: int) -> Pod:
    """Change what one container asks; the pod is Guaranteed then, if the others allow it."""
    container = pod.containers[place]
    amounts = {CPU: from_int(cpus), MEMORY: from_int(mebibytes * MEBI, "BinarySI")}
    changed = container._replace(requests={**container.requests, **amounts}, limits={**container.limits, **amounts})
    containers = (*pod.containers[:place], changed, *pod.containers[place + 1 :])
    return pod._replace(containers=containers, qos=qos_class(containers))


def _hold(kinds: Sequence[tuple[Session, int]], pod: Pod, replicas: int) -> bool:
    """Tell whether so many copies fit and all are aligned; stops counting as soon as they do."""
    probe = Probe(pod.name, (pod,))
    total = 0
    for session, nodes in kinds:
        total += nodes * copies(session, probe, replicas).aligned
        if total >= replicas:
            return True
    return False


class Place(NamedTuple):
    """A node that is filled: its twin, or where only the bag counts, its totals."""

    node: ClusterNode
    session: Session | None
    totals: NodeTotals | None

    def take(self, pod: Pod, load: NodeLoad) -> tuple[Place, str] | None:
        """Take a pod; gives its verdict of alignment, in a bag none. None: it is refused."""
        if not node_filters.allows(self.node, pod).passed:
            return None
        if self.totals is not None:
            fits = node_fit.check_totals(self.totals, load).passed
            return (self._replace(totals=self.totals.with_pod(load)), "") if fits else None
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
    loads = [node_load(read_request(pod)) for pod in pods]
    for rounds in range(MAX_COPIES):
        before: dict[int, Place] = {}
        taken: list[tuple[int, str]] = []
        for number, pod in enumerate(pods):
            shape = shapes[id(pod.containers)]
            named = pod._replace(name=f"copy-{rounds}-{number}", uid=f"copy-{rounds}-{number}")
            found = None
            while first[shape] < len(now):
                found = now[first[shape]].take(named, loads[number])
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
    return Filled(MAX_COPIES, tuple(counts), tuple(aligned), tuple(nothing), tuple(now))
