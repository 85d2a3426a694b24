"""Reads /sys and /proc piece by piece for the hardware view, and notes what it has to guess."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from numalign.errors import Notice
from numalign.model.cpuset import format_set, from_ids, ids
from numalign.model.hardware import CPUKind, HardwareNode, L3Cache, Package
from numalign.model.resources import page_size
from numalign.sources.host import running
from numalign.sources.host.kubelet_view import CPUS, NODES
from numalign.sources.host.text import (
    cpu_list,
    cpu_map,
    names_or_none,
    numbered,
    pages,
    read_int,
    read_or_none,
    read_set,
    size_bytes,
)
from numalign.sources.tree.folder import Tree

UNKNOWN_IDS = (-1, 65535)
"""Package, die and cluster ids that mean "not known" (rules 2.8, 2.10)."""


class HardwareReader:
    """Reads one tree; `guesses` collects what had to be guessed."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.guesses: list[Notice] = []
        self.usual: dict[tuple[str, ...], tuple[str, Callable[[str], int]]] = {}
        """Names of a map -> the file it was found in, and how to read it."""

    def cpu_sets(self) -> tuple[int, int]:
        """Rule 2.1: (online, offline)."""
        directories = numbered(names_or_none(self.tree, CPUS) or [], "cpu")
        known = from_ids(directories)
        if not known:
            return self._without_sys()
        online = self._set(f"{CPUS}/online")
        if online is None:
            with_topology = [cpu for cpu in directories if names_or_none(self.tree, f"{CPUS}/cpu{cpu}/topology")]
            if not with_topology:
                self._guess("topology-missing", "no CPU has a topology directory: every CPU counts as online")
            online = from_ids(
                cpu
                for cpu in with_topology or directories
                if (read_or_none(self.tree, f"{CPUS}/cpu{cpu}/online") or "1").strip() == "1"
            )
        present = self._set(f"{CPUS}/present") or 0
        return online, (known | present) & ~online

    def _without_sys(self) -> tuple[int, int]:
        """Without CPUs in /sys the live host can still be asked how many there are (rule 4.5)."""
        count = running.cpu_count() if self.tree.live else 0
        if count:
            self._guess("cpus-guessed", f"/sys lists no CPUs: the {count} CPUs of /proc became CPUs 0-{count - 1}")
        return (1 << count) - 1, 0

    def nodes(self, online: int) -> tuple[HardwareNode, ...]:
        """Rules 2.3-2.6, 2.15."""
        result = []
        seen = overlap = 0
        for number in sorted(numbered(names_or_none(self.tree, NODES) or [], "node")):
            base = f"{NODES}/node{number}"
            listed = read_set(self.tree, base, "cpulist", "cpumap")
            if listed is None:
                listed = from_ids(numbered(names_or_none(self.tree, base) or [], "cpu"))
            overlap |= seen & listed & online
            seen |= listed
            memory, pages = self._mem_total(f"{base}/meminfo"), self.hugepages(f"{base}/hugepages")
            result.append(HardwareNode(number, listed & online, memory, pages))
        if overlap:
            self._guess("nodes-overlap", f"CPUs {format_set(overlap)} are listed by more than one NUMA node")
        return tuple(result)

    def packages(self, online: int) -> tuple[Package, ...]:
        """Rule 2.8: by id; by the sibling maps where the id is not known."""
        by_id: dict[int, int] = {}
        unknown = 0
        for cpu in ids(online):
            number = read_int(self.tree, f"{CPUS}/cpu{cpu}/topology/physical_package_id")
            if number is None or number in UNKNOWN_IDS:
                unknown |= 1 << cpu
            else:
                by_id[number] = by_id.get(number, 0) | 1 << cpu
        result = [Package(number, cpus) for number, cpus in by_id.items()]
        for number, cpus in by_id.items():
            siblings = self._siblings(next(ids(cpus)), ("package_cpus", "core_siblings"))
            if siblings is not None and siblings & online != cpus:
                self._guess(
                    "package-maps-wrong",
                    f"package {number} holds CPUs {format_set(cpus)} by its id, but CPUs "
                    f"{format_set(siblings & online)} by the map of siblings: used the ids",
                )
                break
        if unknown:
            siblings_of = self._partition(unknown, ("package_cpus", "core_siblings"), unknown)
            result += [Package(None, cpus) for cpus in siblings_of]
        return tuple(sorted(result, key=lambda package: package.cpus & -package.cpus))

    def cores(self, online: int, nodes: Iterable[HardwareNode], packages: Iterable[Package]) -> tuple[int, ...]:
        """Rule 2.9: by the maps of thread siblings; by core id within package and node where there are none."""
        names = ("core_cpus", "thread_siblings")
        first = next(ids(online), None)
        if first is None or self._siblings(first, names) is not None:
            return self._partition(online, names, 0)
        places = [cpus for _, cpus in packages]
        homes = [node.cpus for node in nodes]
        groups: dict[tuple[object, ...], int] = {}
        for cpu in ids(online):
            core = read_int(self.tree, f"{CPUS}/cpu{cpu}/topology/core_id")
            alone = core is None or core < 0
            key = (
                ("cpu", cpu) if alone else core,
                next((index for index, cpus in enumerate(places) if cpus >> cpu & 1), None),
                next((index for index, cpus in enumerate(homes) if cpus >> cpu & 1), None),
            )
            groups[key] = groups.get(key, 0) | 1 << cpu
        self._guess("cores-guessed", "no maps of thread siblings: CPUs are grouped into cores by core id")
        return tuple(groups.values())

    def groups(self, kind: str, online: int, known: Iterable[int]) -> tuple[int, ...]:
        """Rule 2.10: dies or clusters; nothing where they are unknown or say no more than `known` does."""
        first = next(ids(online), None)
        if first is None:
            return ()
        number = read_int(self.tree, f"{CPUS}/cpu{first}/topology/{kind}_id")
        if number is None or number in UNKNOWN_IDS or self._siblings(first, (f"{kind}_cpus",)) is None:
            return ()
        found = self._partition(online, (f"{kind}_cpus",), 0)
        return () if set(found) == set(known) else found

    def l3(self, online: int) -> tuple[L3Cache, ...]:
        """Rule 2.12: groups of CPUs that share a level 3 cache."""
        result = []
        left = online
        while left:
            cpu = (left & -left).bit_length() - 1
            left &= left - 1
            base = f"{CPUS}/cpu{cpu}/cache"
            for name in names_or_none(self.tree, base) or ():
                if not name.startswith("index") or read_int(self.tree, f"{base}/{name}/level") != 3:
                    continue
                shared = read_set(self.tree, f"{base}/{name}", "shared_cpu_list", "shared_cpu_map")
                cpus = (shared or 0) & online | 1 << cpu
                size = size_bytes(read_or_none(self.tree, f"{base}/{name}/size") or "") or None
                result.append(L3Cache(read_int(self.tree, f"{base}/{name}/id"), cpus, size))
                left &= ~cpus
        return tuple(result)

    def cpu_kinds(self, online: int, cores: Iterable[int]) -> tuple[CPUKind, ...]:
        """Rule 2.11: kinds of cores, or nothing where all are alike."""
        intel = [(name, (self._set(f"sys/devices/cpu_{name}/cpus") or 0) & online) for name in ("core", "atom")]
        if all(cpus for _, cpus in intel):
            return CPUKind("performance", intel[0][1]), CPUKind("efficiency", intel[1][1])
        for label, name in (("capacity", "cpu_capacity"), ("base frequency", "cpufreq/base_frequency")):
            groups: dict[int, int] = {}
            for core in cores:
                value = read_int(self.tree, f"{CPUS}/cpu{next(ids(core))}/{name}")
                if value is None:
                    groups.clear()
                    break
                groups[value] = groups.get(value, 0) | core
            if len(groups) > 1:
                return tuple(CPUKind(f"{label} {value}", cpus) for value, cpus in sorted(groups.items()))
        return ()

    def with_distances(self, nodes: tuple[HardwareNode, ...]) -> tuple[HardwareNode, ...]:
        """Rules 2.6, 2.7: rows whose columns can be told; the columns are the online nodes, ascending."""
        if not nodes:
            return nodes
        columns = self._set(f"{NODES}/online")
        numbers = [node.id for node in nodes]
        rows = []
        for number in numbers:
            text = read_or_none(self.tree, f"{NODES}/node{number}/distance")
            try:
                row = [int(word) for word in text.split()] if text is not None else None
            except ValueError:
                row = None
            if row is None:
                return nodes
            where = numbers if len(row) == len(numbers) else list(ids(columns or 0))
            if len(row) != len(where) or not set(numbers) <= set(where):
                message = f"node {number} has a row of {len(row)} distances, which match no list of NUMA nodes: skipped"
                self._guess("distances-unusable", message)
                return nodes
            rows.append(tuple(row[where.index(other)] for other in numbers))
        return tuple(node._replace(distances=row) for node, row in zip(nodes, rows, strict=True))

    def memory(self) -> int | None:
        """Machine memory in bytes: /proc/meminfo, else what the running system says of itself."""
        total = self._mem_total("proc/meminfo")
        return running.memory() if total is None and self.tree.live else total

    def hugepages(self, path: str) -> dict[str, int] | None:
        """Page size -> bytes; None without such a directory."""
        names = names_or_none(self.tree, path)
        if names is None:
            return None
        result = {}
        for name in names:
            size = page_size(name).removesuffix("kB")
            count = read_int(self.tree, f"{path}/{name}/nr_hugepages")
            if size.isascii() and size.isdecimal() and len(size) < 16 and count is not None:
                result[int(size)] = count
        return pages(result)

    def _guess(self, code: str, message: str) -> None:
        self.guesses.append(Notice(code, message))

    def _mem_total(self, path: str) -> int | None:
        match = re.search(r"MemTotal:\s*([0-9]{1,16}) kB", read_or_none(self.tree, path) or "")
        return int(match[1]) * 1024 if match else None

    def _set(self, path: str) -> int | None:
        text = read_or_none(self.tree, path)
        try:
            return None if text is None else cpu_list(text)
        except ValueError:
            self._guess("list-unreadable", f"/{path} is not a list of CPUs or NUMA nodes")
            return None

    def _siblings(self, cpu: int, names: tuple[str, ...]) -> int | None:
        """Read a map of siblings under the first of its names; what one CPU has, the others have too."""
        base = f"{CPUS}/cpu{cpu}/topology"
        usual = self.usual.get(names)
        if usual is not None:
            try:
                return usual[1](self.tree.read(f"{base}/{usual[0]}"))
            except (OSError, ValueError):
                pass
        for name in names:
            for file, parse in ((f"{name}_list", cpu_list), (name, cpu_map)):
                try:
                    found = parse(self.tree.read(f"{base}/{file}"))
                except (OSError, ValueError):
                    continue
                self.usual[names] = (file, parse)
                return found
        return None

    def _partition(self, cpus: int, names: tuple[str, ...], otherwise: int) -> tuple[int, ...]:
        """Split a set by the maps of the first CPU of each group: one read a group, not one a CPU (rule 5.6)."""
        result = []
        left = cpus
        while left:
            first = left & -left
            siblings = self._siblings(first.bit_length() - 1, names)
            group = (siblings if siblings is not None else otherwise) & left | first
            result.append(group)
            left &= ~group
        return tuple(result)
