"""A node as the NodeResourceTopology object that an exporter publishes of it (docs/rules/podresources.md 6, 7, 28).

numalign's own form gives the kubelet's real numbers. `rte` and `nfd` count as those two exporters do, flaws included,
so that a published object can be compared with what they should have written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from numalign.kubelet.admission import Session
from numalign.kubelet.memory.state import Block
from numalign.model.cpuset import ids, node_mask
from numalign.model.machine import Device, Machine
from numalign.model.pod import ContainerKind, Pod
from numalign.model.quantity import NANO, QuantityError, parse
from numalign.model.resources import CPU, MEMORY, hugepages, page_size
from numalign.scheduler import fingerprint as fingerprints
from numalign.scheduler import placement as placements
from numalign.scheduler import request
from numalign.scheduler.nrt.value import (
    CPU_MANAGER,
    FINGERPRINT,
    FINGERPRINT_METHOD,
    MAX_NODES,
    MEMORY_MANAGER,
    NUMA_ZONE,
    PLACEMENT_METADATA,
    PLACEMENT_VECTOR,
    POLICY,
    SCOPE,
    Attributes,
    NodeResourceTopology,
    Units,
    Zone,
    ZoneResource,
    legacy_name,
)
from numalign.values import NamedTuple

Like = Literal["numalign", "rte", "nfd"]
"""Whose way of counting, and whose attributes."""


class ExportOptions(NamedTuple):
    """How an object is written."""

    like: Like = "numalign"
    fingerprint: bool = True
    """Whether the fingerprint of the pods is written."""
    only_exclusive: bool = False
    """Whether the fingerprint counts only pods with exclusive resources."""
    placement: bool = False
    """Whether it is written which container is on which NUMA node."""


class Held(NamedTuple):
    """What one container holds."""

    kind: ContainerKind
    cpus: int
    devices: Mapping[str, tuple[Device, ...]]
    blocks: tuple[Block, ...]


def export(session: Session, name: str, options: ExportOptions | None = None) -> NodeResourceTopology:
    """Write the object of a node.

    Args:
        session: the node and what its pods hold.
        name: the Node's name.
        options: how it is written.
    """
    options = options or ExportOptions()
    # Of the containers exporters see all but ordinary init containers (26).
    every = (one for uid in session.state.pods for one in _held(session, uid))
    held = [one for one in every if one.kind != "init"] if options.like != "numalign" else None
    machine = session.node.machine
    amounts = {node.id: _amounts(session, node.id, held, options.like) for node in machine.numa_nodes}
    costs = _costs(machine, options.like)
    zones = tuple(
        [
            Zone(
                f"node-{number}",
                NUMA_ZONE,
                {name: ZoneResource(*(amount * NANO for amount in one)) for name, one in found.items()},
                costs[number],
            )
            for number, found in sorted(amounts.items())
        ]
    )
    policy, scope = session.node.policy, session.node.scope
    legacy = () if options.like == "rte" else (legacy_name(policy, scope),)
    nrt = NodeResourceTopology(name, zones, _attributes(session, options), legacy)
    if options.fingerprint:
        nrt = _with_fingerprint(nrt, session.pods, options)
    return _with_placement(nrt, session) if options.placement else nrt


def _held(session: Session, uid: str) -> list[Held]:
    """List what the containers of a pod hold."""
    state, resources = session.state, session.node.device.resources
    result = []
    for container in session.state.pods[uid].containers:
        devices = {
            name: tuple(device for place, device in enumerate(resources[name].devices) if members >> place & 1)
            for name, members in state.device.holdings.get(uid, {}).get(container.name, {}).items()
        }
        cpus = state.cpu.assigned(uid, container.name) or 0
        blocks = state.memory.blocks(uid, container.name) or ()
        result.append(Held(container.kind, cpus, devices, blocks))
    return result


def _amounts(session: Session, number: int, held: Sequence[Held] | None, like: Like) -> dict[str, Units]:
    """Count the resources of one NUMA node, in the order of rule 28: cpu, memory, huge pages by size, devices.

    Args:
        session: the node.
        number: the NUMA node.
        held: what an exporter sees of the containers; None: the kubelet's own books count.
        like: whose way of counting.
    """
    result: dict[str, Units] = {}
    node = session.node
    own = next(one.cpus for one in node.machine.numa_nodes if one.id == number)
    if node.cpu.static:
        total = node.cpu.allocatable & own
        free = total & session.state.cpu.default
        if held is not None:
            free = total
            for one in held:
                free &= ~one.cpus
        result[CPU] = Units(own.bit_count(), total.bit_count(), free.bit_count())
    result |= _memory(session, number, held, like)
    result |= _devices(session, number, held, like)
    kept = {name: one for name, one in result.items() if name == CPU or one.capacity}
    return kept or {CPU: Units(own.bit_count(), 0, 0)}  # rule 23


def _devices(session: Session, number: int, held: Sequence[Held] | None, like: Like) -> dict[str, Units]:
    """Count the devices of one NUMA node, by name; one of several nodes counts on each of them."""
    result = {}
    for name, resource in sorted(session.node.device.resources.items()):
        here = resource.on(node_mask(number))
        total = (here & resource.healthy).bit_count()
        if held is None:
            taken = (here & session.state.device.allocated.get(name, 0)).bit_count()
        else:
            taken = sum(_taken_there(device, number, like) for one in held for device in one.devices.get(name, ()))
        result[name] = Units(total, total, max(total - taken, 0))
    return result


def _taken_there(device: Device, number: int, like: Like) -> int:
    """Count how often a device in use is taken off a NUMA node: NFD takes all of them off the last one (section 7)."""
    nodes = device.numa_nodes or ()
    if like == "nfd":
        return len(nodes) if nodes[-1:] == (number,) else 0
    return int(number in nodes)


def _memory(session: Session, number: int, held: Sequence[Held] | None, like: Like) -> dict[str, Units]:
    """Count memory and huge pages of one NUMA node; nothing where the Memory Manager is off (25)."""
    manager, state = session.node.memory, session.state.memory
    result = {}
    sizes = {hugepages(size) for node in session.node.machine.numa_nodes for size in node.hugepages}
    for name in (MEMORY, *sorted(sizes, key=_page_bytes)):
        place = manager.places.get(name)
        if place is None:
            continue
        total, allocatable = manager.total[place][number], manager.allocatable[place][number]
        if held is None:
            available = state.free[place][number]
        else:
            blocks = [block for one in held for block in one.blocks if block.type == name and block.mask >> number & 1]
            taken = (_block_there(block, number, manager.allocatable[place], like) for block in blocks)
            available = max(allocatable - sum(taken), 0)
        result[name] = Units(max(total, allocatable), allocatable, available)
    return result


def _block_there(block: Block, number: int, allocatable: Sequence[int], like: Like) -> int:
    """Count what a block takes off a NUMA node: RTE the full size on each node; NFD fills node by node (section 7)."""
    if like == "rte":
        return block.size
    before = sum([allocatable[node] for node in ids(block.mask) if node < number])
    return min(max(block.size - before, 0), allocatable[number])


def _page_bytes(resource: str) -> tuple[int, str]:
    """Order huge pages by size; what is no size comes first."""
    size = page_size(resource)
    try:
        return parse(size).nano, size
    except QuantityError:
        return 0, size


def _costs(machine: Machine, like: Like) -> dict[int, dict[str, int]]:
    """Name the distances: by the real ids; both exporters number the columns 0, 1, 2, … (21)."""
    numbers = sorted(node.id for node in machine.numa_nodes)
    names = [f"node-{number if like == 'numalign' else place}" for place, number in enumerate(numbers)]
    return {node.id: dict(zip(names, node.distances or (), strict=False)) for node in machine.numa_nodes}


def _attributes(session: Session, options: ExportOptions) -> Attributes:
    """Write the settings (19, 28)."""
    node = session.node
    attributes = [(POLICY, node.policy), (SCOPE, node.scope)]
    if options.like == "numalign":
        most = (node.config.topology_manager_policy_options or {}).get("max-allowable-numa-nodes")
        if most is not None:
            attributes.append((MAX_NODES, most))
        attributes += [(CPU_MANAGER, node.cpu.policy), (MEMORY_MANAGER, node.memory.policy)]
    return tuple(attributes)


def _with_fingerprint(nrt: NodeResourceTopology, pods: Iterable[Pod], options: ExportOptions) -> NodeResourceTopology:
    """Add the fingerprint of the pods (27); NFD writes no method."""
    if options.only_exclusive:
        pods = [pod for pod in pods if request.exclusive_containers(request.read_request(pod), nrt.listed)]
    text = fingerprints.fingerprint((pod.namespace, pod.name) for pod in pods)
    attributes: Attributes = ((FINGERPRINT, text),)
    if options.like != "nfd":
        method = fingerprints.ONLY_EXCLUSIVE if options.only_exclusive else fingerprints.ALL
        attributes += ((FINGERPRINT_METHOD, method),)
    return nrt._replace(attributes=nrt.attributes + attributes)


def _with_placement(nrt: NodeResourceTopology, session: Session) -> NodeResourceTopology:
    """Add which container is on which NUMA node (scheduling.md 9): the lowest one where it holds anything."""
    numbers = [node.id for node in session.node.machine.numa_nodes]
    containers = []
    for pod in session.pods:
        named = zip(session.state.pods[pod.uid].containers, _held(session, pod.uid), strict=True)
        held = {container.name: one for container, one in named}
        for name in request.exclusive_containers(request.read_request(pod), nrt.listed):
            node = _numa_node_of(session, held[name])
            if node is not None:
                containers.append(((pod.namespace, pod.name, name), node))
    payload = placements.encode(containers, max(numbers) + 1)
    zones = [
        zone._replace(attributes=((PLACEMENT_VECTOR, payload.vectors[number]),)) if number in payload.vectors else zone
        for number, zone in zip(sorted(numbers), nrt.zones, strict=True)
    ]
    metadata = (PLACEMENT_METADATA, placements.write_metadata(payload.metadata))
    return nrt._replace(attributes=(*nrt.attributes, metadata), zones=tuple(zones))


def _numa_node_of(session: Session, held: Held) -> int | None:
    """Return the lowest NUMA node of a container's CPUs, devices and memory; None: it holds nothing on any."""
    nodes = {node.id for node in session.node.machine.numa_nodes if node.cpus & held.cpus}
    nodes |= {node for group in held.devices.values() for device in group for node in device.numa_nodes or ()}
    nodes |= {node for block in held.blocks if block.size for node in ids(block.mask)}
    return min(nodes & {node.id for node in session.node.machine.numa_nodes}, default=None)
