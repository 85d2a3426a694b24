"""What a `memory_manager_state` means on a machine."""

from __future__ import annotations

from numalign.kubelet.memory.checkpoint import FileNode, MemoryCheckpoint
from numalign.kubelet.memory.restore import block, overlapping_groups
from numalign.kubelet.memory.state import Block


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
