"""`numalign kwok export`: the nodes of a cluster for KWOK, with Stages that let a kubelet's word count."""

from __future__ import annotations

import click

from numalign.cli.cluster_options import cluster_options
from numalign.cli.options import answer_options
from numalign.cli.view import Output, View, late_imports, tell_and_show
from numalign.exit_status import ExitStatus
from numalign.results.cluster import KwokExport
from numalign.tasks.cluster import ClusterRequest, load_cluster

with late_imports():
    from numalign.render.json import kwok as json
    from numalign.tasks import kwok as task

VIEW = View[KwokExport](
    data=lambda export: json.objects(export),
    names=lambda export: (node.name for node in export.nodes),
)


@click.group("kwok")
def command() -> None:
    """Write nodes for KWOK, a cluster without kubelets, so that pods are rejected as on real nodes.

    \b
    Example:
      numalign kwok export --cluster cluster.yaml | kubectl apply --server-side -f -
    """


@command.command("export", short_help="write Nodes, their NUMA nodes and devices, and Stages")
@cluster_options
@answer_options(VIEW)
def export_command(request: ClusterRequest, output: Output, quiet: bool) -> ExitStatus:
    """Write the empty nodes of a cluster for KWOK.

    The objects are Node, NodeResourceTopology, ResourceSlice, DeviceClass and Stage. A pod waits until an annotation
    says what its kubelet answers; `numalign serve --stdio` gives the answers.

    \b
    Examples:
      numalign kwok export --cluster cluster.yaml | kubectl apply --server-side -f -
      numalign kwok export --cluster cluster.yaml -o json > kwok.json
    """
    loaded = load_cluster(request)
    export = task.export_nodes(loaded.fleet)
    tell_and_show(VIEW, export, output, loaded.notices, quiet=quiet)
    return ExitStatus.DONE
