"""What the reading process may use: its cgroups and its affinity. The kubelet ignores all of it, so it stays apart.

docs/rules/discovery.md 5.1.
"""

from __future__ import annotations

import re

from numalign.model.hardware import Allowed
from numalign.sources.host.text import cpu_list, read_int, read_or_none
from numalign.sources.tree.folder import Tree

UNIFIED = "sys/fs/cgroup"
"""Where the control groups of v2 are mounted, if the host runs cgroup v2."""

_SETS = (
    ("cpuset.cpus.effective", "cpuset.mems.effective"),
    ("cpuset.effective_cpus", "cpuset.effective_mems"),
    ("cpuset.cpus", "cpuset.mems"),
    ("cpus", "mems"),
)
"""File names of cgroup v2, of v1, and of the cpuset file system before cgroups."""


def read_allowed(tree: Tree, online: int, nodes: int) -> Allowed | None:
    """Read what the process in the tree (or this one, on the live host) may use; None where nothing confines it."""
    cpus, numa_nodes = online, nodes
    status = read_or_none(tree, "proc/self/status") or ""
    lists = [(_line(status, "Cpus_allowed_list"), _line(status, "Mems_allowed_list"))]
    quota: float | None = None
    memory: float | None = None
    for folder, controllers in _cgroups(tree):
        if "cpuset" in controllers:
            lists.append(_sets(tree, folder))
        if "cpu" in controllers:
            quota = _smaller(quota, _quota(tree, folder))
        if "memory" in controllers:
            memory = _smaller(memory, _memory(tree, folder))
    for cpu_text, node_text in lists:
        cpus &= _members(cpu_text, online)
        numa_nodes &= _members(node_text, nodes)
    if tree.live:
        import os

        cpus &= sum(1 << cpu for cpu in os.sched_getaffinity(0))
    result = Allowed(
        cpus=cpus if cpus != online else None,
        numa_nodes=numa_nodes if numa_nodes != nodes else None,
        cpu_quota=quota,
        memory=None if memory is None else int(memory),
    )
    return result if result != Allowed() else None


def is_cgroup_v1(tree: Tree) -> bool:
    """Tell whether a host runs cgroup v1: control groups are mounted, but not those of v2 where the kubelet looks.

    The kubelet asks what kind of file system /sys/fs/cgroup is (docs/rules/kubelet-versions.md 3.6). Where /proc does
    not tell, nobody knows, and the host counts as cgroup v2.
    """
    mounted = _told_mounts(tree)
    return bool(mounted) and not any("cgroup2" in kinds and place == UNIFIED for kinds, place in mounted)


def _cgroups(tree: Tree) -> list[tuple[str, frozenset[str]]]:
    """Return (folder, controllers) of the cgroups of the process, in the usual places where /proc does not tell."""
    every = frozenset(("cpuset", "cpu", "memory"))
    usual = [(frozenset((name,)), f"{UNIFIED}/{name}") for name in ("cpuset", "cpu", "memory")]
    mounts = _told_mounts(tree) or [(frozenset(("cgroup2",)), UNIFIED), *usual]
    result = []
    for line in (read_or_none(tree, "proc/self/cgroup") or "").splitlines():
        _, names, path = [*line.split(":", 2), "", ""][:3]
        controllers = frozenset(names.split(",")) if names else every
        for mounted, place in mounts:
            if (not names and "cgroup2" in mounted) or (names and controllers & mounted):
                result.append((_join(place, path), controllers))
    path = (read_or_none(tree, "proc/self/cpuset") or "").strip()
    if path and not any("cpuset" in controllers for _, controllers in result):
        for mounted, place in mounts:
            if "cpuset" in mounted or "cgroup2" in mounted:
                result.append((_join(place, path), frozenset(("cpuset",))))
    return result


def _told_mounts(tree: Tree) -> list[tuple[frozenset[str], str]]:
    """Return (what is mounted, where) for cgroup file systems, as /proc tells it."""
    result = []
    for line in (read_or_none(tree, "proc/mounts") or "").splitlines():
        words = line.split()
        if len(words) > 3 and words[2] in ("cgroup", "cgroup2", "cpuset"):
            result.append((frozenset([words[2], *words[3].split(",")]), words[1].strip("/")))
    return result


def _join(place: str, path: str) -> str:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return "/".join([place, *parts])


def _sets(tree: Tree, folder: str) -> tuple[str | None, str | None]:
    for cpus, mems in _SETS:
        cpu_text, node_text = read_or_none(tree, f"{folder}/{cpus}"), read_or_none(tree, f"{folder}/{mems}")
        if (cpu_text or "").strip() or (node_text or "").strip():
            return cpu_text, node_text
    return None, None


def _quota(tree: Tree, folder: str) -> float | None:
    words = (read_or_none(tree, f"{folder}/cpu.max") or "").split()
    if not words:
        words = [str(read_int(tree, f"{folder}/cpu.cfs_{name}_us")) for name in ("quota", "period")]
    if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
        return int(words[0]) / int(words[1])
    return None


def _memory(tree: Tree, folder: str) -> int | None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        value = read_int(tree, f"{folder}/{name}")
        # cgroup v1 writes "no limit" as the largest number of whole pages.
        if value is not None and value < 1 << 60:
            return value
    return None


def _smaller(one: float | None, other: float | None) -> float | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _members(text: str | None, otherwise: int) -> int:
    """Read a list; an empty or unreadable one limits nothing."""
    try:
        return (cpu_list(text) if text else 0) or otherwise
    except ValueError:
        return otherwise


def _line(text: str, key: str) -> str | None:
    match = re.search(rf"^{key}:\s*(\S+)", text, re.MULTILINE)
    return match[1] if match else None
