"""What the running system says of itself: its processes, how many CPUs it has, how much memory.

psutil says it where it can be imported. Its compiled part is not there for every architecture, and not inside a single
file; without it /proc says the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from numalign.values import NamedTuple

_PROC = Path("/proc")
_KERNEL_NAME_LENGTH = 15
"""Longer names of programs are cut by the kernel."""


class RunningProcess(NamedTuple):
    """A process that runs now.

    Attributes:
        pid: its number.
        name: of the program.
        words: its command line; empty for a kernel thread, and where it may not be read.
    """

    pid: int
    name: str
    words: tuple[str, ...]


def processes() -> Iterator[RunningProcess]:
    """Yield the processes that run now, by number; one that ends meanwhile is left out."""
    psutil = _psutil()
    if psutil is None:
        yield from _processes_of_proc()
        return
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or ()
        yield RunningProcess(process.pid, process.info["name"] or "", tuple(str(word) for word in words))


def program(pid: int) -> str | None:
    """Give the path of the program that a process runs; None: it has ended, or may not be looked at."""
    psutil = _psutil()
    if psutil is None:
        with suppress(OSError):
            return os.readlink(_PROC / str(pid) / "exe").removesuffix(" (deleted)")
        return None
    with suppress(psutil.Error, OSError):
        return str(psutil.Process(pid).exe()) or None
    return None


def cpu_count() -> int:
    """Count the CPUs that are online; 0: the system does not say."""
    psutil = _psutil()
    return (os.cpu_count() if psutil is None else psutil.cpu_count(logical=True)) or 0


def memory() -> int | None:
    """Give the memory of the machine in bytes; None: the system does not say."""
    psutil = _psutil()
    if psutil is not None:
        with suppress(OSError, KeyError):
            return int(psutil.virtual_memory().total)
        return None
    with suppress(OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _psutil() -> ModuleType | None:
    try:
        import psutil
    except (ImportError, NotImplementedError):  # the latter is its word for a system that it does not know
        return None
    return psutil


def _processes_of_proc() -> Iterator[RunningProcess]:
    try:
        pids = sorted(int(name) for name in os.listdir(_PROC) if name.isdecimal())
    except OSError:
        return
    for pid in pids:
        folder = _PROC / str(pid)
        with suppress(OSError):
            name = (folder / "comm").read_text(errors="surrogateescape").removesuffix("\n")
            words: tuple[str, ...] = ()
            with suppress(PermissionError):
                words = _words((folder / "cmdline").read_text(errors="surrogateescape"))
            whole = words[0].rpartition("/")[2] if words else ""
            cut = len(name) >= _KERNEL_NAME_LENGTH and whole.startswith(name)
            yield RunningProcess(pid, whole if cut else name, words)


def _words(command_line: str) -> tuple[str, ...]:
    """Split a command line at its NULs; some programs write theirs anew, with blanks between the words."""
    text = command_line.removesuffix("\0")
    if not text:
        return ()
    separator = "\0" if "\0" in text else " "
    return tuple(text.split(separator))
