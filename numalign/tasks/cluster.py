"""Load a cluster by name: a cluster file, objects, a state, a snapshot, or a folder of such files and of machines.

Each file of a folder is read by itself, so a server reads again only what changed and knows how old a node's data are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BytesIO

from numalign.errors import InputError, Notice
from numalign.kubelet.admission import admit, open_session
from numalign.kubelet.node import collect
from numalign.kubelet.setup import Setup
from numalign.scheduler.config import SchedulerConfig, Timing
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.sources.cluster import dump, file, fleet, state, state_dump
from numalign.sources.cluster.dump import Dump
from numalign.sources.cluster.fleet import Built, SetupOf
from numalign.sources.cluster.kubelets import Requests, allocatable_of, unjudged_of
from numalign.sources.cluster.stream import Rejoined
from numalign.sources.text.yaml import MAX_INPUT, STDIN, load_documents, load_file
from numalign.store import state_file
from numalign.store.reading import beginning, reading
from numalign.tasks.cluster_files import (
    ARCHIVES,
    HEAD_BYTES,
    STATE_MARK,
    files_of,
    is_folder,
    is_machine,
    may_be_cluster_file,
)
from numalign.tasks.loaded_pods import LoadedPods, load_pods
from numalign.tasks.place import find_place
from numalign.tasks.pools import Pools
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.values import NamedTuple

Writing = Callable[[Fleet], AbstractContextManager[tuple[Notice, ...]]]
"""Writes a cluster back at the end of a `with` block, where there is a state; gives what a person should know of it."""


class ClusterRequest(NamedTuple):
    """Which cluster is meant."""

    clusters: tuple[str, ...]
    """Files, folders, or `-`, joined; none: the state's."""
    state: str | None = None
    """A file that keeps the cluster."""
    machine_of: tuple[str, ...] = ()
    """`LABEL=VALUE:MACHINE`: what the nodes with a label are made of."""
    kubelet_config_of: tuple[str, ...] = ()
    """`LABEL=VALUE:FILE`: how the kubelets of such nodes are set, over `kubelet`."""
    allow_outside: bool = False
    """A cluster file may name files outside of its folder."""
    kubelet: KubeletRequest = KubeletRequest()
    """Settings of the kubelets on the machines of `machine_of`."""


class LoadedCluster(NamedTuple):
    """A cluster that was read."""

    fleet: Fleet
    origin: str
    notices: tuple[Notice, ...]
    setup: Setup | None = None
    """Of a node that stands for itself: its kubelet."""


def load_cluster(request: ClusterRequest, change: state_file.OpenState | None = None) -> LoadedCluster:
    """Read the cluster of a request; a state that is there already wins over what it once was made from.

    Args:
        request: which cluster.
        change: the state, where it is open for a change.

    Raises:
        InputError: neither is given, they have no node, or something is wrong with them.
        StartError: the kubelet of a node would not start.
    """
    loaded = _load(request, change)
    check_nodes(loaded.fleet, loaded.origin)
    return loaded


def check_nodes(cluster: Fleet, origin: str) -> None:
    """See that a cluster has a node.

    Raises:
        InputError: it has none.
    """
    if not cluster.nodes:
        raise InputError("the cluster has no nodes; fix: add --cluster FILE with nodes", origin)


def _load(request: ClusterRequest, change: state_file.OpenState | None = None) -> LoadedCluster:
    if request.state is not None:
        document = change.document if change else state_file.read_state(request.state, state_dump.KIND)
        if document is not None:
            return _of(state.read_cluster_state(document, request.state), request.state)
    if not request.clusters:
        raise InputError("the state is empty; fix: add --cluster FILE", request.state or "--cluster")
    if len(request.clusters) > 1 or (request.clusters[0] != "-" and is_folder(request.clusters[0])):
        if request.clusters.count("-") > 1:
            raise InputError("standard input can be read only once; fix: give - once", "--cluster -")
        files = [file for path in request.clusters for file in (files_of(path) if is_folder(path) else (path,))]
        loaded = [(path, load_file_nodes(path, request._replace(clusters=(path,), state=None))) for path in files]
        notices = tuple([notice for _, one in loaded for notice in one.notices])
        return LoadedCluster(merged((path, one.fleet) for path, one in loaded), ", ".join(request.clusters), notices)
    (cluster,) = request.clusters
    if cluster.endswith(ARCHIVES):
        return load_one_node(cluster, None, KubeletRequest(), PodsRequest(()))
    return _of(_read(cluster, pools_of(request).setup, outside=request.allow_outside), cluster)


def pools_of(request: ClusterRequest) -> Pools:
    """Read what the request says of the nodes with a label.

    Raises:
        InputError: a machine or a configuration is wrong.
        StartError: a kubelet would not accept its settings.
    """
    return Pools(request.machine_of, request.kubelet_config_of, request.kubelet)


def load_objects(found: Dump, request: ClusterRequest) -> LoadedCluster:
    """Make the nodes of objects that are known already.

    Raises:
        InputError: an object, or a machine of the request, is wrong.
        StartError: the kubelet of a node would not start.
    """
    return _of(fleet.fleet_of(found, pools_of(request).setup), "")


def load_one_node(node: str | None, machine: str | None, kubelet: KubeletRequest, pods: PodsRequest) -> LoadedCluster:
    """Read one node as a cluster: one in use, or an empty machine.

    Args:
        node: a node in use; None: the machine, with the pods of `pods.beside`.
        machine: a machine by name, in place of the node's own.
        kubelet: settings over those that were found.
        pods: the pods that are there, as the API server has them, and which node is meant.

    Raises:
        InputError: something is wrong with it.
        HostError: it may not be read.
        StartError: its kubelet would not start.
    """
    here, up = find_place(node, machine, kubelet, pods)
    session = here.there or open_session(here.on.setup)
    there = load_pods(up, on=here.on.setup)
    for pod in there.beside:
        session = admit(session, pod).then
    session = session._replace(state=collect(session.node, session.state))
    host = here.on.setup.machine
    name = host.node.name or host.name
    allocatable = allocatable_of(session.view)
    totals = Requests().totals(allocatable, session.pods, unjudged_of(session))
    labels = host.node.labels or {}
    one = ClusterNode(name, totals, session, "exact", labels=labels, taints=host.node.taints)
    return LoadedCluster(Fleet((one,)), here.on.origin, (*here.on.notices, *there.notices), here.on.setup)


def load_file_nodes(path: str, request: ClusterRequest | None = None) -> LoadedCluster:
    """Read one file: a cluster file, objects, a state, a snapshot, or a machine.

    Args:
        path: the file.
        request: how its nodes are read; None: as they are.

    Raises:
        NumalignError: as `load_cluster`, or as the reading of a node.
    """
    if path.endswith(ARCHIVES):
        return load_one_node(path, None, KubeletRequest(), PodsRequest(()))
    if is_machine(path):
        built = fleet.read_machines([path])
        return LoadedCluster(built.fleet, path, built.notices)
    return _load((request or ClusterRequest(()))._replace(clusters=(path,)))


def referred(path: str, request: ClusterRequest | None = None) -> tuple[str, ...]:
    """Name the files, there or not, that what is read of a file depends on: machines and kubelet configurations."""
    pools = (*request.machine_of, *request.kubelet_config_of) if request else ()
    named = [text.partition(":")[2] for text in pools]
    named += [request.kubelet.config] if request and request.kubelet.config else []
    if not path.endswith(ARCHIVES):
        try:
            head = beginning(path, HEAD_BYTES)
            if may_be_cluster_file(head):
                named += [name for document in load_file(path) for name in file.referred(document)]
        except (InputError, OSError):
            pass  # who reads it says what is wrong
    return tuple(dict.fromkeys(named))


def merged(fleets: Iterable[tuple[str, Fleet]]) -> Fleet:
    """Put the nodes of several files together; the scheduler is set by the first file that says anything of it.

    Raises:
        InputError: two files have a node of one name, or there is no file.
    """
    nodes: dict[str, ClusterNode] = {}
    first = None
    for path, one in fleets:
        if first is None or (first.scheduler, first.timing) == (SchedulerConfig(), Timing()):
            first = one
        for node in one.nodes:
            if node.name in nodes:
                raise InputError(f'duplicate node "{node.name}" in another file', path)
            nodes[node.name] = node
    if first is None:
        raise InputError("no file describes nodes", "--cluster")
    return first._replace(nodes=tuple(nodes.values()))


def load_pods_for(names: tuple[str, ...], into: Fleet, copies: int | None = None) -> LoadedPods:
    """Read the pods that come up; none may be called as one that is there.

    Raises:
        InputError: a pod the API server would refuse, an input without a pod, or a name that is taken.
    """
    there = tuple([pod for node in into.nodes for pod in node.pods])
    return load_pods(PodsRequest(names, replicas=copies), there)


def _of(built: Built, origin: str) -> LoadedCluster:
    return LoadedCluster(built.fleet, "standard input" if origin == "-" else origin, built.notices)


@contextmanager
def changing_cluster(request: ClusterRequest) -> Iterator[tuple[LoadedCluster, Writing]]:
    """Open a cluster for a change; with `--state` nobody else changes it meanwhile.

    Raises:
        InputError: see `load_cluster`; or the state may not be changed, or not be written: it is the old one then.
    """
    if request.state is None:
        yield load_cluster(request), lambda _: nullcontext(())
        return
    with state_file.changing(request.state, state_dump.KIND, judge=state.read_cluster_state) as change:
        yield load_cluster(request, change), lambda changed: change.writing(state_dump.document(changed))


def _read(name: str, setup_of_node: SetupOf, *, outside: bool) -> Built:
    """Read one file of any form."""
    shown = STDIN if name == "-" else name
    with reading(name, shown) as opened:
        head = opened.read(HEAD_BYTES)
        if STATE_MARK.search(head) and os.path.isfile(name):
            document = state_file.read_state(name, state_dump.KIND)
            if document is not None:
                return state.read_cluster_state(document, name)
        if not may_be_cluster_file(head):
            return fleet.fleet_of(dump.read_open(Rejoined(head, opened), shown), setup_of_node)
        content = head + opened.read(MAX_INPUT + 1)
    documents = load_documents(content, shown)
    if len(documents) == 1 and file.is_cluster_file(documents[0].data):
        return file.read_cluster(documents[0], outside=outside)
    if not any(isinstance(one.data, Mapping) and "kind" in one.data for one in documents):
        raise InputError("expected a cluster: a file with nodes, or objects of a cluster with a kind", shown)
    return fleet.fleet_of(dump.read_open(BytesIO(content), shown), setup_of_node)
