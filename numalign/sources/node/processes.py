"""Processes of a node: the kubelet that runs on it, and where threads may run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from numalign.analysis.verify.observed import Process, Thread, own_pages
from numalign.model import cpuset
from numalign.sources.host.running import processes, program
from numalign.sources.tree.folder import Tree


def running_kubelet() -> list[str] | None:
    """Return the command line of the running kubelet, without its name; None: none runs, or it may not be seen."""
    for process in processes():
        name = process.words[0].rpartition("/")[2] if process.words else ""
        if name == "kubelet" or (name == "hyperkube" and process.words[1:2] == ("kubelet",)):
            return list(process.words[1:])
    return None


def kubelet_version() -> str:
    """Ask the running kubelet's program for its version, `v1.32.10`; empty: it does not say."""
    import subprocess

    for process in processes():
        if process.name != "kubelet":
            continue
        path = program(process.pid)
        if path is None:
            return ""
        try:
            done = subprocess.run(  # noqa: S603 (the program that runs already, and only asked who it is)
                [path, "--version"], capture_output=True, text=True, timeout=5, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.strip().rpartition(" ")[2]
    return ""


_ALLOWED = re.compile(r"^(Cpus|Mems)_allowed_list:\s*(\S*)", re.M)
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of a process's flags."""


def process_of(tree: Tree, pid: int, *, deep: bool = False) -> Process | None:
    """Read one process; None: it is gone, which is no news (W-5).

    Args:
        tree: with /proc in it.
        pid: the process.
        deep: count its pages.
    """
    try:
        tids = [int(name) for name in tree.names(f"proc/{pid}/task") if name.isdecimal()]
    except OSError:
        return None
    threads = tuple(found for tid in tids if (found := thread(tree, pid, tid)) is not None)
    if not threads:
        return None
    pages = None
    if deep:
        with suppress(OSError):
            pages = own_pages(tree.read(f"proc/{pid}/numa_maps"))
    return Process(pid, threads, pages, _bound(tree, pid, threads))


def thread(tree: Tree, pid: int, tid: int) -> Thread | None:
    """Read one thread; None: it is gone."""
    try:
        status = tree.read(f"proc/{pid}/task/{tid}/status")
        stat = tree.read(f"proc/{pid}/task/{tid}/stat")
    except OSError:
        return None
    sets = {}
    for match in _ALLOWED.finditer(status):
        with suppress(cpuset.CPUSetError):
            sets[match[1]] = cpuset.parse(match[2])
    return Thread(tid, sets.get("Cpus", 0), sets.get("Mems", 0), _field(stat, 39))


def _field(stat: str, number: int) -> int:
    """Read a numbered field of a stat file; the name in field 2 may hold anything, so fields count after its `)`."""
    words = stat.rpartition(")")[2].split()
    try:
        return int(words[number - 3])
    except (IndexError, ValueError):
        return -1


def _bound(tree: Tree, pid: int, threads: tuple[Thread, ...]) -> bool:
    """Tell whether it is a kernel thread that is bound to its CPUs."""
    if len(threads) != 1:
        return False
    with suppress(OSError):
        flags = _field(tree.read(f"proc/{pid}/stat"), 9)
        return flags > 0 and bool(flags & _KERNEL_THREAD) and threads[0].cpus.bit_count() == 1
    return False


def other_processes(tree: Tree, known: Collection[int]) -> Iterator[Process]:
    """Yield the processes that are not among those known."""
    try:
        names = tree.names("proc")
    except OSError:
        return
    for name in names:
        if name.isdecimal() and int(name) not in known:
            found = process_of(tree, int(name))
            if found is not None:
                yield found
