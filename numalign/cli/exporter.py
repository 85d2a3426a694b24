"""What goes on until it is told to end; `nrt export --watch`: look at nodes, and hand over the objects that changed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, cycle
from types import FrameType
from typing import Final

from numalign.cli.stderr import say, tell
from numalign.errors import InputError, Notice, NumalignError
from numalign.exit_status import ExitStatus
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.values import NamedTuple

MAX_COMMAND_S: Final = 60.0
"""Seconds after which a command that does not end is given up."""


class Seen(NamedTuple):
    """What one look found."""

    objects: tuple[NodeResourceTopology, ...]
    notices: tuple[Notice, ...]


Look = Callable[[], Seen]
Take = Callable[[Sequence[NodeResourceTopology]], bool]
"""Takes new objects; tells whether they arrived. What did not is given again at the next look."""


def watch(look: Look, take: Take, interval: float) -> ExitStatus:
    """Hand over every object at first, later those that changed, until the process is told to end (SIGTERM).

    A look that fails is told and tried again: a kubelet writes its files while they are read.

    Args:
        look: looks at the nodes.
        take: takes new objects.
        interval: seconds between two looks.

    Raises:
        NumalignError: the first look failed.
    """
    arrived: dict[str, NodeResourceTopology] = {}
    told: set[object] = set()
    looks: Iterator[Callable[[], Seen | None]] = chain([look], cycle([partial(_again, look, told)]))

    def step() -> None:
        seen = next(looks)()
        if seen is None:
            return
        new = [notice for notice in seen.notices if notice not in told]
        tell(new)
        told.update(new)
        changed = [one for one in seen.objects if arrived.get(one.name) != one]
        if changed and take(changed):
            arrived.update({one.name: one for one in changed})

    return repeat(step, interval)


def repeat(step: Callable[[], object], interval: float) -> ExitStatus:
    """Do something again and again, until the process is told to end (SIGTERM).

    Args:
        step: what is done; its errors end it.
        interval: seconds between two steps.
    """
    signal.signal(signal.SIGTERM, _end)
    others = sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, others)
    try:
        while True:
            step()
            time.sleep(interval)
    except _Ended:
        return ExitStatus.DONE
    finally:
        sys.unraisablehook = others


class _Ended(BaseException):
    """The process was told to end."""


def _end(_signal: int, _frame: FrameType | None) -> None:
    """Take SIGTERM also as the first process of a container, which nobody else ends."""
    raise _Ended


def _unraisable(others: Callable[[sys.UnraisableHookArgs], object], told: sys.UnraisableHookArgs) -> None:
    """End where SIGTERM came while Python freed an object: it would print the exception and forget it."""
    if issubclass(told.exc_type, _Ended):
        os._exit(ExitStatus.DONE)
    others(told)


def _again(look: Look, told: set[object]) -> Seen | None:
    """Look once more; None: it failed, which is said once until it succeeds or fails in another way."""
    try:
        seen = look()
    except NumalignError as error:
        if str(error) not in told:
            say(f"{error}; the last output stays valid", "warning: ")
        told.add(str(error))
        return None
    told.difference_update([one for one in told if isinstance(one, str)])
    return seen


def command(text: str) -> Take:
    """Make what hands objects to a command, as JSON on its standard input.

    Raises:
        InputError: there is no such command.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"is not a valid command line: {error}", f"--exec {text}") from None
    if not words:
        raise InputError("expected a command", "--exec")

    def take(objects: Sequence[NodeResourceTopology]) -> bool:
        from numalign.render.json.nrt import manifests

        written = json.dumps(manifests(objects)).encode()
        try:
            done = subprocess.run(words, input=written, check=False, timeout=MAX_COMMAND_S)  # noqa: S603 (asked for)
        except subprocess.TimeoutExpired:
            ended = f"was ended after {MAX_COMMAND_S:g} s"
        except OSError as error:
            raise InputError(f"cannot be run: {error.strerror or error}", f"--exec {words[0]}") from None
        else:
            if not done.returncode:
                return True
            how = "with status" if done.returncode > 0 else "by signal"
            ended = f"ended {how} {abs(done.returncode)}"
        say(f"{words[0]} {ended}; the next look passes the same objects", "warning: ")
        return False

    return take
