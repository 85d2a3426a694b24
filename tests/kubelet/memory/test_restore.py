"""What a `memory_manager_state` means on a machine."""

from __future__ import annotations

import pytest

from numalign.errors import StartError
from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.config import MemoryReservation
from numalign.kubelet.memory.checkpoint import FileBlock, FileNode, MemoryCheckpoint
from numalign.kubelet.memory.reserved import read_reserved_memory
from numalign.kubelet.memory.restore import block, overlapping_groups, restore_state
from numalign.kubelet.memory.start import Table, start
from numalign.kubelet.memory.state import Block, MemoryManager, initial_state
from numalign.model import quantity
from numalign.model.machine import Machine, NUMANode
from tests.kubelet.memory.nodes import GI, static


def test_nodes_of_a_block_are_a_mask() -> None:
    """An id that no mask can hold is a node that no machine has."""
    assert block([0, 2], "memory", 5) == Block(0b101, "memory", 5)
    for far in (1 << 12, 1 << 70, -1):
        assert block([0, far], "memory", 5).mask == 1 | 1 << (1 << 12)


def test_groups_of_nodes_that_overlap() -> None:
    def groups(*cells: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        nodes = {number: FileNode(0, each, {}) for number, each in enumerate(cells)}
        return overlapping_groups(MemoryCheckpoint("current", "Static", nodes))

    assert groups((0, 1), (0, 1), (2,)) == ()
    assert groups((0, 1), (1, 2), (2,)) == ((0, 1), (1, 2))


def memory_of(size: int, *, taken: int = 0, kept: int = 0) -> dict[str, Table]:
    return {"memory": Table(size * GI, kept * GI, (size - kept) * GI, taken * GI, (size - kept - taken) * GI)}


def file_of(count: int, pods: bool, policy: str = "Static") -> MemoryCheckpoint:
    """Two containers of a pod with 1 and 3 Gi on node 0, whose count is given; as a whole the pod has 4 Gi."""
    nodes = {0: FileNode(count, (0,), memory_of(10, taken=4, kept=1)), 1: FileNode(0, (1,), memory_of(10))}
    held = {name: (FileBlock((0,), "memory", size * GI),) for name, size in (("b", 3), ("a", 1))}
    whole = {"u": (FileBlock((0,), "memory", 4 * GI),)} if pods else {}
    return MemoryCheckpoint("with podEntries", policy, nodes, {"u": held}, whole)


def test_what_a_pod_has_as_a_whole_is_taken_from_the_nodes_once() -> None:
    manager = static([10, 10], {0: 1})
    for pods, count in ((True, 1), (False, 2)):
        state = restore_state(manager, file_of(count, pods))
        assert state.counts == (count, 0)
        assert state.free == ((5 * GI, 10 * GI),)
        assert state.entries == {"u": {name: (Block(1, "memory", size * GI),) for name, size in (("a", 1), ("b", 3))}}
        assert state.pods == ({"u": (Block(1, "memory", 4 * GI),)} if pods else {})
        with pytest.raises(StartError, match="the expected machine state is different"):
            restore_state(manager, file_of(3 - count, pods))


def test_without_the_policy_nothing_is_taken_over() -> None:
    manager = MemoryManager("None")
    assert restore_state(manager, file_of(1, True, "None")) == initial_state(manager)
    with pytest.raises(CheckpointError, match='policy "None" differs from state checkpoint policy "Static"'):
        restore_state(manager, file_of(1, True))


def test_where_no_node_is_nothing_is_restored() -> None:
    """Nodes 0 and 2."""
    nodes = NUMANode(0, memory=10 * GI), NUMANode(2, memory=10 * GI)
    kept = read_reserved_memory([MemoryReservation(0, {"memory": "1Gi"})])
    manager = start(Machine("gap", nodes), "Static", kept, {"memory": quantity.parse("1Gi")})
    held = {"u": {"c": (FileBlock((2,), "memory", 4 * GI),)}}
    records = {0: FileNode(0, (0,), memory_of(10, kept=1)), 2: FileNode(1, (2,), memory_of(10, taken=4))}
    state = restore_state(manager, MemoryCheckpoint("current", "Static", records, held))
    assert (state.counts, state.groups) == ((0, 0, 1), (0b1, 0, 0b100))
    assert (state.free, state.reserved) == (((9 * GI, 0, 6 * GI),), ((0, 0, 4 * GI),))
