"""The `numalign` command line as a group: which commands there are, and how one is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import click

from numalign.cli.stderr import OutputError, tell, write
from numalign.errors import NumalignError
from numalign.values import NamedTuple

COMMANDS = {
    "admit": "predict whether a node admits pods, and what they get",
    "explain": "explain why a pod is rejected or not aligned, with fixes",
    "compare": "compare policies, scopes, machines and kubelet releases",
    "lint": "find what keeps a manifest's pods from alignment",
    "test": "run tests: pods, machines and expected results",
    "status": "show what pods hold on a node, and what is free",
    "verify": "check that running containers match the kubelet's plan",
    "snapshot": "save a node in one archive, for --node elsewhere",
    "config": "check or suggest a KubeletConfiguration",
    "discover": "show this host's hardware, or save it as a machine file",
    "machines": "list the bundled machines, or print one",
    "schedule": "predict which node a scheduler chooses for a pod",
    "capacity": "count how many more copies of a pod fit",
    "dra": "check claims against devices, or write ResourceSlices",
    "nrt": "write or check NodeResourceTopology objects",
    "kwok": "write nodes for KWOK that reject pods as kubelets do",
    "release": "end pods on a node in a state file",
    "replay": "replay recorded scenarios, one JSON object a line",
    "serve": "answer kube-scheduler or a test suite",
    "simulate": "run a trace of pods on a cluster over time",
    "completion": "print the completion script of a shell",
    "doctor": "show what numalign can read on this host",
    "help": "explain exit statuses, formats, environment, machines",
    "version": "print the version and the kubelets it knows",
}
"""Command -> one line of help, so that listing the commands imports none of them."""

MODULES = {"completion": "help", "doctor": "about", "version": "about"}
"""Command -> its module in `numalign.cli.commands`, of those that stand in another's; all others have their own."""

SECTIONS = {
    "Pods": ("admit", "explain", "compare", "lint", "test"),
    "Nodes and clusters": (
        *("status", "verify", "snapshot", "config", "discover", "machines"),
        *("schedule", "capacity"),
    ),
    "For builders": ("dra", "nrt", "kwok", "release", "replay", "serve", "simulate"),
}
"""Heading of --help -> commands, those that one begins with first; all others come last."""

INTRODUCTION = """\
numalign predicts whether a Kubernetes node admits a pod, and which CPUs,
devices and memory it gets.

Begin with one of these:

  numalign admit pod.yaml --machine hgx-h100      what each container gets
  numalign explain pod.yaml --machine hgx-h100    why not, and tested fixes
  numalign discover                               the hardware of this host

`numalign --help` lists the commands, `numalign machines` the bundled machines.
"""


class Line(NamedTuple):
    """The command line, as the object of its context."""

    words: tuple[str, ...]


class PipeGone(Exception):  # noqa: N818 (nothing is wrong)
    """The reader of our pipe went away. click would end the process itself, with status 1, if it saw the OSError."""


def import_command(name: str) -> click.Command:
    """Import a command by its name."""
    module = import_module(f"numalign.cli.commands.{MODULES.get(name, name)}")
    command: click.Command = getattr(module, name if name in MODULES else "command")
    return command


def _take_defaults(ctx: click.Context, command: click.Command, name: str, *, quiet: bool) -> None:
    """Let a project's own file set defaults of the command's flags."""
    from numalign.cli.defaults_file import find_defaults

    found = find_defaults(lambda notice: None if quiet else tell([notice]))
    if found is not None:
        from numalign.cli.defaults import check_keys, for_command

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
    ["-h", "--help", "--help-all"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    allow_from_autoenv=False,
    callback=_show_help,
    help="show help; --help-all shows every option",
)
"""What click would make for each command, with a look for translations, which there are none of."""


def with_help(command: click.Command) -> click.Command:
    """Let a command, and each command below it, have our `--help`."""
    command.get_help_option = lambda ctx: HELP  # type: ignore[method-assign]  # noqa: ARG005 (click offers no other place)
    for one in below(command).values():
        with_help(one)
    return command


def below(command: click.Command) -> Mapping[str, click.Command]:
    """Return the commands of a group; a command that is none has none."""
    return command.commands if isinstance(command, click.Group) else {}


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
        help="show the version",
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
        return with_help(import_command(cmd_name))

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
            rest = written_out(command, rest)
        if command is not None and {"-h", "--help", "--help-all"} & set(rest):
            from numalign.cli.help import grouped

            grouped(command, every="--help-all" in rest)
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
            from numalign.cli.flags import name_variable

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

debug_option = click.option("--debug", is_flag=True, help="show the traceback of a bug in numalign")


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings=CONTEXT_SETTINGS,
)
@version_option("numalign")
@debug_option
@click.pass_context
def group(context: click.Context, debug: bool) -> None:  # noqa: ARG001 (LazyGroup.invoke looks at it)
    """Predict whether a Kubernetes node admits a pod, and which CPUs, devices and memory it gets. Changes nothing."""
    if context.invoked_subcommand is None:
        click.echo(INTRODUCTION, nl=False)
