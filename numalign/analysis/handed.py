"""What a pod's init containers hand on: CPUs, devices and memory that only the containers after them may take over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_

from numalign.analysis.holding import nodes_of_cpus
from numalign.kubelet import device
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.node import Node, NodeState
from numalign.model.resources import CPU
from numalign.values import NamedTuple


class Handed(NamedTuple):
    """What is handed on of one resource; it is not free, and yet the pod's next container may have it."""

    resource: str
    containers: tuple[str, ...]
    """The init containers that held it, in order."""
    amount: int
    """CPUs, devices or bytes."""
    nodes: int
    """The mask of the NUMA nodes it lies on; memory can be taken over on exactly these only."""
    per_numa: Mapping[int, int]
    """NUMA node id -> how much of it lies there; memory only where it lies on one node."""


def handed_on(node: Node, state: NodeState, pod: PodDemand) -> Iterator[Handed]:
    """List what the next container of a pod may take over (docs/rules/cpu-manager.md 9, device-manager.md 6)."""
    inits = [one.name for one in pod.containers if one.kind == "init"]
    if not inits:
        return
    cpus = state.cpu.reusable(pod.uid)
    if cpus:
        held = tuple(name for name in inits if (state.cpu.assigned(pod.uid, name) or 0) & cpus)
        each = {numa.id: (numa.cpus & cpus).bit_count() for numa in node.machine.numa_nodes}
        yield Handed(CPU, held, cpus.bit_count(), nodes_of_cpus(node, cpus), each)
    devices = state.device.reusable if state.device.reusable_of == pod.uid else {}
    holdings = state.device.holdings.get(pod.uid, {})
    for name, members in devices.items():
        if members:
            held = tuple(one for one in inits if holdings.get(one, {}).get(name, 0) & members)
            there = device.per_numa(node.device.resources[name], members)
            nodes = reduce(or_, (1 << numa for numa in there if numa >= 0), 0)
            yield Handed(name, held, members.bit_count(), nodes, there)
    for (mask, name), amount in state.memory.reusable_of(pod.uid).items():
        if amount:
            each = {} if mask & (mask - 1) else {mask.bit_length() - 1: amount}
            yield Handed(name, tuple(_holders(state, pod.uid, inits, mask, name)), amount, mask, each)


def _holders(state: NodeState, uid: str, inits: list[str], mask: int, name: str) -> Iterator[str]:
    for one in inits:
        if any((block.mask, block.type) == (mask, name) for block in state.memory.blocks(uid, one) or ()):
            yield one
