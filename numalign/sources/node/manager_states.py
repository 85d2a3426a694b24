"""The states of CPU Manager, Memory Manager and Device Manager in a state file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.device.state import DeviceManager, DeviceState, device_ids
from numalign.kubelet.memory.state import Block, MemoryManager, MemoryState, machine_state
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import MAX_ID, CPUSetError, format_set, from_ids, ids, parse
from numalign.model.document import (
    NEEDED,
    Data,
    Form,
    as_dict,
    field,
    inside,
    nullable,
    raw,
    read,
    record,
)
from numalign.model.document.values import boolean, integer, list_of, map_of, text, turned
from numalign.model.path import FieldError, unfit


def _cpus(value: object) -> int:
    if not isinstance(value, str):
        raise unfit("a text", value)
    try:
        return parse(value)
    except CPUSetError as error:
        raise unfit(f"a CPU list ({error})", value) from None


_CPUS: Final = Form(_cpus, format_set, {})
_NODES: Final = list_of(integer(0, MAX_ID, "a NUMA node id"), "a list of NUMA node ids")
_MASK: Final[Form[int]] = turned(_NODES, from_ids, lambda mask: tuple(ids(mask)))
_TEXT: Final = text("a text", empty=True)
TEXTS: Final = list_of(_TEXT, "a list of texts")
_BYTES: Final = integer(0, 2**64)
_HINT: Final = record(
    TopologyHint, field("numaNodes", nullable(_MASK), None, to="numa_affinity"), field("preferred", boolean), whole=True
)
HINTS: Final = map_of(_HINT, kept=True)
CPU_STATE: Final = record(
    CPUState,
    field("default", _CPUS),
    field("assignments", map_of(map_of(_CPUS, kept=True), kept=True)),
    inside("reuse", field("pod", _TEXT, NEEDED, to="reuse_uid"), field("cpus", _CPUS, NEEDED, to="reuse")),
    field("pods", map_of(_CPUS, kept=True)),
    whole=True,
)
_BLOCK: Final = record(
    Block, field("numaNodes", _MASK, to="mask"), field("type", _TEXT), field("bytes", _BYTES, to="size")
)
_BLOCKS: Final = list_of(_BLOCK, "a list of blocks")
_TABLE: Final = record(
    as_dict,
    field("numberOfAssignments", _BYTES, to="count"),
    field("cells", _MASK),
    field("memory", map_of(record(as_dict, field("free", _BYTES), field("reserved", _BYTES), others=True))),
    others=True,
)
_TABLES: Final = map_of(_TABLE)


def memory_state(manager: MemoryManager) -> Form[MemoryState]:
    """Describe the Memory Manager's state; its tables must be those of the machine and the kubelet."""

    def made(
        *, nodes: Mapping[str, object], blocks: tuple[Block, ...], entries: Data, reusable_pod: str, pods: Data
    ) -> MemoryState:
        reusable = {(block.mask, block.type): block.size for block in blocks}
        state = _counted(manager, nodes)._replace(
            entries=entries, reusable_pod=reusable_pod, reusable=reusable, pods=pods
        )
        for number, table in machine_state(manager, state).items():
            if nodes[number] != table:
                raise FieldError(("nodes", number), "expected the tables of this machine and kubelet")
        return state

    def parts(state: MemoryState) -> Mapping[str, object]:
        blocks = [Block(mask, kind, size) for (mask, kind), size in state.reusable.items()]
        return {**state._asdict(), "nodes": machine_state(manager, state), "blocks": blocks}

    return record(
        made,
        field("nodes", raw),
        field("entries", map_of(map_of(_BLOCKS, kept=True), kept=True), {}),
        inside("reuse", field("pod", _TEXT, to="reusable_pod"), field("blocks", _BLOCKS)),
        field("pods", map_of(_BLOCKS, kept=True), {}),
        parts=parts,
        whole=True,
    )


def _counted(manager: MemoryManager, written: Mapping[str, object]) -> MemoryState:
    """Read the tables of the NUMA nodes: by resource, then by node."""
    if sorted(written) != sorted(map(str, manager.node_ids)):
        raise FieldError(("nodes",), "expected the NUMA nodes of the machine")
    known = read(_TABLES, written, ("nodes",))
    counts, groups, *amounts = ([0] * manager.nodes.bit_length() for _ in range(2 + 2 * len(manager.resources)))
    free, reserved = (dict(zip(manager.resources, rows, strict=True)) for rows in (amounts[::2], amounts[1::2]))
    for node in manager.node_ids:
        table = known[str(node)]
        counts[node], groups[node] = table["count"], table["cells"]
        for name, one in table["memory"].items():
            if name not in free:
                raise FieldError(("nodes", str(node), "memory"), f"expected resources of the machine, not {name}")
            free[name][node], reserved[name][node] = one["free"], one["reserved"]
    of_free, of_reserved = (tuple([tuple(row) for row in rows.values()]) for rows in (free, reserved))
    return MemoryState(tuple(counts), tuple(groups), of_free, of_reserved)


def devices_state(manager: DeviceManager) -> Form[DeviceState]:
    """Describe the Device Manager's state, which has devices of the machine only."""
    places = {
        name: {device.id: place for place, device in enumerate(one.devices)} for name, one in manager.resources.items()
    }

    def held(value: object) -> dict[str, int]:
        found = {}
        for name, listed in raw.read(value).items():
            if name not in places:
                raise FieldError((name,), "expected a resource of the machine")
            wanted = read(TEXTS, listed, (name,))
            if not set(wanted) <= set(places[name]) or len(set(wanted)) != len(wanted):
                raise FieldError((name,), "expected devices of the machine, each once")
            found[name] = from_ids(places[name][one] for one in wanted)
        return found

    def made(*, holdings: Mapping[str, Mapping[str, dict[str, int]]], pod: str, devices: dict[str, int]) -> DeviceState:
        allocated = dict.fromkeys(manager.resources, 0)
        for name, bits in (one for pods in holdings.values() for kept in pods.values() for one in kept.items()):
            allocated[name] |= bits
        return DeviceState(holdings, {name: bits for name, bits in allocated.items() if bits}, pod, devices)

    def named(known: Mapping[str, int]) -> dict[str, list[str]]:
        return {name: device_ids(manager.resources[name], members) for name, members in known.items()}

    form = Form(held, named, {})
    return record(
        made,
        field("holdings", map_of(map_of(form, kept=True), kept=True), {}),
        inside("reuse", field("pod", _TEXT), field("devices", form, {})),
        parts=lambda state: {"holdings": state.holdings, "pod": state.reusable_of, "devices": state.reusable},
        whole=True,
    )
