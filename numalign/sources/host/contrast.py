"""Where the hardware is not what a kubelet believes: the comparison, and the `hardware` section of a machine.

A key that both views have (`cpus`, `sockets`, `cores`, `numaNodes`, `memory`) is kept only where the hardware differs
from the machine; a key that only the hardware has is kept whenever it is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from numalign.model.hardware import CPUKind, Hardware, HardwareNode, L3Cache, Package, PCIFunction
from numalign.model.machine import Machine
from numalign.sources.host.hardware import Hardware as Discovered
from numalign.sources.host.pci import PCIDevice
from numalign.sources.host.text import page_name


def hardware_of(found: Discovered, machine: Machine | None) -> Hardware:
    """Return the section: everything where `machine` is None, else without what the machine says itself."""
    return Hardware(
        model=found.model or None,
        cpus=found.online if machine is None or machine.cpus != found.online else None,
        offline_cpus=found.offline,
        isolated_cpus=found.isolated,
        sockets=_packages(found) if machine is None or packages_differ(found, machine) else None,
        cores=found.cores if machine is None or cores_differ(found, machine) else None,
        numa_nodes=_nodes(found) if machine is None or nodes_differ(found, machine) else None,
        memory=found.memory if machine is None or machine.memory != found.memory else None,
        hugepages=_pages(found.hugepages) if any(found.hugepages.values()) else {},
        l3_caches=tuple(L3Cache(cache.id, cache.cpus, cache.size or None) for cache in found.l3),
        dies=found.dies,
        clusters=found.clusters,
        cpu_kinds=tuple(CPUKind(kind, cpus) for kind, cpus in found.cpu_kinds),
        allowed=found.allowed,
        pci=tuple(_function(device) for device in found.pci),
    )


def cores_differ(found: Discovered, machine: Machine) -> bool:
    """Tell whether the kubelet groups its CPUs into other cores than the hardware."""
    known = machine.cpus
    return {cpus & known for cpus in found.cores} - {0} != set(machine.cores)


def packages_differ(found: Discovered, machine: Machine) -> bool:
    """Tell whether the kubelet groups its CPUs into other sockets than the hardware, or under other ids."""
    known = machine.cpus
    seen = {(number, cpus & known) for number, cpus in found.packages if cpus & known}
    return seen != {(unit.id, unit.cpus) for unit in machine.sockets}


def nodes_differ(found: Discovered, machine: Machine) -> bool:
    """Tell whether a NUMA node has other CPUs, memory or distances for the kubelet than in the hardware."""
    mine = sorted((node.id, node.cpus, node.memory, node.distances) for node in machine.numa_nodes)
    rows: tuple[tuple[int, ...] | None, ...] = found.distances or (None,) * len(found.nodes)
    theirs = [(node.id, node.cpus, node.memory, row) for node, row in zip(found.nodes, rows, strict=True)]
    return mine != theirs


def _packages(found: Discovered) -> tuple[Package, ...]:
    return tuple(Package(number, cpus) for number, cpus in found.packages)


def _nodes(found: Discovered) -> tuple[HardwareNode, ...]:
    return tuple(
        HardwareNode(
            id=node.id,
            cpus=node.cpus,
            memory=node.memory,
            hugepages=None if node.hugepages is None else _pages(node.hugepages),
            distances=None if found.distances is None else found.distances[index],
        )
        for index, node in enumerate(found.nodes)
    )


def _pages(pages: Mapping[int, int]) -> dict[str, int]:
    return {page_name(size): size * 1024 * count for size, count in pages.items()}


def _function(device: PCIDevice) -> PCIFunction:
    return PCIFunction(
        address=device.address,
        class_id=device.class_id,
        vendor=device.vendor,
        device=device.device,
        numa_node=device.numa_node,
        driver=device.driver,
        names=device.names,
        root=device.path[0] if device.path else None,
        root_port=device.root_port,
        switch=device.switch,
        outer_switch=device.outer_switch,
        physical_function=device.pf,
        virtual_functions=device.vfs,
        total_vfs=device.total_vfs,
        num_vfs=device.num_vfs,
    )
