"""The machines of a simulation: what is true, what is published, and what the scheduler believes of each.

docs/rules/scheduling.md 3.1: truth, NRT and cache are three views. Machines change in place, since a run has thousands
of them; the kubelet's state itself is a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from numalign.kubelet.admission import Session, open_session
from numalign.scheduler.cache import CacheConfig
from numalign.scheduler.kai.topology import KaiTopology, topology
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.request import PodRequest, node_level
from numalign.scheduler.simulate import truth
from numalign.scheduler.simulate.settings import Exporter, MachineGroup
from numalign.scheduler.simulate.truth import Free, Layout

NO_PODS: frozenset[int] = frozenset()


class MachineClass(NamedTuple):
    """What equal machines have in common."""

    number: int
    session: Session
    """Empty."""
    layout: Layout
    empty: NodeResourceTopology | None
    """The object of an empty machine; None: no exporter."""
    kai: KaiTopology | None
    totals: Mapping[str, int]
    places: Mapping[str, int]
    """Resource -> its position among the totals."""
    labels: Mapping[str, str]
    exporter: Exporter


def machine_class(number: int, group: MachineGroup) -> MachineClass:
    """Start the kubelet of a group.

    Raises:
        StartError: it would refuse to start.
    """
    session = open_session(group.setup)
    known = truth.layout(session)
    empty = None if group.exporter.mode == "none" else known.empty
    totals = {**truth.totals(session), **group.allocatable}
    places = {name: place for place, name in enumerate(totals)}
    return MachineClass(
        number=number,
        session=session,
        layout=known,
        empty=empty,
        kai=topology(empty),
        totals=totals,
        places=places,
        labels=group.labels,
        exporter=group.exporter,
    )


class Sample(NamedTuple):
    """What an exporter saw."""

    at: int
    free: Free
    pods: frozenset[int]
    """The pods that its fingerprint describes."""


class SimulatedMachine:
    """One machine under way."""

    def __init__(self, number: int, name: str, kind: MachineClass) -> None:
        """Start empty, with its empty object published."""
        self.number = number
        self.name = name
        self.kind = kind

        self.session = kind.session
        self.free: Free = kind.layout.allocatable
        self.listed: frozenset[int] = NO_PODS
        """The pods that the kubelet lists."""

        self.published = Sample(0, self.free, NO_PODS)
        self.sample_due: int | None = None
        """When the exporter samples because something changed."""
        self.period_due: int | None = None

        self.used: tuple[int, ...] = (0,) * len(kind.totals)
        self.pods = 0
        self.counted: frozenset[int] = NO_PODS
        """The pods that count for the scheduler's fingerprint."""
        self.unbound = 0
        """Pods that are reserved here and not bound yet."""

        self.accepted = self.published
        self.reserved: dict[str, int] = {}
        """Resource -> what over-reservations take off every zone."""
        self.doubted = False
        """Marked as maybe over-reserved (O-5)."""
        self.foreign = False
        self.answers: dict[int, bool] = {}
        """Shape -> whether the kubelet would admit it now."""
        self.placements: dict[int, Free] = {}
        """Pod -> what KAI believes it takes."""

    def charge(self, request: PodRequest, sign: int) -> None:
        """Add a pod to the node-level use, or take it off."""
        used = list(self.used)
        for name, amount in node_level(request).items():
            place = self.kind.places.get(name)
            if place is not None:
                used[place] += sign * amount
        self.used = tuple(used)
        self.pods += sign

    @property
    def node_totals(self) -> NodeTotals:
        """The machine as a bag."""
        return NodeTotals(self.kind.totals, dict(zip(self.kind.totals, self.used, strict=True)), self.pods)

    def view(self, scheduler: str, cache: CacheConfig) -> tuple[Free | None, bool]:
        """Give the free amounts that a scheduler reads, and whether its cache trusts them; None: it reads none."""
        if self.kind.empty is None or scheduler == "unaware":
            return None, True
        if scheduler == "kai":
            return self._rebuilt(), True
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
