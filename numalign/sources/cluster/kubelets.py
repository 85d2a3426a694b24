"""Kubelets of a cluster's nodes: opened once for each machine and configuration, and shared by all nodes alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

from numalign.errors import StartError
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.fit.check import NodeView
from numalign.kubelet.reading import reader
from numalign.kubelet.releases.table import LATEST, kubelet, parse_version
from numalign.kubelet.setup import Base, Setup
from numalign.model.machine import Machine, Taint
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity
from numalign.model.resources import is_bytes
from numalign.scheduler import request
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.request import NodeLoad, node_load
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple


def setup_of(machine: Machine, config: KubeletConfig, base: Base) -> Setup:
    """Put the kubelet of a node together: of the release that its machine names, else the newest that was recorded."""
    release = machine.kubelet_version
    return Setup(machine, config, base, kubelet(parse_version(release)) if release else LATEST)


def counted(session: Session | None, pod: Pod) -> Pod:
    """Say what a pod counts for, where its status says that it is being resized."""
    if not pod.status.resizes:
        return pod
    node = session.node if session else None
    read = node.read_pod if node else reader(LATEST.reading, LATEST.gates_with({})).read
    return pod._replace(counted=read(pod)[0].counted)


NOTHING: Final[Amounts] = {}


class Identity(NamedTuple):
    """What sets a node apart from others alike."""

    name: str
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()


class Kubelets:
    """Opens kubelets, each once."""

    def __init__(self) -> None:
        self._opened: dict[Hashable, Session] = {}

    def open(self, key: Hashable, setup: Setup, identity: Identity) -> Session:
        """Return an empty node of a setup, which is known by `key`; a node has its own name, labels and taints.

        Raises:
            StartError: the kubelet would not start; the node is named.
        """
        session = self._opened.get(key)
        if session is None:
            try:
                session = self._opened[key] = admission.open_session(setup)
            except StartError as error:
                raise StartError(error.message, f"node {identity.name}") from None
        machine = session.node.machine._replace(name=identity.name)
        view = session.view
        if view is not None:
            view = view._replace(name=identity.name, labels=identity.labels, taints=identity.taints)
        return session._replace(node=session.node._replace(machine=machine), view=view)


def judging(session: Session, allocatable: Amounts, unknown: Iterable[str] = ()) -> Session:
    """Let the fit check judge by what the Node object says, and pass over what nobody knows how much there is of."""
    view = session.view
    if view is None:
        return session
    if allocatable:
        quantities = {
            name: Quantity(amount, "BinarySI" if is_bytes(name) else "DecimalSI", None)
            for name, amount in allocatable.items()
        }
        view = view._replace(allocatable=quantities, unjudged=view.unjudged.difference(allocatable))
    return session._replace(view=view._replace(unjudged=view.unjudged.union(unknown)))


def unjudged_of(session: Session | None) -> frozenset[str]:
    """Return the resources of which nobody said how much a node has."""
    return session.view.unjudged if session is not None and session.view is not None else frozenset()


def allocatable_of(view: NodeView | None) -> dict[str, int]:
    """Return what a node's kubelet reports as allocatable."""
    return {name: quantity.nano for name, quantity in view.allocatable.items()} if view else {}


class Requests:
    """Adds up what pods ask of a node as a whole; pods of one shape are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[Sequence[object], NodeLoad]] = {}

    def totals(self, allocatable: Amounts, pods: Iterable[Pod], unjudged: frozenset[str] = frozenset()) -> NodeTotals:
        """Make the node as a bag."""
        used: dict[str, int] = {}
        beyond: dict[str, int] = {}
        count = 0
        for pod in pods:
            count += 1
            load = self._load(pod)
            for name, amount in load.asked:
                used[name] = used.get(name, 0) + amount
            for name, amount in load.beyond:
                beyond[name] = beyond.get(name, 0) + amount
        return NodeTotals(allocatable, used, count, unjudged, beyond)

    def _load(self, pod: Pod) -> NodeLoad:
        if pod.counted is not None:
            return node_load(request.read_request(pod))
        key = id(pod.containers), pod.qos
        known = self._known.get(key)
        if known is None:  # the containers are kept, so that their id stays theirs
            known = self._known[key] = pod.containers, node_load(request.read_request(pod))
        return known[1]


def empty_node(session: Session, identity: Identity, requests: Requests, given: Amounts = NOTHING) -> ClusterNode:
    """Make the node of a kubelet without pods; `given` stands in place of what the kubelet would report."""
    total = {**allocatable_of(session.view), **given}
    session = judging(session, total) if given else session
    return ClusterNode(
        name=identity.name,
        totals=requests.totals(total, (), unjudged_of(session)),
        session=session,
        known="exact",
        labels=identity.labels,
        taints=identity.taints,
    )
