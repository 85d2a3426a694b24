"""`numalign replay`: scenarios in, the kubelet's decisions out, one JSON object a line."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO, Final

import click

from numalign.cli.flags import flag
from numalign.cli.options import kubelet_version_option, quiet_option
from numalign.cli.pod_options import MAX_JOBS
from numalign.cli.stderr import counted, say
from numalign.errors import InputError, unreadable
from numalign.exit_status import ExitStatus
from numalign.kubelet.releases import NEWEST
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.kubelet.setup import Setup
from numalign.render.escape import in_json
from numalign.render.json import Data
from numalign.render.json.replay import replay_json
from numalign.sources.recorded import scenario
from numalign.store.reading import open_file
from numalign.tasks.replay import replay
from numalign.values import NamedTuple

SHORT_BYTES: Final = 4 << 20
"""A file up to this size is replayed by this process: others would take longer to start."""
PIECE_BYTES: Final = 1 << 18
"""So much of a file a process takes at once; a longer line is taken alone."""

Lines = Sequence[tuple[int, bytes | InputError]]


class Result(NamedTuple):
    """What came of one line."""

    answer: str
    """The JSON object that is printed."""
    good: bool
    bug: Exception | None


@click.command("replay")
@click.argument("file")
@flag("--jobs", type=click.IntRange(1, MAX_JOBS), metavar="N", help="processes for a long FILE [default: all cores]")
@kubelet_version_option
@quiet_option
def command(file: str, jobs: int | None, kubelet_version: str | None, quiet: bool) -> ExitStatus:
    """Replay the scenarios in FILE (-: standard input), plain or gzip, one JSON object a line.

    Prints one result a line, in order: what the kubelet decided, step by step.

    \b
    Example:
      numalign replay scenarios.jsonl.gz > decisions.jsonl

    Exit status: 0 every line is a scenario, whatever the answer, 2 a line is none.
    """
    asked = NEWEST if kubelet_version is None else parse_version(kubelet_version)
    good = broken = 0
    bug: Exception | None = None
    with _opened(file) as opened:
        for result in counted(_results(opened, asked, _processes(opened, jobs)), "scenarios"):
            good, broken = good + result.good, broken + (not result.good and result.bug is None)
            bug = bug or result.bug
            if not quiet:
                click.echo(result.answer)
    if bug is not None:
        raise bug
    if not broken:
        return ExitStatus.DONE
    wrong = "is not a scenario" if broken == 1 else "are not scenarios"
    say(f'{broken} of {broken + good} lines {wrong}; hint: see "error" in the result')
    return ExitStatus.WRONG_INPUT


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    """Open what is named; its output may fail as well, so only the opening is told as the file's."""
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open_file(name)
    except OSError as error:
        raise InputError(unreadable(error), name) from None


def _processes(file: BinaryIO, jobs: int | None) -> int:
    """Say how many processes share the work. Whoever writes into a pipe may wait for each answer: there it is one."""
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return 1
    if not stat.S_ISREG(status.st_mode) or (jobs is None and status.st_size <= SHORT_BYTES):
        return 1
    return jobs or os.cpu_count() or 1


def _results(file: BinaryIO, asked: Version, jobs: int) -> Iterator[Result]:
    lines = scenario.lines(file)
    if jobs == 1:
        return (_result(number, line, asked) for number, line in lines)
    from numalign.tasks.parallel import in_order

    pieces = ((asked, piece) for piece in _pieces(lines))
    return (
        # A bug shows itself again here, where `--debug` can show where it is.
        _result(number, line, asked) if result is None else result
        for (_, piece), results in in_order(_shared, pieces, jobs)
        for (number, line), result in zip(piece, results, strict=True)
    )


def _pieces(lines: Iterable[tuple[int, bytes | InputError]]) -> Iterator[Lines]:
    piece: list[tuple[int, bytes | InputError]] = []
    size = 0
    for number, line in lines:
        piece.append((number, line))
        size += len(line) if isinstance(line, bytes) else 0
        if size > PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _shared(work: tuple[Version, Lines]) -> list[Result | None]:
    """Answer lines in another process; None for one that is a bug's."""
    asked, piece = work
    results = [_result(number, line, asked) for number, line in piece]
    return [result if result.bug is None else None for result in results]


def _result(number: int, line: bytes | InputError, asked: Version) -> Result:
    answer: Data
    good, bug = False, None
    try:
        answer = _answer(line, asked)
        good = True
    except InputError as error:
        answer = {"line": number, "error": str(error)}
    except Exception as error:
        # Even a bug of numalign costs its own line only; it is reported in the end.
        answer = {"line": number, "error": f"bug: {type(error).__name__}: {error}"}
        bug = error
    return Result(in_json(json.dumps(answer, separators=(",", ":"))), good, bug)


def _answer(line: bytes | InputError, asked: Version) -> Data:
    if isinstance(line, InputError):
        raise line
    one = scenario.read_scenario(line)
    if one.start_error:
        return {"id": one.id, "startError": one.start_error}
    setup = Setup(one.machine, one.config, "kubelet", kubelet(one.version or asked))
    return {"id": one.id, **replay_json(replay(setup, one.steps))}
