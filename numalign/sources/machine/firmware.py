"""The firmware's question of how many NUMA nodes a socket has: `--nps 1|2|4` of AMD, `--snc 1|2|3|4` of Intel.

Only for regular machines, whose sockets are cut alike. Where devices are is told by nobody once a node is split.
"""

from __future__ import annotations

from numalign.errors import InputError
from numalign.model.document.values import amount
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.sources.machine.regular import LOCAL, REMOTE, SAME_SOCKET

CHOICES = {"--nps": (1, 2, 4), "--snc": (1, 2, 3, 4)}


def with_nodes(machine: Machine, count: int, flag: str) -> tuple[Machine, bool]:
    """Cut each socket into so many NUMA nodes; returns the machine, and whether devices lost theirs.

    Raises:
        InputError: the machine is not regular, or its cores cannot be cut so.
    """
    if count not in CHOICES[flag]:
        raise InputError(f"expected one of {', '.join(map(str, CHOICES[flag]))}, got {count}", flag)
    sockets = [[core for core in machine.cores if core & socket.cpus] for socket in machine.sockets]
    size, rest = divmod(len(sockets[0]), count)
    wholes = [{node.id for node in machine.numa_nodes if node.cpus & socket.cpus} for socket in machine.sockets]
    alike = {(len(cores), len(nodes)) for cores, nodes in zip(sockets, wholes, strict=True)}
    whole = [node.id for node in machine.numa_nodes] == sorted(node for nodes in wholes for node in nodes)
    if rest or len(alike) > 1 or not whole or sum(map(len, wholes)) != len(machine.numa_nodes):
        text = "expected a regular machine: equal sockets, with cores that divide and no NUMA node in two sockets"
        raise InputError(text, flag)
    cut = [sum(cores[at : at + size]) for cores in sockets for at in range(0, len(cores), size)]
    memory = sum(node.memory for node in machine.numa_nodes) // len(cut)
    tables = [node.distances for node in machine.numa_nodes]
    remote = max((max(row) for row in tables if row), default=REMOTE) if len(sockets) > 1 else REMOTE
    nodes = tuple(
        NUMANode(index, cpus, memory, _pages(machine, len(cut)), _row(index, len(cut), count, remote))
        for index, cpus in enumerate(cut)
    )
    places = {
        old: [at for at, cpus in enumerate(cut) if cpus & node.cpus] for node in machine.numa_nodes for old in [node.id]
    }
    devices = {name: tuple(_moved(one, places) for one in listed) for name, listed in machine.devices.items()}
    lost = any(
        one.numa_nodes and not new.numa_nodes
        for name, listed in machine.devices.items()
        for one, new in zip(listed, devices[name], strict=True)
    )
    shared = machine.uncore_caches or (machine.sockets if flag == "--snc" else ())
    caches = [cache for cache in shared if cache.cpus not in cut]
    units = tuple(Unit(index, cache.cpus) for index, cache in enumerate(caches))
    hardware = machine.hardware._replace(numa_nodes=None, pci=()) if machine.hardware else None
    return machine._replace(numa_nodes=nodes, devices=devices, uncore_caches=units, hardware=hardware), lost


def _moved(device: Device, places: dict[int, list[int]]) -> Device:
    """Move a device to the only new node that its old ones became part of, or to none."""
    if not device.numa_nodes:
        return device
    new = {at for node in device.numa_nodes for at in places.get(node, [])}
    return device._replace(numa_nodes=tuple(new) if len(new) == 1 else None)


def _pages(machine: Machine, count: int) -> dict[str, int]:
    """Share the huge pages out, whole ones."""
    total: dict[str, int] = {}
    for node in machine.numa_nodes:
        for size, held in node.hugepages.items():
            total[size] = total.get(size, 0) + held
    return {size: held // count // unit * unit for size, held in total.items() for unit in [amount.read(size)]}


def _row(index: int, nodes: int, per_socket: int, remote: int) -> tuple[int, ...]:
    return tuple(
        LOCAL if at == index else SAME_SOCKET if at // per_socket == index // per_socket else remote
        for at in range(nodes)
    )
