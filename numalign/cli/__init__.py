"""Runs a command line in the process and decides its exit status: `main`. The commands themselves are in `root`."""

from __future__ import annotations

import errno
import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any, NoReturn, cast

import click

from numalign.cli.root import Line, PipeGone, group
from numalign.cli.stderr import OutputError, say, silence
from numalign.errors import InputError, NumalignError, StartError, parted
from numalign.exit_status import ExitStatus

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What an OSError says when the output could not be written."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end with SystemExit of its exit status."""
    main_of(group, "numalign", sys.argv[1:] if arguments is None else arguments)


def main_of(root: click.Group, name: str, arguments: list[str]) -> NoReturn:
    """Run the command line of a group under a name, and end with SystemExit of its exit status."""
    closed = sys.stdout is None
    _open_streams()
    try:
        status = _run(arguments, root, name)
        sys.stdout.flush()
    except (PipeGone, BrokenPipeError):
        status = ExitStatus.PIPE_GONE
        silence(sys.stdout)
    except KeyboardInterrupt:
        status = ExitStatus.INTERRUPTED
    except OSError as error:
        why = "standard output is closed" if closed else error.strerror or error
        say(f"the output cannot be written: {why}")
        status = ExitStatus.WRONG_INPUT
        silence(sys.stdout)
    raise SystemExit(status)


def _open_streams() -> None:
    """Stand in for streams that the caller closed, and let no character that the terminal lacks stop the output."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 (for the life of the process)
    if sys.stdout is None:
        # It keeps its number from other files, and the system refuses the answer: it is open for reading only.
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        if isinstance(sys.stdout.buffer, FileIO):
            # With PYTHONUNBUFFERED Python drops, without a word, what a pipe does not take at once.
            encoding = sys.stdout.encoding
            sys.stdout = TextIOWrapper(BufferedWriter(cast(FileIO, sys.stdout.detach())), encoding)
        sys.stdout.reconfigure(errors="backslashreplace")


def _usage(error: click.ClickException) -> str:
    """Say what is wrong with a command line; names that are near are a hint of their own."""
    if isinstance(error, click.NoSuchOption):
        near = f"; hint: similar: {', '.join(sorted(error.possibilities))}" if error.possibilities else ""
        return f"unknown option {error.option_name}{near}"
    return error.format_message().rstrip(".")


def _answer(arguments: list[str], error: NumalignError) -> None:
    """Print the document that says why there is no answer, where a program waits for one."""
    if not error.answered:
        from numalign.cli.failure import print_failure

        print_failure(arguments, error)


def _run(arguments: list[str], root: click.Group = group, name: str = "numalign") -> int:
    """Run the command line and return its exit status; what went wrong is one line on standard error."""
    try:
        line = Line((*name.split(), *arguments))
        outcome: Any = root.main(arguments, prog_name=name, standalone_mode=False, obj=line)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return ExitStatus.WRONG_INPUT
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else name
        text = _usage(error)
        if len(parted(text)) == 1:
            text += f"; fix: see {command} --help"
        say(text)
        _answer(arguments, InputError(text))
        return ExitStatus.WRONG_INPUT
    except StartError as error:
        text = str(error)
        say(text if text.startswith("the kubelet would ") else f"the kubelet would not start: {text}")
        fix = "fix: for a configuration that starts, run numalign config check with the same flags"
        for note in getattr(error, "__notes__", () if error.where else (fix,)):
            say(note, "")
        _answer(arguments, error)
        return error.exit_status
    except NumalignError as error:
        say(str(error))
        _answer(arguments, error)
        return error.exit_status
    except (KeyboardInterrupt, click.Abort):
        return ExitStatus.INTERRUPTED
    except (PipeGone, BrokenPipeError, OutputError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            raise
        say(
            f"bug: {type(error).__name__}: {error}; fix: report the bug in the project's issue tracker, with the "
            "output of numalign --debug …"
        )
        return ExitStatus.BUG
    return outcome if isinstance(outcome, int) else 0
