"""The state of a node of which only amounts are known: held by nobody in particular (docs/rules/podresources.md 29)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from numalign.kubelet.demand import ContainerDemand, PodDemand, ResourcePairs
from numalign.kubelet.device.state import DeviceState
from numalign.kubelet.memory.state import Block, MemoryState, fill
from numalign.kubelet.node import Node, NodeState, empty_state
from numalign.model.cpuset import from_ids, ids, union
from numalign.model.resources import CPU, is_memory

UID: Final = "numalign/taken"
"""The pod that stands for everything that is taken; `UID-N` for NUMA node N."""
CONTAINER: Final = "taken"


def occupied(node: Node, used: Mapping[int, Mapping[str, int]]) -> NodeState:
    """Build a state in which amounts are taken: the next CPU ids, memory on the one node, the first devices.

    Amounts beyond what the node can hand out are cut.

    Args:
        node: the started kubelet.
        used: NUMA id -> resource -> whole units.
    """
    state = empty_state(node)
    for number, amounts in sorted(used.items()):
        if any(amounts.values()):
            state = _take(node, state, number, amounts)
    return state


def _take(node: Node, state: NodeState, number: int, amounts: Mapping[str, int]) -> NodeState:
    uid = f"{UID}-{number}"
    cpus = _next_cpus(node, state, number, amounts.get(CPU, 0))
    memory, blocks = _memory(node, state.memory, uid, number, amounts)
    devices = {name: _first_devices(node, name, number, count) for name, count in amounts.items()}
    held = {name: members for name, members in devices.items() if members}
    pod = demand_of(
        uid,
        cpus.bit_count(),
        tuple((block.type, block.size) for block in blocks),
        tuple((name, members.bit_count()) for name, members in held.items()),
    )
    cpu = state.cpu
    if cpus:
        cpu = cpu._replace(
            default=cpu.default & ~cpus, assignments={**cpu.assignments, uid: {CONTAINER: cpus}}, reuse_uid=uid
        )
    return state._replace(states=(_hold(state.device, uid, held), cpu, memory), pods={**state.pods, uid: pod})


def demand_of(uid: str, cpus: int, memory: ResourcePairs = (), devices: ResourcePairs = ()) -> PodDemand:
    """Make the pod that stands for what is taken."""
    demand = ContainerDemand(CONTAINER, "app", cpus, memory, devices)
    return PodDemand(uid=uid, guaranteed=True, containers=(demand,), cpus=cpus, memory=memory, devices=devices)


def _next_cpus(node: Node, state: NodeState, number: int, count: int) -> int:
    """Take the lowest CPUs of a NUMA node that may be handed out; without a static manager none may."""
    own = union(one.cpus for one in node.machine.numa_nodes if one.id == number)
    return from_ids(islice(ids(own & node.cpu.allocatable & state.cpu.default), count))


def _memory(
    node: Node, state: MemoryState, uid: str, number: int, amounts: Mapping[str, int]
) -> tuple[MemoryState, tuple[Block, ...]]:
    """Take memory and huge pages as blocks of one NUMA node."""
    manager = node.memory
    free, reserved = [list(row) for row in state.free], [list(row) for row in state.reserved]
    blocks = []
    for name in sorted(filter(is_memory, amounts)):
        place = manager.places.get(name)
        if place is None or not manager.offered[place] >> number & 1:
            continue
        size = min(amounts[name], free[place][number])
        fill(free[place], reserved[place], 1 << number, size)
        blocks.append(Block(1 << number, name, size))
    if not blocks:
        return state, ()
    counts = list(state.counts)
    counts[number] += len(blocks)
    changed = state._replace(
        counts=tuple(counts),
        free=tuple(map(tuple, free)),
        reserved=tuple(map(tuple, reserved)),
        entries={**state.entries, uid: {CONTAINER: tuple(blocks)}},
    )
    return changed, tuple(blocks)


def _first_devices(node: Node, name: str, number: int, count: int) -> int:
    """Take the first healthy devices of a NUMA node."""
    resource = node.device.resources.get(name)
    members = 0
    for place, device in enumerate(resource.devices if resource else ()):
        if members.bit_count() < count and device.healthy and number in (device.numa_nodes or ()):
            members |= 1 << place
    return members


def _hold(state: DeviceState, uid: str, held: Mapping[str, int]) -> DeviceState:
    if not held:
        return state
    allocated = {**state.allocated}
    for name, members in held.items():
        allocated[name] = allocated.get(name, 0) | members
    return state._replace(holdings={**state.holdings, uid: {CONTAINER: held}}, allocated=allocated)
