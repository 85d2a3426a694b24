"""`kubectl numalign …`: the same commands, and what a cluster makes possible by asking `kubectl` itself.

kubectl brings its own context, namespace and credentials; numalign never reads one. What kubectl answers goes into
files of a temporary folder, and the ordinary commands read those.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NoReturn

import click

from numalign.cli import main_of
from numalign.cli.asked_by_kubectl import Why, inside, observed_of, there_then
from numalign.cli.options import Flag, OwnFlag, flag
from numalign.cli.root import CONTEXT_SETTINGS, LazyGroup, debug_option, version_option, with_help
from numalign.cli.stderr import say
from numalign.errors import InputError
from numalign.exit_status import ExitStatus
from numalign.model.path import FieldError, dotted
from numalign.sources.text.json import loads

CLUSTER: Final = {
    "why": "explain why a pod's node rejected the pod, with fixes",
    "nodes": "show each node's policy, and what is free",
    "schedule": "predict which node of this cluster a pod gets",
    "capacity": "count how many more copies this cluster holds",
}
"""Command -> one line of help."""
TIMEOUT_SECONDS: Final = 120
"""In which kubectl has to answer."""


class Kubectl:
    """Calls kubectl, and shows each call if asked to."""

    def __init__(self, flags: tuple[str, ...], verbose: bool) -> None:
        """Remember the flags that go with every call: --context, --kubeconfig."""
        self._flags = flags
        self._verbose = verbose

    def get(self, *words: str) -> str:
        """Ask kubectl.

        Raises:
            InputError: it is not there, or says no; its own words are in the message.
        """
        command = ["kubectl", *words, *self._flags]
        if self._verbose:
            say(f"$ {shlex.join(command)}", "")
        try:
            # Words, never a shell; which kubectl is meant is the user's own PATH to say.
            done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)  # noqa: S603
        except OSError as error:
            raise InputError(f"kubectl cannot be run: {error.strerror}; fix: put kubectl on PATH", "kubectl") from None
        except subprocess.TimeoutExpired:
            raise InputError(f"no answer within {TIMEOUT_SECONDS} s", shlex.join(command)) from None
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
            raise InputError(told.splitlines()[-1], shlex.join(command))
        return done.stdout.decode("utf-8", "replace")

    def object(self, *words: str) -> Mapping[str, object]:
        """Ask kubectl for an object in JSON."""
        try:
            data = loads(self.get(*words, "-o", "json"))
        except (ValueError, RecursionError):
            raise InputError("kubectl did not answer with JSON", shlex.join(words)) from None
        if not isinstance(data, Mapping):
            raise InputError("kubectl did not answer with an object", shlex.join(words))
        return data

    def try_get(self, what: str, *words: str) -> str | None:
        """Ask for something that may be missing; a note says what is then done without."""
        try:
            return self.get(*words)
        except InputError as error:
            say(f"{what}: {error}", "note: ")
            return None


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


def _kubectl(context: str | None, kubeconfig: str | None, verbose: bool) -> Kubectl:
    flags = ([f"--context={context}"] if context else []) + ([f"--kubeconfig={kubeconfig}"] if kubeconfig else [])
    return Kubectl(tuple(flags), verbose)


@contextmanager
def _folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="kubectl-numalign-") as name:
        yield name


def _write(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


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
    kubectl = _kubectl(context, kubeconfig, verbose)
    words = ["get", "pod", pod, *(["-n", namespace] if namespace else [])]
    found = kubectl.object(*words)
    where = _node_of(found, pod)
    given = {"-n": namespace, "--machine": machine, "--node": node, "--context": context, "--kubeconfig": kubeconfig}
    words = [word for name, text in given.items() if text is not None for word in (name, text)]
    with _folder() if keep is None else _made(keep) as folder:
        asked = _Around(kubectl, folder, where, found)
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


def _node_of(pod: Mapping[str, object], name: str) -> str:
    where = inside(pod, "spec").get("nodeName")
    if where is None:
        raise InputError("the pod has no node yet; fix: run kubectl numalign schedule", f"pod {name}")
    if not isinstance(where, str) or len(where) > 253 or not _NAME.fullmatch(where):
        raise InputError("spec.nodeName is not a valid node name", f"pod {name}")
    return where


_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class _Around:
    """Asks for what is around a pod, writes it into files, and notes what cannot be known."""

    def __init__(self, kubectl: Kubectl, folder: str, node: str, pod: Mapping[str, object]) -> None:
        self.kubectl = kubectl
        self.folder = folder
        self.node = node
        self.pod = pod
        self.unknown: list[str] = []
        self._nrt: str | None = None

    def write(self, name: str, data: object) -> str:
        """Write a file of JSON; returns its path."""
        return _write(self.folder, name, json.dumps(data))

    def arguments(self, machine: str | None) -> list[str]:
        """Ask for the node, the kubelet's settings, the other pods, and the machine if none is given."""
        version = self._release()
        config = self.kubectl.try_get(
            "the kubelet's settings are not readable", "get", "--raw", f"/api/v1/nodes/{self.node}/proxy/configz"
        )
        settings = [] if config is None else ["--kubelet-config", _write(self.folder, "configz.json", config)]
        beside = self._beside()
        if machine is None or config is None:
            missing = "the node has no NodeResourceTopology object"
            words = ("get", "noderesourcetopologies", self.node, "-o", "json")
            self._nrt = self.kubectl.try_get(missing, *words)
        if machine is None and self._nrt is None:
            raise InputError("its hardware is unknown; fix: add --machine", f"node {self.node}")
        hardware = ["--machine", machine or _machine_file(self.folder, self.node, self._nrt or "")]
        if machine is None:
            self.unknown.append("CPU ids and distances of the machine (its topology object has amounts)")
        return [*version, *(settings or self._policies()), *beside, *hardware]

    def _release(self) -> list[str]:
        """Name the node's own kubelet."""
        text = self.kubectl.try_get(
            "the release of the kubelet is not readable", "get", "node", self.node, "-o", "json"
        )
        version = inside(inside(_parsed(text), "status"), "nodeInfo").get("kubeletVersion")
        if not isinstance(version, str):
            self.unknown.append(f"release of the kubelet of {self.node}")
            return []
        return _version_flags(version)

    def _policies(self) -> list[str]:
        """Take policy and scope from the node's topology object, where the kubelet's settings are not readable."""
        from numalign.scheduler.nrt.value import CPU_MANAGER, attribute, manager_config
        from numalign.sources.cluster.nrt import read_nrt

        thing = _parsed(self._nrt)
        if not isinstance(thing, Mapping):
            say("the kubelet's settings are unknown: used ideal defaults", "note: ")
            self.unknown.append("kubelet settings (used ideal defaults)")
            return []
        try:
            nrt = read_nrt(thing).nrt
        except FieldError as error:
            raise InputError(f"{dotted(error.path)}: {error.message}", f"topology object of {self.node}") from None
        manager, cpus = manager_config(nrt), attribute(nrt.attributes, CPU_MANAGER)
        say("policy and scope come from the node's topology object; other settings are ideal defaults", "note: ")
        self.unknown.append("kubelet settings but policy and scope (used ideal defaults)")
        known = ["--cpu-manager-policy", cpus] if cpus in ("none", "static") else []
        return ["--policy", manager.policy, "--scope", manager.scope, *known]

    def _beside(self) -> list[str]:
        """Ask for the other pods, and take those that were there when the kubelet decided."""
        words = ("get", "pods", "-A", f"--field-selector=spec.nodeName={self.node}", "-o", "json")
        text = self.kubectl.try_get("the pods of the node are not readable: the node counts as empty", *words)
        if text is None:
            self.unknown.append("pods on the node (the node counts as empty)")
            return []
        answer = _parsed(text)
        listed = answer.get("items") or [] if isinstance(answer, Mapping) else None
        if not isinstance(listed, list):
            raise InputError("kubectl did not answer with a list of pods", f"node {self.node}")
        there = there_then(self.pod, listed)
        if there.later or there.ended:
            counts = f"skipped {there.later} pods that started later, counted {there.ended} that have ended since"
            say(f"as of {there.at}, the time of the kubelet's decision: {counts}", "note: ")
        if there.pods:
            self.unknown.append("CPUs and devices of the running pods (numalign admits these pods again, in order)")
        if there.at:
            self.unknown.append("pods that were deleted after the kubelet's decision")
        data = {"kind": "List", "apiVersion": "v1", "items": there.pods}
        return ["--beside", self.write("beside.json", data), "--node-name", self.node]


def _parsed(text: str | None) -> object:
    """Read an answer; what is no JSON is no answer."""
    try:
        return loads(text or "null")
    except (ValueError, RecursionError):
        raise InputError("kubectl did not answer with JSON", "kubectl") from None


def _version_flags(text: str) -> list[str]:
    """Name the node's own kubelet, if numalign knows that release; a distribution's suffix says nothing."""
    from numalign.kubelet.releases.table import parse_version

    plain = text.partition("+")[0].partition("-")[0]
    try:
        parse_version(plain)
    except InputError as error:
        say(f"kubelet {text} of the node is unknown to numalign; decided as the newest: {error}", "note: ")
        return []
    return ["--kubelet-version", plain]


def _machine_file(folder: str, node: str, nrt: str) -> str:
    """Make a machine of the node's topology object; what it does not say is filled in, and told."""
    from numalign.sources.machine.dump import to_yaml
    from numalign.tasks.cluster import ClusterRequest, load_cluster

    loaded = load_cluster(ClusterRequest((_write(folder, "nrt.json", nrt),)))
    session = loaded.fleet.nodes[0].session if loaded.fleet.nodes else None
    if session is None:
        raise InputError("its topology object does not describe a machine", f"node {node}")
    say("the machine comes from the node's topology object: amounts are exact, CPU ids are estimates", "note: ")
    return _write(folder, "machine.yaml", to_yaml(session.node.machine._replace(name=node)))


@contextmanager
def _dump(kubectl: Kubectl) -> Iterator[str]:
    """Ask for the whole cluster; without topology objects nodes and pods must do."""
    whole = ["get", "nodes,noderesourcetopologies,pods", "-A", "-o", "json"]
    with _folder() as folder:
        text = kubectl.try_get("the cluster has no topology objects: the hardware comes from --machine-of", *whole)
        if text is None:
            text = kubectl.get("get", "nodes,pods", "-A", "-o", "json")
        yield _write(folder, "cluster.json", text)


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
        with _dump(_kubectl(context, kubeconfig, verbose)) as path:
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

    with _dump(_kubectl(context, kubeconfig, verbose)) as path:
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
