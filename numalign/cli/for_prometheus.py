"""What `verify` does for Prometheus: a text file, once or again and again, or a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from numalign.cli.flags import Given, OwnFlag, flag, gathered
from numalign.cli.listen_options import Security, listening, security_options
from numalign.cli.stderr import say, tell
from numalign.errors import InputError
from numalign.exit_status import ExitStatus
from numalign.store.atomic import write_whole
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.results.node import VerifyResult

    Read = Callable[[], VerifyResult]

MOST_INTERVAL: Final = 5.0
"""Seconds between the two looks of a reading that a scrape waits for."""


class Target(NamedTuple):
    """Where metrics go."""

    textfile: str | None
    every: float | None
    listen: str | None
    security: Security

    def __bool__(self) -> bool:
        """Tell whether they go anywhere."""
        return self.textfile is not None or self.listen is not None


@gathered(
    security_options,
    flag("--textfile", metavar="FILE", help="write metrics for node_exporter, whole or not at all"),
    flag("--every", type=click.FloatRange(1), metavar="SECONDS", help="repeat --textfile until SIGTERM"),
    flag("--listen", cls=OwnFlag, metavar="HOST:PORT", help="serve metrics: /metrics, /healthz"),
)
def target_options(given: Given) -> None:
    """Add the flags; the command gets them as one argument, `target`."""
    target = Target(given.pop("textfile"), given.pop("every"), given.pop("listen"), given.pop("security"))
    if target.every is not None and target.textfile is None:
        raise click.UsageError("--every requires --textfile; fix: add --textfile FILE")
    if target.textfile is not None and target.listen is not None:
        raise click.UsageError("--textfile and --listen cannot be used together; fix: remove one")
    given["target"] = target


def write(path: str, text: str) -> None:
    """Write a text file, and tell what a person should know of it."""

    def into(file: BinaryIO) -> None:
        file.write(text.encode())

    tell(write_whole(path, into))


def keep_writing(read: Read, textfile: str, every: float) -> ExitStatus:
    """Write metrics again and again. What fails once it has succeeded is told, counted and tried again."""
    from numalign.cli.exporter import repeat
    from numalign.server.readings import Readings

    readings = Readings(read, lambda words: say(words, "warning: "), tell)
    written = False

    def step() -> None:
        nonlocal written
        text = readings.text()
        try:
            write(textfile, text)
        except InputError as error:
            if not written:
                raise
            say(str(error), "warning: ")
        written = True

    return repeat(step, every)


def answer(read: Read, interval: float, listen: str, security: Security) -> ExitStatus:
    """Answer Prometheus; the first reading has to succeed before anybody is answered.

    Raises:
        UsageError: a reading takes longer than Prometheus waits.
    """
    if interval > MOST_INTERVAL:
        text = f"--listen requires --interval {MOST_INTERVAL:g} or less: Prometheus waits 10 s"
        raise click.UsageError(f"{text}; fix: lower --interval")
    start = listening(listen, security)
    from numalign.server.readings import Readings
    from numalign.server.service import log, say
    from numalign.server.watching import NodeService

    def failed(words: str) -> None:
        say({"level": "error", "event": "the node could not be read", "error": words})

    readings = Readings(read, failed, log)
    readings.text()
    start(lambda hosts: NodeService(readings.text, hosts))
    return ExitStatus.DONE
