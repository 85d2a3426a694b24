"""The `numalign` command line as a group: which commands there are, and how one is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final

import click

from numalign.cli.stderr import OutputError, tell, write
from numalign.errors import NumalignError

COMMANDS = {
    "admit": "Admit pods on a machine and print what each container gets.",
    "capacity": "Count how many more of a pod a cluster holds, aligned, and what is stranded.",
    "compare": "Compare every policy and scope, options and machines: who fits, how many, what is stranded.",
    "completion": "Print the script that lets a shell complete.",
    "config": "Check a kubelet configuration against a machine, or have one written.",
    "discover": "Show what this host is made of, and write it as a machine file.",
    "doctor": "Tell what on this host numalign can read, and which extras are there.",
    "dra": "Check claims against published devices, or have the devices written.",
    "explain": "Tell why pods are refused, and the nearest changes that would admit them.",
    "help": "Explain exit statuses, formats, the environment, machines.",
    "lint": "Tell what in a manifest keeps a pod from being aligned; no machine needed.",
    "machines": "List the bundled machines, or print one as a file.",
    "nrt": "Write or check NodeResourceTopology objects, from which schedulers learn of NUMA nodes.",
    "release": "End pods of a node that lives in a file (--state).",
    "snapshot": "Put this node into one archive, for the other commands to answer about it elsewhere.",
    "test": "Hold pods on machines to what a file expects of them.",
    "status": "Show who holds what on a node now, what is free, what is odd, and would its kubelet come up again.",
    "verify": "Compare the kubelet's plan with control groups, threads, memory and devices: is it really so.",
    "replay": "Replay scenarios, one JSON object a line.",
    "schedule": "Tell which node of a cluster a scheduler takes, and whether its kubelet agrees.",
    "serve": "Answer kube-scheduler as an extender, or a test suite as an oracle.",
    "simulate": "Run a trace on a cluster over time: schedulers, stale data, kubelets that refuse.",
    "version": "Print the version, and which kubelets it knows.",
}
"""Command -> one line of help, so that listing the commands imports none of them."""

MODULES = {"completion": "help", "doctor": "about", "version": "about"}
"""Command -> its module in `numalign.cli.commands`, of those that stand in another's; all others have their own."""

SECTIONS = {
    "Pods on a machine": ("admit", "explain", "compare", "lint", "replay", "test"),
    "Machines, nodes, kubelets": ("discover", "machines", "config", "snapshot", "status", "verify", "release"),
    "Clusters": ("schedule", "capacity", "simulate", "serve", "nrt", "dra"),
}
"""Heading of --help -> commands, those that one begins with first; all others come last."""

INTRODUCTION = """\
numalign predicts how a Kubernetes node aligns a pod's CPUs, memory and devices
on its NUMA nodes.

Begin with one of these:

  numalign admit pod.yaml --machine hgx-h100      what each container would get
  numalign explain pod.yaml --machine hgx-h100    why not, and what would help
  numalign discover                               what this host is made of

`numalign --help` lists all commands, `numalign machines` the machines that come
with it.
"""


class PipeGone(Exception):  # noqa: N818 (nothing is wrong)
    """The reader of our pipe went away. click would end the process itself, with status 1, if it saw the OSError."""


def import_command(name: str) -> click.Command:
    """Import a command by its name."""
    module = import_module(f"numalign.cli.commands.{MODULES.get(name, name)}")
    command: click.Command = getattr(module, name if name in MODULES else "command")
    return command


def _take_defaults(ctx: click.Context, command: click.Command, name: str, *, quiet: bool) -> None:
    """Let a project's own file set defaults of the command's flags."""
    from numalign.cli.defaults import check_keys, find_defaults, for_command

    found = find_defaults(lambda notice: None if quiet else tell([notice]))
    if found is not None:
        ctx.default_map = {name: for_command(command, name, found)}
        check_keys(found, _all_commands(name, command))


def _all_commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield the command that runs, then all others, each imported only when it is asked for."""
    yield name, command
    for other in COMMANDS:
        yield other, import_command(other)


def _show_help(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP: Final = click.Option(
    ["-h", "--help"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    allow_from_autoenv=False,
    callback=_show_help,
    help="Show this message and exit.",
)
"""What click would make for each command, with a look for translations, which there are none of."""


def version_option(program: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--version` to the command line of that name: click's own looks for translations, too."""

    def show_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            from numalign.version import __version__

            click.echo(f"{program} {__version__}", color=ctx.color)
            ctx.exit()

    return click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        allow_from_autoenv=False,
        callback=show_version,
        help="Show the version and exit.",
    )


def written_out(command: click.Command, words: Sequence[str]) -> list[str]:
    """Write a command's short flags out (`-o` is `--output`): click looks for names like them before it takes them.

    What may be the value of the flag before it stays, and so does the last word: its value is missing, if it has one,
    and the message quotes it.
    """
    long = {
        short: next(name for name in option.opts if name.startswith("--"))
        for option in command.params
        for short in option.opts
        if len(short) == 2 and short[0] == "-"
    }
    result = list(words)
    for place, word in enumerate(words[:-1]):
        if word == "--":
            break
        before = words[place - 1] if place else ""
        if word in long and (before == "-" or not before.startswith("-")):
            result[place] = long[word]
    return result


class LazyGroup(click.Group):
    """A group whose commands live in `numalign.cli.commands.NAME` and are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Name the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's signature)
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        return import_command(cmd_name)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:  # noqa: ARG002 (click's signature)
        """Take ours."""
        return HELP

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of one that there is not tell the nearest."""
        commands = self.list_commands(ctx)
        if args and args[0] not in commands and not args[0].startswith("-"):
            from numalign.model.words import nearest

            near = nearest(args[0], commands, 0.7)
            hint = f"; hint: similar: {near}" if near else ""
            raise click.UsageError(f"unknown command {args[0]!r}{hint}", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and name is not None:
            _take_defaults(ctx, command, name, quiet="-qq" in args)
            command.get_help_option = self.get_help_option  # type: ignore[method-assign]  # click offers no other place
            rest = written_out(command, rest)
        if command is not None and {"-h", "--help"} & set(rest):
            from numalign.cli.help import grouped

            grouped(command)
        return name, command, rest

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the group's own flags; --help prints already here."""
        try:
            return super().make_context(*args, **kwargs)
        except BrokenPipeError:
            raise PipeGone from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with --debug show where numalign itself failed."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise PipeGone from None
        except NumalignError as error:
            from numalign.cli.options import name_variable

            name_variable(ctx, error)
            raise
        except (click.ClickException, click.Abort, click.exceptions.Exit, OutputError):
            raise
        except Exception:
            if ctx.params["debug"]:
                import traceback

                write(traceback.format_exc())
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        placed = [name for names in SECTIONS.values() for name in names]
        others = tuple(name for name in COMMANDS if name not in placed)
        for heading, names in {**SECTIONS, "Others": others}.items():
            with formatter.section(heading):
                formatter.write_dl([(name, COMMANDS[name]) for name in names if name in COMMANDS])


CONTEXT_SETTINGS: Final = {
    "help_option_names": ["-h", "--help"],
    "auto_envvar_prefix": "NUMALIGN",
    "max_content_width": 100,
}
"""Of the command line, under whatever name it is run."""

debug_option = click.option("--debug", is_flag=True, help="Show the traceback when numalign itself fails.")


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings=CONTEXT_SETTINGS,
)
@version_option("numalign")
@debug_option
@click.pass_context
def group(context: click.Context, debug: bool) -> None:  # noqa: ARG001 (LazyGroup.invoke looks at it)
    """Predict how a Kubernetes node aligns a pod's CPUs, memory and devices on its NUMA nodes.

    numalign replays the kubelet's admission (Topology, CPU, Memory and Device Manager) on a machine that you describe,
    or on this host. Nothing is deployed, nothing is changed.
    """
    if context.invoked_subcommand is None:
        click.echo(INTRODUCTION, nl=False)
