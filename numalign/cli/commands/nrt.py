"""`numalign nrt export` and `numalign nrt check`: the objects by which a node tells schedulers of its NUMA nodes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import click

from numalign.cli import exporter
from numalign.cli.cluster_options import CLUSTER_OPTIONS, cluster_request
from numalign.cli.exporter import Seen
from numalign.cli.exporter import command as command_of
from numalign.cli.flags import Command, Given, OwnFlag, flag, gathered
from numalign.cli.options import answer_options, kubelet_options, machine_option, node_option
from numalign.cli.view import Output, View, late_imports, show, tell_and_show
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.results.cluster import NRTCheckResult
from numalign.scheduler.nrt.export import ExportOptions, Like
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.tasks.nrt import NodesRequest, check_nrts, export_nrts, load_nodes, load_published
from numalign.tasks.requests import NodeRequest
from numalign.values import NamedTuple

with late_imports():
    from numalign.render.json import nrt as json
    from numalign.render.text import nrt as text


WATCH_SECONDS = 5.0
"""Seconds between two looks of `--watch`."""


class Checked(NamedTuple):
    """An answer of `nrt check`, and what is told beside it."""

    result: NRTCheckResult
    notices: Sequence[Notice]


EXPORT_VIEW = View[Sequence[NodeResourceTopology]](
    data=lambda objects: json.manifests(objects),
    names=lambda objects: (one.name for one in objects),
)
CHECK_VIEW = View[Checked](
    document=lambda checked: text.check_document(checked.result),
    data=lambda checked: json.check_json(checked.result, checked.notices),
)


@click.group("nrt")
def command() -> None:
    """Write or check NodeResourceTopology objects, which show schedulers the NUMA nodes.

    \b
    Examples:
      numalign nrt export --machine node-a.yaml --kubelet-config config.yaml | kubectl apply -f -
      numalign nrt check published.yaml --machine node-a.yaml --beside pods.json
    """


@gathered(
    node_option,
    machine_option(),
    kubelet_options,
    flag("--beside", metavar="FILE", help="pods already on the node"),
    flag("--node-name", metavar="NAME", help="name of the Node [default: the machine's]"),
    *CLUSTER_OPTIONS,
)
def _nodes(given: Given) -> None:
    """Add the flags that name a machine with its pods, or a cluster; the command gets one argument, `nodes`."""
    cluster = cluster_request(given)
    machine, kubelet, beside, name, node = (
        given.pop(key) for key in ("machine", "kubelet", "beside", "node_name", "node")
    )
    if cluster is not None and (machine or beside or node):
        raise click.UsageError("--cluster and --state cannot be used with flags of one node; fix: remove one kind")
    at = NodeRequest(node, name, beside) if node else None
    given["nodes"] = NodesRequest(machine=machine, kubelet=kubelet, beside=beside, name=name, cluster=cluster, node=at)


def _like(function: Command) -> Command:
    return flag(
        "--like",
        cls=OwnFlag,
        type=click.Choice(["numalign", "rte", "nfd"]),
        default="numalign",
        show_default=True,
        help="how to count: as the kubelet or an exporter",
    )(function)


@command.command("export", short_help="write objects of a node or a cluster")
@_nodes
@_like
@flag("--fingerprint/--no-fingerprint", default=True, show_default=True, help="add the hash of the pods")
@flag("--only-exclusive", is_flag=True, help="hash only pods with exclusive resources")
@flag("--placement", is_flag=True, help="add the NUMA nodes of each container")
@flag("--watch", is_flag=True, help="repeat, and write only what changed")
@flag("--exec", "execute", metavar="CMD", help="with --watch: send new objects to CMD as JSON")
@flag(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    default=WATCH_SECONDS,
    show_default=True,
    help="time between two looks",
)
@answer_options(EXPORT_VIEW)
def export_command(
    nodes: NodesRequest,
    like: Like,
    fingerprint: bool,
    only_exclusive: bool,
    placement: bool,
    watch: bool,
    execute: str | None,
    interval: float,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Write the NodeResourceTopology objects (v1alpha2) of a node or a cluster.

    \b
    Examples:
      numalign nrt export --machine hgx-h100 --policy single-numa-node
      numalign nrt export --cluster cluster.yaml -o json | kubectl apply -f -
      numalign nrt export --node /var/lib/kubelet --watch --exec 'kubectl apply --server-side -f -'
    """
    if execute is not None and not watch:
        raise click.UsageError("--exec requires --watch; fix: add --watch")
    options = ExportOptions(like, fingerprint, only_exclusive, placement)

    def look() -> Seen:
        loaded = load_nodes(nodes)
        return Seen(export_nrts(loaded.fleet, options), loaded.notices)

    if watch:
        return exporter.watch(
            look, partial(_show_new, output, quiet) if execute is None else command_of(execute), interval
        )
    seen = look()
    tell_and_show(EXPORT_VIEW, seen.objects, output, seen.notices, quiet=quiet)
    return ExitStatus.DONE


def _show_new(output: Output, quiet: bool, objects: Sequence[NodeResourceTopology]) -> bool:
    """Print new objects at once, so that whoever reads a pipe has them."""
    if not quiet:
        if output == "yaml":
            click.echo("---")
        show(EXPORT_VIEW, objects, output)
        sys.stdout.flush()
    return True


@command.command("check", short_help="compare published objects with a node")
@click.argument("published", metavar="FILE")
@_nodes
@_like
@answer_options(CHECK_VIEW)
def check_command(published: str, nodes: NodesRequest, like: Like, output: Output, quiet: bool) -> ExitStatus:
    """Compare published NodeResourceTopology objects (FILE, or -) with what the node would publish now.

    \b
    Examples:
      kubectl get noderesourcetopologies node-a -o yaml | numalign nrt check - --machine node-a.yaml --beside pods.json
      numalign nrt check published.json --cluster cluster.yaml --like rte

    Exit status: 0 the objects are right, 1 one is outdated or wrong, 2 wrong input.
    """
    objects = load_published(published)
    loaded = load_nodes(nodes)
    result = check_nrts(objects, loaded.fleet, ExportOptions(like))
    tell_and_show(CHECK_VIEW, Checked(result, loaded.notices), output, loaded.notices, quiet=quiet)
    return ExitStatus.DONE if result.true else ExitStatus.NO
