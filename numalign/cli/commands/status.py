"""`numalign status`: a node as it is."""

from __future__ import annotations

import os

import click

from numalign.cli.flags import flag
from numalign.cli.options import answer_options, kubelet_options, machine_option, node_option
from numalign.cli.view import Output, View, html_page, late_imports, tell_and_show
from numalign.errors import HostError
from numalign.exit_status import ExitStatus
from numalign.kubelet.start.restore import ROOT
from numalign.results.node import StatusResult
from numalign.tasks.requests import KubeletRequest, NodeRequest

with late_imports():
    from numalign.render.json import node as json
    from numalign.render.picture import occupants
    from numalign.render.text import status as text
    from numalign.tasks import status as task


VIEW = View[StatusResult](
    document=lambda result: text.status_document(result),
    wide=lambda result: text.status_document(result, wide=True),
    data=lambda result: json.status_json(result),
    picture=lambda result: occupants.draw_occupants(result.picture),
    own={
        "html": lambda result: html_page(
            occupants.draw_occupants(result.picture), text.status_document(result, wide=True)
        )
    },
)


@click.command("status")
@node_option
@flag("--state", metavar="FILE", help="state file, the same as --node FILE")
@flag("--node-name", metavar="NAME", help="node to use, if a file has several")
@flag("--beside", metavar="FILE", help="pods on the node (kubectl get pods -o json)")
@machine_option(without="that of the node")
@kubelet_options
@answer_options(VIEW)
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
    """Show what pods hold on a node, what is free, and what a restart of the kubelet does.

    Without --node: this host, as root.

    \b
    Examples:
      numalign status
      numalign status --node worker-1.tar.xz
      numalign status --node /var/lib/kubelet --kubelet-version 1.32

    Exit status: 0, or 4 if the kubelet would not restart.
    """
    if node is not None and state is not None:
        raise click.UsageError("--state cannot be used with --node; fix: remove one")
    source = node or state
    if source is None:
        if not os.path.isdir(ROOT):
            raise HostError("no kubelet on this host; fix: add --node SOURCE", ROOT)
        source = ROOT
    result = task.status(NodeRequest(source, node_name, beside), machine, kubelet)
    tell_and_show(VIEW, result, output, result.notices, quiet=quiet)
    return ExitStatus.DONE if result.starts else ExitStatus.KUBELET_FAILS
