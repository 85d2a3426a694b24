"""The CPU Manager (docs/rules/cpu-manager.md)."""

from numalign.kubelet.cpu.allocate import allocate, oddities
from numalign.kubelet.cpu.hints import container_hints, pod_hints
from numalign.kubelet.cpu.manager import CPUManager, check_reserved_online, start
from numalign.kubelet.cpu.state import CPUState, initial_state, remove, remove_pod, validate

__all__ = [
    "CPUManager",
    "CPUState",
    "allocate",
    "check_reserved_online",
    "container_hints",
    "initial_state",
    "oddities",
    "pod_hints",
    "remove",
    "remove_pod",
    "start",
    "validate",
]
