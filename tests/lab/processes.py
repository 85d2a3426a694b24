"""Processes of a guest: copies of the one that asks for them, which do one thing and then sleep for ever."""

from __future__ import annotations

import mmap
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.lab.shapes import MIB

_MAP_HUGETLB = 0x40000
_HUGE_PAGE = 2 * MIB
_SMALL_PAGE = 4096


def start(work: Callable[[], object], then: Callable[[], object] = signal.pause) -> int:
    """Let a copy of this process work, and return its id when it has; what the work gave stays in its memory.

    Args:
        work: what it does once.
        then: what it does again and again behind it.
    """
    done, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(told)
        answer = os.read(done, 1)
        os.close(done)
        assert answer, "a process of a pod failed"
        return pid
    try:
        kept = [work()]
        os.write(told, b"." * len(kept))
        while True:
            then()
    finally:
        os._exit(1)


def in_group(group: Path, touched: int, huge: int) -> int:
    """Run a process in a control group that writes to so many MiB of small and of huge pages."""

    def work() -> object:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        return _touch(touched, 0, _SMALL_PAGE), _touch(huge, _MAP_HUGETLB, _HUGE_PAGE)

    return start(work)


def on_cpus(first: set[int], then: set[int], *, busy: bool) -> int:
    """Run a process of the host that is bound to the first CPUs, and may then use others; a busy one never sleeps."""

    def work() -> None:
        os.sched_setaffinity(0, first)
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            pass
        os.sched_setaffinity(0, then)

    return start(work, time.monotonic if busy else signal.pause)


def _touch(size: int, flags: int, page: int) -> mmap.mmap | None:
    if not size:
        return None
    memory = mmap.mmap(-1, size * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags)
    for place in range(0, size * MIB, page):
        memory[place] = 1
    return memory
