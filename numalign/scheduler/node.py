"""A node of a cluster: what it is made of, what its pods hold, what is published of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Literal

from numalign.kubelet.admission import Session
from numalign.kubelet.fit import predicates, preemption
from numalign.model.machine import Taint
from numalign.model.pod import Pod
from numalign.model.resources import is_extended
from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology, number_of, with_available
from numalign.scheduler.request import NodeLoad
from numalign.values import NamedTuple

Known = Literal["exact", "counts", "nothing"]
"""What numalign knows of a machine: every CPU; only counts per NUMA node, from an NRT; or nothing."""


class ClusterNode(NamedTuple):
    """One node."""

    name: str
    totals: NodeTotals
    """The node as a bag, with the pods bound to it."""
    session: Session | None = None
    """The twin of its kubelet, with what its pods hold; None: nobody knows what the machine is made of."""
    known: Known = "nothing"
    nrt: NodeResourceTopology | None = None
    """As published; None: it has none."""
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    placed: tuple[PlacedPod, ...] = ()
    """KAI's records of the pods on it."""
    exporter: ExporterConfig = ExporterConfig()
    unplaced: tuple[Pod, ...] = ()
    """The pods bound to it, where it has no session that knows them."""

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods bound to it, as far as they are known one by one."""
        return self.session.pods if self.session is not None else self.unplaced


class Fleet(NamedTuple):
    """The nodes of a cluster, in its order, and the scheduler that it has."""

    nodes: tuple[ClusterNode, ...]
    scheduler: SchedulerConfig = SchedulerConfig()
    timing: Timing = Timing()
    notes: tuple[str, ...] = ()
    """What was passed over or filled in; a sentence each."""


def published(node: ClusterNode) -> NodeResourceTopology | None:
    """Return the object that a scheduler reads: the published one, or what an exporter without delay would publish.

    None: the node has no exporter, or nobody knows what it is made of.
    """
    if node.nrt is not None or node.session is None or node.exporter.mode == "none":
        return node.nrt
    return export(node.session, node.name, ExportOptions(fingerprint=False)) if node.known == "exact" else None


def with_pod(node: ClusterNode, load: NodeLoad, session: Session | None) -> ClusterNode:
    """Bind a pod to a node; a published object follows at once.

    Args:
        node: the node.
        load: what the pod takes of it.
        session: the node after the kubelet's admission; None: nobody knows what it is made of.
    """
    nrt = node.nrt
    if nrt is not None and session is not None:
        nrt = _refreshed(nrt, export(session, node.name, ExportOptions(fingerprint=False)))
    return node._replace(totals=node.totals.with_pod(load), session=session, nrt=nrt)


def _refreshed(old: NodeResourceTopology, new: NodeResourceTopology) -> NodeResourceTopology:
    """Put new free amounts into an object, whatever else it says."""
    amounts = {number_of(zone.name): zone.resources for zone in new.zones}
    free = []
    for zone in old.zones:
        found = amounts.get(number_of(zone.name), {})
        free.append({name: one.available or 0 for name, one in found.items() if name in zone.resources})
    return with_available(old, free)


def look(node: ClusterNode) -> Hashable:
    """Make a key of all that decides about the next pod on a node, but for name, labels and the object it publishes.

    Nodes with equal keys get equal answers, so work on one of them does for all: where the pod asks for no name
    (`needs_name`), and selects both or none of the nodes by their labels (`predicates.matches_node`). Real nodes
    always differ in some label.
    """
    totals = node.totals
    return (
        frozenset(totals.allocatable.items()),
        frozenset(totals.used.items()),
        frozenset(totals.beyond.items()),
        totals.pods,
        totals.unjudged,
        node.taints,
        node.unschedulable,
        _state_key(node.session),
    )


def _state_key(session: Session | None) -> Hashable:
    """Make a key of what a kubelet has left; who holds the rest does not matter for the next pod."""
    if session is None:
        return None
    node, state = session.node, session.state
    return (
        id(node.cpu),
        id(node.memory),
        id(node.device),
        state.cpu.default,
        state.memory.free,
        state.memory.groups,
        state.memory.counts,
        frozenset(state.device.allocated.items()),
        state.leftovers,
    )


def needs_name(pod: Pod) -> bool:
    """Tell whether the answer about a pod depends on more than a node's look: its name, its pods' ports, evictions."""
    if pod.spec.get("nodeName") or predicates.selects_fields(pod) or preemption.is_critical(pod):
        return True
    return any(port.get("hostPort") for container in pod.containers for port in container.ports)


def lacking(node: ClusterNode, pods: Iterable[Pod]) -> tuple[str, ...]:
    """Name the devices that pods ask for and a node does not have: its kubelet would run them without."""
    there = set(node.totals.allocatable)
    if node.session is not None:
        machine = node.session.node.machine
        there |= {*machine.devices, *machine.node.extended_resources}
    asked = {
        name: None
        for pod in pods
        for container in pod.containers
        for name, amount in container.requests.items()
        if amount.nano and is_extended(name) and name not in there
        if (container.name, name) not in pod.status.claimed
    }
    return tuple(asked)
