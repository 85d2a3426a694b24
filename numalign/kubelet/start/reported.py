"""A node's state from what its PodResources API reports, where its state files are not at hand.

docs/rules/podresources.md 4: exact for exclusive CPUs and devices; free memory is exact for the sums over a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.device.state import DeviceState
from numalign.kubelet.memory.start import replay
from numalign.kubelet.memory.state import STATIC, Block, MemoryState, initial_state
from numalign.kubelet.node import Node, NodeState
from numalign.values import NamedTuple


class Reported(NamedTuple):
    """What one container holds, as reported."""

    uid: str
    container: str
    cpus: int
    """Exclusive CPUs as a set; 0: it runs in the shared pool."""
    memory: tuple[Block, ...]
    devices: Mapping[str, frozenset[str]]
    """Resource -> device ids."""


def state_of(node: Node, reported: Iterable[Reported]) -> NodeState:
    """Put a node's state together; no pod is active yet (see `restore.settle`).

    Raises:
        StartError: a block lies on a NUMA node, or is of a resource, that the machine does not have.
    """
    assignments: dict[str, dict[str, int]] = {}
    blocks: dict[str, dict[str, tuple[Block, ...]]] = {}
    holdings: dict[str, dict[str, dict[str, int]]] = {}
    default = node.cpu.all_cpus
    allocated: dict[str, int] = {}
    for one in reported:
        if one.cpus and node.cpu.static:
            assignments.setdefault(one.uid, {})[one.container] = one.cpus
            default &= ~one.cpus
        if one.memory and node.memory.policy == STATIC:
            blocks.setdefault(one.uid, {})[one.container] = one.memory
        for resource, names in one.devices.items():
            known = node.device.resources[resource].devices
            members = sum(1 << place for place, device in enumerate(known) if device.id in names)
            holdings.setdefault(one.uid, {}).setdefault(one.container, {})[resource] = members
            allocated[resource] = allocated.get(resource, 0) | members
    return NodeState(
        (DeviceState(holdings, allocated), CPUState(default, assignments), _memory(node, blocks)),
    )


def _memory(node: Node, blocks: Mapping[str, Mapping[str, tuple[Block, ...]]]) -> MemoryState:
    """Fill the nodes: blocks of one node first, since those can lie nowhere else."""
    if node.memory.policy != STATIC:
        return initial_state(node.memory)
    single: dict[str, dict[str, tuple[Block, ...]]] = {}
    wide: dict[str, dict[str, tuple[Block, ...]]] = {}
    for uid, containers in blocks.items():
        for name, held in containers.items():
            single.setdefault(uid, {})[name] = tuple([one for one in held if one.mask.bit_count() == 1])
            wide.setdefault(f"{uid} ", {})[name] = tuple([one for one in held if one.mask.bit_count() != 1])
    return replay(node.memory, {**single, **wide})._replace(entries=blocks)
