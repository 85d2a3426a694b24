"""Regular machines in short: the `regular:` section and the same keys on the command line.

`sockets=2,numaNodesPerSocket=2,coresPerNumaNode=8,memoryPerNumaNode=64Gi,distances.remote=32` is a machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numalign.model.cpuset import from_ids
from numalign.model.machine import Device, NUMANode, Unit
from numalign.sources.machine.sections import MAX_NODES, resource_name
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path
from numalign.values import NamedTuple

KEYS = (
    "sockets",
    "numaNodesPerSocket",
    "socketsPerNumaNode",
    "coresPerNumaNode",
    "threadsPerCore",
    "coresPerUncoreCache",
    "memoryPerNumaNode",
    "hugepagesPerNumaNode",
    "distances",
    "cpuNumbering",
    "devices",
)
NUMBERINGS = ("siblings-last", "siblings-adjacent", "interleaved")
MAX_DEVICES = 4096
"""Devices of one resource on one NUMA node."""

LOCAL, SAME_SOCKET, REMOTE = 10, 12, 20
"""Distances that are not given: Linux' own for a node and another one; what current servers say within a socket."""


class Regular(NamedTuple):
    """What a regular description says."""

    numa_nodes: tuple[NUMANode, ...]
    sockets: tuple[Unit, ...]
    cores: tuple[int, ...]
    uncore_caches: tuple[Unit, ...]
    devices: Mapping[str, tuple[Device, ...]]


class _Shape(NamedTuple):
    """The counts; cores are numbered node by node, in ascending order of nodes."""

    sockets: int
    nodes: int
    cores_per_node: int
    threads: int
    numbering: str

    @property
    def cores(self) -> int:
        return self.nodes * self.cores_per_node

    @property
    def cores_per_socket(self) -> int:
        return self.cores // self.sockets

    def core(self, index: int) -> int:
        """The CPUs of a core.

        siblings-last: first threads of all cores come first, then all second ones (Linux on x86);
        siblings-adjacent: the threads of a core are neighbours; interleaved: neighbours are on different NUMA nodes,
        second threads last.
        """
        if self.numbering == "siblings-adjacent":
            return ((1 << self.threads) - 1) << index * self.threads
        if self.numbering == "interleaved":
            node, inner = divmod(index, self.cores_per_node)
            index = inner * self.nodes + node
        return from_ids(index + thread * self.cores for thread in range(self.threads))


def read(value: object, path: Path) -> Regular:
    """Read a `regular:` section.

    Raises:
        FieldError: a key is unknown, a count out of bounds, or the counts do not divide.
    """
    data = fields.mapping(value, path)
    fields.only(data, KEYS, path)
    shape = _shape(data, path)
    cores = tuple([shape.core(index) for index in range(shape.cores)])
    memory = fields.amount(data.get("memoryPerNumaNode", 0), (*path, "memoryPerNumaNode"))
    pages = fields.hugepages(data.get("hugepagesPerNumaNode", {}), (*path, "hugepagesPerNumaNode"))
    rows = _distances(data.get("distances"), (*path, "distances"), shape)
    per_node = [_union(group) for group in _groups(cores, shape.cores_per_node)]
    return Regular(
        numa_nodes=tuple(
            [
                NUMANode(id=index, cpus=cpus, memory=memory, hugepages=pages, distances=rows[index])
                for index, cpus in enumerate(per_node)
            ]
        ),
        sockets=tuple(
            [Unit(index, _union(group)) for index, group in enumerate(_groups(cores, shape.cores_per_socket))]
        ),
        cores=cores,
        uncore_caches=_uncore_caches(data, path, shape, cores),
        devices=_devices(data.get("devices", {}), (*path, "devices"), shape.nodes),
    )


def _shape(data: Mapping[str, object], path: Path) -> _Shape:
    def count(key: str, most: int, default: int | None = 1) -> int:
        return fields.integer(data.get(key, default), (*path, key), 1, most)

    sockets = count("sockets", MAX_NODES)
    nodes = sockets * count("numaNodesPerSocket", MAX_NODES)
    shared = count("socketsPerNumaNode", MAX_NODES)
    if "socketsPerNumaNode" in data:
        here = (*path, "socketsPerNumaNode")
        if "numaNodesPerSocket" in data:
            raise FieldError(here, "expected numaNodesPerSocket or socketsPerNumaNode, got both")
        if sockets % shared:
            raise FieldError(here, f"expected a divisor of the {sockets} sockets, got {shared}")
        nodes = sockets // shared
    if nodes > MAX_NODES:
        raise FieldError((*path, "numaNodesPerSocket"), f"expected at most {MAX_NODES} NUMA nodes in all, got {nodes}")
    if "coresPerNumaNode" not in data:
        raise FieldError((*path, "coresPerNumaNode"), "expected the number of cores of a NUMA node, got nothing")
    cores = count("coresPerNumaNode", fields.MAX_CPU + 1)
    if cores % shared:
        message = f"expected a multiple of the {shared} sockets of a NUMA node, got {cores}"
        raise FieldError((*path, "coresPerNumaNode"), message)
    threads = count("threadsPerCore", 64)
    if nodes * cores * threads > fields.MAX_CPU + 1:
        total = nodes * cores * threads
        raise FieldError((*path, "coresPerNumaNode"), f"expected at most {fields.MAX_CPU + 1} CPUs in all, got {total}")
    numbering = data.get("cpuNumbering", NUMBERINGS[0])
    if numbering not in NUMBERINGS:
        wanted = ", ".join(NUMBERINGS)
        raise FieldError((*path, "cpuNumbering"), f"expected one of {wanted}, got {fields.shown(numbering)}")
    return _Shape(sockets=sockets, nodes=nodes, cores_per_node=cores, threads=threads, numbering=numbering)


def _groups(cores: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(cores), size):
        yield cores[start : start + size]


def _union(sets: tuple[int, ...]) -> int:
    result = 0
    for one in sets:
        result |= one
    return result


def _uncore_caches(data: Mapping[str, object], path: Path, shape: _Shape, cores: tuple[int, ...]) -> tuple[Unit, ...]:
    """Caches of neighbouring cores; one that covers exactly a NUMA node is none for the kubelet (discovery.md 1.11)."""
    if "coresPerUncoreCache" not in data:
        return ()
    here = (*path, "coresPerUncoreCache")
    size = fields.integer(data["coresPerUncoreCache"], here, 1, fields.MAX_CPU + 1)
    node = shape.cores_per_node
    if shape.cores_per_socket % size or (node % size and size % node):
        message = (
            f"expected a divisor of the {shape.cores_per_socket} cores of a socket that fits the {node} of a NUMA node"
        )
        raise FieldError(here, f"{message}, got {size}")
    if size == node:
        return ()
    return tuple([Unit(index, _union(group)) for index, group in enumerate(_groups(cores, size))])


def _distances(value: object, path: Path, shape: _Shape) -> list[tuple[int, ...] | None]:
    if value is None:
        return [None] * shape.nodes
    data = fields.mapping(value, path)
    fields.only(data, ("local", "sameSocket", "remote"), path)

    def distance(key: str, default: int) -> int:
        return fields.integer(data.get(key, default), (*path, key), 0, 255, "a distance")

    local, remote = distance("local", LOCAL), distance("remote", REMOTE)
    same = distance("sameSocket", min(SAME_SOCKET, remote))
    per_socket = max(1, shape.nodes // shape.sockets)
    everywhere = range(shape.nodes)
    return [
        tuple(
            [
                local if one == other else same if one // per_socket == other // per_socket else remote
                for other in everywhere
            ]
        )
        for one in everywhere
    ]


def _devices(value: object, path: Path, nodes: int) -> dict[str, tuple[Device, ...]]:
    """Devices named after their resource, numbered node by node: gpu0 … gpu3 on node 0, gpu4 … on node 1."""
    result = {}
    for resource, entry in fields.mapping(value, path).items():
        here = resource_name(resource, path)
        data = fields.mapping(entry, here, "{perNumaNode: N}")
        fields.only(data, ("perNumaNode",), here)
        count = fields.integer(data.get("perNumaNode"), (*here, "perNumaNode"), 0, MAX_DEVICES)
        prefix = resource.rpartition("/")[2]
        result[resource] = tuple([Device(f"{prefix}{index}", (index // count,)) for index in range(count * nodes)])
    return result


def parse_short(text: str) -> dict[str, Any]:
    """Read the short form into what `regular:` would hold.

    Raises:
        FieldError: a part is no `key=value`, or a key is given twice.
    """
    data: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, given = part.partition("=")
        path = _short_path(key.strip())
        if not equals or not given.strip() or not path:
            raise FieldError((), f"expected key=value, got {fields.shown(part)}")
        fields.only({path[0]: None}, KEYS, ())
        inner = data
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise FieldError((key.strip(),), f"{step} has a value of its own already")
        if path[-1] in inner:
            raise FieldError((key.strip(),), "is given twice")
        inner[path[-1]] = _short_value(given.strip())
    return data


def _short_path(key: str) -> list[str]:
    """Split a dotted key; a resource name has dots of its own."""
    first, dot, rest = key.partition(".")
    if not dot:
        return [first]
    if first == "devices" and "." in rest:
        resource, _, last = rest.rpartition(".")
        return [first, resource, last]
    return [first, *rest.split(".")]


def _short_value(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else text
