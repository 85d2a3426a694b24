"""Consistency of a machine: what makes it impossible, and what is odd but real.

A path leads to the field in a machine file (`("numaNodes", 1, "cpus")`), whatever the machine was made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.model.cpuset import format_set, ids, union
from numalign.model.machine import Machine
from numalign.model.path import Path
from numalign.values import NamedTuple


class MachineFinding(NamedTuple):
    """Something to say about one field."""

    code: str
    """Stable name for programs; empty for an error."""
    path: Path
    message: str


def errors(machine: Machine) -> Iterator[MachineFinding]:
    """Yield what no machine can be: doubled ids, overlapping sets, cores across nodes, short distance rows."""
    yield from _nodes(machine)
    everything = machine.cpus
    sockets = [unit.cpus for unit in machine.sockets]
    caches = [unit.cpus for unit in machine.uncore_caches]
    yield from _doubled([unit.id for unit in machine.sockets], "sockets", "socket")
    yield from _doubled([unit.id for unit in machine.uncore_caches], "uncoreCaches", "cache")
    yield from _disjoint(sockets, "sockets", everything, whole=True)
    yield from _disjoint(machine.cores, "cores", everything, whole=True)
    yield from _disjoint(caches, "uncoreCaches", everything, whole=False)
    yield from _spans(machine.cores, [node.cpus for node in machine.numa_nodes], "one NUMA node")
    yield from _spans(machine.cores, sockets, "one socket")
    yield from _spans(machine.cores, caches, "one uncore cache")
    yield from _devices(machine)


def _nodes(machine: Machine) -> Iterator[MachineFinding]:
    yield from _doubled([node.id for node in machine.numa_nodes], "numaNodes", "NUMA node", "id")
    if not machine.numa_nodes:
        yield MachineFinding("", ("numaNodes",), "expected at least one NUMA node")
    seen = 0
    for index, node in enumerate(machine.numa_nodes):
        if node.cpus & seen:
            both = format_set(node.cpus & seen)
            yield MachineFinding("", ("numaNodes", index, "cpus"), f"CPU {both} is in an earlier NUMA node too")
        seen |= node.cpus
        row = node.distances
        if row is not None and len(row) < len(machine.numa_nodes):
            wanted = len(machine.numa_nodes)
            message = f"expected {wanted} distances, one a NUMA node in ascending order of ids, got {len(row)}"
            yield MachineFinding("", ("numaNodes", index, "distances"), message)


def _doubled(numbers: Sequence[int], key: str, what: str, *rest: str) -> Iterator[MachineFinding]:
    seen: set[int] = set()
    for index, number in enumerate(numbers):
        if number in seen:
            yield MachineFinding("", (key, index, *rest), f"{what} {number} is given twice")
        seen.add(number)


def _disjoint(groups: Sequence[int], key: str, everything: int, *, whole: bool) -> Iterator[MachineFinding]:
    """Sets of CPUs that must not be empty, not overlap, lie in NUMA nodes and (`whole`) hold every CPU."""
    seen = 0
    for index, group in enumerate(groups):
        if not group:
            yield MachineFinding("", (key, index), "expected at least one CPU")
        if group & ~everything:
            yield MachineFinding("", (key, index), f"CPU {format_set(group & ~everything)} is in no NUMA node")
        if group & seen:
            yield MachineFinding("", (key, index), f"CPU {format_set(group & seen)} is in an earlier entry too")
        seen |= group
    if whole and everything & ~seen:
        missing = format_set(everything & ~seen)
        yield MachineFinding("", (key,), f"expected every CPU of the NUMA nodes, {missing} is missing")


def _spans(cores: Sequence[int], groups: Sequence[int], what: str) -> Iterator[MachineFinding]:
    """Cores that lie only partly in a group."""
    if not any(_cuts(group, cores) for group in groups):
        return
    first_cpus, everything = union([core & -core for core in cores]), union(groups)
    group_of = {cpu: group for group in groups for cpu in ids(group & first_cpus)}
    for index, core in enumerate(cores):
        group = group_of.get((core & -core).bit_length() - 1, 0)
        outside = core & ~group
        if outside and core & everything:
            message = f"expected the core {format_set(core)} to lie in {what}, {format_set(outside)} is outside"
            yield MachineFinding("", ("cores", index), message)


def _cuts(group: int, cores: Sequence[int]) -> bool:
    """Tell whether any core lies only partly in a group."""
    for core in cores:  # noqa: SIM110 (asked of every core and group of a machine; a generator takes twice as long)
        if core & group and core & ~group:
            return True
    return False


def _devices(machine: Machine) -> Iterator[MachineFinding]:
    for resource, devices in machine.devices.items():
        seen: set[str] = set()
        for index, device in enumerate(devices):
            if device.id in seen:
                yield MachineFinding("", ("devices", resource, index), f"the id {device.id} is given twice")
            seen.add(device.id)


def warnings(machine: Machine) -> Iterator[MachineFinding]:
    """Yield what is odd but happens: the machine is taken as it stands."""
    known = {node.id for node in machine.numa_nodes}
    for index, node in enumerate(machine.numa_nodes):
        here: Path = ("numaNodes", index)
        if not 0 <= node.id <= 63:
            message = f"node id {node.id} is outside 0-63: with a policy other than none the kubelet would crash"
            yield MachineFinding("node-id", (*here, "id"), message)
        if node.distances is not None and len(node.distances) > len(known):
            message = f"{len(node.distances)} distances for {len(known)} NUMA nodes"
            yield MachineFinding("distances-long", (*here, "distances"), message)
        if node.distances is None and any(other.distances is not None for other in machine.numa_nodes):
            yield MachineFinding("distances-partial", here, "other NUMA nodes have distances, this one has none")
        if sum(node.hugepages.values()) > node.memory:
            message = "huge pages take more than the node's memory"
            yield MachineFinding("hugepages-exceed", (*here, "hugepages"), message)
    if not machine.cpus:
        message = "the machine has no CPU; the kubelet's CPU manager would not start"
        yield MachineFinding("no-cpus", ("numaNodes",), message)
    if not machine.memory:
        message = "the machine has no memory, so no pod that requests memory fits"
        yield MachineFinding("no-memory", ("numaNodes",), message)
    yield from _odd_devices(machine, known)


def _odd_devices(machine: Machine, known: set[int]) -> Iterator[MachineFinding]:
    for resource, devices in machine.devices.items():
        for index, device in enumerate(devices):
            for node in device.numa_nodes or ():
                if node not in known and node != -1:
                    message = f"{device.id} is on NUMA node {node}, which the machine does not have"
                    yield MachineFinding("device-node", ("devices", resource, index), message)
    for resource, sets in machine.preferred_allocation.items():
        own = {device.id for device in machine.devices.get(resource, ())}
        for index, one in enumerate(sets):
            missing = sorted(set(one) - own)
            if missing:
                message = f"no device {', '.join(missing)} of {resource}, so this set is never preferred"
                yield MachineFinding("preferred-unknown", ("preferredAllocation", resource, index), message)
