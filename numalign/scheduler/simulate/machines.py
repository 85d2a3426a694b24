"""The machines of a simulation: what is true, what is published, and what the scheduler believes of each.

docs/rules/scheduling.md 3.1: truth, NRT and cache are three views. Machines change in place, since a run has thousands
of them; the kubelet's state itself is a value.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from numalign.kubelet.admission import Session
from numalign.scheduler.cache import CacheConfig
from numalign.scheduler.kai.topology import KaiOptions, KaiTopology, topology
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.resources import Amounts
from numalign.scheduler.simulate import truth
from numalign.scheduler.simulate.known import Numbers
from numalign.scheduler.simulate.truth import Free, Layout
from numalign.scheduler.timing import ExporterConfig
from numalign.values import NamedTuple

NO_PODS: frozenset[int] = frozenset()


class MachineClass(NamedTuple):
    """What equal machines have in common."""

    number: int
    layout: Layout
    empty: NodeResourceTopology | None
    """The object of an empty machine; None: no exporter."""
    kai: KaiTopology | None
    rebuilds: bool
    """Whether KAI rebuilds free amounts from its records (K-8)."""
    totals: Mapping[str, int]
    places: Mapping[str, int]
    """Resource -> its position among the totals."""
    labels: Mapping[str, str]
    exporter: ExporterConfig


def machine_class(number: int, node: ClusterNode, session: Session, options: KaiOptions) -> MachineClass:
    """Make the class of a node; `options` say what KAI looks at."""
    known = truth.layout(session)
    empty = None if node.exporter.mode == "none" else known.empty
    totals = dict(sorted(node.totals.allocatable.items()))
    places = {name: place for place, name in enumerate(totals)}
    return MachineClass(
        number=number,
        layout=known,
        empty=empty,
        kai=topology(empty, ignored=options.ignored),
        rebuilds=options.reconstruct is not False,
        totals=totals,
        places=places,
        labels=node.labels,
        exporter=node.exporter,
    )


def class_key(node: ClusterNode, session: Session) -> Hashable:
    """Make the key of a class: nodes that share their managers, totals, labels and exporter."""
    twin = session.node
    return (
        *(id(manager) for manager in (twin.cpu, twin.memory, twin.device)),
        tuple(sorted(node.totals.allocatable.items())),
        tuple(sorted(node.labels.items())),
        node.exporter,
    )


class Sample(NamedTuple):
    """What an exporter saw."""

    at: int
    free: Free
    pods: frozenset[int]
    """The pods that its fingerprint describes."""


class Sight(NamedTuple):
    """What a scheduler sees of a machine until it changes."""

    bag: int
    """Number of all that decides about the machine as a bag of resources: machines with one number are judged alike."""
    zones: int
    """The same for its NUMA nodes."""
    free: Free | None
    fresh: bool


class SimulatedMachine:
    """One machine under way."""

    def __init__(self, number: int, node: ClusterNode, session: Session, kind: MachineClass) -> None:
        """Start with what is on the node, and that published."""
        self.number = number
        self.name = node.name
        self.kind = kind

        self.session = session
        self.free: Free = truth.free(kind.layout, session)
        self.listed: frozenset[int] = NO_PODS
        """The pods of the run that the kubelet lists; those that were there before stay to the end."""

        self.published = Sample(0, self.free, NO_PODS)
        self.sample_due: int | None = None
        """When the exporter samples because something changed."""
        self.period_due: int | None = None

        self.used = tuple([node.totals.used.get(name, 0) for name in kind.totals])
        self.pods = node.totals.pods
        self.counted: frozenset[int] = NO_PODS
        """The pods that count for the scheduler's fingerprint."""
        self.unbound = 0
        """Pods that are reserved here and not bound yet."""

        self.accepted = self.published
        self.reserved: dict[str, int] = {}
        """Resource -> what over-reservations take off every zone."""
        self.foreign = False
        self.seen: Sight | None = None
        """What a scheduler last saw; None: it has to look again."""
        self.answers: dict[int, bool] = {}
        """Shape -> whether the kubelet would admit it now."""
        self.placements: dict[int, Free] = {}
        """Pod -> what KAI believes it takes."""

    def charge(self, asked: Amounts, sign: int) -> None:
        """Add a pod to the node-level use, or take it off."""
        used = list(self.used)
        for name, amount in asked.items():
            place = self.kind.places.get(name)
            if place is not None:
                used[place] += sign * amount
        self.used = tuple(used)
        self.pods += sign

    @property
    def node_totals(self) -> NodeTotals:
        """The machine as a bag."""
        return NodeTotals(self.kind.totals, dict(zip(self.kind.totals, self.used, strict=True)), self.pods)

    def sight(self, scheduler: str, cache: CacheConfig, bags: Numbers, zones: Numbers) -> Sight:
        """Return what a scheduler sees."""
        found = self.seen
        if found is None:
            free, fresh = self.view(scheduler, cache)
            kind = self.kind.number
            bag, zone = bags.of((kind, self.used, self.pods)), zones.of((kind, free, fresh))
            found = self.seen = Sight(bag, zone, free, fresh)
        return found

    def view(self, scheduler: str, cache: CacheConfig) -> tuple[Free | None, bool]:
        """Return the free amounts that a scheduler reads, and whether its cache trusts them; None: it reads none."""
        if self.kind.empty is None or scheduler == "unaware":
            return None, True
        if scheduler == "kai":
            return self._rebuilt() if self.kind.rebuilds else self.published.free, True
        if scheduler == "kep" or cache.mode == "passthrough":
            return self.published.free, True
        if cache.mode == "discard_reserved":
            return self.published.free, not self.unbound
        return self._over_reserved(), not self.foreign

    def _over_reserved(self) -> Free:
        """Take every reservation off every zone that lists the resource (O-3)."""
        if not self.reserved:
            return self.accepted.free
        taken = self.reserved.get
        return tuple(
            [
                tuple([max(amount - taken(name, 0), 0) for name, amount in zip(names, row, strict=True)])
                for names, row in zip(self.kind.layout.names, self.accepted.free, strict=True)
            ]
        )

    def _rebuilt(self) -> Free:
        """Take the placements of the pods off what is allocatable (K-8)."""
        rows = [list(row) for row in self.kind.layout.allocatable]
        for placed in self.placements.values():
            for row, taken in zip(rows, placed, strict=True):
                for place, amount in enumerate(taken):
                    row[place] -= amount
        return tuple([tuple([max(amount, 0) for amount in row]) for row in rows])


def nrt_of(kind: MachineClass, free: Free | None) -> NodeResourceTopology | None:
    """Write the object that says these free amounts."""
    if kind.empty is None or free is None:
        return None
    return truth.with_free(kind.layout, free)
