"""The machine behind a NodeResourceTopology object, as far as it can be known (docs/rules/podresources.md 29).

The counts of each NUMA node are the object's. Everything else (ids, cores, sockets, who holds what) is filled in, and
every filling-in is named in `Assumed.notes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from numalign.errors import InputError
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.model import cpuset
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, MEMORY, is_hugepages, is_memory, page_size
from numalign.scheduler.nrt.value import (
    CPU_MANAGER,
    MAX_NODES,
    MEMORY_MANAGER,
    NUMA_ZONE,
    NodeResourceTopology,
    Units,
    Zone,
    ZoneResource,
    attribute,
    manager_config,
    number_of,
)
from numalign.values import NamedTuple

MAX_BY_DEFAULT = 8
"""NUMA nodes that a kubelet with a policy takes without being told."""
LOCAL, REMOTE = 10, 20
"""Distances where the object names none."""


AMPLE_MEMORY = 1 << 46
"""Bytes of memory on a NUMA node of which nobody says how much it has: nothing is short of it."""
ADDED = 1
"""Bytes of memory beyond those of the object, where it reserves none."""
MAX_UNITS = 1 << 16
"""The most CPUs, and devices of one name, that a zone can have here."""


class Assumed(NamedTuple):
    """What an object says of a machine."""

    machine: Machine
    config: KubeletConfig
    """The kubelet's settings, on the ideal base."""
    used: Mapping[int, Mapping[str, int]]
    """NUMA id -> resource -> whole units that are taken."""
    notes: tuple[str, ...]
    """What the object does not say, and what was put in its place; a sentence each."""


def machine_of(nrt: NodeResourceTopology, *, cpus: int | None = None, memory: int | None = None) -> Assumed:
    """Make a machine of an object.

    Args:
        nrt: the object; the numbers of its NUMA zones differ.
        cpus: CPUs of the whole machine, where the Node object says; used if no zone lists them.
        memory: its memory in bytes, likewise.

    Raises:
        InputError: no zone stands for a NUMA node, or one has more CPUs or devices than any machine.
    """
    zones = numa_zones_of(nrt)
    if not zones:
        raise InputError("no zone is a NUMA node; fix: write zones of type Node with names like node-0", nrt.name)
    counts = {number: _units(zone, CPU) for number, zone in zones.items()}
    listed = {name for zone in zones.values() for name in zone.resources}
    notes = ["numalign chose CPU ids, cores, sockets and device ids: the object has only counts"]
    has_cpus = any(one.allocatable for one in counts.values())
    if not any(one.capacity for one in counts.values()):
        counts = _spread(counts, cpus)
        notes.append(_left_out(CPU, "CPU", cpus))
    if MEMORY not in listed:
        notes.append(_left_out(MEMORY, "Memory", memory))
    share = None if MEMORY in listed else AMPLE_MEMORY if memory is None else memory // len(zones)
    nodes, sockets, reserved = _nodes(zones, counts, share)
    policies = _manager_policies(nrt, has_cpus, MEMORY in listed, notes)
    memory_reserved = _reserved_memory(zones) if policies[1] == "Static" else {}
    if policies[1] == "Static" and not any(amounts.get(MEMORY) for amounts in memory_reserved.values()):
        first = nodes[0]
        nodes = (first._replace(memory=first.memory + ADDED), *nodes[1:])
        memory_reserved = {**memory_reserved, first.id: {**memory_reserved.get(first.id, {}), MEMORY: ADDED}}
        notes.append("no memory is reserved: numalign reserves 1 byte, as memoryManagerPolicy Static requires")
    machine = Machine(
        name=nrt.name,
        numa_nodes=nodes,
        sockets=sockets,
        cores=tuple(1 << cpu for cpu in cpuset.ids(cpuset.union(node.cpus for node in nodes))),
        devices=_devices(zones),
        total_memory=memory if MEMORY not in listed else None,
    )
    config = _config(nrt, policies, reserved, memory_reserved)
    said = attribute(nrt.attributes, MAX_NODES)
    most = max(manager_config(nrt).max_numa_nodes, len(zones))
    if said is not None or most > MAX_BY_DEFAULT:
        config = config._replace(topology_manager_policy_options={"max-allowable-numa-nodes": str(most)})
        if said is None:
            notes.append(f"numalign assumes max-allowable-numa-nodes={most}: the kubelet does not start without it")
    return Assumed(machine, config, used_of(nrt), tuple(notes))


def without_added(written: NodeResourceTopology, read: NodeResourceTopology) -> NodeResourceTopology:
    """Take back what `machine_of` added to the first zone of the object it read, in one that such a node publishes."""
    before, (first, *others) = next(iter(numa_zones_of(read).values())), written.zones
    now, was = first.resources.get(MEMORY), before.resources.get(MEMORY)
    if now and was and now.capacity and was.capacity == now.capacity - ADDED * NANO:
        first = first._replace(resources={**first.resources, MEMORY: now._replace(capacity=was.capacity)})
    return written._replace(zones=(first, *others))


def with_memory(machine: Machine, memory: int | None) -> Machine:
    """Give a machine of which only the CPUs are known its memory, spread evenly; None: enough of it."""
    share = AMPLE_MEMORY if memory is None else memory // len(machine.numa_nodes)
    nodes = tuple([node._replace(memory=share) for node in machine.numa_nodes])
    return machine._replace(numa_nodes=nodes, total_memory=memory)


def numa_zones_of(nrt: NodeResourceTopology) -> dict[int, Zone]:
    """Return the zones that stand for NUMA nodes, by number: of any name with a number, without a parent (rule 30)."""
    found = {}
    for zone in nrt.zones:
        number = number_of(zone.name)
        if zone.type == NUMA_ZONE and number is not None and not zone.parent:
            found[number] = zone
    return dict(sorted(found.items()))


def _units(zone: Zone, name: str) -> Units:
    """Return a resource in whole units, rounded down and never below 0.

    What is missing is taken from its neighbour: allocatable from capacity, available from allocatable (rule 24).

    Raises:
        InputError: more CPUs or devices than any machine has.
    """
    capacity, allocatable, available = (
        None if amount is None else max(amount, 0) // NANO for amount in zone.resources.get(name, ZoneResource())
    )
    if allocatable is None:
        allocatable = capacity or 0
    amounts = Units(
        allocatable if capacity is None else max(capacity, allocatable),
        allocatable,
        allocatable if available is None else min(available, allocatable),
    )
    if amounts.capacity > MAX_UNITS and not is_memory(name):
        raise InputError(f"expected at most {MAX_UNITS} of {name}, got {amounts.capacity}", f"zone {zone.name}")
    return amounts


def _left_out(resource: str, manager: str, amount: int | None) -> str:
    """Say that no zone lists a resource, and what stands in its place."""
    said = f"no zone lists {resource}: no {manager} Manager"
    if amount is not None:
        return f"{said}; the Node's amount is distributed evenly"
    return f"{said}; numalign assumes on each NUMA node {'one CPU' if resource == CPU else 'enough of it'}"


def _spread(counts: Mapping[int, Units], cpus: int | None) -> dict[int, Units]:
    """Spread CPUs evenly over the zones, the first ones get one more; one each where nobody knows how many."""
    total = min(max(cpus or len(counts), len(counts)), MAX_UNITS)
    share, rest = divmod(total, len(counts))
    sizes = [share + (place < rest) for place in range(len(counts))]
    return {number: Units(size, size, size) for number, size in zip(counts, sizes, strict=True)}


def _nodes(
    zones: Mapping[int, Zone], counts: Mapping[int, Units], share: int | None
) -> tuple[tuple[NUMANode, ...], tuple[Unit, ...], int]:
    """Number the CPUs zone by zone, one socket a zone; the first CPUs of each zone are the reserved ones.

    Returns:
        The NUMA nodes, the sockets, the reserved CPUs.
    """
    nodes, sockets, reserved, first = [], [], 0, 0
    for place, (number, zone) in enumerate(zones.items()):
        capacity, allocatable, _ = counts[number]
        cpus = ((1 << capacity) - 1) << first
        reserved |= ((1 << capacity - allocatable) - 1) << first
        first += capacity
        pages = {page_size(name): _units(zone, name)[0] for name in zone.resources if is_hugepages(name)}
        total = _units(zone, MEMORY).capacity if share is None else share
        nodes.append(NUMANode(number, cpus, max(total, sum(pages.values())), pages, _distances(zones, number)))
        sockets.append(Unit(place, cpus))
    return tuple(nodes), tuple(sockets), reserved


def _distances(zones: Mapping[int, Zone], number: int) -> tuple[int, ...]:
    """Return a row of the distance table, by position in ascending number."""
    costs = zones[number].costs
    return tuple([costs.get(zone.name, LOCAL if other == number else REMOTE) for other, zone in zones.items()])


def _manager_policies(nrt: NodeResourceTopology, has_cpus: bool, has_memory: bool, notes: list[str]) -> tuple[str, str]:
    """Return the policies of CPU and Memory Manager: from the attributes, else from what the zones list (rule 25)."""
    cpu, memory = attribute(nrt.attributes, CPU_MANAGER), attribute(nrt.attributes, MEMORY_MANAGER)
    taken = "numalign assumes a static {} Manager: zones list {}"
    if cpu not in ("none", "static"):
        cpu = "static" if has_cpus else "none"
        if has_cpus:
            notes.append(taken.format("CPU", CPU))
    if memory not in ("None", "Static"):
        memory = "Static" if has_memory else "None"
        if has_memory:
            notes.append(taken.format("Memory", MEMORY))
    return cpu, memory if has_memory else "None"


def _reserved_memory(zones: Mapping[int, Zone]) -> dict[int, dict[str, int]]:
    """Work out what is kept from pods on each zone: capacity less allocatable less huge pages, not below 0 (29)."""
    result = {}
    for number, zone in zones.items():
        pages = sum(_units(zone, name)[0] for name in zone.resources if is_hugepages(name))
        kept = {}
        for name in zone.resources:
            if is_memory(name):
                capacity, allocatable, _ = _units(zone, name)
                kept[name] = max(capacity - allocatable - (pages if name == MEMORY else 0), 0)
        result[number] = {name: amount for name, amount in kept.items() if amount}
    return {number: amounts for number, amounts in result.items() if amounts}


def _config(
    nrt: NodeResourceTopology,
    policies: tuple[str, str],
    reserved: int,
    memory_reserved: Mapping[int, Mapping[str, int]],
) -> KubeletConfig:
    """Write the settings that give these amounts."""
    manager = manager_config(nrt)
    total: Counter[str] = Counter()
    for amounts in memory_reserved.values():
        total.update(amounts)
    return KubeletConfig(
        topology_manager_policy=manager.policy,
        topology_manager_scope=manager.scope,
        cpu_manager_policy=policies[0],
        reserved_system_cpus=cpuset.format_set(reserved) if policies[0] == "static" else "",
        memory_manager_policy=policies[1],
        reserved_memory=tuple(
            MemoryReservation(number, {name: str(amount) for name, amount in amounts.items()})
            for number, amounts in memory_reserved.items()
        ),
        system_reserved={name: str(amount) for name, amount in total.items()},
        eviction_hard={},
    )


def _devices(zones: Mapping[int, Zone]) -> dict[str, tuple[Device, ...]]:
    """Invent devices, `RESOURCE-ZONE-N`, each on its zone's node."""
    result: dict[str, list[Device]] = {}
    for number, zone in zones.items():
        for name in zone.resources:
            if name != CPU and not is_memory(name):
                have = result.setdefault(name, [])
                have.extend(Device(f"{name}-{number}-{one}", (number,)) for one in range(_units(zone, name)[1]))
    return {name: tuple(devices) for name, devices in sorted(result.items())}


def used_of(nrt: NodeResourceTopology) -> dict[int, dict[str, int]]:
    """Count what is taken on each zone, in whole units: allocatable less available."""
    result = {}
    for number, zone in numa_zones_of(nrt).items():
        taken = {name: _units(zone, name)[1] - _units(zone, name)[2] for name in zone.resources}
        result[number] = {name: amount for name, amount in taken.items() if amount > 0}
    return result
