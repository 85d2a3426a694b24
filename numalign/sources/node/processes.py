"""Processes of a node: the kubelet that runs on it, and where threads may run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from numalign.analysis.verify.observed import Process, Thread, own_pages
from numalign.model import cpuset
from numalign.sources.host.running import processes, program
from numalign.sources.host.text import names_or_none, read_or_none
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


def process_of(tree: Tree, pid: int, before: Mapping[int, int], *, deep: bool = False) -> Process | None:
    """Read one process; None: it is gone, which is no news (W-5).

    Args:
        tree: with /proc in it.
        pid: the process.
        before: what `cpu_times` gave a while ago; empty: this is the only reading.
        deep: count its pages.
    """
    threads = tuple(found for tid in _numbers(tree, f"proc/{pid}/task") if (found := thread(tree, pid, tid, before)))
    if not threads:
        return None
    maps = read_or_none(tree, f"proc/{pid}/numa_maps") if deep else None
    stat = read_or_none(tree, f"proc/{pid}/stat") or ""
    name, flags = stat.partition("(")[2].rpartition(")")[0], _field(stat, 9)
    pages = None if maps is None else own_pages(maps)
    return Process(pid, threads, pages, name if name != "-" else "", flags > 0 and bool(flags & _KERNEL_THREAD))


def cpu_times(tree: Tree) -> dict[int, int]:
    """Read how long each thread of the node has run: its id -> ticks in user and kernel mode."""
    found = {}
    for pid in _numbers(tree, "proc"):
        for tid in _numbers(tree, f"proc/{pid}/task"):
            with suppress(OSError):
                found[tid] = _ticks(tree.read(f"proc/{pid}/task/{tid}/stat"))
    return found


def _numbers(tree: Tree, folder: str) -> list[int]:
    """Name the numbers in a folder of /proc; of one that is gone there are none."""
    return list(map(int, filter(str.isdecimal, names_or_none(tree, folder) or ())))


def _ticks(stat: str) -> int:
    return _field(stat, 14) + _field(stat, 15)


def thread(tree: Tree, pid: int, tid: int, before: Mapping[int, int]) -> Thread | None:
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
    ran = bool(before) and _ticks(stat) > before.get(tid, 0)
    return Thread(tid, sets.get("Cpus", 0), sets.get("Mems", 0), _field(stat, 39), ran)


def _field(stat: str, number: int) -> int:
    """Read a numbered field of a stat file; the name in field 2 may hold anything, so fields count after its `)`."""
    words = stat.rpartition(")")[2].split()
    try:
        return int(words[number - 3])
    except (IndexError, ValueError):
        return -1


def other_processes(tree: Tree, known: Collection[int], before: Mapping[int, int]) -> Iterator[Process]:
    """Yield the processes that are not among those known."""
    for pid in _numbers(tree, "proc"):
        if pid not in known and (found := process_of(tree, pid, before)) is not None:
            yield found
