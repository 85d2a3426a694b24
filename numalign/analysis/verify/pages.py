"""Which memory counts as a process's own, node by node (docs/rules/verify.md W-13, W-14)."""

from __future__ import annotations

import re

_NODE = re.compile(r"N(\d+)=(\d+)")
_SHARED = ("/dev/shm/", "/dev/hugepages/", "/dev/hugepages-", "/anon_hugepage", "/memfd:", "/SYSV")  # noqa: S108
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
