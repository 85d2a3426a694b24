"""The control groups of a node's containers (docs/rules/verify.md W-1 to W-3).

Paths are not built: a node inside a container, another root or driver put prefixes in front. The tree is walked once,
and the last part of each path tells pods and containers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from numalign.analysis.verify.observed import hugetlb_stat, numa_stat
from numalign.model import cpuset
from numalign.sources.host.confinement import UNIFIED
from numalign.sources.host.text import names_or_none, read_or_none
from numalign.sources.tree.folder import Tree
from numalign.values import NamedTuple

ROOT_V1 = "sys/fs/cgroup/cpuset"
"""Where the CPU sets of cgroup v1 are mounted."""
MAX_DEPTH = 40
"""Folders below the root beyond which nobody looks."""
MAX_FOLDERS = 200_000
"""Folders that are looked into."""
_POD = re.compile(r"(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$")
_CONTAINER = re.compile(r"^(?:cri-containerd-|crio-|docker-)?([0-9a-f]{64})(?:\.scope)?$")
_FILES = re.compile(
    r"(?:cgroup|cpu|cpuacct|cpuset|memory|io|pids|hugetlb|rdma|misc|irq|dmem|blkio|devices|freezer|net_cls|net_prio|"
    r"perf_event)\..*|tasks|notify_on_release|release_agent"
)
"""Files of a group, so that nobody tries to list them."""


class Folder(NamedTuple):
    """The control group of one container."""

    uid: str
    id: str
    path: str
    pids: tuple[int, ...]


def version(tree: Tree) -> int:
    """Tell the version of the control groups; 0: there are none (W-1)."""
    files = {2: f"{UNIFIED}/cgroup.controllers", 1: f"{ROOT_V1}/cgroup.procs"}
    return next((number for number, path in files.items() if read_or_none(tree, path) is not None), 0)


def folders(tree: Tree, kind: int) -> Iterator[Folder]:
    """Walk the tree and yield the containers' groups."""
    waiting = [(UNIFIED if kind == 2 else ROOT_V1, 0)]
    seen = 0
    while waiting:
        path, depth = waiting.pop()
        for child in _children(tree, path):
            seen += 1
            if seen > MAX_FOLDERS or depth > MAX_DEPTH:
                return
            pod = _POD.search(child)
            if pod is None:
                waiting.append((f"{path}/{child}", depth + 1))
                continue
            for name in _children(tree, f"{path}/{child}"):
                container = _CONTAINER.match(name)
                if container:
                    place = f"{path}/{child}/{name}"
                    yield Folder(pod[1].replace("_", "-"), container[1], place, tuple(_pids(tree, place)))


def _children(tree: Tree, path: str) -> list[str]:
    """List the folders in a folder."""
    return [name for name in names_or_none(tree, path) or () if not _FILES.fullmatch(name)]


def _pids(tree: Tree, path: str) -> Iterator[int]:
    """Yield the processes of a group and of all groups below: crun puts them one level deeper."""
    yield from map(int, filter(str.isdecimal, (read_or_none(tree, f"{path}/cgroup.procs") or "").split()))
    for child in _children(tree, path):
        yield from _pids(tree, f"{path}/{child}")


def members(tree: Tree, path: str) -> int | None:
    """Read a set of CPUs or nodes; None: not readable."""
    try:
        return cpuset.parse(tree.read(path).strip())
    except (OSError, cpuset.CPUSetError):
        return None


def memory(tree: Tree, folder: str, kind: int) -> Mapping[int, int] | None:
    """Read how much memory of its own a group has on each NUMA node; version 1 does not tell (W-14)."""
    told = read_or_none(tree, f"{folder}/memory.numa_stat") if kind == 2 else None
    if told is None:
        return None
    total = numa_stat(told)
    for name in names_or_none(tree, folder) or ():
        if name.startswith("hugetlb.") and name.endswith(".numa_stat"):
            for node, size in hugetlb_stat(read_or_none(tree, f"{folder}/{name}") or "").items():
                total[node] = total.get(node, 0) + size
    return total
