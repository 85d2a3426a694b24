"""The Memory Manager (docs/rules/memory-manager.md)."""

from numalign.kubelet.memory.allocate import allocate, remove, remove_pod, remove_stale, start_container
from numalign.kubelet.memory.hints import container_hints, pod_hints
from numalign.kubelet.memory.reserved import validate_reserved_memory
from numalign.kubelet.memory.start import NodeRecord, Table, replay, start, validate_state
from numalign.kubelet.memory.state import (
    Block,
    MemoryManager,
    MemoryState,
    initial_state,
    machine_state,
    overdrawn_tables,
)

__all__ = [
    "Block",
    "MemoryManager",
    "MemoryState",
    "NodeRecord",
    "Table",
    "allocate",
    "container_hints",
    "initial_state",
    "machine_state",
    "overdrawn_tables",
    "pod_hints",
    "remove",
    "remove_pod",
    "remove_stale",
    "replay",
    "start",
    "start_container",
    "validate_reserved_memory",
    "validate_state",
]
