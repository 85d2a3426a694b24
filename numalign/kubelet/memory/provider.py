"""The Memory Manager as a hint provider."""

from __future__ import annotations

from numalign.kubelet.memory.allocate import allocate, remove_pod, start_container
from numalign.kubelet.memory.hints import container_hints
from numalign.kubelet.memory.pod_level import allocate_pod, pod_hints
from numalign.kubelet.memory.start import start as start_manager
from numalign.kubelet.memory.state import MemoryManager, initial_state
from numalign.kubelet.topology.provider import HintProvider, StartInput


def start(given: StartInput) -> MemoryManager:
    """Start the manager (row 9 of docs/rules/kubelet-files.md 56).

    Raises:
        StartError: the kubelet would not start.
    """
    policy = given.config.memory_manager_policy
    return start_manager(given.machine, policy, given.reserved_memory, given.reservation)


MEMORY = HintProvider(
    name="memory",
    start=start,
    empty=initial_state,
    container_hints=container_hints,
    pod_hints=pod_hints,
    allocate=allocate,
    release=remove_pod,
    allocate_pod=allocate_pod,
    start_container=start_container,
)
