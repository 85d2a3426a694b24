"""`numalign status`: a node as it is."""

from __future__ import annotations

import os

import click

from numalign.cli.options import (
    flag,
    kubelet_options,
    machine_option,
    node_option,
    output_option,
    quiet_option,
)
from numalign.cli.stderr import tell
from numalign.cli.view import Output, View, late_imports, show
from numalign.errors import HostError
from numalign.exit_status import ExitStatus
from numalign.kubelet.start.restore import ROOT
from numalign.results.node import StatusResult
from numalign.tasks.requests import KubeletRequest, NodeRequest

with late_imports():
    from numalign.render.json import node as json
    from numalign.render.picture import canvas, occupants
    from numalign.render.text import status as text
    from numalign.tasks import status as task


VIEW = View[StatusResult](
    document=lambda result: text.status_document(result),
    wide=lambda result: text.status_document(result, wide=True),
    data=lambda result: json.status_json(result),
    picture=lambda result: occupants.draw_occupants(result.picture),
    own={
        "html": lambda result: canvas.page(
            occupants.draw_occupants(result.picture), text.status_document(result, wide=True)
        )
    },
)


@click.command("status")
@node_option
@flag("--state", metavar="FILE", help="A node that lives in this file, the same as --node FILE.")
@flag("--node-name", metavar="NAME", help="Which node, where --node has several.")
@flag("--beside", metavar="FILE", help="The pods there as the API server has them (kubectl get pods -o json).")
@machine_option(without="the node's own")
@kubelet_options
@output_option(VIEW)
@quiet_option
def command(
    node: str | None,
    state: str | None,
    node_name: str | None,
    beside: str | None,
    machine: str | None,
    kubelet: KubeletRequest,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Show who holds what on a node now, what is still free and for what, what is odd, and would its kubelet come up.

    Without --node it is this host, whose kubelet's files only root may read. With another --kubelet-version,
    --kubelet-config or --machine it tells whether the kubelet would come up after such a change. The exit status is 0,
    or 4 where the kubelet would not come up again.

    \b
    Examples:
      numalign status
      numalign status --node worker-1.tar.xz -o json
      numalign status --node /var/lib/kubelet --kubelet-version 1.32
      numalign status --state node.json
    """
    if node is not None and state is not None:
        raise click.UsageError("--state cannot be used with --node; fix: remove one")
    source = node or state
    if source is None:
        if not os.path.isdir(ROOT):
            raise HostError("no kubelet on this host; fix: add --node SOURCE", ROOT)
        source = ROOT
    result = task.status(NodeRequest(source, node_name, beside), machine, kubelet)
    tell(result.notices)
    if not quiet:
        show(VIEW, result, output)
    return ExitStatus.DONE if result.starts else ExitStatus.KUBELET_FAILS
