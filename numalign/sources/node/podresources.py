"""What the PodResources API says of a node: an answer that somebody saved, in any of the shapes that clients print.

docs/rules/podresources.md 1 to 5 and 16a. Field names in the proto's form or in camel case, 64-bit numbers as text or
as numbers, node 0 as `{}`, one document or several, the pods bare or wrapped. The live socket is `podresources_live`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from numalign.errors import InputError
from numalign.model.document import Form, as_dict, maybe, read, record
from numalign.model.document.values import list_of
from numalign.model.path import blaming, dotted, unfit
from numalign.results.node import ClaimStatus
from numalign.sources.text.json import read_json
from numalign.values import NamedTuple

Nodes: TypeAlias = tuple[int, ...]
Block: TypeAlias = tuple[str, int, Nodes]
"""Of memory: type, bytes, NUMA nodes."""


class ContainerResources(NamedTuple):
    """What one container holds."""

    name: str
    cpus: frozenset[int]
    """Exclusive CPUs; empty: it runs in the shared pool."""
    memory: tuple[Block, ...]
    devices: Mapping[str, Mapping[str, Nodes]]
    """Resource -> device id -> its NUMA nodes; () for none. A device with several stands once (rule 11)."""
    claimed: tuple[ClaimStatus, ...] = ()


SHARED = "(shared by the pod)"
"""Stands for the part of a pod that its containers share; no container can have such a name."""


class PodHoldings(NamedTuple):
    """What the containers of one pod hold."""

    name: str
    namespace: str
    containers: tuple[ContainerResources, ...]
    cpus: frozenset[int] = frozenset()
    """CPUs of the pod as a whole (1.37); those of its containers are among them (16c)."""
    memory: tuple[Block, ...] = ()
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
    memory: tuple[Block, ...]
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
        pods, allocatable = answer_of(document.data, f"{name}:{document.line}")
        found = PodResources(
            found.pods if pods is None else pods, found.allocatable if allocatable is None else allocatable
        )
    if found == NOTHING:
        message = "is not an answer of the PodResources API: expected pod_resources, or cpu_ids and devices"
        raise InputError(message, name)
    return found


def is_answer(data: object) -> bool:
    """Tell whether decoded JSON looks like an answer of the API."""
    if isinstance(data, list):
        return bool(data) and all(isinstance(one, dict) and "containers" in one and "kind" not in one for one in data)
    if not isinstance(data, dict) or "kind" in data:
        return False
    keys = set(map(_name, data))
    return bool(keys & {"pod_resources", "allocatable", "allocatable_resources", "cpu_ids"}) or (
        "devices" in keys and keys <= {"devices", "memory"}
    )


def answer_of(data: object, where: str) -> PodResources:
    """Read one document: `List`, `GetAllocatableResources`, both under one roof, or a bare list of pods.

    Raises:
        InputError: it is none of these; `where` has the field.
    """
    if not isinstance(data, list) and not is_answer(data):
        raise InputError("is not an answer of the PodResources API", where)
    spelt = _spelt(data)
    fields = spelt if isinstance(spelt, dict) else {"pod_resources": spelt}
    inner = fields.get("allocatable_resources", fields.get("allocatable"))
    allocatable = inner if isinstance(inner, dict) else fields if {"cpu_ids", "devices"} & fields.keys() else None
    with blaming(lambda path: f"{where}: {dotted(path)}"):
        return PodResources(
            read(_PODS, fields["pod_resources"] or [], ("pod_resources",)) if "pod_resources" in fields else None,
            None if allocatable is None else _ALLOCATABLE.read(allocatable),
        )


_FIELDS: Final = """
pod_resources allocatable_resources cpu_ids memory_type size_bytes resource_name device_ids dynamic_resources
claim_name claim_namespace claim_resources driver_name pool_name device_name share_id
"""
_NAMES: Final = {name.replace("_", ""): name for name in _FIELDS.split()}


def _name(key: str) -> str:
    """Call a field as the proto does: `podResources` and `PodResources` are `pod_resources`."""
    plain = key.replace("_", "").lower()
    return _NAMES.get(plain, plain)


def _spelt(data: object) -> object:
    if isinstance(data, dict):
        return {_name(key): _spelt(value) for key, value in data.items()}
    return [_spelt(one) for one in data] if isinstance(data, list) else data


def _number(value: object) -> int:
    """Read a number, which may be written as text."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and value.isascii() and len(value) < 20:
        return int(value)
    if type(value) is not int or value.bit_length() > 64:
        raise unfit("a whole number", value)
    return value


def _cpu(value: object) -> int:
    if not 0 <= _number(value) < 1 << 20:
        raise unfit("a CPU id", value)
    return _number(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise unfit("text", value)
    return value


def _block(*, kind: str, size: int | None, size_bytes: int, nodes: Nodes) -> Block:
    return kind, size_bytes if size is None else size, nodes


def _devices(value: object) -> dict[str, dict[str, Nodes]]:
    """Read devices; one that stands there once a node is put together again (rule 11)."""
    found: dict[str, dict[str, Nodes]] = {}
    for row in _DEVICE_ROWS.read(value):
        of_resource = found.setdefault(row["resource_name"], {})
        for device in row["device_ids"]:
            of_resource[device] = tuple(sorted({*of_resource.get(device, ()), *row["nodes"]}))
    return found


def _claimed(value: object) -> tuple[ClaimStatus, ...]:
    rows = _CLAIM_ROWS.read(value)
    return tuple([ClaimStatus(row["claim"], row["namespace"], **one) for row in rows for one in row["resources"]])


def _pod(value: object) -> PodHoldings:
    if not isinstance(value, dict) or not {"containers", "name"} & value.keys():
        raise unfit("a pod with name, namespace and containers", value)
    return _POD.read(value)


# Fields that are left out are zero, as the protocol has it.
_TEXT: Final = Form(_text, str, {})
_NUMBER: Final = Form(_number, str, {})
_NAMED: Final = maybe("name", _TEXT, "")
_NODE: Final = record(lambda *, node: node, maybe("id", _NUMBER, 0, to="node"), others=True)
_TOPOLOGY: Final = record(lambda *, nodes: tuple(sorted({*nodes})), maybe("nodes", list_of(_NODE), ()), others=True)
_ON: Final = maybe("topology", _TOPOLOGY, (), to="nodes")
_CPU_IDS: Final = list_of(Form(_cpu, str, {}))
_CPUS: Final = maybe("cpu_ids", Form(lambda value: frozenset(_CPU_IDS.read(value)), list, {}), frozenset(), to="cpus")
_SIZES: Final = (maybe("size", _NUMBER), maybe("size_bytes", _NUMBER, 0))
_BLOCK: Final = record(_block, maybe("memory_type", _TEXT, "", to="kind"), *_SIZES, _ON, others=True)
_MEMORY: Final = maybe("memory", list_of(_BLOCK), ())
_DEVICE_ROWS: Final = list_of(
    record(as_dict, maybe("resource_name", _TEXT, ""), maybe("device_ids", list_of(_TEXT), ()), _ON, others=True)
)
_DEVICES: Final = maybe("devices", Form(_devices, dict, {}), {})
_CLAIM_RESOURCE: Final = record(
    as_dict,
    *[maybe(f"{key}_name", _TEXT, "", to=key) for key in ("driver", "pool", "device")],
    maybe("share_id", _TEXT, "", to="share"),
    others=True,
)
_CLAIM_ROWS: Final = list_of(
    record(
        as_dict,
        maybe("claim_name", _TEXT, "", to="claim"),
        maybe("claim_namespace", _TEXT, "", to="namespace"),
        maybe("claim_resources", list_of(_CLAIM_RESOURCE), (), to="resources"),
        others=True,
    )
)
_CLAIMED: Final = maybe("dynamic_resources", Form(_claimed, list, {}), (), to="claimed")
_CONTAINER: Final = record(ContainerResources, _NAMED, _CPUS, _MEMORY, _DEVICES, _CLAIMED, others=True)
_CONTAINERS: Final = maybe("containers", list_of(_CONTAINER), ())
_POD: Final = record(PodHoldings, _NAMED, maybe("namespace", _TEXT, ""), _CONTAINERS, _CPUS, _MEMORY, others=True)
_PODS: Final = list_of(Form(_pod, str, {}))
_ALLOCATABLE: Final = record(Allocatable, _CPUS, _MEMORY, _DEVICES, others=True)
