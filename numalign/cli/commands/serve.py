"""`numalign serve`: the scheduler extender over HTTP, and the twin as an oracle over a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from numalign.cli.cluster_options import allow_outside_option, pool_options, with_kubelet
from numalign.cli.flags import OwnFlag, flag
from numalign.cli.listen_options import Security, listening, security_options
from numalign.cli.options import kubelet_options
from numalign.cli.stderr import tell
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.scheduler.extender import Judge
from numalign.scheduler.node import Fleet
from numalign.tasks.cluster import ClusterRequest, load_file_nodes, load_objects, merged, pools_of, referred
from numalign.tasks.cluster_files import files_of
from numalign.tasks.requests import KubeletRequest

if TYPE_CHECKING:
    from numalign.server.app import Nodes
    from numalign.server.nodes import Build
    from numalign.sources.cluster.dump import Dump

FIRST_SECONDS: Final = 60.0
"""In which an API server has to list all that is watched."""


@click.command("serve")
@flag(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="FILE",
    help="cluster file, kubectl dump, snapshot or folder",
)
@flag("--watch", cls=OwnFlag, metavar="WHERE", help="in-cluster, or URL of kubectl proxy: watch the cluster")
@pool_options
@allow_outside_option
@kubelet_options
@flag("--listen", default="127.0.0.1:8899", show_default=True, metavar="HOST:PORT", help="where to listen")
@flag(
    "--verdict",
    type=click.Choice(["nrt", "kubelet"]),
    default="nrt",
    show_default=True,
    help="judge by the plugin's filter, or by the kubelet",
)
@flag(
    "--max-age",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="ignore nodes whose data are older",
)
@flag("--prefix", default="/v1", show_default=True, metavar="PATH", help="path of urlPrefix")
@security_options
@flag("--stdio", is_flag=True, help="no HTTP: one JSON object a line, in and out")
def command(
    clusters: tuple[str, ...],
    watch: str | None,
    machine_of: tuple[str, ...],
    kubelet_config_of: tuple[str, ...],
    allow_outside: bool,
    kubelet: KubeletRequest,
    listen: str,
    verdict: Judge,
    max_age: float | None,
    prefix: str,
    security: Security,
    stdio: bool,
) -> ExitStatus:
    """Answer kube-scheduler as an extender, or a test suite as an oracle (--stdio).

    \b
    Examples:
      numalign serve --cluster cluster.yaml --verdict kubelet
      numalign serve --cluster nrts.yaml --listen 0.0.0.0:8899 --tls-cert tls.crt --tls-key tls.key --client-ca ca.crt
      numalign serve --watch in-cluster --max-age 300 --insecure-listen --listen 0.0.0.0:8899
      echo '{"nodes": true}' | numalign serve --cluster cluster.yaml --stdio
    """
    request = with_kubelet(ClusterRequest(clusters, None, machine_of, kubelet_config_of, allow_outside), kubelet)
    if bool(clusters) == (watch is not None) or (stdio and watch is not None):
        raise click.UsageError("expected --cluster FILE, or --watch for HTTP; fix: add one of the two")
    if stdio:
        return _stdio(request)
    start = listening(listen, security)
    from numalign.server.app import App

    nodes = _known(request, verdict, max_age) if watch is None else _watched(watch, request, verdict, max_age)
    start(lambda hosts: App(nodes, prefix, hosts=hosts))
    return ExitStatus.DONE


def _builder(request: ClusterRequest, verdict: Judge) -> Build:
    """Return what makes the extender of all nodes, and judges others by their labels."""
    from numalign.scheduler.config import CacheConfig
    from numalign.scheduler.extender import Extender
    from numalign.server.service import say
    from numalign.server.templates import Templates

    def build(fleet: Fleet) -> Extender:
        config = fleet.scheduler._replace(cache=CacheConfig())
        return Extender(fleet.nodes, config=config, judge=verdict, unknown=Templates(pools_of(request), say).node)

    return build


def _known(request: ClusterRequest, verdict: Judge, max_age: float | None) -> Nodes:
    """Read the files of the nodes."""
    from numalign.server.nodes import KnownNodes
    from numalign.server.service import log

    def load(path: str) -> Fleet:
        loaded = load_file_nodes(path, request)
        log(loaded.notices)
        return loaded.fleet

    return KnownNodes(load, lambda path: referred(path, request), _builder(request, verdict), request.clusters, max_age)


def _watched(where: str, request: ClusterRequest, verdict: Judge, max_age: float | None) -> Nodes:
    """Watch the nodes of a cluster."""
    from numalign.server.service import log, say
    from numalign.server.watched import WatchedNodes
    from numalign.sources.cluster.api import server_of
    from numalign.sources.cluster.watch import Cluster

    told: set[Notice] = set()

    def fleet_of(dump: Dump) -> Fleet:
        nonlocal told
        loaded = load_objects(dump, request)
        log(notice for notice in loaded.notices if notice not in told)
        told = {*loaded.notices}
        return loaded.fleet

    cluster = Cluster(server_of(where), say)
    cluster.start(FIRST_SECONDS)
    return WatchedNodes(cluster, fleet_of, _builder(request, verdict), max_age)


def _stdio(request: ClusterRequest) -> ExitStatus:
    """Answer line by line until the input ends."""
    import json

    from numalign.scheduler.nrt.value import manifest
    from numalign.server.oracle import MAX_LINE_BYTES, Oracle

    files = [file for path in request.clusters for file in files_of(path)]
    loaded = [load_file_nodes(file, request) for file in files]
    tell(notice for one in loaded for notice in one.notices)
    fleet = merged((file, one.fleet) for file, one in zip(files, loaded, strict=True))
    oracle = Oracle(fleet.nodes, manifest)
    source, sink = sys.stdin.buffer, sys.stdout
    while line := source.readline(MAX_LINE_BYTES + 1):
        if line.isspace():
            continue
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):  # one answer, however long it is
            rest = source.readline(MAX_LINE_BYTES + 1)
        sink.write(json.dumps(oracle.answer(line)) + "\n")
        sink.flush()
    return ExitStatus.DONE
