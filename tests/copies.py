"""Processes that are copies of one that has imported everything, so that a start takes hundredths of a second.

They are processes with streams, signals and an end of their own, but what goes wrong while Python starts or imports
cannot be seen in them: `tests.cli.running.numalign` starts Python anew.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryFile

import pytest

from tests.cli.running import ENVIRONMENT, ROOT, Done
from tests.source_code import MODULES

LIBRARIES = ("concurrent.futures.process", "rich.console", "distributed.nanny")
TOGETHER = pytest.mark.together("copies")
"""Of tests that make some, so that mostly one worker has such a process."""
SECONDS = 120
"""In which a command has to end, however busy the machine is."""


@cache
def context() -> ForkServerContext:
    """Start the process that copies are made of, once."""
    found = get_context("forkserver")
    found.set_forkserver_preload([*LIBRARIES, *MODULES, __name__])
    forkserver.ensure_running()
    return found


def start(function: Callable[..., object], *arguments: object) -> ForkServerProcess:
    """Call a function of a module in a process of its own."""
    process = context().Process(target=_call, args=(function, *arguments), daemon=True)
    process.start()
    return process


def _call(function: Callable[..., object], *arguments: object) -> None:
    gc.freeze()  # looking through all that was imported for garbage would take longer than most of what is called
    function(*arguments)


def command(
    arguments: Sequence[str | Path],
    streams: Sequence[int | None],
    *,
    environment: Mapping[str, str] = ENVIRONMENT,
    program: str = "numalign.__main__:script",
    folder: Path = ROOT,
) -> ForkServerProcess:
    """Start a command in a folder; `streams` become its standard input, output and error; None: it has none."""
    given = [None if stream is None else Connection(os.dup(stream)) for stream in streams]
    process = start(_become, given, program, [*map(str, arguments)], dict(environment), str(folder))
    for one in given:
        if one is not None:
            one.close()
    return process


def run(
    *arguments: str | Path, environment: Mapping[str, str] = ENVIRONMENT, program: str = "numalign.__main__:script"
) -> Done:
    """Run a command to its end, with nothing on its standard input."""
    with TemporaryFile() as out, TemporaryFile() as err, open(os.devnull) as nothing:
        streams = (nothing.fileno(), out.fileno(), err.fileno())
        process = command(arguments, streams, environment=environment, program=program)
        process.join(SECONDS)
        assert process.exitcode is not None, "it does not end"
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
        return Done(process.exitcode, *texts)


def _become(
    streams: Sequence[Connection | None], program: str, arguments: list[str], environment: dict[str, str], folder: str
) -> None:
    """Be the command, as far as a copy can: Python's own streams are made as it makes them for C.UTF-8."""
    for place, stream in enumerate(streams):
        if stream is None:
            os.close(place)
        else:
            os.dup2(stream.fileno(), place)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [program, *arguments]
    given = [stream is not None for stream in streams]
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False) if given[0] else None
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False) if given[1] else None
    sys.stderr = (
        os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False) if given[2] else None
    )
    resolve_name(program)()
