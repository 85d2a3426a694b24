"""`memory_manager_state`: its forms, its checksum, and what a kubelet of a release makes of it at its start.

docs/rules/kubelet-files.md 3, 5 and 28b. Values and texts only; where the file comes from is `sources.node`' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from numalign.kubelet.checkpoint_forms import SINCE_DATA, Form, StateFile
from numalign.kubelet.checkpoint_shape import CHECKSUM, INT, TEXT, UINT64, Field, Record, Shape, Value
from numalign.kubelet.memory.start import Table
from numalign.model.quantity import Bytes
from numalign.values import NamedTuple

FILE: Final = "memory_manager_state"
"""Its path below the kubelet's root directory."""

_NAME: Final = "state.MemoryManagerCheckpoint"
_BYTES: Final = Shape("uint64", "number", bounds=UINT64)
_NUMBER: Final = Shape("int", "number", bounds=INT)
_NODES: Final = Shape("[]int", "list", _NUMBER)
_RESOURCE: Final = TEXT._replace(go="v1.ResourceName")
_BLOCK: Final = Shape(
    "state.Block",
    "record",
    fields=(
        Field("NUMAAffinity", "numaAffinity", _NODES),
        Field("Type", "type", _RESOURCE),
        Field("Size", "size", _BYTES),
    ),
)
_BLOCKS: Final = Shape("[]state.Block", "list", _BLOCK)
_TABLE: Final = Shape(
    "state.MemoryTable",
    "record",
    pointer=True,
    fields=(
        Field("TotalMemSize", "total", _BYTES),
        Field("SystemReserved", "systemReserved", _BYTES),
        Field("Allocatable", "allocatable", _BYTES),
        Field("Reserved", "reserved", _BYTES),
        Field("Free", "free", _BYTES),
    ),
)
_NODE: Final = Shape(
    "state.NUMANodeState",
    "record",
    pointer=True,
    fields=(
        Field("NumberOfAssignments", "numberOfAssignments", _NUMBER),
        Field("MemoryMap", "memoryMap", Shape("map[v1.ResourceName]*state.MemoryTable", "map", _TABLE)),
        Field("Cells", "cells", _NODES),
    ),
)
_OF_CONTAINERS: Final = Shape("map[string][]state.Block", "map", _BLOCKS)
_POD_ENTRY: Final = Shape(
    "state.PodMemoryAssignment", "record", fields=(Field("MemoryBlocks", "memoryBlocks", _BLOCKS),)
)


def _shape(*more: Field) -> Shape:
    return Shape(
        _NAME,
        "record",
        fields=(
            Field("PolicyName", "policyName", TEXT),
            Field("MachineState", "machineState", Shape("state.NUMANodeMap", "map", _NODE, numbered=True), made=True),
            Field(
                "Entries",
                "entries",
                Shape("state.ContainerMemoryAssignments", "map", _OF_CONTAINERS),
                omitted=True,
                made=True,
            ),
            *more,
            Field("Checksum", "checksum", CHECKSUM),
        ),
    )


_SHAPES: Final[Mapping[Form, Shape]] = {
    "current": _shape(),
    "with podEntries": _shape(
        Field(
            "PodEntries",
            "podEntries",
            Shape("state.PodMemoryAssignments", "map", _POD_ENTRY),
            omitted=True,
            made=True,
        )
    ),
}


class FileBlock(NamedTuple):
    """What is held of one resource, as the file has it."""

    nodes: tuple[int, ...]
    type: str
    size: Bytes


class FileNode(NamedTuple):
    """One NUMA node, as the file has it."""

    assignments: int
    cells: tuple[int, ...]
    tables: Mapping[str, Table]


class MemoryCheckpoint(NamedTuple):
    """The content of a `memory_manager_state`; amounts are bytes."""

    form: Form
    policy: str
    nodes: Mapping[int, FileNode]
    entries: Mapping[str, Mapping[str, tuple[FileBlock, ...]]] = {}
    """Pod UID -> container name -> blocks."""
    pod_entries: Mapping[str, tuple[FileBlock, ...]] = {}
    """Pod UID -> blocks of the pod as a whole."""
    checksum: int = 0
    """As in the file."""


def read_memory_checkpoint(text: str, release: tuple[int, int], *, pod_entries: bool = False) -> MemoryCheckpoint:
    """Read the file as a kubelet of a release does at its start (rules 17, 28b); see the CPU Manager's of this name.

    Raises:
        CheckpointError: that kubelet does not take the file; the cause in its words.
    """
    newer = release >= (1, 36)
    with_pods = pod_entries or release >= SINCE_DATA
    tried: list[tuple[Form, str]] = [("with podEntries", _NAME)] if newer and with_pods else []
    tried.append(("current", f"{_NAME}V1" if newer else _NAME))
    return _FILE.read(text, release, tried, unchecked=("current",) if newer else ())


def _checkpoint(data: Record, form: Form) -> MemoryCheckpoint:
    return MemoryCheckpoint(
        form=form,
        policy=data["policyName"],
        nodes={number: _node(node) for number, node in sorted((data["machineState"] or {}).items())},
        entries={
            uid: {name: _blocks(blocks) for name, blocks in (held or {}).items()}
            for uid, held in (data["entries"] or {}).items()
        },
        pod_entries={uid: _blocks(entry["memoryBlocks"]) for uid, entry in (data.get("podEntries") or {}).items()},
        checksum=data["checksum"],
    )


def _node(data: Record | None) -> FileNode:
    data = data or {"numberOfAssignments": 0, "cells": None, "memoryMap": None}
    tables = {name: _table(table) for name, table in sorted((data["memoryMap"] or {}).items())}
    return FileNode(data["numberOfAssignments"], tuple(data["cells"] or ()), tables)


def _table(data: Record | None) -> Table:
    return Table(**{name: data[key] if data else 0 for name, key in _TABLE_KEYS.items()})


_TABLE_KEYS: Final = {
    "total": "total",
    "system_reserved": "systemReserved",
    "allocatable": "allocatable",
    "reserved": "reserved",
    "free": "free",
}


def _blocks(data: Iterable[Record] | None) -> tuple[FileBlock, ...]:
    return tuple([FileBlock(tuple(one["numaAffinity"] or ()), one["type"], one["size"]) for one in data or ()])


def _plain(checkpoint: MemoryCheckpoint) -> dict[str, Value]:
    def blocks(given: Iterable[FileBlock]) -> list[dict[str, Value]]:
        return [{"numaAffinity": list(one.nodes), "type": one.type, "size": one.size} for one in given]

    return {
        "policyName": checkpoint.policy,
        "machineState": {
            number: {
                "numberOfAssignments": node.assignments,
                "memoryMap": {
                    resource: {key: getattr(table, name) for name, key in _TABLE_KEYS.items()}
                    for resource, table in node.tables.items()
                },
                "cells": list(node.cells),
            }
            for number, node in checkpoint.nodes.items()
        },
        "entries": {
            uid: {name: blocks(given) for name, given in held.items()} for uid, held in checkpoint.entries.items()
        },
        "podEntries": {uid: {"memoryBlocks": blocks(given)} for uid, given in checkpoint.pod_entries.items()},
        "checksum": checkpoint.checksum,
    }


_FILE: Final = StateFile(_SHAPES, _checkpoint, _plain)
inspect, write, sealed = lru_cache(maxsize=2)(_FILE.inspect), _FILE.write, _FILE.sealed
"""As of `StateFile`."""
