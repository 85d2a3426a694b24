"""Regular machines in short: the `regular:` section and the same keys on the command line.

`sockets=2,numaNodesPerSocket=2,coresPerNumaNode=8,memoryPerNumaNode=64Gi,distances.remote=32` is a machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from numalign.model.cpuset import from_ids, union
from numalign.model.document import choice, field, maybe, only, record
from numalign.model.document.values import MAX_CPU, amount, integer, map_of
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.path import FieldError, shown
from numalign.sources.machine.devices import MAX_DEVICES, RESOURCE, check_resource
from numalign.sources.machine.sections import MAX_NODES, hugepages
from numalign.values import NamedTuple

NUMBERINGS = ("siblings-last", "siblings-adjacent", "interleaved")
LOCAL, SAME_SOCKET, REMOTE = 10, 12, 20
"""Distances that are not given: Linux' own for a node and another one; what current servers say within a socket."""


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


def _regular(
    *,
    sockets: int,
    nodes_per_socket: int | None,
    shared: int | None,
    cores: int,
    threads: int,
    cores_per_cache: int | None,
    memory: int,
    hugepages: Mapping[str, int],
    distances: _Distances | None,
    numbering: str,
    devices: Mapping[str, int],
) -> Machine:
    """Make the machine, without a name.

    Raises:
        FieldError: the counts do not divide, or are too many.
    """
    shape = _shape(_nodes(sockets, nodes_per_socket, shared), sockets, cores, threads, numbering)
    each = tuple([shape.core(index) for index in range(shape.cores)])
    rows = _rows(distances, shape)
    if cores % (shared or 1):
        message = f"expected a multiple of the {shared} sockets of a NUMA node, got {cores}"
        raise FieldError(("coresPerNumaNode",), message)
    per_node = [union(group) for group in _groups(each, cores)]
    per_socket = _groups(each, shape.cores_per_socket)
    return Machine(
        name="",
        numa_nodes=tuple(
            [
                NUMANode(id=index, cpus=cpus, memory=memory, hugepages=hugepages, distances=rows[index])
                for index, cpus in enumerate(per_node)
            ]
        ),
        sockets=tuple([Unit(index, union(group)) for index, group in enumerate(per_socket)]),
        cores=each,
        uncore_caches=_uncore_caches(cores_per_cache, shape, each),
        devices={name: _devices(name, count, shape.nodes) for name, count in devices.items()},
    )


def _nodes(sockets: int, per_socket: int | None, shared: int | None) -> int:
    """Count the NUMA nodes."""
    if shared is not None and per_socket is not None:
        raise FieldError(("socketsPerNumaNode",), "expected numaNodesPerSocket or socketsPerNumaNode, got both")
    if sockets % (shared or 1):
        raise FieldError(("socketsPerNumaNode",), f"expected a divisor of the {sockets} sockets, got {shared}")
    nodes = sockets * (per_socket or 1) // (shared or 1)
    if nodes > MAX_NODES:
        raise FieldError(("numaNodesPerSocket",), f"expected at most {MAX_NODES} NUMA nodes in all, got {nodes}")
    return nodes


def _shape(nodes: int, sockets: int, cores: int, threads: int, numbering: str) -> _Shape:
    total = nodes * cores * threads
    if total > MAX_CPU + 1:
        raise FieldError(("coresPerNumaNode",), f"expected at most {MAX_CPU + 1} CPUs in all, got {total}")
    return _Shape(sockets=sockets, nodes=nodes, cores_per_node=cores, threads=threads, numbering=numbering)


def _groups(cores: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(cores), size):
        yield cores[start : start + size]


def _uncore_caches(size: int | None, shape: _Shape, cores: tuple[int, ...]) -> tuple[Unit, ...]:
    """Caches of neighbouring cores; one that covers exactly a NUMA node is none for the kubelet (discovery.md 1.11)."""
    node = shape.cores_per_node
    if size is None:
        return ()
    if shape.cores_per_socket % size or (node % size and size % node):
        message = (
            f"expected a divisor of the {shape.cores_per_socket} cores of a socket that fits the {node} of a NUMA node"
        )
        raise FieldError(("coresPerUncoreCache",), f"{message}, got {size}")
    if size == node:
        return ()
    return tuple([Unit(index, union(group)) for index, group in enumerate(_groups(cores, size))])


class _Distances(NamedTuple):
    local: int
    same_socket: int | None
    remote: int


def _rows(given: _Distances | None, shape: _Shape) -> list[tuple[int, ...] | None]:
    """Make the table of distances, a row a NUMA node."""
    if given is None:
        return [None] * shape.nodes
    same = min(SAME_SOCKET, given.remote) if given.same_socket is None else given.same_socket
    per_socket = max(1, shape.nodes // shape.sockets)
    everywhere = range(shape.nodes)
    return [
        tuple(
            [
                given.local if one == other else same if one // per_socket == other // per_socket else given.remote
                for other in everywhere
            ]
        )
        for one in everywhere
    ]


def _devices(resource: str, count: int, nodes: int) -> tuple[Device, ...]:
    """Devices named after their resource, numbered node by node: gpu0 … gpu3 on node 0, gpu4 … on node 1."""
    prefix = resource.rpartition("/")[2]
    return tuple([Device(f"{prefix}{index}", (index // count,)) for index in range(count * nodes)])


_FEW: Final = integer(1, MAX_NODES)
_MANY: Final = integer(1, MAX_CPU + 1)
_DISTANCE: Final = integer(0, 255, "a distance")
REGULAR: Final = record(
    _regular,
    field("sockets", _FEW, 1),
    field("numaNodesPerSocket", _FEW, None, to="nodes_per_socket"),
    field("socketsPerNumaNode", _FEW, None, to="shared"),
    field("coresPerNumaNode", _MANY, to="cores", missing="expected the number of cores of a NUMA node, got nothing"),
    field("threadsPerCore", integer(1, 64), 1, to="threads"),
    field("coresPerUncoreCache", _MANY, None, to="cores_per_cache"),
    field("memoryPerNumaNode", amount, 0, to="memory"),
    field("hugepagesPerNumaNode", hugepages, {}, to="hugepages"),
    maybe(
        "distances",
        record(
            _Distances,
            field("local", _DISTANCE, LOCAL),
            field("sameSocket", _DISTANCE, None, says=f"{SAME_SOCKET}, or that of remote if it is less."),
            field("remote", _DISTANCE, REMOTE),
        ),
    ),
    field("cpuNumbering", choice(*NUMBERINGS, start="one of "), NUMBERINGS[0], to="numbering"),
    field(
        "devices",
        map_of(
            record(
                lambda *, count: count,
                field("perNumaNode", integer(0, MAX_DEVICES), to="count"),
                wanted="{perNumaNode: N}",
            ),
            check=check_resource,
            also=RESOURCE,
        ),
        {},
    ),
    also={"not": {"required": ["numaNodesPerSocket", "socketsPerNumaNode"]}},
)
"""A `regular:` section."""
KEYS: Final = tuple(REGULAR.schema["properties"])


def parse_short(short: str) -> dict[str, Any]:
    """Read the short form into what `regular:` would hold; without distances it has the usual ones.

    Raises:
        FieldError: a part is no `key=value`, or a key is given twice.
    """
    data: dict[str, Any] = {}
    for part in short.split(","):
        key, equals, given = part.partition("=")
        path = _short_path(key.strip())
        if not equals or not given.strip() or not path:
            raise FieldError((), f"expected key=value, got {shown(part)}")
        only({path[0]: None}, KEYS)
        inner = data
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise FieldError((key.strip(),), f"{step} has its own value already")
        if path[-1] in inner:
            raise FieldError((key.strip(),), "duplicate key")
        text = given.strip()
        inner[path[-1]] = int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else text
    data.setdefault("distances", {})
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
