"""One line for people on standard error, whatever the text holds, and the error of standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Self, TextIO, TypeVar

import click

from numalign.errors import InputError, Notice, parted
from numalign.exit_status import ExitStatus
from numalign.render.escape import guarded, printable
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.notices import Level

MAX_PLACES_NAMED = 3
"""How many things a warning names; the rest it counts."""
MAX_LINE = 120
"""How long a line may get by naming more places."""
LEAST_WIDTH = 40
"""What is no longer fits any terminal."""
SECONDS_OF_PATIENCE = 0.5
"""Seconds before a person wants to know how far it is, and between two such lines."""

Item = TypeVar("Item")


class OutputError(OSError):
    """An answer could not be written, for whatever reason."""


def say(text: str, label: str = "error: ") -> None:
    """Print one line, and a line for each thing to do; characters that would steer the terminal become escapes.

    On a terminal a line breaks at words, where it is too long for it; in a file it stays one line.
    """
    first, *rest = parted(text)
    _say_line(f"{label}{first}", 2)
    margin = "" if label == "error: " else "  "
    for each in rest:
        _say_line(f"{margin}{each}", len(margin) + 3)


def _say_line(line: str, hang: int) -> None:
    line = guarded(printable(line))
    if len(line) > LEAST_WIDTH and sys.stderr.isatty():
        from numalign.render.page.document import terminal_width
        from numalign.render.page.layout import hung

        line = "\n".join(hung(line, terminal_width(sys.stderr), hang))
    write(f"{line}\n")


def write(text: str) -> None:
    """Write to standard error; where that cannot be written, the answer is still the answer, and its status, too."""
    try:
        click.echo(text, nl=False, err=True)
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Send what else comes to a stream nowhere; Python would complain once more when it closes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(nowhere)


def tell(notices: Iterable[Notice]) -> None:
    """Print warnings and notes, one a line; what is said of several pods or places is said once and names them.

    `-q` leaves notes out, `-qq` warnings, too.
    """
    notices = tuple(notices)
    if not notices:
        return
    from numalign.notices import level, with_fix

    hidden = _hidden()
    about = grouped(
        ((weight, with_fix(one).message), one.path) for one in notices if (weight := level(one.code)) not in hidden
    )
    for (weight, message), paths in about.items():
        where = _places(list(dict.fromkeys(path for path in paths if path)), f"{weight}: : {parted(message)[0]}")
        say(f"{where}: {message}" if where else message, f"{weight}: ")


def _hidden() -> Sequence[Level]:
    """Name the levels that the command on the way leaves out."""
    ctx = click.get_current_context(silent=True)
    quiet = int((ctx.params.get("quiet") if ctx else 0) or 0)
    levels: tuple[Level, ...] = ("note", "warning")
    return levels[:quiet]


def _places(named: Sequence[str], rest: str) -> str:
    """Name the first few places, as many as a line has room for beside the rest of it."""
    shown = list(named[:MAX_PLACES_NAMED])
    while len(shown) > 1 and len(", ".join(shown)) + len(" and 999 more") + len(rest) > MAX_LINE:
        shown.pop()
    more = len(named) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def report(broken: Iterable[InputError], status: ExitStatus) -> ExitStatus:
    """Name the inputs that were left out, and return the exit status: wrong input beats any answer about the rest."""
    for error in broken:
        say(str(error))
        if status is not ExitStatus.KUBELET_FAILS:
            status = ExitStatus.WRONG_INPUT
    return status


def counted(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Pass items on; if that takes long and nothing else moves on the terminal, show how many there were."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield from items
        return
    with Progress() as progress:
        for number, item in enumerate(items, start=1):
            yield item
            progress.show_line(f"{number} {what} …")


class Progress:
    """Show how far long work is, on one line that goes away; only where a person sees it."""

    def __init__(self) -> None:
        self._last = monotonic()
        self._shown = 0
        self._seen = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            write(f"\r{' ' * self._shown}\r")

    def show(self, what: str, share: float) -> None:
        """Say what is under way and how much of it is done, from 0 to 1."""
        self.show_line(f"{what}: {100 * share:.0f} % …")

    def show_line(self, line: str) -> None:
        """Say how far it is, once a moment."""
        if self._seen and monotonic() - self._last > SECONDS_OF_PATIENCE:
            write(f"\r{line.ljust(self._shown)}")
            self._last, self._shown = monotonic(), len(line)


def waiting(path: str) -> None:
    """Say that somebody else is changing a file; only where a person sees it, since it is over in a moment."""
    if sys.stderr.isatty():
        say(f"waiting for {path}: another numalign is changing it", "note: ")


def but_claims(notices: Iterable[Notice], slices: str | None) -> Iterator[Notice]:
    """Leave out that documents without a pod were passed over, where slices are given: these may be the claims."""
    return (notice for notice in notices if slices is None or notice.code != "no-pod")
