"""`numalign verify`: is it really so."""

from __future__ import annotations

import os

import click

from numalign.cli.options import flag, kubelet_options, machine_option, node_option, output_option, quiet_option
from numalign.cli.stderr import tell
from numalign.cli.view import Output, View, late_imports, show
from numalign.errors import HostError
from numalign.exit_status import ExitStatus
from numalign.kubelet.start.restore import ROOT
from numalign.results.node import ProcessResult, VerifyResult
from numalign.tasks.requests import KubeletRequest, NodeRequest

with late_imports():
    from numalign.render.json import verify as json
    from numalign.render.text import verify as text
    from numalign.tasks import verify as task


FAILING = {
    "drifted": ("drifted",),
    "unaligned": ("drifted", "spread", "floating", "incomplete"),
    "nothing": (),
}
"""--fail-on -> verdicts that make the exit status 1."""


VIEW = View[VerifyResult](
    document=lambda result: text.verify_document(result),
    wide=lambda result: text.verify_document(result, wide=True),
    data=lambda result: json.verify_json(result),
    own={"prometheus": lambda result: json.verify_metrics(result)},
)
PROCESS_VIEW = View[ProcessResult](
    document=lambda result: text.process_document(result),
    wide=lambda result: text.process_document(result),
    data=lambda result: json.process_json(result),
)


@click.command("verify")
@node_option
@flag("--node-name", metavar="NAME", help="Which node, where --node has several.")
@flag("--beside", metavar="FILE", help="The pods there as the API server has them (kubectl get pods -o json).")
@flag("--host-root", metavar="DIR", help="The tree that stands for the host's /, where it is not --node itself.")
@flag("--pid", type=int, help="Judge this process by itself, without any plan.")
@flag("--self", "own", is_flag=True, help="Judge this process by itself: inside a container.")
@flag("--deep", is_flag=True, help="Count the pages of every process; needs root or CAP_SYS_PTRACE.")
@machine_option(without="the node's own")
@kubelet_options
@flag(
    "--fail-on",
    type=click.Choice(list(FAILING)),
    default="drifted",
    show_default=True,
    help="What makes the exit status 1.",
)
@output_option(VIEW)
@quiet_option
def command(
    node: str | None,
    node_name: str | None,
    beside: str | None,
    host_root: str | None,
    pid: int | None,
    own: bool,
    deep: bool,
    machine: str | None,
    kubelet: KubeletRequest,
    fail_on: str,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Compare the kubelet's plan with control groups, threads, memory and devices: is it really so.

    Without --node it is this host, which takes root. Nothing is changed. The exit status is 1 when a container drifted
    from its plan; --fail-on unaligned counts those that are spread or floating, too.

    \b
    Examples:
      numalign verify
      numalign verify --node worker-1.tar.xz -o wide
      numalign verify --self
      numalign verify -o prometheus > /var/lib/node_exporter/numalign.prom
    """
    if own or pid is not None:
        if node is not None or not PROCESS_VIEW.offers(output):
            raise click.UsageError("--pid and --self cannot be used with --node and prometheus; fix: remove one kind")
        alone = task.verify_process(os.getpid() if pid is None else pid, host_root or "/")
        if not quiet:
            show(PROCESS_VIEW, alone, output)
        return ExitStatus.NO if alone.verdict in FAILING[fail_on] else ExitStatus.DONE
    source = node
    if source is None:
        source = f"{host_root.rstrip('/')}{ROOT}" if host_root else ROOT
        if not os.path.isdir(source):
            raise HostError("no kubelet on this host; fix: add --node SOURCE", source)
    result = task.verify(NodeRequest(source, node_name, beside), machine, kubelet, host_root=host_root, deep=deep)
    tell(result.notices)
    if not quiet:
        show(VIEW, result, output)
    return ExitStatus.NO if any(one.verdict in FAILING[fail_on] for one in result.containers) else ExitStatus.DONE
