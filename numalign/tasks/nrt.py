"""NodeResourceTopology: write the objects of a machine, a node or a cluster, and check published ones against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.errors import InputError, Notice
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.model.machine import Machine
from numalign.model.resources import is_subdomain
from numalign.results.cluster import CheckedNRT, NRTCheckResult
from numalign.scheduler import fingerprint
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.differences import differences
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.machine import without_added
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.sources.cluster import dump
from numalign.sources.cluster.fleet import Built
from numalign.sources.cluster.nrt import ReadNRT
from numalign.sources.pods.beside import read_beside
from numalign.tasks.cluster import ClusterRequest, load_cluster
from numalign.tasks.node import load_node
from numalign.tasks.requests import KubeletRequest, NodeRequest
from numalign.tasks.setup import load_setup
from numalign.values import NamedTuple
from numalign.worlds.pod_result import beside_refused


class NodesRequest(NamedTuple):
    """Which nodes are meant: a machine with the pods beside, or a cluster."""

    machine: str | None
    kubelet: KubeletRequest
    beside: str | None
    name: str | None
    """The Node's name; None: the machine's."""
    cluster: ClusterRequest | None
    node: NodeRequest | None
    """A node in use; `machine` and `kubelet` are over what it says of itself."""


def load_nodes(request: NodesRequest) -> Built:
    """Read the nodes of a request.

    Raises:
        InputError: something is wrong with them.
        HostError: the live host cannot be read.
        StartError: a kubelet would not start.
    """
    if request.cluster is not None:
        loaded = load_cluster(request.cluster)
        return Built(loaded.fleet, loaded.notices)
    if request.node is not None:
        return _in_use(request, request.node)
    on = load_setup(request.machine, request.kubelet)
    session = admission.open_session(on.setup)
    notices = list(on.notices)
    machine = on.setup.machine
    own = machine.node.name or "", machine.name
    there = read_beside(request.beside, request.name, own) if request.beside else None
    notices += there.notices if there else ()
    for pod in there.pods if there else ():
        outcome = admission.admit(session, pod)
        session = outcome.then
        if not outcome.admit:
            notices.append(beside_refused(pod.name, outcome.reason or outcome.stage))
    node = ClusterNode(_node_name(request, machine), NodeTotals({}, {}, len(session.pods)), session, "exact")
    return Built(Fleet((node,)), tuple(notices))


def _in_use(request: NodesRequest, source: NodeRequest) -> Built:
    """Read a node with what its pods hold now."""
    loaded = load_node(source, request.machine, request.kubelet)
    machine = loaded.on.setup.machine
    name = _node_name(request, machine)
    node = ClusterNode(name, NodeTotals({}, {}, len(loaded.there.pods)), loaded.there, "exact")
    unknown = tuple([Notice("node-not-known", text, name) for text in loaded.unknown])
    return Built(Fleet((node,)), (*loaded.on.notices, *unknown))


def _node_name(request: NodesRequest, machine: Machine) -> str:
    """Say what the Node is called; a kubelet writes its host's name in lower case."""
    return request.name or machine.node.name or machine.name.lower()


def export_nrts(fleet: Fleet, options: ExportOptions) -> tuple[NodeResourceTopology, ...]:
    """Write the objects of all nodes that numalign knows anything of.

    Raises:
        InputError: a Node cannot be called so.
    """
    for node in fleet.nodes:
        if not is_subdomain(node.name):
            rule = "lower-case letters, digits, - and ., at most 253, ends alphanumeric"
            raise InputError(f"not a node name; allowed: {rule}; fix: add --node-name", f'"{node.name}"')
    return tuple([_export(node, node.session, options) for node in fleet.nodes if node.session is not None])


def _export(node: ClusterNode, session: Session, options: ExportOptions) -> NodeResourceTopology:
    """Write the object of a node; what was made up to read it from an object is not in it."""
    written = export(session, node.name, options)
    return without_added(written, node.nrt) if node.known == "counts" and node.nrt is not None else written


def check_nrts(published: Iterable[ReadNRT], fleet: Fleet, like: ExportOptions) -> NRTCheckResult:
    """Check published objects against the nodes they speak of.

    Args:
        published: the objects.
        fleet: the nodes as they are.
        like: whose way of counting the objects follow.
    """
    nodes = {node.name: node for node in fleet.nodes}
    return NRTCheckResult(tuple([_checked(one, nodes, like) for one in published]))


def _checked(read: ReadNRT, nodes: Mapping[str, ClusterNode], like: ExportOptions) -> CheckedNRT:
    node = nodes.get(read.nrt.name)
    if node is None and len(nodes) == 1:
        node = next(iter(nodes.values()))
    if node is None or node.session is None:
        return CheckedNRT(read.nrt.name, read.notices, None, None)
    only_exclusive = fingerprint.published(read.nrt).only_exclusive
    actual = _export(node, node.session, like._replace(only_exclusive=only_exclusive))
    return CheckedNRT(read.nrt.name, read.notices, tuple(differences(read.nrt, actual)), actual)


def load_published(path: str) -> tuple[ReadNRT, ...]:
    """Read the objects of a file.

    Raises:
        InputError: it cannot be read, or has no such object.
    """
    found = tuple(dump.read_dump(path).nrts.values())
    if not found:
        raise InputError("no NodeResourceTopology found", path)
    return found
