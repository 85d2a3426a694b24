"""What was measured on a node: control groups of containers, their processes, and everybody else's.

Also which memory counts as a process's own, node by node (docs/rules/verify.md W-13, W-14).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from numalign.values import NamedTuple


class Thread(NamedTuple):
    """One thread."""

    tid: int
    cpus: int
    """CPUs it may run on (`Cpus_allowed_list`), as a set."""
    mems: int
    """NUMA nodes it may have memory from (`Mems_allowed_list`), as a mask."""
    last_cpu: int
    """Where it was seen last; -1: not known."""
    ran: bool = False
    """Its CPU time grew between two readings; of one reading nobody knows."""


class Process(NamedTuple):
    """One process."""

    pid: int
    threads: tuple[Thread, ...]
    pages: Mapping[int, int] | None = None
    """NUMA node -> bytes of its own memory (W-13); None: not counted."""
    name: str = ""
    """Of its program; empty: not known."""
    kernel: bool = False
    """A thread of the kernel: nobody can move it, so it is not judged."""


class Group(NamedTuple):
    """The control group of one container."""

    uid: str
    """Of its pod."""
    id: str
    """The container's."""
    name: str
    """The container's name; empty: not known."""
    path: str
    """Its folder."""
    cpus: int | None
    """`cpuset.cpus`; 0: empty, so inherited; None: not readable."""
    effective_cpus: int | None
    """`cpuset.cpus.effective`, or what stands for it in version 1."""
    mems: int | None
    effective_mems: int | None
    memory: Mapping[int, int] | None
    """NUMA node -> bytes of anonymous and shared memory and of huge pages (W-14); None: not readable."""
    processes: tuple[Process, ...] = ()
    sandbox: bool = False
    """The pod's sandbox, which is no container of its spec (W-3)."""


class Observed(NamedTuple):
    """All that was measured."""

    version: int
    """Of the control groups, 1 or 2; 0: there are none."""
    groups: tuple[Group, ...]
    others: tuple[Process, ...]
    """Processes that are in no pod."""
    device_nodes: Mapping[str, int] = {}
    """Device id -> its NUMA node now; -1: none."""
    interrupts: Mapping[str, int] = {}
    """Device id -> CPUs that handle its interrupts."""
    plan_age: float | None = None
    """Seconds since the plan was written; None: not known."""
    left_out: tuple[str, ...] = ()
    """Checks that could not be made, with the reason."""


_NODE = re.compile(r"N(\d+)=(\d+)")
_SHARED = ("/dev/shm/", "/dev/zero", "/dev/hugepages/", "/dev/hugepages-", "/anon_hugepage", "/memfd:", "/SYSV")  # noqa: S108
"""Files that are memory; what processes share without a file, as databases do, is called /dev/zero."""
_COUNTED = ("anon", "shmem")


def own_pages(text: str) -> dict[int, int]:
    """Count the bytes of a process's own memory by NUMA node; libraries and program text are not its own.

    Lines without `file=`, lines of huge pages, and shared memory count whole; of other files only what was written to
    (`anon=`), spread as the line's pages are.
    """
    total: dict[int, int] = {}
    for line in text.splitlines():
        words = line.split()
        nodes = {int(match[1]): int(match[2]) for word in words if (match := _NODE.fullmatch(word))}
        if not nodes:
            continue
        size = next((int(word[18:]) << 10 for word in words if word.startswith("kernelpagesize_kB=")), 4096)
        file = next((word[5:] for word in words if word.startswith("file=")), "")
        if file and "huge" not in words and not file.startswith(_SHARED):
            anonymous = next((int(word[5:]) for word in words if word.startswith("anon=")), 0)
            every = sum(nodes.values())
            nodes = {node: count * min(anonymous, every) // every for node, count in nodes.items()} if every else {}
        for node, count in nodes.items():
            total[node] = total.get(node, 0) + count * size
    return total


def numa_stat(text: str) -> dict[int, int]:
    """Add up anonymous and shared memory of `memory.numa_stat` (version 2), bytes by NUMA node."""
    total: dict[int, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name in _COUNTED:
            for match in _NODE.finditer(rest):
                total[int(match[1])] = total.get(int(match[1]), 0) + int(match[2])
    return total


def hugetlb_stat(text: str) -> dict[int, int]:
    """Read `hugetlb.SIZE.numa_stat`, bytes by NUMA node."""
    return {int(match[1]): int(match[2]) for match in _NODE.finditer(text.partition("\n")[0])}
