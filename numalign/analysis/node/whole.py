"""Whether what pods hold goes together: a state that was kept in a file must be one that its kubelet could have made.

Everything here holds after each admission, start and end of a pod, also where the kubelet itself errs; where it errs on
machines with cores of unequal size (`handed_out_twice`), the CPUs of these are not judged so strictly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.kubelet.cpu.state import handed_out_twice
from numalign.kubelet.device.state import device_ids
from numalign.kubelet.memory.state import Block
from numalign.kubelet.node import Node, NodeState
from numalign.model.cpuset import CPUSet, format_set, ids, union
from numalign.values import NamedTuple


class Contradiction(NamedTuple):
    """What cannot be."""

    path: tuple[str, ...]
    """Part of the state, and keys below it."""
    message: str


def contradictions(node: Node, state: NodeState) -> Iterator[Contradiction]:
    """Look for what a kubelet never leaves: holdings of nobody, things held twice, sums that are none."""
    yield from _holders(state)
    yield from _asked(node, state)
    if node.cpu.static:
        yield from _cpus(node, state)
    elif state.cpu.default or state.cpu.assignments or state.cpu.pods:
        yield Contradiction(("cpu", "assignments"), "CPUs are held under CPU Manager policy none")
    yield from _devices(node, state)
    if node.memory.policy == "Static":
        yield from _memory(node, state)
    elif state.memory.entries or state.memory.pods:
        yield Contradiction(("memory", "entries"), "memory is held under Memory Manager policy None")
    for uid, hint in state.hints.items():
        if hint.numa_affinity is not None and hint.numa_affinity & ~node.device.nodes:
            yield Contradiction(("hints", uid), "NUMA nodes that the machine does not have")
    yield from _taken_over(state)


def _holders(state: NodeState) -> Iterator[Contradiction]:
    """Look for what belongs to no pod, or to a container that its pod does not have."""
    parts: tuple[tuple[tuple[str, ...], Mapping[str, Mapping[str, object]]], ...] = (
        (("cpu", "assignments"), state.cpu.assignments),
        (("cpu", "pods"), {uid: {} for uid in state.cpu.pods}),
        (("memory", "entries"), state.memory.entries),
        (("memory", "pods"), {uid: {} for uid in state.memory.pods}),
        (("devices", "holdings"), state.device.holdings),
        (("hints",), {uid: {} for uid in state.hints}),
    )
    for path, part in parts:
        for uid, containers in part.items():
            pod = state.pods.get(uid)
            if pod is None and uid not in state.leftovers:
                yield Contradiction((*path, uid), "belongs to no pod of the node")
            names = {container.name for container in pod.containers} if pod else containers.keys()
            for name in sorted(containers.keys() - names):
                yield Contradiction((*path, uid, name), "the pod has no such container")


def _taken_over(state: NodeState) -> Iterator[Contradiction]:
    """Look for what a pod may take over from init containers, though it is not on the node or does not hold it."""
    cpu, memory, device = state.cpu, state.memory, state.device
    for path, uid, more in (
        (("cpu", "reuse"), cpu.reuse_uid, bool(cpu.reuse)),
        (("memory", "reuse"), memory.reusable_pod, bool(memory.reusable)),
        (("devices", "reuse"), device.reusable_of, any(device.reusable.values())),
    ):
        if more and uid not in state.pods and uid not in state.leftovers:
            yield Contradiction((*path, "pod"), "is no pod of the node")
    for uid in (*cpu.pods, *memory.pods):
        if uid in state.pods and not state.pods[uid].as_a_whole:
            part = "cpu" if uid in cpu.pods else "memory"
            yield Contradiction((part, "pods", uid), "the pod requests nothing for all its containers")
    for resource, members in device.reusable.items():
        holdings = device.holdings.get(device.reusable_of, {}).values()
        if members & ~union(held.get(resource, 0) for held in holdings):
            yield Contradiction(("devices", "reuse", "devices", resource), "some are not the pod's")
    for uid in state.leftovers:
        if uid in state.pods:
            yield Contradiction(("leftovers",), f"{uid} is a pod of the node")


def _cpus(node: Node, state: NodeState) -> Iterator[Contradiction]:
    cpu, every = state.cpu, node.cpu.all_cpus
    equal = len({cpus.bit_count() for cpus in node.cpu.topology.cores.values()}) == 1
    owner: dict[str, CPUSet] = {}
    foreign = cpu.default & ~(every if equal else node.cpu.topology.cpus)
    if foreign:
        yield Contradiction(("cpu", "default"), f"CPUs {format_set(foreign)} cannot be shared on this node")
    for uid, containers in cpu.assignments.items():
        owner[uid] = cpu.pods.get(uid, 0)
        for name, cpus in containers.items():
            path = ("cpu", "assignments", uid, name)
            owner[uid] |= cpus
            if cpus & ~node.cpu.topology.cpus:
                missing = format_set(cpus & ~node.cpu.topology.cpus)
                yield Contradiction(path, f"CPUs {missing}: the machine does not have them")
    twice = handed_out_twice(cpu)
    if equal and twice:
        whose = next(uid for uid, cpus in owner.items() if cpus & twice)
        yield Contradiction(
            ("cpu", "assignments", whose), f"CPUs {format_set(twice)} also belong to another pod, or count as free"
        )
    lost = every & ~union((cpu.default, *owner.values()))
    if lost:
        yield Contradiction(("cpu", "default"), f"CPUs {format_set(lost)} are missing")
    reserved = node.cpu.reserved & every & ~cpu.default
    if equal and reserved:
        yield Contradiction(("cpu", "default"), f"reserved CPUs {format_set(reserved)} are missing")
    if cpu.reuse & ~(node.cpu.topology.cpus if cpu.pods else cpu.default | owner.get(cpu.reuse_uid, 0)):
        yield Contradiction(("cpu", "reuse", "cpus"), "some are not free and not the pod's")


def _asked(node: Node, state: NodeState) -> Iterator[Contradiction]:
    """Hold what containers hold to what they ask for; containers of a pod that is served as a whole share."""
    equal = len({cpus.bit_count() for cpus in node.cpu.topology.cores.values()}) == 1
    for uid, pod in state.pods.items():
        for container in () if pod.as_a_whole else pod.containers:
            name, last = container.name, container.kind != "init"
            cpus = state.cpu.assigned(uid, name)
            if node.cpu.static and equal and (cpus or last) and (cpus or 0).bit_count() != container.cpus:
                text = f"{(cpus or 0).bit_count()} CPUs, {container.cpus} requested"
                yield Contradiction(("cpu", "assignments", uid, name), text)
            blocks = state.memory.blocks(uid, name) or ()
            amounts = tuple((block.type, block.size) for block in blocks)
            if node.memory.policy == "Static" and last and amounts != container.memory:
                yield Contradiction(("memory", "entries", uid, name), "not the requested memory")
            held = state.device.holdings.get(uid, {}).get(name, {})
            for resource in sorted(held.keys() - dict(container.devices).keys()):
                yield Contradiction(("devices", "holdings", uid, name, resource), "the container requests none")
            for resource, amount in container.devices:
                found = held.get(resource, 0).bit_count()
                there = resource in node.device.resources and resource not in container.claimed
                if there and found != amount and (found or last):
                    text = f"{found} devices, {amount} requested"
                    yield Contradiction(("devices", "holdings", uid, name, resource), text)


def _devices(node: Node, state: NodeState) -> Iterator[Contradiction]:
    owner: dict[tuple[str, int], str] = {}
    for uid, containers in state.device.holdings.items():
        for name, held in containers.items():
            for resource, members in held.items():
                for place in ids(members):
                    other = owner.setdefault((resource, place), uid)
                    if other != uid:
                        named = device_ids(node.device.resources[resource], 1 << place)[0]
                        path = ("devices", "holdings", uid, name, resource)
                        yield Contradiction(path, f"{named} also belongs to pod {other}")


def _memory(node: Node, state: NodeState) -> Iterator[Contradiction]:
    manager, memory = node.memory, state.memory
    sums = [0] * len(manager.resources)
    masks: list[list[int]] = [[] for _ in memory.counts]
    for path, block in _blocks(state):
        if block.mask & ~manager.nodes or not block.mask or block.type not in manager.places:
            yield Contradiction(path, "memory that the machine does not have")
            return
        for numa in ids(block.mask):
            masks[numa].append(block.mask)
        sums[manager.places[block.type]] += block.size
    for (mask, kind), size in memory.reusable.items():
        place = manager.places.get(kind)
        if place is None or mask & ~manager.nodes or size > sum(manager.total[place]):
            yield Contradiction(("memory", "reuse", "blocks"), "memory that the machine does not have")
    for numa in manager.node_ids:
        path, group = ("memory", "nodes", str(numa)), memory.groups[numa]
        if memory.counts[numa] != len(masks[numa]):
            yield Contradiction((*path, "numberOfAssignments"), f"expected {len(masks[numa])}, by the pods' blocks")
        # A group stays while something is left in it, so it may be that of a pod that has ended.
        grouped = any(group & mask in (group, mask) for mask in masks[numa]) if masks[numa] else group == 1 << numa
        alone = 1 << numa
        if not grouped or (alone in masks[numa] and group != alone) or not group >> numa & 1 or group & ~manager.nodes:
            yield Contradiction((*path, "cells"), "not a group of the pods' blocks")
        for place, resource in enumerate(manager.resources):
            total = manager.allocatable[place][numa]
            if memory.free[place][numa] + memory.reserved[place][numa] != total:
                yield Contradiction((*path, "memory", resource), f"free plus reserved is not {total}")
    for place, resource in enumerate(manager.resources):
        if sum(memory.reserved[place]) != sums[place] and not any(manager.wraps):
            text = f"{sum(memory.reserved[place])} bytes of {resource} are reserved, the pods hold {sums[place]}"
            yield Contradiction(("memory", "nodes"), text)


def _blocks(state: NodeState) -> Iterator[tuple[tuple[str, ...], Block]]:
    """Yield the blocks that count: a pod's as a whole, or those of its containers."""
    memory = state.memory
    for uid, containers in memory.entries.items():
        if uid in memory.pods:
            yield from ((("memory", "pods", uid), block) for block in memory.pods[uid])
            continue
        for name, blocks in containers.items():
            yield from ((("memory", "entries", uid, name), block) for block in blocks)
