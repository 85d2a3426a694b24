"""What a `memory_manager_state` means on a machine: blocks and groups as masks, and the state a kubelet starts with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.memory.checkpoint import MemoryCheckpoint
from numalign.kubelet.memory.start import NodeRecord, sorted_entries, validate_state
from numalign.kubelet.memory.state import Block, MemoryManager, MemoryState
from numalign.model.cpuset import NUMAMask, from_ids, ids
from numalign.model.gotext import quote
from numalign.model.quantity import Bytes


def restore_state(manager: MemoryManager, checkpoint: MemoryCheckpoint) -> MemoryState:
    """Take a checkpoint over as the kubelet does at its start (docs/rules/memory-manager.md 9).

    Raises:
        CheckpointError: the file does not go with the configuration.
        StartError: its content does not go with the machine or the reservation (the policy's own text).
    """
    if manager.policy != checkpoint.policy:
        raise CheckpointError(
            f"[memorymanager] configured policy {quote(manager.policy)} differs from state checkpoint policy "
            f"{quote(checkpoint.policy)}"
        )
    records = {
        number: NodeRecord(node.assignments, _mask(node.cells), node.tables)
        for number, node in checkpoint.nodes.items()
    }
    entries = entries_of(checkpoint)
    pods = {uid: tuple([block(*one) for one in held]) for uid, held in checkpoint.pod_entries.items()}
    # What a pod holds as a whole was taken from the nodes once; its containers' blocks are parts of it.
    taken = {uid: {"": pods[uid]} if uid in pods else held for uid, held in entries.items()}
    state = validate_state(manager, records, taken)
    return state._replace(entries=sorted_entries(entries), pods=pods) if state.entries else state


def entries_of(checkpoint: MemoryCheckpoint) -> dict[str, dict[str, tuple[Block, ...]]]:
    """Return pod UID -> container name -> blocks."""
    return {
        uid: {name: tuple([block(*one) for one in held]) for name, held in pod.items()}
        for uid, pod in checkpoint.entries.items()
    }


def block(nodes: Iterable[int], kind: str, size: Bytes) -> Block:
    """Turn a block with node ids into one with a mask."""
    return Block(_mask(nodes), kind, size)


def _mask(nodes: Iterable[int]) -> NUMAMask:
    """Turn NUMA node ids into a mask; an id that no mask can hold stands as a node that no machine has."""
    return from_ids(node if 0 <= node < 1 << 12 else 1 << 12 for node in nodes)


def overlapping_groups(checkpoint: MemoryCheckpoint) -> tuple[tuple[int, int], ...]:
    """List the pairs of NUMA nodes whose groups overlap without being equal (42, memory-manager.md 52)."""
    return overlapping({number: _mask(node.cells) for number, node in checkpoint.nodes.items()})


def overlapping(groups: Mapping[int, NUMAMask]) -> tuple[tuple[int, int], ...]:
    """Do the same for groups by NUMA node id."""
    return tuple(
        (number, other)
        for number, group in groups.items()
        for other in ids(group)
        if other != number and other in groups and groups[other] != group
    )
