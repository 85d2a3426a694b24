"""Small anonymous snapshots of a machine: exactly what discovery reads, and nothing that names anybody.

Discovery runs over a tree that takes notes of what is read: a snapshot reads back to the same machine
by construction. Lines of /proc that could name a machine or a user are cut, hardware addresses in names are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from numalign.model.cpuset import format_set, from_ids
from numalign.sources.host.confinement import UNIFIED
from numalign.sources.host.device_rules import DeviceRule
from numalign.sources.host.discovery import Discovery, discover
from numalign.sources.tree.folder import Tree
from numalign.sources.tree.noting import NotingTree
from numalign.store.archive import Entry

_ADDRESS_NAME = re.compile(r"\b(enx|ibx|rocex|wlx|wwx)[0-9a-f]{12,16}\b")
"""Interface names that udev makes from hardware addresses."""
_CPUINFO = re.compile(r"(?:processor|physical id|core id|model name|cpu model|Processor|cpu)\s*:.*", re.ASCII)
_NUMBERED = re.compile(r"(?:cpu|node)\d+", re.ASCII)
_PRIVATE = ("proc/self/", "proc/mounts", "sys/fs/cgroup", "dev/")
"""Paths that are written anew from what was understood: cgroup paths name pods, users and sessions."""


def capture(root: str | Tree, rules: Sequence[DeviceRule] | None = None) -> tuple[Discovery, dict[str, Entry]]:
    """Discover a machine, and give what a snapshot of it holds that `--sysfs-root` reads back.

    Args:
        root: path of the tree, or an open one.
        rules: which device is which resource; None: the default rules.

    Returns:
        what was found, and the entries of the snapshot by path (`store.archive.write_archive` writes them).

    Raises:
        InputError: the tree cannot be opened.
        HostError: neither view of the machine finds any CPU.
    """
    from numalign.sources.tree.opening import open_tree

    notes = NotingTree(open_tree(root) if isinstance(root, str) else root, keeps)
    found = discover(notes, rules)
    return found, _without_names(notes.entries) | _limits(found)


def keeps(folder: str, name: str) -> bool:
    """Tell whether a name in a directory is part of the machine: the rest of `sys/class` is found by links."""
    leaf = folder.rpartition("/")[2] in ("net", "infiniband", "nvme", "drm", "ve", "mic")
    return not folder.startswith("sys/class") and (leaf or _NUMBERED.fullmatch(name) is not None)


def _without_names(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Leave out of what was read what is private, or what nobody asks again."""
    result: dict[str, Entry] = {}
    for path, entry in entries.items():
        if path.startswith(_PRIVATE) or (isinstance(entry, tuple) and "virtual" in entry[0]):
            continue
        if path.startswith("sys/class/") and (not isinstance(entry, tuple) or "/pci" not in entry[0]):
            continue
        if path == "proc/cpuinfo" and isinstance(entry, str):
            entry = "".join(f"{line}\n" for line in entry.splitlines() if not line or _CPUINFO.fullmatch(line))
        if path.endswith("meminfo") and isinstance(entry, str):
            entry = "".join(f"{line}\n" for line in entry.splitlines() if "MemTotal:" in line)
        result[_anonymous(path)] = (_anonymous(entry[0]),) if isinstance(entry, tuple) else entry
    return result


def _anonymous(text: str) -> str:
    return _ADDRESS_NAME.sub(r"\g<1>0", text)


def _limits(found: Discovery) -> dict[str, Entry]:
    """Write what confines the process in the neutral form of a container, and which cgroups the host runs."""
    place = UNIFIED
    mounts: dict[str, Entry] = {}
    if found.machine is not None and found.machine.cgroup_v1:
        place = f"{UNIFIED}/unified"
        mounts["proc/mounts"] = f"cgroup2 /{place} cgroup2 rw 0 0\n"
    allowed = found.hardware.allowed
    if allowed is None:
        return mounts
    cpus = found.hardware.online if allowed.cpus is None else allowed.cpus
    nodes = from_ids(node.id for node in found.hardware.nodes) if allowed.numa_nodes is None else allowed.numa_nodes
    status = f"Cpus_allowed_list:\t{format_set(cpus)}\nMems_allowed_list:\t{format_set(nodes)}\n"
    result: dict[str, Entry] = {**mounts, "proc/self/status": status, "proc/self/cgroup": "0::/\n"}
    if allowed.cpu_quota is not None:
        share = Fraction(allowed.cpu_quota).limit_denominator(1_000_000)
        result[f"{place}/cpu.max"] = f"{share.numerator} {share.denominator}\n"
    if allowed.memory is not None:
        result[f"{place}/memory.max"] = f"{allowed.memory}\n"
    return result
