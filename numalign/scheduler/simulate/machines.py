"""The machines of a simulation: what is true, what is published, and what the scheduler believes of each.

docs/rules/scheduling.md 3.1: truth, NRT and cache are three views. Machines change in place, since a run has thousands
of them; the kubelet's state itself is a value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from numalign.errors import InputError
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.scheduler.config import ExporterConfig
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.copy import Copy, Free, Layout, copy_of
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.record import Belief, Seen
from numalign.scheduler.simulate import truth
from numalign.scheduler.simulate.shapes import Shape
from numalign.scheduler.simulate.workloads import PodRecord
from numalign.values import NamedTuple

NO_PODS: frozenset[int] = frozenset()


class MachineClass(NamedTuple):
    """What equal machines have in common."""

    number: int
    layout: Layout
    """Of the object that their exporters write; its name is left open, so that equal machines share it."""
    numbers: Sequence[int]
    """The NUMA ids of its zones."""
    whole: Free
    """What is free of an empty machine."""
    totals: Mapping[str, int]
    places: Mapping[str, int]
    """Resource -> its position among the totals."""
    exporter: ExporterConfig


def machine_class(number: int, node: ClusterNode, session: Session) -> MachineClass:
    """Make the class of a node."""
    totals = node.totals.allocatable
    layout = Layout(export(session.empty(), "", written(node.exporter)))
    places = {name: place for place, name in enumerate(totals)}
    return MachineClass(
        number=number,
        layout=layout,
        numbers=truth.numbers(session),
        whole=truth.free(layout, session.empty()),
        totals=totals,
        places=places,
        exporter=node.exporter,
    )


def written(exporter: ExporterConfig) -> ExportOptions:
    """Say how an exporter writes its objects."""
    return ExportOptions("numalign", exporter.fingerprint != "none", exporter.fingerprint == "exclusive")


def class_key(node: ClusterNode, session: Session) -> Hashable:
    """Make the key of a class: nodes that share their managers, totals, labels, taints and exporter."""
    twin = session.node
    return (
        *(id(manager) for manager in (twin.cpu, twin.memory, twin.device)),
        frozenset(node.totals.allocatable.items()),
        frozenset(node.labels.items()),
        node.taints,
        node.unschedulable,
        node.exporter,
    )


class Sample(NamedTuple):
    """What an exporter saw."""

    at: int
    copy: Copy
    pods: frozenset[int]
    """The pods that its fingerprint describes."""


class Sight(NamedTuple):
    """What a scheduler sees of a machine until it changes."""

    bag: int
    """Number of all that decides about the machine as a bag of resources: machines with one number are judged alike."""
    zones: int
    """The same for its NUMA nodes."""
    seen: Seen


class SimulatedMachine:
    """One machine under way."""

    def __init__(self, number: int, node: ClusterNode, session: Session, kind: MachineClass) -> None:
        """Start with what is on the node, and what is published of it."""
        self.number = number
        self.name = node.name
        self.kind = kind
        self.bare = node
        """The node at the start: its name, labels and taints stay."""

        self.session = session
        self.free: Free = truth.free(kind.layout, session)
        self.listed: frozenset[int] = NO_PODS
        """The pods of the run that the kubelet lists; those that were there before stay to the end."""

        self.published = Sample(0, copy_of(node.nrt) or Copy(kind.layout, self.free), NO_PODS)
        self.sample_due: int | None = None
        """When the exporter samples because something changed."""
        self.period_due: int | None = None

        self.used = tuple([node.totals.used.get(name, 0) for name in kind.totals])
        self.beyond = node.totals.beyond
        """What the score counts for its pods beyond what they ask."""
        self.pods = node.totals.pods
        self.counted: frozenset[int] = NO_PODS
        """The pods that count for the scheduler's fingerprint."""

        self.belief = Belief()
        """What the scheduler believes."""
        self.accepted_at = 0
        """When what its cache took over was sampled."""
        self.sight: Sight | None = None
        """What the scheduler last saw; None: it has to look again."""
        self.answers: dict[int, bool] = {}
        """Shape -> whether the kubelet would admit it now."""

    @property
    def start(self) -> Copy | None:
        """The object at the start; None: nobody publishes any."""
        return None if self.kind.exporter.mode == "none" else self.published.copy

    def would_admit(self, pod: PodRecord) -> bool:
        """Ask the kubelet what it would say now; the answer holds until the machine changes."""
        answer = self.answers.get(pod.shape.number)
        if answer is None:
            answer = self.answers[pod.shape.number] = admission.admits(self.session, pod.pod)
        return answer

    def charge(self, shape: Shape, sign: int) -> None:
        """Add a pod to the node-level use, or take it off."""
        used = list(self.used)
        for name, amount in shape.asked.items():
            place = self.kind.places.get(name)
            if place is not None:
                used[place] += sign * amount
        self.used = tuple(used)
        self.pods += sign
        if shape.beyond:
            more = {name: self.beyond.get(name, 0) + sign * amount for name, amount in shape.beyond.items()}
            self.beyond = {**self.beyond, **more}

    @property
    def node(self) -> ClusterNode:
        """The machine as a scheduler knows it beside its NUMA nodes."""
        used = dict(zip(self.kind.totals, self.used, strict=True))
        totals = NodeTotals(self.kind.totals, used, self.pods, self.bare.totals.unjudged, self.beyond)
        return self.bare._replace(totals=totals)


def machines_of(nodes: Iterable[ClusterNode]) -> list[SimulatedMachine]:
    """Take over the nodes; those that are alike share a class.

    Raises:
        InputError: what a node is made of is not known.
    """
    classes: dict[Hashable, MachineClass] = {}
    machines: list[SimulatedMachine] = []
    for node in nodes:
        session = node.session
        if session is None:
            raise InputError("its hardware is unknown, so no kubelet can be simulated", f"node {node.name}")
        key = class_key(node, session)
        kind = classes.get(key)
        if kind is None:
            kind = classes[key] = machine_class(len(classes), node, session)
        machines.append(SimulatedMachine(len(machines), node, session, kind))
    return machines
