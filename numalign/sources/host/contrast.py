"""Where the hardware is not what a kubelet believes: the comparison, and the `hardware` section of a machine.

A key that both views have (`cpus`, `sockets`, `cores`, `numaNodes`, `memory`) is kept only where the hardware differs
from the machine; a key that only the hardware has is kept whenever it is known.
"""

from __future__ import annotations

from numalign.model.hardware import Hardware
from numalign.model.machine import Machine
from numalign.sources.host.hardware import Hardware as Discovered


def hardware_of(found: Discovered, machine: Machine | None) -> Hardware:
    """Return the section: everything where `machine` is None, else without what the machine says itself."""
    return Hardware(
        model=found.model or None,
        cpus=found.online if machine is None or machine.cpus != found.online else None,
        offline_cpus=found.offline,
        isolated_cpus=found.isolated,
        sockets=found.packages if machine is None or packages_differ(found, machine) else None,
        cores=found.cores if machine is None or cores_differ(found, machine) else None,
        numa_nodes=found.nodes if machine is None or nodes_differ(found, machine) else None,
        memory=found.memory if machine is None or machine.memory != found.memory else None,
        hugepages=found.hugepages if any(found.hugepages.values()) else {},
        l3_caches=found.l3,
        dies=found.dies,
        clusters=found.clusters,
        cpu_kinds=found.cpu_kinds,
        allowed=found.allowed,
        pci=tuple([function._replace(rdma=False) for function in found.pci]),
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
    return mine != [(node.id, node.cpus, node.memory, node.distances) for node in found.nodes]
