"""The flags that several commands share. A flag that names a kubelet setting has the kubelet's own name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from numalign.errors import InputError, NumalignError
from numalign.kubelet.releases import NEWEST_TEXT, OLDEST, PUBLISHED
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
_IN_ENVIRONMENT = f"{__name__}.any"
"""Where a context keeps whether there are any."""
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
        if not _any_in_environment(ctx):
            return None
        names = (name for prefix in self.prefixes(ctx) for name in variables(self, prefix))
        return next((name for name in names if os.environ.get(name)), None)

    def prefixes(self, ctx: click.Context) -> tuple[str, ...]:
        """Give what the variables that set it begin with, the one that wins first."""
        return (ctx.auto_envvar_prefix or PREFIX, PREFIX)


def _any_in_environment(ctx: click.Context) -> bool:
    """Tell whether any variable may stand for a flag: as a rule there is none, and each flag is spared the look."""
    if _IN_ENVIRONMENT not in ctx.meta:
        ctx.meta[_IN_ENVIRONMENT] = any(name.startswith(PREFIX) for name in os.environ)
    there: bool = ctx.meta[_IN_ENVIRONMENT]
    return there


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
        "none, best-effort, restricted, single-numa-node",
    ),
    (("--topology-manager-scope", "--scope"), "SCOPE", "container or pod"),
    (
        ("--topology-manager-policy-options",),
        "K=V,…",
        "such as prefer-closest-numa-nodes=true",
    ),
    (("--cpu-manager-policy",), "POLICY", "none or static"),
    (("--cpu-manager-policy-options",), "K=V,…", "such as full-pcpus-only=true"),
    (("--memory-manager-policy",), "POLICY", "None or Static"),
    (("--reserved-memory",), "0:memory=1Gi;…", "memory withheld from pods, per NUMA node"),
    (("--reserved-cpus",), "LIST", "CPUs withheld from pods, such as 0-1,64"),
    (("--kube-reserved",), "cpu=1,…", "resources of Kubernetes daemons"),
    (("--system-reserved",), "cpu=1,…", "resources of the operating system"),
    (("--eviction-hard",), "S<V,…", "hard thresholds, such as memory.available<100Mi"),
    (("--feature-gates",), "G=true,…", "such as CPUManagerPolicyAlphaOptions=true"),
    (("--max-pods",), "N", "pods of a node, by which clouds reserve memory"),
)


def _parameter(names: tuple[str, ...]) -> str:
    return names[0].removeprefix("--").replace("-", "_")


kubelet_version_option: Decorator = flag(
    "--kubelet-version",
    metavar="1.N",
    help=f"release to replay, 1.{OLDEST[1]} to 1.{PUBLISHED[1]} [default: {NEWEST_TEXT}]",
)


_KUBELET: tuple[Decorator, ...] = (
    kubelet_version_option,
    flag(
        "--kubelet-config",
        metavar="FILE",
        help="KubeletConfiguration, or a file that contains one",
    ),
    flag("--config-dir", metavar="DIR", help="drop-ins (*.conf) over --kubelet-config"),
    flag("--instance-type", metavar="TYPE", help="EC2 instance type, such as p5.48xlarge"),
    flag("--pool", metavar="NAME", help="pool of nodes to use, if a file has several"),
    *(flag(*names, _parameter(names), metavar=metavar, help=text) for names, metavar, text in _SETTINGS),
)


def kubelet_options(function: Command) -> Command:
    """Add the kubelet's flags; the command gets them as one argument, `kubelet`."""

    def gather(given: Given) -> None:
        settings = {names[0].removeprefix("--"): given.pop(_parameter(names)) for names, _, _ in _SETTINGS}
        given["kubelet"] = KubeletRequest(
            config=given.pop("kubelet_config"),
            config_dir=given.pop("config_dir"),
            settings={flag: text for flag, text in settings.items() if text is not None},
            version=given.pop("kubelet_version"),
            instance=given.pop("instance_type"),
            pool=given.pop("pool"),
        )

    return with_options(function, _KUBELET, gather)


_CHANGES: tuple[Decorator, ...] = (
    flag(
        "--device",
        "devices",
        multiple=True,
        metavar="RESOURCE[@NODE]=N,…",
        help="set devices of each NUMA node of --machine, or of one",
    ),
    flag(
        "--hugepages",
        multiple=True,
        metavar="SIZE[@NODE]=AMOUNT,…",
        help="set huge pages of each NUMA node, or of one",
    ),
    flag("--memory-per-numa-node", "memory", metavar="AMOUNT", help="set memory of each NUMA node"),
    flag("--nps", type=int, metavar="1|2|4", help="set NUMA nodes of each socket, as AMD firmware"),
    flag("--snc", type=int, metavar="1|2|3|4", help="set NUMA nodes of each socket, as Intel firmware"),
)


def machine_option(
    *, multiple: bool = False, without: str = "this host", cls: type[Flag] = Flag
) -> Callable[[Command], Command]:
    """Add `--machine`, and the flags that change one; `without` says what holds when it is left out."""
    text = f"file, bundled name or short form [default: {without}]"
    named = flag("-m", "--machine", cls=cls, metavar="MACHINE", multiple=True, help=text)

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
        metavar="FORMAT",
        default=("yaml" if view.document is None else "table") if without is None else None,
        show_default=without is None,
        help=f"{', '.join(view.outputs)}{f' [default: {without}]' if without else ''}",
    )


MAX_JOBS = 256
"""How many processes can be asked for."""
MAX_REPLICAS = 100_000
"""How many copies of a pod can be asked for."""


NAMES_OF_PODS: tuple[Decorator, ...] = (
    click.argument("pod", nargs=-1, metavar="POD…", shell_complete=complete_files),
    flag("-f", "--filename", "files", multiple=True, metavar="POD", help="same as POD"),
)
_PODS: tuple[Decorator, ...] = (
    *NAMES_OF_PODS,
    flag(
        "--beside",
        metavar="FILE",
        help="pods already on the node",
    ),
    flag(
        "--node-name",
        metavar="NAME",
        help="node to use, if a file has several",
    ),
    flag(
        "--replicas",
        metavar="[ROLE=]N,…",
        help="copies of each pod template [default: 1]",
    ),
    flag("--gang", is_flag=True, help="test as many copies as each object requests"),
    flag("--started", is_flag=True, help="treat init containers of earlier pods as ended"),
    flag("--static", is_flag=True, help="treat the pods as static pods: critical"),
    flag(
        "--allow-missing",
        metavar="RESOURCE",
        multiple=True,
        help="let pods run without this device",
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
    flag("--without", metavar="NAME", multiple=True, help="end this pod before the first POD comes"),
    flag(
        "--started-pods",
        metavar="NAME,…",
        help="pods on the node whose init containers have ended",
    ),
)


def since_options(function: Command) -> Command:
    """Add what happened to the pods there meanwhile; the command gets one argument, `since`."""

    def gather(given: Given) -> None:
        started = tuple(name for name in (given.pop("started_pods") or "").split(",") if name)
        given["since"] = SinceRequest(given.pop("without"), started)

    return with_options(function, _SINCE, gather)


node_option: Decorator = flag("--node", metavar="SOURCE", help="snapshot, /var/lib/kubelet, must-gather, state file")


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
        help="accept state files with a wrong checksum",
    )
    return with_options(function, (node_option, ignored), gather)


def state_option(text: str = "keep the node in FILE between commands") -> Decorator:
    """Add `--state`."""
    return flag("--state", metavar="FILE", help=text)


_WHAT_IF: tuple[Decorator, ...] = (
    flag("--pod", "pod_name", metavar="NAME", help="explain this pod alone"),
    flag(
        "--without",
        metavar="NAME",
        multiple=True,
        help="remove an earlier pod first",
    ),
    flag(
        "--set",
        "amounts",
        metavar="CONTAINER:RESOURCE=AMOUNT",
        multiple=True,
        help="change a request",
    ),
)


def what_if_options(function: Command) -> Command:
    """Add the flags that leave a pod out or change what one asks for; they come as one argument, `what_if`."""

    def gather(given: Given) -> None:
        given["what_if"] = WhatIfRequest(given.pop("pod_name"), given.pop("without"), given.pop("amounts"))

    return with_options(function, _WHAT_IF, gather)


fail_on_option: Decorator = flag(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="rejected",
    show_default=True,
    metavar="WHAT",
    help="exit 1: rejected, unaligned, rail, impossible, nothing",
)
quiet_option: Decorator = flag("-q", "--quiet", count=True, help="hide results and notes; -qq hides warnings too")


slices_option: Decorator = flag(
    "--slices",
    metavar="DUMP",
    help="ResourceSlices and claims of the cluster",
)
