"""What a scheduler is: what it believes of a node, what it sees of it, and what it says.

A scheduler is a value: functions, and nothing that it remembers. `schedulers.SCHEDULERS` has them all; who drives one
keeps its beliefs and tells it what happens (docs/rules/scheduling.md 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from fractions import Fraction

from numalign.kubelet.fit.preemption import priority
from numalign.model.pod import Pod
from numalign.scheduler.config import Kind, SchedulerConfig
from numalign.scheduler.disagreement import KnownCause
from numalign.scheduler.kai.records import Ledger, PlacedPod, Record
from numalign.scheduler.kai.topology import Around
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.nrt.copy import Copy
from numalign.scheduler.nrt.value import NUMAZone
from numalign.scheduler.placement import ContainerId
from numalign.scheduler.request import NodeLoad, PodRequest, node_load, read_request
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import PASS, Verdict
from numalign.values import NamedTuple

QUEUE = "kai.scheduler/queue"
"""The label that names a pod's queue."""
FIRST_FOR_GOOD = 100
"""From this priority on KAI evicts a pod for no other."""


class PodEntry(NamedTuple):
    """A pod as a scheduler knows it."""

    pod: Pod
    request: PodRequest
    load: NodeLoad
    priority: int
    queue: str
    preemptible: bool
    """Whether KAI may evict it."""
    placed: PlacedPod = PlacedPod("Running")
    """KAI's records of it."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.pod.full_name


def entry_of(pod: Pod) -> PodEntry:
    """Read a pod as a scheduler does."""
    rank, request = priority(pod) or 0, read_request(pod)
    return PodEntry(
        pod=pod,
        request=request,
        load=node_load(request),
        priority=rank,
        queue=pod.labels.get(QUEUE, ""),
        preemptible=rank < FIRST_FOR_GOOD,
    )


class Belief(NamedTuple):
    """What a scheduler believes of a node's NUMA nodes; each keeps what it looks at."""

    published: Copy | None = None
    """The object as it was published last; None: the node has none."""
    accepted: Copy | None = None
    """The object that the plugin's cache last took over; None: the node is not tracked (O-9)."""
    reserved: Mapping[str, int] = {}
    """What the cache has reserved for pods since, all together."""
    on_the_way: int = 0
    """Pods that are reserved here and not bound yet."""
    over_reserved: bool = False
    """A filter failed here, so the node is maybe over-reserved (O-5)."""
    foreign: bool = False
    """A pod of another scheduler was seen (O-6)."""
    config_changed: bool = False
    """The policy attributes of the published object changed (O-8)."""
    placement: Mapping[ContainerId, int] = {}
    """Where the containers of the accepted object are (P-6)."""
    ledger: Ledger | None = None
    """KAI's account; None: the node has no object."""

    @property
    def doubted(self) -> bool:
        """Whether a resync looks at the node."""
        return self.over_reserved or self.foreign or self.config_changed


class Seen(NamedTuple):
    """What a filter call reads."""

    key: Hashable
    """Equal for what the scheduler cannot tell apart."""
    copy: Copy | None = None
    """The object; None: there is none, or it is not looked at."""
    zones: tuple[NUMAZone, ...] = ()
    """The zones of it that a filter looks at."""
    fresh: bool = True
    ledger: Ledger | None = None


class KnownNode(NamedTuple):
    """A node as a scheduler knows it."""

    node: ClusterNode
    """Its name, labels, taints, and what it is as one bag of resources."""
    belief: Belief
    pods: Mapping[str, PodEntry] = {}
    """The pods bound to it, by their keys."""


class Preemption(NamedTuple):
    """Whom a scheduler evicts."""

    node: str
    """Where the pod will fit then."""
    victims: tuple[str, ...]


Opened = Callable[[SchedulerConfig, Around, Copy | None, Sequence[PlacedPod]], Belief]
Observed = Callable[[], Mapping[str, Record]]
"""Says what pods took of each zone, by their keys."""
Describes = Callable[[bool], bool]
"""Tells whether the published object describes the pods that are bound; True: those with something of their own."""


def _unchanged(_: SchedulerConfig, belief: Belief, *__: object) -> Belief:
    return belief


class Scheduler(NamedTuple):
    """One scheduler."""

    name: Kind
    title: Callable[[SchedulerConfig], str]
    """What it is, for people: its name, settings that matter, and in brackets what that is."""
    opened: Opened
    """What it believes of a node when it starts."""
    see: Callable[[SchedulerConfig, Belief], Seen]
    check: Callable[[SchedulerConfig, Seen, Amounts, PodRequest], Verdict]
    """Whether a node passes; the amounts are its node-level allocatable."""
    causes: Sequence[KnownCause]
    """Why it and a kubelet may disagree."""
    preempt: Callable[[Scheduler, SchedulerConfig, Sequence[KnownNode], PodEntry], Preemption | None]
    """Whom it evicts for a pod that fits nowhere; None: nobody."""
    score: Callable[[SchedulerConfig, Seen, PodRequest], float | Fraction] | None = None
    """None: nodes are told apart as bags only."""
    reads_objects: bool = True
    resync_s: Callable[[SchedulerConfig], float | None] = lambda _: None
    """How often it is time for a resync; None: never."""
    scores_nodes: bool = True
    """Whether what would be left of a node as a bag counts, too."""
    bound: Callable[[SchedulerConfig, Belief, PodEntry], Belief] = _unchanged
    """A pod got the node."""
    settled: Callable[[SchedulerConfig, Belief], Belief] = _unchanged
    """The node's kubelet has answered for a pod that got it."""
    released: Callable[[SchedulerConfig, Belief, PodEntry], Belief] = _unchanged
    """A pod is gone."""
    foreign: Callable[[SchedulerConfig, Belief, PodEntry], Belief] = _unchanged
    """A pod that somebody else bound came, or went."""
    failed: Callable[[SchedulerConfig, Belief], Belief] = _unchanged
    """A filter call failed for the sake of NUMA nodes."""
    published: Callable[[SchedulerConfig, Belief, Copy, Observed], Belief] = lambda _, belief, copy, __: (
        belief._replace(published=copy)
    )
    """An object was published, which shows what pods took of each zone."""
    resynced: Callable[[SchedulerConfig, Belief, Describes, Callable[[], Collection[PodEntry]]], Belief] = _unchanged
    """A resync period is over: whether the object describes the pods, and the pods themselves."""
    fits_without: Callable[[SchedulerConfig, Belief, Amounts, PodRequest, Sequence[PodEntry]], bool] | None = None
    """Whether a pod fits a node's NUMA nodes without some pods; None: as it would beside them."""


def all_pass(_: SchedulerConfig, __: Seen, ___: Amounts, ____: PodRequest) -> Verdict:
    """Let every pod onto every node."""
    return PASS
