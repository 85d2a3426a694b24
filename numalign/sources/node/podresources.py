"""What the PodResources API says of a node: an answer that somebody saved, in any of the shapes that clients print.

docs/rules/podresources.md 1 to 5 and 16a. Field names in the proto's form or in camel case, 64-bit numbers as text or
as numbers, node 0 as `{}`, one document or several, the pods bare or wrapped. The live socket is `podresources_live`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from numalign.errors import InputError
from numalign.sources.text.json import read_json
from numalign.values import NamedTuple

Nodes: TypeAlias = tuple[int, ...]


class ClaimedDevice(NamedTuple):
    """A device that a container holds by a claim (DRA)."""

    claim: str
    namespace: str
    driver: str
    pool: str
    device: str
    share: str = ""
    """The id of its share of a device that several hold (1.35)."""


class ContainerResources(NamedTuple):
    """What one container holds."""

    name: str
    cpus: frozenset[int]
    """Exclusive CPUs; empty: it runs in the shared pool."""
    memory: tuple[tuple[str, int, Nodes], ...]
    """(type, bytes, NUMA nodes) of each block."""
    devices: Mapping[str, Mapping[str, Nodes]]
    """Resource -> device id -> its NUMA nodes; () for none. A device with several stands once (rule 11)."""
    claimed: tuple[ClaimedDevice, ...] = ()


SHARED = "(shared by the pod)"
"""Stands for the part of a pod that its containers share; no container can have such a name."""


class PodHoldings(NamedTuple):
    """What the containers of one pod hold."""

    name: str
    namespace: str
    containers: tuple[ContainerResources, ...]
    cpus: frozenset[int] = frozenset()
    """CPUs of the pod as a whole (1.37); those of its containers are among them (16c)."""
    memory: tuple[tuple[str, int, Nodes], ...] = ()
    """Memory of the pod as a whole, likewise."""

    @property
    def shared(self) -> ContainerResources:
        """What the pod holds and none of its containers by itself (16c)."""
        own = frozenset[int]().union(*(one.cpus for one in self.containers))
        taken: dict[tuple[str, Nodes], int] = {}
        for one in self.containers:
            for kind, size, nodes in one.memory:
                taken[kind, nodes] = taken.get((kind, nodes), 0) + size
        rest = [(kind, size - taken.get((kind, nodes), 0), nodes) for kind, size, nodes in self.memory]
        return ContainerResources(SHARED, self.cpus - own, tuple([one for one in rest if one[1] > 0]), {})


class Allocatable(NamedTuple):
    """What the node could give out: a capacity, not what is free (rule 13)."""

    cpus: frozenset[int]
    memory: tuple[tuple[str, int, Nodes], ...]
    devices: Mapping[str, Mapping[str, Nodes]]


class PodResources(NamedTuple):
    """What the API said."""

    pods: tuple[PodHoldings, ...] | None
    """None: only the capacity was asked for."""
    allocatable: Allocatable | None
    """None: it was not asked for."""


NOTHING = PodResources(None, None)


def read_podresources(text: str, name: str) -> PodResources:
    """Read a saved answer, or several of them one after another.

    Args:
        text: what was saved.
        name: the file's name, for errors.

    Raises:
        InputError: no JSON, or no answer of the API.
    """
    found = NOTHING
    for document in read_json(text, name):
        found = _merged(found, _answer(document.data, f"{name}:{document.line}"))
    if found == NOTHING:
        raise InputError(
            "is not an answer of the PodResources API: expected pod_resources, or cpu_ids and devices", name
        )
    return found


def is_answer(data: object) -> bool:
    """Tell whether decoded JSON looks like an answer of the API."""
    if isinstance(data, list):
        return bool(data) and all(isinstance(one, dict) and "containers" in one and "kind" not in one for one in data)
    if not isinstance(data, dict) or "kind" in data:
        return False
    keys = {_plain_key(key) for key in data}
    return bool(keys & {"podresources", "allocatable", "allocatableresources", "cpuids"}) or (
        "devices" in keys and keys <= {"devices", "memory", "cpuids"}
    )


def _merged(one: PodResources, other: PodResources) -> PodResources:
    return PodResources(
        one.pods if other.pods is None else other.pods,
        one.allocatable if other.allocatable is None else other.allocatable,
    )


def _answer(data: object, where: str) -> PodResources:
    """Read one document: `List`, `GetAllocatableResources`, both under one roof, or a bare list of pods."""
    if isinstance(data, list):
        return PodResources(tuple([_pod(one, f"{where}: [{index}]") for index, one in enumerate(data)]), None)
    if not is_answer(data) or not isinstance(data, dict):
        raise InputError("is not an answer of the PodResources API", where)
    fields = _fields(data)
    pods = fields.get("podresources")
    inner = fields.get("allocatableresources", fields.get("allocatable"))
    allocatable = inner if isinstance(inner, dict) else data if {"cpuids", "devices"} & set(fields) else None
    return PodResources(
        tuple([_pod(one, f"{where}: pod_resources[{index}]") for index, one in enumerate(_list(pods, where))])
        if "podresources" in fields
        else None,
        None if allocatable is None else _allocatable(allocatable, where),
    )


def _plain_key(key: str) -> str:
    """`pod_resources`, `podResources` and `PodResources` are one field."""
    return key.replace("_", "").lower()


def _fields(data: object) -> dict[str, object]:
    return {_plain_key(key): value for key, value in data.items()} if isinstance(data, dict) else {}


def _list(value: object, where: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError("expected a list", where)
    return value


def _text(fields: Mapping[str, object], key: str, where: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key}: expected a text", where)
    return value


def _number(value: object, where: str) -> int:
    """Read a number, which may be written as text; left out it is 0."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and value.isascii() and len(value) < 20:
        return int(value)
    if value is None:
        return 0
    if type(value) is not int or value.bit_length() > 64:
        raise InputError("expected a whole number", where)
    return value


def _numbers(value: object, where: str) -> frozenset[int]:
    numbers = [_number(one, where) for one in _list(value, where)]
    if any(not 0 <= number < 1 << 20 for number in numbers):
        raise InputError("cpu_ids: expected CPU ids", where)
    return frozenset(numbers)


def _pod(data: object, where: str) -> PodHoldings:
    fields = _fields(data)
    if "containers" not in fields and "name" not in fields:
        raise InputError("expected a pod with name, namespace and containers", where)
    containers = _list(fields.get("containers"), where)
    return PodHoldings(
        _text(fields, "name", where),
        _text(fields, "namespace", where),
        tuple([_container(one, f"{where}.containers[{index}]") for index, one in enumerate(containers)]),
        _numbers(fields.get("cpuids"), where),
        _memory(fields.get("memory"), where),
    )


def _container(data: object, where: str) -> ContainerResources:
    fields = _fields(data)
    return ContainerResources(
        _text(fields, "name", where),
        _numbers(fields.get("cpuids"), where),
        _memory(fields.get("memory"), where),
        _devices(fields.get("devices"), where),
        tuple(_claimed(fields.get("dynamicresources"), where)),
    )


def _allocatable(data: object, where: str) -> Allocatable:
    fields = _fields(data)
    return Allocatable(
        _numbers(fields.get("cpuids"), where),
        _memory(fields.get("memory"), where),
        _devices(fields.get("devices"), where),
    )


def _memory(value: object, where: str) -> tuple[tuple[str, int, Nodes], ...]:
    blocks = []
    for one in _list(value, where):
        fields = _fields(one)
        kind = _text(fields, "memorytype", where)
        size = _number(fields.get("size", fields.get("sizebytes")), where)
        blocks.append((kind, size, _nodes(fields.get("topology"), where)))
    return tuple(blocks)


def _nodes(topology: object, where: str) -> Nodes:
    nodes = _list(_fields(topology).get("nodes"), where)
    return tuple(sorted({_number(_fields(one).get("id"), where) for one in nodes}))


def _devices(value: object, where: str) -> dict[str, dict[str, Nodes]]:
    """Read devices; one that stands there once a node is put together again (rule 11)."""
    found: dict[str, dict[str, Nodes]] = {}
    for one in _list(value, where):
        fields = _fields(one)
        of_resource = found.setdefault(_text(fields, "resourcename", where), {})
        nodes = _nodes(fields.get("topology"), where)
        for device in _list(fields.get("deviceids"), where):
            if not isinstance(device, str):
                raise InputError("device_ids: expected texts", where)
            of_resource[device] = tuple(sorted({*of_resource.get(device, ()), *nodes}))
    return found


def _claimed(value: object, where: str) -> Iterable[ClaimedDevice]:
    for one in _list(value, where):
        fields = _fields(one)
        claim, namespace = _text(fields, "claimname", where), _text(fields, "claimnamespace", where)
        for resource in _list(fields.get("claimresources"), where):
            inner = _fields(resource)
            parts = (_text(inner, key, where) for key in ("drivername", "poolname", "devicename", "shareid"))
            yield ClaimedDevice(claim, namespace, *parts)
