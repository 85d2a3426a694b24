"""Starting the Memory Manager: policy, checks, node tables, and the check of a restored state.

Stands for docs/rules/memory-manager.md sections 2, 3 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from numalign.errors import StartError
from numalign.kubelet.memory.reserved import NodeAmount, Reserved, check_reserved_memory
from numalign.kubelet.memory.state import (
    STATIC,
    WORD,
    Block,
    MemoryManager,
    MemoryState,
    PerNode,
    fill,
    initial_state,
)
from numalign.model.cpuset import NUMAMask, ids
from numalign.model.machine import LAST_NUMA_ID, Machine, NUMANode
from numalign.model.quantity import Bytes, Quantity
from numalign.model.resources import MEMORY, hugepages
from numalign.values import NamedTuple

OTHER_STATE: Final = "[memorymanager] the expected machine state is different from the real one"


class Table(NamedTuple):
    """One resource of one node, in bytes (docs/rules/memory-manager.md 1)."""

    total: Bytes
    system_reserved: Bytes
    allocatable: Bytes
    reserved: Bytes
    free: Bytes


NOTHING: Final = Table(0, 0, 0, 0, 0)


class NodeRecord(NamedTuple):
    """One NUMA node of a restored state, as the state file has it."""

    assignments: int
    group: NUMAMask
    tables: Mapping[str, Table]


def start(
    machine: Machine,
    policy: str,
    reserved_memory: tuple[NodeAmount, ...],
    reservation: Mapping[str, Quantity],
) -> MemoryManager:
    """Start the Memory Manager on a machine: checks h, then d to g of rule 3, then the tables of section 3.

    Args:
        machine: the machine.
        policy: `None` or `Static`.
        reserved_memory: the setting `reservedMemory`, read and validated (`validate_reserved_memory`).
        reservation: the node reservation per resource (rule 4).

    Raises:
        StartError: the kubelet would not start; the text is its own.
    """
    check_policy(policy)
    if policy != STATIC:
        return MemoryManager("None")
    reserved = check_reserved_memory((node.id for node in machine.numa_nodes), reserved_memory, reservation)
    _check_node_ids(machine)
    tables = {node.id: _tables(node, reserved) for node in machine.numa_nodes}
    resources = tuple(sorted({resource for node in tables.values() for resource in node}))
    nodes = sum(1 << node for node in tables)
    length = nodes.bit_length()

    def column(field: int) -> tuple[PerNode, ...]:
        return tuple(
            tuple([tables[node][name][field] if name in tables.get(node, ()) else 0 for node in range(length)])
            for name in resources
        )

    allocatable = column(2)
    return MemoryManager(
        policy=STATIC,
        nodes=nodes,
        node_ids=tuple(sorted(tables)),
        resources=resources,
        places={resource: place for place, resource in enumerate(resources)},
        offered=tuple(sum(1 << node for node in tables if name in tables[node]) for name in resources),
        everywhere=frozenset(name for name in resources if all(name in tables[node] for node in tables)),
        total=column(0),
        system_reserved=column(1),
        allocatable=allocatable,
        widest=tuple(tuple(accumulate(sorted(amounts, reverse=True)[: len(tables)])) for amounts in allocatable),
        wraps=tuple(sum(amounts) >= WORD for amounts in allocatable),
    )


def _check_node_ids(machine: Machine) -> None:
    """Refuse NUMA ids that no mask can hold: the kubelet starts, and crashes when it looks for a pod's best nodes."""
    beyond = [str(node.id) for node in machine.numa_nodes if not 0 <= node.id <= LAST_NUMA_ID]
    if beyond:
        raise StartError(
            f"the kubelet would crash at the first Guaranteed pod: NUMA node {beyond[0]} is outside 0-{LAST_NUMA_ID}; "
            "only memoryManagerPolicy None works here"
        )


def check_policy(policy: str) -> None:
    """Check the policy's name (rule 3 h).

    Raises:
        StartError: no such policy on Linux.
    """
    if policy == "BestEffort":
        raise StartError('policy "BestEffort" is not available for platform "linux"')
    if policy not in ("None", STATIC):
        raise StartError(f'unknown policy: "{policy}"')


def _tables(node: NUMANode, reserved: Reserved) -> dict[str, tuple[int, int, int]]:
    """Build (total, systemReserved, allocatable) of each resource of a node (rules 9, 10); differences wrap (14)."""
    tables = {}
    for size, total in node.hugepages.items():
        kept = reserved.get((node.id, hugepages(size)), 0)
        tables[hugepages(size)] = (total, kept, (total - kept) % WORD)
    kept = reserved.get((node.id, MEMORY), 0)
    tables[MEMORY] = (node.memory, kept, (node.memory - kept - sum(node.hugepages.values())) % WORD)
    return tables


def validate_state(
    manager: MemoryManager,
    machine_state: Mapping[int, NodeRecord],
    entries: Mapping[str, Mapping[str, tuple[Block, ...]]],
) -> MemoryState:
    """Check a restored state against the machine and take it over (section 9).

    Where blocks overlap without being equal the kubelet's answer depends on random order (rule 52); here entries are
    replayed in the order given.

    Args:
        manager: the started manager.
        machine_state: node id -> record of the state file.
        entries: pod UID -> container -> blocks of the state file.

    Raises:
        StartError: the kubelet would not start; the text is its own.
    """
    if manager.policy != STATIC:
        return initial_state(manager)
    if not machine_state:
        if entries:
            raise StartError("[memorymanager] machine state can not be empty when it has memory assignments")
        return initial_state(manager)
    fresh = replay(manager, entries)
    if not _same(manager, machine_state, fresh):
        raise StartError(OTHER_STATE)
    return _restored(manager, machine_state, entries)


def replay(manager: MemoryManager, entries: Mapping[str, Mapping[str, tuple[Block, ...]]]) -> MemoryState:
    """Take all blocks from fresh tables (rule 49)."""
    empty = initial_state(manager)
    counts, groups = list(empty.counts), list(empty.groups)
    free, reserved = [list(amounts) for amounts in empty.free], [list(amounts) for amounts in empty.reserved]
    for uid, containers in entries.items():
        for name, blocks in containers.items():
            for block in blocks:
                where = f"[memorymanager] (pod: {uid}, container: {name}) the memory assignment uses"
                place = manager.places.get(block.type)
                for node in ids(block.mask):
                    if not manager.nodes >> node & 1:
                        raise StartError(f"{where} the NUMA that does not exist")
                    counts[node] += 1
                    groups[node] = block.mask
                    if place is None or not manager.offered[place] >> node & 1:
                        raise StartError(f"{where} memory resource that does not exist")
                if place is not None:
                    fill(free[place], reserved[place], block.mask, block.size)
    return MemoryState(tuple(counts), tuple(groups), tuple(map(tuple, free)), tuple(map(tuple, reserved)))


def _same(manager: MemoryManager, restored: Mapping[int, NodeRecord], fresh: MemoryState) -> bool:
    """Compare a restored state with the fresh one (rule 50)."""
    if set(restored) != set(manager.node_ids):
        return False
    for node, record in restored.items():
        if record.assignments != fresh.counts[node] or record.group != fresh.groups[node]:
            return False
        for place, resource in enumerate(manager.resources):
            if (resource in record.tables) != bool(manager.offered[place] >> node & 1):
                return False
        for resource, table in record.tables.items():
            if resource not in manager.places:
                return False
            place = manager.places[resource]
            expected = (
                manager.total[place][node],
                manager.system_reserved[place][node],
                manager.allocatable[place][node],
            )
            if table[:3] != expected:
                return False
            members = [node] if manager.by_node else list(ids(record.group))
            tables = [restored[member].tables.get(resource, NOTHING) for member in members]
            if sum(one.free for one in tables) % WORD != sum(fresh.free[place][one] for one in members) % WORD:
                return False
            if sum(one.reserved for one in tables) % WORD != sum(fresh.reserved[place][one] for one in members) % WORD:
                return False
    return True


def _restored(
    manager: MemoryManager,
    machine_state: Mapping[int, NodeRecord],
    entries: Mapping[str, Mapping[str, tuple[Block, ...]]],
) -> MemoryState:
    """Take the restored figures over, drift inside groups included."""
    length = manager.nodes.bit_length()
    absent = NodeRecord(0, 0, {})
    records = [machine_state.get(node, absent) for node in range(length)]
    return MemoryState(
        counts=tuple(record.assignments for record in records),
        groups=tuple(record.group for record in records),
        free=tuple(tuple(one.tables.get(name, NOTHING).free for one in records) for name in manager.resources),
        reserved=tuple(tuple(one.tables.get(name, NOTHING).reserved for one in records) for name in manager.resources),
        entries=sorted_entries(entries),
    )


def sorted_entries(entries: Mapping[str, Mapping[str, tuple[Block, ...]]]) -> dict[str, dict[str, tuple[Block, ...]]]:
    """Put each container's blocks into the order of their resources, as the state has them."""
    return {
        uid: {name: tuple(sorted(held, key=lambda one: one.type)) for name, held in pod.items()}
        for uid, pod in entries.items()
    }
