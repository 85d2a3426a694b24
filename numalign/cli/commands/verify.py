"""`numalign verify`: is it really so."""

from __future__ import annotations

import os

import click

from numalign.cli import for_prometheus as prometheus
from numalign.cli.flags import flag
from numalign.cli.for_prometheus import Target, target_options
from numalign.cli.options import answer_options, kubelet_options, machine_option, node_option
from numalign.cli.stderr import tell
from numalign.cli.view import Output, View, faces_of, late_imports, show
from numalign.errors import HostError
from numalign.exit_status import ExitStatus
from numalign.kubelet.start.restore import ROOT
from numalign.results.node import ProcessResult, VerifyResult
from numalign.tasks.requests import KubeletRequest, NodeRequest

with late_imports():
    from numalign.render import verify_metrics as metrics
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
    own={"prometheus": lambda result: metrics.verify_metrics(result)},
)
PROCESS_VIEW = View[ProcessResult](
    document=lambda result: text.process_document(result),
    wide=lambda result: text.process_document(result),
    data=lambda result: json.process_json(result),
)


@click.command("verify")
@node_option
@flag("--node-name", metavar="NAME", help="node to use, if a file has several")
@flag("--beside", metavar="FILE", help="pods on the node (kubectl get pods -o json)")
@flag("--host-root", metavar="DIR", help="tree that stands for the host's /")
@flag("--pid", type=int, metavar="N", help="judge this process without a plan")
@flag("--self", "own", is_flag=True, help="judge the container in which numalign runs")
@flag(
    "--interval",
    type=click.FloatRange(0, 60),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="time between two looks at what runs; 0: one look",
)
@flag("--deep", is_flag=True, help="count the pages of every process, as root")
@target_options
@machine_option(without="that of the node")
@kubelet_options
@flag(
    "--fail-on",
    type=click.Choice(list(FAILING)),
    default="drifted",
    show_default=True,
    metavar="WHAT",
    help=f"exit 1: {', '.join(FAILING)}",
)
@answer_options(VIEW)
def command(
    node: str | None,
    node_name: str | None,
    beside: str | None,
    host_root: str | None,
    pid: int | None,
    own: bool,
    interval: float,
    deep: bool,
    target: Target,
    machine: str | None,
    kubelet: KubeletRequest,
    fail_on: str,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Check that running containers match the kubelet's plan. Reads only.

    Without --node: this host, as root.

    \b
    Examples:
      numalign verify --node worker-1.tar.xz
      numalign verify --textfile /var/lib/node_exporter/numalign.prom --every 60

    Exit status: 0 as planned, 1 a container fails --fail-on, 3 the node is unreadable.
    """
    if own or pid is not None:
        if node or target or not PROCESS_VIEW.offers(output):
            raise click.UsageError(
                "--pid and --self cannot be used with --node, --textfile, --listen and prometheus; fix: remove one kind"
            )
        return _alone(os.getpid() if pid is None else pid, host_root, fail_on, output if not quiet else None)
    asked = NodeRequest(node or _this_host(host_root), node_name, beside)
    outlook = bool(target) or not faces_of(VIEW, output)  # only metrics show it

    def read() -> VerifyResult:
        return task.verify(asked, machine, kubelet, host_root=host_root, interval=interval, deep=deep, outlook=outlook)

    if target.listen is not None:
        return prometheus.answer(read, interval, target.listen, target.security)
    if target.textfile is not None and target.every is not None:
        return prometheus.keep_writing(read, target.textfile, target.every)
    result = read()
    tell(result.notices)
    if target.textfile is not None:
        prometheus.write(target.textfile, metrics.verify_metrics(result))
    elif not quiet:
        show(VIEW, result, output)
    return ExitStatus.NO if any(one.verdict in FAILING[fail_on] for one in result.containers) else ExitStatus.DONE


def _alone(pid: int, host_root: str | None, fail_on: str, output: Output | None) -> ExitStatus:
    """Judge one process; None: print nothing."""
    alone = task.verify_process(pid, host_root or "/")
    if output is not None:
        show(PROCESS_VIEW, alone, output)
    return ExitStatus.NO if alone.verdict in FAILING[fail_on] else ExitStatus.DONE


def _this_host(host_root: str | None) -> str:
    source = f"{host_root.rstrip('/')}{ROOT}" if host_root else ROOT
    if not os.path.isdir(source):
        raise HostError("no kubelet on this host; fix: add --node SOURCE", source)
    return source
