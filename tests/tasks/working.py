"""What the worker processes of `test_parallel` do; importing it takes no time."""

from __future__ import annotations

import os
from pathlib import Path

from numalign.errors import InputError
from numalign.tasks import parallel
from numalign.tasks.parallel import Engine, run_all


def square(number: int) -> int:
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise InputError("three is too many", "work[3]")
    if number == 4:
        raise ValueError("and four")
    return number


def die_once(marker: str) -> str:
    """Kill the own process the first time."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os._exit(9)
    return path.name


def die_always(_: int) -> int:
    os._exit(9)


def ask_nobody() -> None:
    """Ask a Dask scheduler that is not there."""
    parallel.CONNECT_TIMEOUT = 0.2
    run_all(abs, [1], Engine(dask=True, address="tcp://127.0.0.1:1"))
