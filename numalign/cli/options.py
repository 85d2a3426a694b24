"""The flags that several commands share. A flag that names a kubelet setting has the kubelet's own name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from numalign.errors import InputError, NumalignError
from numalign.kubelet.releases import EXACT, NEWEST_TEXT, OLDEST, PUBLISHED
from numalign.results.verdict import FAIL_ON
from numalign.tasks.requests import KubeletRequest, MachineName, NodeName, PodsRequest, SinceRequest, WhatIfRequest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from numalign.cli.view import View
    from numalign.sources.machine.changes import Changes

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
PREFIX = "NUMALIGN"
"""Of the variables of the environment that stand for flags."""
Given = dict[str, Any]
"""Parameter -> what was given, as click hands it to a command."""


def with_options(function: Command, options: Sequence[Decorator], gather: Callable[[Given], None]) -> Command:
    """Add options, the first one first in --help; `gather` turns what they give into one argument."""

    @wraps(function)
    def wrapped(**given: object) -> object:
        gather(given)
        return function(**given)

    decorated: Command = wrapped
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


class Flag(click.Option):
    """A flag of a command: NUMALIGN_FLAG sets it for all that have it, NUMALIGN_COMMAND_FLAG for one and wins."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names that numalign knows; else what click completes."""
        from numalign.cli.completion import complete

        found = None if isinstance(self.type, click.Choice) else complete(self.name or "", ctx, incomplete)
        return super().shell_complete(ctx, incomplete) if found is None else found

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Look into the environment; an empty variable is none."""
        name = self._set_by(ctx)
        if name is None:
            return None
        _variables_in_use(ctx)[name] = tuple(self.opts)
        return os.environ[name]

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Name the flag, and the variable where a wrong value comes from one: it stands nowhere on the line."""
        hint = super().get_error_hint(ctx)
        if ctx is None or ctx.get_parameter_source(self.name or "") is not ParameterSource.ENVIRONMENT:
            return hint
        return f"{hint} ({self._set_by(ctx)})"

    def _set_by(self, ctx: click.Context) -> str | None:
        """Name the variable that sets the flag of the command on the way; None: none does."""
        names = (name for prefix in self.prefixes(ctx) for name in variables(self, prefix))
        return next((name for name in names if os.environ.get(name)), None)

    def prefixes(self, ctx: click.Context) -> tuple[str, ...]:
        """Give what the variables that set it begin with, the one that wins first."""
        return (ctx.auto_envvar_prefix or PREFIX, PREFIX)


def _variables_in_use(ctx: click.Context) -> dict[str, tuple[str, ...]]:
    """Return variable -> names of the flag that it sets, for all commands on the way."""
    found: dict[str, tuple[str, ...]] = ctx.meta.setdefault(f"{__name__}.variables", {})
    return found


def name_variable(ctx: click.Context, error: NumalignError) -> None:
    """Add the variable to an error about a flag that one sets, or about the file that one names."""
    for variable, flags in _variables_in_use(ctx).items():
        value = os.environ[variable]
        if error.where.partition(" ")[0].rstrip(":") in flags or error.where.strip('"') in (value, *value.split()):
            error.where += f" ({variable})"
            return


class OwnFlag(Flag):
    """A flag that means something else than that of the same name of other commands: only its own variable sets it."""

    def prefixes(self, ctx: click.Context) -> tuple[str, ...]:
        """Give what its variable begins with."""
        return super().prefixes(ctx)[:1]


def complete_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file or a folder; the shell itself does it."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def variables(option: click.Option, prefix: str) -> list[str]:
    """Name the variables that set an option, one for each of its names: for every command, or for one by its prefix."""
    names = [name for name in option.opts if name.startswith("--")]
    return [f"{prefix}_{name.removeprefix('--').replace('-', '_').upper()}" for name in names]


def flag(*names: str, cls: type[Flag] = Flag, **attributes: Any) -> Decorator:
    """Add a flag, which the environment can set, too."""
    return click.option(*names, cls=cls, **attributes)


_SETTINGS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("--topology-manager-policy", "--policy"),
        "POLICY",
        "none, best-effort, restricted or single-numa-node.",
    ),
    (("--topology-manager-scope", "--scope"), "SCOPE", "container or pod."),
    (
        ("--topology-manager-policy-options",),
        "K=V,…",
        "prefer-closest-numa-nodes=true, max-allowable-numa-nodes=16.",
    ),
    (("--cpu-manager-policy",), "POLICY", "none or static."),
    (("--cpu-manager-policy-options",), "K=V,…", "full-pcpus-only=true, distribute-cpus-across-numa=true, …"),
    (("--memory-manager-policy",), "POLICY", "None or Static."),
    (("--reserved-memory",), "0:memory=1Gi;…", "Memory kept back, node by node."),
    (("--reserved-cpus",), "LIST", "CPUs that are never given out exclusively, 0-1,64."),
    (("--kube-reserved",), "cpu=1,…", "What Kubernetes daemons need."),
    (("--system-reserved",), "cpu=1,…", "What the operating system needs."),
    (("--eviction-hard",), "S<V,…", "Hard eviction thresholds, memory.available<100Mi."),
    (("--feature-gates",), "G=true,…", "CPUManagerPolicyAlphaOptions=true, …"),
)


def _parameter(names: tuple[str, ...]) -> str:
    return names[0].removeprefix("--").replace("-", "_")


kubelet_version_option: Decorator = flag(
    "--kubelet-version",
    metavar="1.N",
    help=f"Which kubelet decides: 1.{EXACT[1]} to {NEWEST_TEXT} exactly, "
    f"1.{OLDEST[1]} to 1.{EXACT[1] - 1} as far as known, 1.{PUBLISHED[1]} from published changes. "
    f"Without it: {NEWEST_TEXT}, the newest that was recorded.",
)


_KUBELET: tuple[Decorator, ...] = (
    kubelet_version_option,
    flag(
        "--kubelet-config",
        metavar="FILE",
        help="A KubeletConfiguration, what wraps one (docs/inputs.md), or /configz. Flags win over it.",
    ),
    flag("--config-dir", metavar="DIR", help="Drop-ins (*.conf) over the KubeletConfiguration, in text order."),
    *(flag(*names, _parameter(names), metavar=metavar, help=text) for names, metavar, text in _SETTINGS),
)


def kubelet_options(function: Command) -> Command:
    """Add the kubelet's flags; the command gets them as one argument, `kubelet`."""

    def gather(given: Given) -> None:
        settings = {names[0].removeprefix("--"): given.pop(_parameter(names)) for names, _, _ in _SETTINGS}
        given["kubelet"] = KubeletRequest(
            given.pop("kubelet_config"),
            given.pop("config_dir"),
            {flag: text for flag, text in settings.items() if text is not None},
            given.pop("kubelet_version"),
        )

    return with_options(function, _KUBELET, gather)


_CHANGES: tuple[Decorator, ...] = (
    flag(
        "--device",
        "devices",
        multiple=True,
        metavar="RESOURCE[@NODE]=N,…",
        help="Change --machine: so many devices on each NUMA node with CPUs, or on one (nvidia.com/gpu@0=4).",
    ),
    flag(
        "--hugepages",
        multiple=True,
        metavar="SIZE[@NODE]=AMOUNT,…",
        help="Change --machine: huge pages set aside on each NUMA node, or on one (1Gi@0=16Gi).",
    ),
    flag("--memory-per-numa-node", "memory", metavar="AMOUNT", help="Change --machine: the memory of each NUMA node."),
    flag("--nps", type=int, metavar="1|2|4", help="Change --machine: NUMA nodes a socket, as AMD's firmware asks."),
    flag("--snc", type=int, metavar="1|2|3|4", help="Change --machine: NUMA nodes a socket, as Intel's firmware asks."),
)


def machine_option(
    *, multiple: bool = False, without: str = "this host", cls: type[Flag] = Flag
) -> Callable[[Command], Command]:
    """Add `--machine`, and the flags that change one; `without` says what holds when it is left out."""
    text = "A machine file, a bundled machine (see `numalign machines`), a short form, or what tools print of one"
    several = "" if multiple else " (lscpu, topo -m …; several files are one machine)"
    named = flag(
        "-m", "--machine", cls=cls, metavar="MACHINE", multiple=True, help=f"{text}{several}; without it: {without}."
    )

    def gather(given: Given) -> None:
        asked = {name: given.pop(name) for name in ("devices", "hugepages", "memory", "nps", "snc")}
        names = given["machine"]
        if not multiple:
            given["machine"] = _machine_name(names[0], None, names[1:]) if names[1:] else names[0] if names else None
        if all(value in (None, ()) for value in asked.values()):
            return
        if not given["machine"]:
            raise click.UsageError(
                "--device, --hugepages, --memory-per-numa-node, --nps and --snc require --machine; fix: add --machine"
            )
        from numalign.sources.machine.changes import Changes

        changes = Changes(**asked)
        given["machine"] = (
            tuple(_machine_name(name, changes, ()) for name in names)
            if multiple
            else _machine_name(names[0], changes, names[1:])
        )

    return lambda function: with_options(function, (named, *_CHANGES), gather)


def _machine_name(name: str, changes: Changes | None, beside: tuple[str, ...]) -> MachineName:
    result = MachineName(name)
    result.changes, result.beside = changes, beside
    return result


def output_option(view: View[Any], *, without: str | None = None) -> Decorator:
    """Add `-o` with the outputs of a view; `without` tells what is printed if it is left out, where that differs."""
    return flag(
        "-o",
        "--output",
        type=click.Choice(view.outputs),
        metavar="FORM",
        default=("yaml" if view.document is None else "table") if without is None else None,
        show_default=without is None,
        help=f"How to print: {', '.join(view.outputs)}{f'; without it {without}' if without else ''}.",
    )


MAX_JOBS = 256
"""How many processes can be asked for."""
MAX_REPLICAS = 100_000
"""How many copies of a pod can be asked for."""


NAMES_OF_PODS: tuple[Decorator, ...] = (
    click.argument("pod", nargs=-1, metavar="POD…", shell_complete=complete_files),
    flag("-f", "--filename", "files", multiple=True, metavar="POD", help="The same as POD."),
)
_PODS: tuple[Decorator, ...] = (
    *NAMES_OF_PODS,
    flag(
        "--beside",
        metavar="FILE",
        help="Pods that are there already (kubectl get pods -o json), admitted first, oldest first.",
    ),
    flag(
        "--node-name",
        metavar="NAME",
        help="Which node, where --beside, --node or --slices has several; without it the machine's, or the only one.",
    ),
    flag(
        "--replicas",
        metavar="[ROLE=]N,…",
        help="Pods to try of each template (8), or of the templates of a role (worker=8,launcher=1); without it one.",
    ),
    flag("--gang", is_flag=True, help="Try as many pods of each template as its object asks for."),
    flag("--started", is_flag=True, help="Pods start before the next one comes; their init containers have ended."),
    flag("--static", is_flag=True, help="Pods are on their way to staticPodPath: critical, never evicted."),
    flag(
        "--allow-missing",
        metavar="RESOURCE",
        multiple=True,
        help="A device that pods may go without where the machine does not have it.",
    ),
)


def pods_arguments(function: Command) -> Command:
    """Add POD… and everything that says which pods come up; the command gets one argument, `pods`."""

    def gather(given: Given) -> None:
        names = (*given.pop("pod"), *given.pop("files"))
        # Whether two kubelets would start is a question of its own.
        instead = "," in (given.get("kubelet_version") or "") or given.get("started_pods") is not None
        if not names and not instead:
            raise click.UsageError("no POD given; fix: name a file, a folder, or - for standard input")
        every, by_role = _replicas(given.pop("replicas"))
        given["pods"] = PodsRequest(
            names=names,
            beside=given.pop("beside"),
            replicas=every,
            started=given.pop("started"),
            role_replicas=by_role,
            gang=given.pop("gang"),
            node_name=given.pop("node_name"),
            allow_missing=given.pop("allow_missing"),
            static=given.pop("static"),
        )

    return with_options(function, _PODS, gather)


def _replicas(text: str | None) -> tuple[int | None, dict[str, int]]:
    """Read `8`, `worker=8` or both: how many pods of every template, and of those of a role."""
    every: int | None = None
    by_role: dict[str, int] = {}
    for part in text.split(",") if text else ():
        role, named, number = part.rpartition("=")
        if not number.strip().isdecimal() or len(number) > 6 or not 1 <= int(number) <= MAX_REPLICAS:
            raise InputError(f"expected N or ROLE=N, numbers from 1 to {MAX_REPLICAS}, got {part!r}", "--replicas")
        if named:
            by_role[role.strip()] = int(number)
        else:
            every = int(number)
    return every, by_role


_SINCE: tuple[Decorator, ...] = (
    flag(
        "--without", metavar="NAME", multiple=True, help="This pod of those there ends before the first POD comes up."
    ),
    flag(
        "--started-pods",
        metavar="NAME,…",
        help="Of the pods there these have started: their init containers have ended. With --state it may stand alone.",
    ),
)


def since_options(function: Command) -> Command:
    """Add what happened to the pods there meanwhile; the command gets one argument, `since`."""

    def gather(given: Given) -> None:
        started = tuple(name for name in (given.pop("started_pods") or "").split(",") if name)
        given["since"] = SinceRequest(given.pop("without"), started)

    return with_options(function, _SINCE, gather)


_NODE_HELP = (
    "This node with what its pods hold now: a snapshot, /var/lib/kubelet, a must-gather, a sosreport, a PodResources "
    "answer or socket, a state file."
)
node_option: Decorator = flag("--node", metavar="SOURCE", help=_NODE_HELP)


def node_options(function: Command) -> Command:
    """Add `--node` for commands that go on from a node, and what to do where its files are damaged."""

    def gather(given: Given) -> None:
        if not given.pop("ignore_checksums"):
            return
        if given["node"] is None:
            raise click.UsageError("--ignore-checksums requires --node; fix: add --node")
        given["node"] = NodeName(given["node"])

    ignored = flag(
        "--ignore-checksums",
        is_flag=True,
        help="Go on with state files of --node whose checksum is wrong; the kubelet would not.",
    )
    return with_options(function, (node_option, ignored), gather)


def state_option(text: str = "A node that lives in this file: read, locked meanwhile, and written back.") -> Decorator:
    """Add `--state`."""
    return flag("--state", metavar="FILE", help=text)


_WHAT_IF: tuple[Decorator, ...] = (
    flag("--pod", "only", metavar="NAME", help="This pod alone; those before it count as there."),
    flag(
        "--without",
        metavar="NAME",
        multiple=True,
        help="As if a pod that came earlier had gone before the last one (or --pod) comes up.",
    ),
    flag(
        "--set",
        "amounts",
        metavar="CONTAINER:RESOURCE=AMOUNT",
        multiple=True,
        help="As if a container of the last pod (or --pod) asked for this amount.",
    ),
)


def what_if_options(function: Command) -> Command:
    """Add the flags that leave a pod out or change what one asks for; they come as one argument, `what_if`."""

    def gather(given: Given) -> None:
        given["what_if"] = WhatIfRequest(given.pop("only"), given.pop("without"), given.pop("amounts"))

    return with_options(function, _WHAT_IF, gather)


fail_on_option: Decorator = flag(
    "--fail-on", type=click.Choice(FAIL_ON), default="rejected", show_default=True, help="What makes the exit status 1."
)
quiet_option: Decorator = flag(
    "-q", "--quiet", count=True, help="Print no results and no notes; -qq: no warnings either. Errors are always told."
)


slices_option: Decorator = flag(
    "--slices",
    metavar="DUMP",
    help="Claimed devices beside those of the kubelet: what kubectl prints (`numalign dra check --help` has the "
    "command), or `numalign dra slices`.",
)
