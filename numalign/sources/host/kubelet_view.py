"""What a kubelet believes of a machine: its own walk through /sys, repeated with every quirk.

Each function follows docs/rules/discovery.md section 1, clause by clause. `hardware` reads what the machine is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from numalign.model.cpuset import from_ids, ids
from numalign.model.machine import Machine, NUMANode, Unit
from numalign.model.resources import page_size
from numalign.sources.host.text import cpu_list, cpu_map, numbered, pages
from numalign.sources.tree.folder import Tree
from numalign.values import NamedTuple

NODES = "sys/devices/system/node"
CPUS = "sys/devices/system/cpu"
HUGEPAGES = "sys/kernel/mm/hugepages"

_MEMTOTAL = re.compile(r"MemTotal:\s*([0-9]{1,16}) kB", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_CACHE_SIZE = re.compile(r"([0-9]+)K")


class KubeletError(Exception):
    """The kubelet's own reading fails here; the text is what it would log."""


class Core(NamedTuple):
    """One core of a NUMA node."""

    id: int
    """`core_id`; the CPU manager does not use it."""
    socket: int
    threads: tuple[int, ...]
    """In the order in which the kubelet finds them."""
    uncore: tuple[int, ...] = ()
    """Ids of its uncore caches."""


class Node(NamedTuple):
    """One NUMA node."""

    id: int
    cores: tuple[Core, ...]
    memory: int = 0
    hugepages: Mapping[str, int] = {}
    """Page size (`2Mi`) -> bytes."""
    distances: tuple[int, ...] | None = None


class KubeletView(NamedTuple):
    """The machine as the kubelet lists it."""

    nodes: tuple[Node, ...]
    num_cpus: int
    num_sockets: int
    memory: int | None
    skipped: tuple[int, ...] = ()
    """CPUs left out because `core_id` or `physical_package_id` is missing (rule 1.5)."""
    pseudo_nodes: bool = False
    """The nodes are packages, as there is no NUMA directory (rule 1.7)."""
    cache_gaps: tuple[int, ...] = ()
    """Nodes whose caches could not all be read, so that uncore caches are missing (rule 1.11)."""


def read_view(tree: Tree) -> KubeletView:
    """Walk the tree as the kubelet does (docs/rules/discovery.md 1.1-1.16).

    Raises:
        KubeletError: the kubelet's discovery would fail here.
    """
    try:
        return _Walk(tree).view()
    except OSError as error:
        raise KubeletError(f"open {error.filename}: {(error.strerror or str(error)).lower()}") from None


class _Walk:
    """One walk: what is needed in several places is read once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.skipped: list[int] = []
        self.cache_gaps: list[int] = []
        self.books = tree.live and os.uname().machine == "s390x"
        online = self._optional(f"{CPUS}/online")
        # An unreadable list makes the kubelet take every CPU as offline; a missing one, as online (rule 1.3).
        try:
            self.online = None if online is None else cpu_list(online) & ((1 << 65536) - 1)
        except ValueError:
            self.online = 0

    def view(self) -> KubeletView:
        """Rules 1.1, 1.7, 1.8, 1.9, 1.13, 1.16."""
        names = self._names(NODES)
        node_ids = numbered(names, "node")
        nodes = [self._node(number) for number in node_ids] if node_ids else self._packages()
        num_cpus = sum(len(core.threads) for node in nodes for core in node.cores)
        if num_cpus == 0:
            raise KubeletError("could not detect number of cpus")
        if not node_ids:
            num_cpus = len(numbered(self._names(CPUS), "cpu"))
        meminfo = self._optional("proc/meminfo")
        self._hugepages(HUGEPAGES)  # only to fail where the kubelet does
        return KubeletView(
            nodes=tuple(nodes),
            num_cpus=num_cpus,
            num_sockets=self._sockets(nodes),
            memory=None if meminfo is None else _memory(meminfo, "/proc/meminfo"),
            skipped=tuple(sorted(self.skipped)),
            pseudo_nodes=not node_ids,
            cache_gaps=tuple(self.cache_gaps),
        )

    def _node(self, number: int) -> Node:
        """Rules 1.2, 1.4, 1.8-1.11."""
        path = f"{NODES}/node{number}"
        cores = [Core(*key, tuple(threads)) for key, threads in self._cores(numbered(self._names(path), "cpu")).items()]
        meminfo = self._optional(f"{path}/meminfo")
        return Node(
            id=number,
            cores=tuple(self._with_caches(number, cores)),
            memory=0 if meminfo is None else _memory(meminfo, f"/{path}/meminfo"),
            hugepages=self._hugepages(f"{path}/hugepages"),
            distances=self._distances(path),
        )

    def _packages(self) -> list[Node]:
        """Rule 1.7: without NUMA directories every package is taken for a node, with nothing but cores."""
        nodes: dict[int, list[Core]] = {}
        for (core, socket), threads in self._cores(numbered(self._names(CPUS), "cpu")).items():
            nodes.setdefault(socket, []).append(Core(core, socket, tuple(threads)))
        return [Node(number, tuple(self._with_caches(number, cores))) for number, cores in sorted(nodes.items())]

    def _cores(self, cpus: list[int]) -> dict[tuple[int, int], list[int]]:
        """Rules 1.3-1.6: (core id, package id) -> threads, both in the order found."""
        cores: dict[tuple[int, ...], list[int]] = {}
        for cpu in cpus:
            if self.online is not None and not self.online >> (cpu & 0xFFFF) & 1:
                continue
            base = f"{CPUS}/cpu{cpu}/topology/"
            core, package = self._integer(base + "core_id"), self._integer(base + "physical_package_id")
            if core is None or package is None:
                self.skipped.append(cpu)
                continue
            key: tuple[int, ...] = (core, package)
            if self.books:
                key += tuple(self._required(base + name) for name in ("book_id", "drawer_id"))
            cores.setdefault(key, []).append(cpu)
        # On s390x equal ids in different books are different cores, which the pair alone cannot tell apart.
        if self.books:
            return {(index, key[1]): threads for index, (key, threads) in enumerate(cores.items())}
        return {(key[0], key[1]): threads for key, threads in cores.items()}

    def _with_caches(self, node: int, cores: list[Core]) -> list[Core]:
        """Rule 1.11: give the cores their uncore caches; one that cannot be read ends it for the whole node."""
        result: list[Core] = []
        for position, core in enumerate(cores):
            try:
                uncore = self._uncore(core.threads[0], len(cores) * len(core.threads))
            except (OSError, ValueError):
                self.cache_gaps.append(node)
                return result + cores[position:]
            result.append(core._replace(uncore=uncore) if uncore else core)
        return result

    def _uncore(self, cpu: int, whole_node: int) -> tuple[int, ...]:
        base = f"{CPUS}/cpu{cpu}/cache"
        result: list[int] = []
        for name in self._names(base):
            if not name.startswith("index"):
                continue
            read = self.tree.read
            path = f"{base}/{name}/"
            number, level = int(read(path + "id")), int(read(path + "level"))
            read(path + "type")
            if not _CACHE_SIZE.match(read(path + "size")):
                raise ValueError(path)
            sharers = cpu_map(read(path + "shared_cpu_map")).bit_count()
            if level > 2 and sharers != whole_node and number not in result:
                result.append(number)
        return tuple(result)

    def _hugepages(self, path: str) -> dict[str, int]:
        """Rule 1.9: page size -> bytes, by `nr_hugepages`."""
        result = {}
        for name in self._names(path):
            size = page_size(name).removesuffix("kB")
            if not (size.isascii() and size.isdecimal() and len(size) < 16):
                raise KubeletError(f"/{path}/{name}: expected hugepages-<size>kB")
            result[int(size)] = self._required(f"{path}/{name}/nr_hugepages")
        return pages(result)

    def _distances(self, path: str) -> tuple[int, ...] | None:
        """Rule 1.10: an array by position."""
        text = self._optional(f"{path}/distance")
        if text is None:
            return None
        words = [word for word in text.strip("\n").split(" ") if word]
        if not words or not all(_INTEGER.fullmatch(word) for word in words):
            raise KubeletError(f"cannot convert {text.strip()[:80]!r} of /{path}/distance to int")
        return tuple(int(word) for word in words)

    def _sockets(self, nodes: list[Node]) -> int:
        """Rule 1.13: distinct `physical id` lines of /proc/cpuinfo; only without any, the packages of the walk."""
        text = self._optional("proc/cpuinfo") or ""
        found = set(re.findall(r"^physical id\s*:\s*(\d+)", text, re.MULTILINE))
        return len(found) or len({core.socket for node in nodes for core in node.cores})

    def _names(self, path: str) -> list[str]:
        try:
            return self.tree.names(path)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _optional(self, path: str) -> str | None:
        try:
            return self.tree.read(path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _integer(self, path: str) -> int | None:
        text = self._optional(path)
        if text is None:
            return None
        text = text.strip()
        if not _INTEGER.fullmatch(text):
            raise KubeletError(f'/{path}: strconv.Atoi: parsing "{text[:40]}": invalid syntax')
        return int(text)

    def _required(self, path: str) -> int:
        value = self._integer(path)
        if value is None:
            raise KubeletError(f"open /{path}: no such file or directory")
        return value


def _memory(text: str, path: str) -> int:
    """Rule 1.8: the first `MemTotal` in bytes."""
    match = _MEMTOTAL.search(text)
    if match is None:
        raise KubeletError(f"failed to match regexp in output of {path}: no MemTotal line")
    return int(match[1]) * 1024


def to_machine(view: KubeletView, name: str) -> Machine:
    """Turn the kubelet's list into the machine the replay stands on, with the operating system's ids."""
    sockets: dict[int, int] = {}
    caches: dict[int, int] = {}
    cores = []
    nodes = []
    for node in view.nodes:
        cpus = 0
        for core in node.cores:
            members = from_ids(core.threads)
            cpus |= members
            cores.append(members)
            sockets[core.socket] = sockets.get(core.socket, 0) | members
            if core.uncore:
                # The CPU manager looks at the first cache only (rule 1.12).
                caches[core.uncore[0]] = caches.get(core.uncore[0], 0) | members
        nodes.append(NUMANode(node.id, cpus, node.memory, node.hugepages, node.distances))
    return Machine(
        name=name,
        numa_nodes=tuple(nodes),
        sockets=tuple(Unit(number, cpus) for number, cpus in sorted(sockets.items())),
        cores=tuple(sorted(cores, key=lambda members: next(ids(members)))),
        uncore_caches=tuple(Unit(number, cpus) for number, cpus in sorted(caches.items())),
        total_memory=view.memory,
    )
