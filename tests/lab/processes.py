"""Processes of a guest: copies of the one that asks for them, which do one thing and then sleep for ever."""

from __future__ import annotations

import mmap
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.lab.shapes import MIB, LabPod

_HUGETLB, _OF_2MIB, _OF_1GIB = 0x40000, 21 << 26, 30 << 26
"""Flags of mmap that Python does not name: huge pages, and of which size."""


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


def in_group(group: Path, pod: LabPod) -> int:
    """Run a process in a control group that writes to all memory of a pod."""

    def work() -> object:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        return (
            _touch(pod.touched, mmap.MAP_PRIVATE, 4096),
            _touch(pod.shared, mmap.MAP_SHARED, 4096),
            _touch(pod.huge, mmap.MAP_PRIVATE | _HUGETLB | _OF_2MIB, 2 * MIB),
            _touch(pod.giant << 10, mmap.MAP_PRIVATE | _HUGETLB | _OF_1GIB, MIB << 10),
        )

    return start(work)


def on_cpus(first: set[int], then: set[int], *, busy: bool) -> int:
    """Run a process of the host that is bound to the first CPUs, and may then use others.

    A busy one never sleeps; it is a real-time one, which the kernel does not move to balance load or memory.
    """

    def work() -> None:
        os.sched_setaffinity(0, first)
        if busy:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setaffinity(0, then)

    return start(work, time.monotonic if busy else signal.pause)


def _touch(size: int, flags: int, page: int) -> mmap.mmap | None:
    """Map so many MiB that belong to no file, and write to each page."""
    if not size:
        return None
    memory = mmap.mmap(-1, size * MIB, flags=mmap.MAP_ANONYMOUS | flags)
    for place in range(0, size * MIB, page):
        memory[place] = 1
    return memory
