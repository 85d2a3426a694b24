"""`kubectl numalign …`: the same commands, and what a cluster makes possible by asking `kubectl` itself.

kubectl brings its own context, namespace and credentials; numalign never reads one. What kubectl answers goes into
files of a temporary folder, and the ordinary commands read those.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Final, NoReturn

import click

from numalign.cli import main_of
from numalign.cli.around_pod import AroundPod, node_of, write_file
from numalign.cli.asked_by_kubectl import Why, observed_of
from numalign.cli.flags import Flag, OwnFlag, flag
from numalign.cli.kubectl_calls import Kubectl
from numalign.cli.root import CONTEXT_SETTINGS, LazyGroup, debug_option, version_option, with_help
from numalign.errors import InputError
from numalign.exit_status import ExitStatus

CLUSTER: Final = {
    "why": "explain why a pod's node rejected the pod, with fixes",
    "nodes": "show each node's policy, and what is free",
    "schedule": "predict which node of this cluster a pod gets",
    "capacity": "count how many more copies this cluster holds",
}
"""Command -> one line of help."""


class KubectlGroup(LazyGroup):
    """The commands of numalign, and those that ask the cluster."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return sorted({*super().list_commands(ctx), *CLUSTER})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Take the cluster's commands from here."""
        return with_help(COMMANDS[cmd_name]) if cmd_name in COMMANDS else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List what asks the cluster first."""
        with formatter.section("This cluster, through kubectl"):
            formatter.write_dl(list(CLUSTER.items()))
        super().format_commands(ctx, formatter)


@click.group(
    cls=KubectlGroup,
    no_args_is_help=True,
    context_settings=CONTEXT_SETTINGS,
)
@version_option("kubectl numalign")
@debug_option
def group(debug: bool) -> None:
    """Predict and explain how the nodes of a cluster align pods on their NUMA nodes.

    `why`, `nodes`, `schedule` and `capacity` call kubectl with its context and credentials.
    """


def _asking(function: click.Command) -> click.Command:
    """Add the flags of every command that asks kubectl."""
    function.params += [
        Flag(["--context"], metavar="NAME", help="context for kubectl"),
        Flag(["--kubeconfig"], metavar="FILE", help="configuration for kubectl"),
        Flag(["-v", "--verbose"], is_flag=True, help="show each call of kubectl"),
    ]
    return function


def _folder() -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory(prefix="kubectl-numalign-")


_PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": True}


@_asking
@click.command("why", context_settings=_PASSED_ON)
@click.argument("pod")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED, metavar="[FLAGS OF explain]…")
@flag("-n", "--namespace", metavar="NAME", help="namespace of the pod")
@flag(
    "-m",
    "--machine",
    cls=OwnFlag,
    metavar="MACHINE",
    help="machine of the node [default: its NRT object]",
)
@flag("--node", metavar="SOURCE", help="snapshot of the node, in place of the cluster")
@flag("--keep", metavar="DIR", help="keep the files that the cluster's answers are written to")
def _why(
    pod: str,
    flags: tuple[str, ...],
    namespace: str | None,
    machine: str | None,
    node: str | None,
    keep: str | None,
    context: str | None,
    kubeconfig: str | None,
    verbose: bool,
) -> int:
    """Explain why the node of POD rejected POD: explain with the node's settings and pods. Takes the flags of explain.

    The answer is compared with the pod's status.

    \b
    Examples:
      kubectl numalign why web-0
      kubectl numalign why web-0 -n shop --machine hgx-h100
      kubectl numalign why web-0 --keep web-0-files
    """
    kubectl = Kubectl(context, kubeconfig, verbose)
    words = ["get", "pod", pod, *(["-n", namespace] if namespace else [])]
    found = kubectl.object(*words)
    where = node_of(found, pod)
    given = {"-n": namespace, "--machine": machine, "--node": node, "--context": context, "--kubeconfig": kubeconfig}
    words = [word for name, text in given.items() if text is not None for word in (name, text)]
    with _folder() if keep is None else _made(keep) as folder:
        asked = AroundPod(kubectl, folder, where, found)
        pod_file = asked.write("pod.json", {key: value for key, value in found.items() if key != "status"})
        arguments = ["explain", pod_file, *(["--node", node] if node is not None else asked.arguments(machine))]
        why = Why(
            words=("kubectl", "numalign", "why", pod, *words, *flags),
            folder=folder,
            kept=keep is not None,
            node=where,
            observed=observed_of(found),
            unknown=tuple(asked.unknown),
        )
        return _inner([*arguments, *flags], why)


@contextmanager
def _made(folder: str) -> Iterator[str]:
    """Make a folder that stays."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", folder) from None
    yield folder


@contextmanager
def _dump(kubectl: Kubectl) -> Iterator[str]:
    """Ask for the whole cluster; without topology objects nodes and pods must do."""
    whole = ["get", "nodes,noderesourcetopologies,pods", "-A", "-o", "json"]
    with _folder() as folder:
        text = kubectl.try_get("the cluster has no topology objects: the hardware comes from --machine-of", *whole)
        if text is None:
            text = kubectl.get("get", "nodes,pods", "-A", "-o", "json")
        yield write_file(folder, "cluster.json", text)


def _over_cluster(command: str) -> click.Command:
    """Make a command that runs one of numalign's over this cluster."""

    @_asking
    @click.command(
        command,
        context_settings=_PASSED_ON,
        help=f"{CLUSTER[command].capitalize()}. Takes the flags of `numalign {command}`.",
    )
    @click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="POD… [FLAGS]…")
    def over(words: tuple[str, ...], context: str | None, kubeconfig: str | None, verbose: bool) -> int:
        with _dump(Kubectl(context, kubeconfig, verbose)) as path:
            return _inner([command, *words, "--cluster", path])

    return over


@_asking
@click.command("nodes")
def _nodes(context: str | None, kubeconfig: str | None, verbose: bool) -> ExitStatus:
    """Show the nodes of the cluster: policy, scope, and what is free on each NUMA node.

    \b
    Example:
      kubectl numalign nodes
    """
    from numalign.render.page.document import show
    from numalign.render.text.machines import nodes_document
    from numalign.tasks.cluster import ClusterRequest, load_cluster
    from numalign.tasks.nodes import list_nodes

    with _dump(Kubectl(context, kubeconfig, verbose)) as path:
        show(nodes_document(list_nodes(load_cluster(ClusterRequest((path,))).fleet)))
    return ExitStatus.DONE


def _inner(arguments: list[str], why: Why | None = None) -> int:
    """Run one of numalign's own commands; `why`: what `explain` should know of the call."""
    from numalign.cli.root import group as numalign

    outcome = numalign.main(arguments, prog_name="numalign", standalone_mode=False, obj=why)
    return outcome if isinstance(outcome, int) else 0


COMMANDS: Mapping[str, click.Command] = {
    "why": _why,
    "nodes": _nodes,
    "schedule": _over_cluster("schedule"),
    "capacity": _over_cluster("capacity"),
}


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `kubectl numalign …` and end with SystemExit of its exit status."""
    main_of(group, "kubectl numalign", sys.argv[1:] if arguments is None else arguments)


def complete() -> None:
    """Answer kubectl's own completion: a candidate a line, then what the shell should do (cobra's protocol)."""
    from click.shell_completion import ShellComplete

    words = sys.argv[1:]
    shell = ShellComplete(group, {}, "kubectl numalign", "_KUBECTL_NUMALIGN_COMPLETE")
    found = shell.get_completions(words[:-1], words[-1] if words else "")
    files = any(item.type == "file" for item in found)
    for item in found:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(f":{0 if files else 4}")
