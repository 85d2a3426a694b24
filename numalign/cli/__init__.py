"""The `numalign` command: a group that imports a command only when it runs, and the one place that ends the process.

Exit statuses: 0 done, 1 the answer is no, 2 wrong input, 3 host not readable, 4 the kubelet would not start, 70 a bug
in numalign, 130 interrupted, 141 the reader of our pipe went away.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from numalign import __version__
from numalign.errors import NumalignError

COMMANDS = {
    "admit": "Admit pods on a machine and print what each container gets.",
    "config": "Check a kubelet configuration against a machine, or have one written.",
    "discover": "Show what this host is made of, and write it as a machine file.",
    "machines": "List the bundled machines, or print one as a file.",
    "replay": "Replay scenarios, one JSON object a line.",
}
"""Command -> one line of help, so that listing the commands imports none of them."""

BUG = 70
INTERRUPTED = 130
PIPE_GONE = 141


class LazyGroup(click.Group):
    """A group whose commands live in `numalign.cli.NAME` and are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Name the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's signature)
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"numalign.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "NUMALIGN",
        "max_content_width": 100,
    },
)
@click.version_option(__version__, prog_name="numalign", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback when numalign itself fails.")
def group(debug: bool) -> None:
    """Predict how a Kubernetes node aligns a pod's CPUs, memory and devices on its NUMA nodes.

    numalign replays the kubelet's admission (Topology, CPU, Memory and Device Manager of v1.32) on a machine that you
    describe, or on this host. Nothing is deployed, nothing is changed.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Imports make many objects that live to the end; looking through them for garbage costs a tenth of the start.
    gc.set_threshold(100_000, 10, 10)
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = PIPE_GONE
    raise SystemExit(status)


def _run(arguments: list[str]) -> int:
    try:
        outcome: Any = group.main(arguments, prog_name="numalign", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except NumalignError as error:
        click.echo(f"numalign: {error}", err=True)
        return error.exit_status
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if "--debug" in arguments:
            raise
        click.echo(
            f"numalign: bug: {type(error).__name__}: {error}; please report it with the output of `numalign --debug …`",
            err=True,
        )
        return BUG
    return outcome if isinstance(outcome, int) else 0
