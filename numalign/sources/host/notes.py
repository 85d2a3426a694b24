"""What a person must be told beside a discovered machine: gaps, and where the kubelet believes something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from numalign.errors import Notice
from numalign.model import machine_checks
from numalign.model.cpuset import format_set, from_ids, union
from numalign.model.machine import Machine
from numalign.model.words import few_of
from numalign.sources.host.contrast import cores_differ, packages_differ
from numalign.sources.host.hardware import Hardware
from numalign.sources.host.kubelet_view import KubeletView


def differences(hardware: Hardware, machine: Machine, view: KubeletView) -> Iterator[Notice]:
    """Yield everything in which the kubelet's view is not what the machine is."""
    yield from view_notes(view)
    yield from _cpu_notes(hardware, machine, view)
    yield from _group_notes(hardware, machine, view)
    yield from _memory_notes(hardware)
    yield from _distance_notes(machine)
    yield from _cache_notes(hardware, machine, view)
    yield from _limits(machine)
    for finding in machine_checks.errors(machine):
        path = ".".join(map(str, finding.path))
        text = f"{path}: {finding.message}; numalign rejects a machine file written from this host"
        yield Notice("inconsistent", text)


def _cpu_notes(hardware: Hardware, machine: Machine, view: KubeletView) -> Iterator[Notice]:
    """CPUs that the kubelet does not see, or counts though they are offline."""
    outside = hardware.online & ~machine.cpus
    if outside:
        text = f"online CPUs {format_set(outside)} are in no NUMA node that the kubelet lists: not used"
        yield Notice("cpus-unseen", text)
    usable = machine.cpus.bit_count()
    if view.num_cpus != usable:
        text = f"the kubelet counts {view.num_cpus} CPUs, also offline CPUs; {usable} are usable"
        yield Notice("cpu-count", text)


def _group_notes(hardware: Hardware, machine: Machine, view: KubeletView) -> Iterator[Notice]:
    """Sockets and cores that the kubelet counts or groups in another way."""
    sockets, cores = len(machine.sockets), len(machine.cores)
    if view.num_sockets != sockets:
        text = f"the kubelet counts {view.num_sockets} sockets by /proc/cpuinfo; the CPUs are in {sockets}"
        yield Notice("socket-count", text)
    if cores_differ(hardware, machine):
        has = f"the hardware has {len(hardware.cores)} cores"
        yield Notice("cores-differ", f"the kubelet sees {cores} cores by core_id and package; {has}")
    if packages_differ(hardware, machine):
        has = f"the hardware has {len(hardware.packages)} packages"
        yield Notice("sockets-differ", f"the kubelet sees sockets {_ids(unit.id for unit in machine.sockets)}; {has}")


def _memory_notes(hardware: Hardware) -> Iterator[Notice]:
    """Memory that nobody tells."""
    unread = [node.id for node in hardware.nodes if node.memory is None]
    if unread:
        yield Notice("memory-unknown", f"NUMA nodes {_ids(unread)} report no memory: the kubelet counts 0")
    if hardware.memory is None:
        text = "/proc/meminfo is missing: the machine's memory is the sum over its NUMA nodes"
        yield Notice("total-memory-unknown", text)


def view_notes(view: KubeletView) -> Iterator[Notice]:
    """Yield what is odd about the kubelet's view by itself."""
    if view.pseudo_nodes:
        each = f"each package ({_ids(node.id for node in view.nodes)}) as a NUMA node without memory"
        yield Notice("no-numa-nodes", f"/sys has no NUMA nodes: the kubelet uses {each}")
    if view.skipped and view.num_cpus:
        text = f"CPUs {format_set(from_ids(view.skipped))} have no core or package id: the kubelet skips these CPUs"
        yield Notice("cpus-without-topology", text)


def _distance_notes(machine: Machine) -> Iterator[Notice]:
    numbers = sorted(node.id for node in machine.numa_nodes)
    rows = [node.distances for node in machine.numa_nodes]
    if any(row is not None for row in rows) and numbers != list(range(len(numbers))):
        text = f"are not 0-{len(numbers) - 1}: prefer-closest-numa-nodes chooses wrong nodes or crashes"
        yield Notice("distances-by-position", f"node ids {_ids(numbers)} {text}")
    if any(row is not None and len(row) > len(numbers) for row in rows):
        text = f"the distances have more NUMA nodes than the {len(numbers)} readable NUMA nodes"
        yield Notice("distances-long", text)


def _cache_notes(hardware: Hardware, machine: Machine, view: KubeletView) -> Iterator[Notice]:
    nodes = {node.id: node.cpus for node in machine.numa_nodes}
    hidden = [
        number
        for number in view.cache_gaps
        if any(cache.cpus & nodes[number] and cache.cpus != nodes[number] for cache in hardware.l3)
    ]
    if hidden:
        text = f"the caches of NUMA nodes {_ids(hidden)} have no ids: the kubelet uses sockets instead"
        yield Notice("uncore-caches-unseen", text)
    cached = union([cache.cpus for cache in machine.uncore_caches])
    if cached and cached != machine.cpus:
        text = "have none: the kubelet gives them their socket's id, which may equal a cache's"
        yield Notice("uncore-caches-mixed", f"CPUs {format_set(machine.cpus & ~cached)} {text}")


def _limits(machine: Machine) -> Iterator[Notice]:
    count = len(machine.numa_nodes)
    if count > 8:
        text = f"{count} NUMA nodes: Topology Manager policies other than none need max-allowable-numa-nodes={count}"
        yield Notice("many-numa-nodes", text)
    beyond = [node.id for node in machine.numa_nodes if not 0 <= node.id < 64]
    if beyond:
        text = f"node ids {_ids(beyond)} are outside 0-63: with a policy other than none the kubelet crashes"
        yield Notice("node-ids-out-of-range", text)


def device_notes(hardware: Hardware, machine: Machine) -> Iterator[Notice]:
    """Yield what is odd about PCI devices: those that are resources without a node, and those half captured."""
    unknown = {device.address for device in hardware.pci if device.numa_node is None or device.numa_node < 0}
    for resource, devices in machine.devices.items():
        lost = [device.id for device in devices if device.id in unknown and device.numa_nodes is None]
        if lost:
            text = f"the firmware reports no NUMA node of {few_of(lost, 1)}: the kubelet does not align these"
            yield Notice("device-node-unknown", f"{resource}: {text}")
    incomplete = [device.address for device in hardware.pci if device.class_id is None or device.vendor is None]
    if incomplete:
        yield Notice("pci-incomplete", f"skipped {len(incomplete)} PCI devices: class or vendor is missing")


def _ids(numbers: Iterable[int]) -> str:
    """Write ids in short: `0-2,33`."""
    listed = sorted(numbers)
    return format_set(from_ids(listed)) if min(listed, default=0) >= 0 else ",".join(map(str, listed))
