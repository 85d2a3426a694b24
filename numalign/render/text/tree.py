"""A machine as a tree: sockets, NUMA nodes, caches, cores, threads, and the devices where they belong."""

from __future__ import annotations

from collections.abc import Iterable

from numalign.model.cpuset import format_set, ids
from numalign.model.hardware import PCIFunction
from numalign.model.machine import Machine, NUMANode, Unit
from numalign.render.page.document import Document, Paragraph
from numalign.render.text.amounts import bytes_text
from numalign.render.text.hardware import (
    hardware_of,
    known_node,
    l3_groups,
    machine_line,
    pci_devices,
    socket_ids,
)


def tree_document(machine: Machine) -> Document:
    """Return the tree, one line an object, each level two blanks further in."""
    return [Paragraph(f"{'  ' * depth}{text}") for depth, text in _Tree(machine).lines()]


class _Tree:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.hardware = hardware_of(machine)
        self.caches = l3_groups(machine, self.hardware)
        self.functions = machine.functions()
        self.resources = {device.id for devices in machine.devices.values() for device in devices}
        self.placed: set[str] = set()

    def lines(self) -> Iterable[tuple[int, str]]:
        """Yield (depth, text)."""
        machine = self.machine
        yield 0, f"{machine.name}: {machine_line(machine, self.hardware)}"
        nodes = sorted(machine.numa_nodes, key=lambda node: node.id)
        if all(len(socket_ids(machine, node.cpus)) < 2 for node in nodes):
            for socket in machine.sockets:
                yield 1, f"socket {socket.id}: CPUs {format_set(socket.cpus)}"
                for node in nodes:
                    if node.cpus & socket.cpus:
                        yield from self._node(node, 2, ())
        else:
            # A socket that is smaller than a node stands inside it.
            for node in nodes:
                if node.cpus:
                    yield from self._node(node, 1, machine.sockets)
        for node in nodes:
            if not node.cpus:
                yield from self._node(node, 1, ())
        yield from self._rest()

    def _node(self, node: NUMANode, depth: int, sockets: Iterable[Unit]) -> Iterable[tuple[int, str]]:
        pages = [f"{bytes_text(amount)} in {size} pages" for size, amount in node.hugepages.items() if amount]
        memory = ", ".join([bytes_text(node.memory) if node.memory else "no memory", *pages])
        cpus = f"CPUs {format_set(node.cpus)}" if node.cpus else "no CPUs"
        yield depth, f"NUMA node {node.id}: {cpus}, {memory}"
        inside = [(f"socket {unit.id}", unit.cpus & node.cpus) for unit in sockets if unit.cpus & node.cpus]
        for label, found in inside:
            yield depth + 1, label
            yield from self._cores(found, depth + 2)
        if not inside:
            yield from self._cores(node.cpus, depth + 1)
        for resource, devices in self.machine.devices.items():
            for device in devices:
                told = "" if device.numa_nodes else ", by /sys alone"
                if device.numa_nodes == (node.id,) or (told and self._node_of(device.id) == node.id):
                    self.placed.add(device.id)
                    yield depth + 1, f"{resource} {device.id}{self._about(device.id)}{told}"
        for kind, function in pci_devices(self.hardware):
            if function.numa_node == node.id >= 0 and function.address not in self.resources:
                yield depth + 1, f"{kind} {function.address}{self._about(function.address)}"

    def _cores(self, cpus: int, depth: int) -> Iterable[tuple[int, str]]:
        left = cpus
        for label, found in self.caches:
            if found & cpus:
                yield depth, label
                yield from self._threads(found & cpus, depth + 1)
                left &= ~found
        yield from self._threads(left, depth)

    def _threads(self, cpus: int, depth: int) -> Iterable[tuple[int, str]]:
        for core in self.machine.cores:
            if core & cpus:
                threads = " ".join(str(cpu) for cpu in ids(core & cpus))
                yield depth, f"core {next(ids(core))}: {'CPUs' if core.bit_count() > 1 else 'CPU'} {threads}"

    def _rest(self) -> Iterable[tuple[int, str]]:
        """Yield what belongs to no node, or to several."""
        for resource, devices in self.machine.devices.items():
            for device in devices:
                if device.id not in self.placed:
                    nodes = ",".join(map(str, device.numa_nodes or ()))
                    where = f"NUMA nodes {nodes}" if nodes else "no NUMA node"
                    yield 1, f"{resource} {device.id}{self._about(device.id)}, {where}"
        known = {node.id for node in self.machine.numa_nodes if node.id >= 0}
        for kind, function in pci_devices(self.hardware):
            if function.numa_node not in known and self.resources.isdisjoint((function.address, *function.names)):
                yield 1, f"{kind} {function.address}{self._about(function.address)}, no NUMA node"
        if self.hardware.offline_cpus:
            yield 1, f"offline CPUs {format_set(self.hardware.offline_cpus)}"
        unseen = self.hardware.unseen(self.machine.cpus)
        if unseen:
            yield 1, f"CPUs that the kubelet does not see: {format_set(unseen)}"

    def _node_of(self, device: str) -> int | None:
        """Return the node that /sys tells of a device."""
        return known_node(self.functions.get(device), self.machine)

    def _about(self, address: str) -> str:
        function = self.functions.get(address, PCIFunction(address))
        switch = "" if function.switch is None else f", switch {function.switch}"
        return "".join(f" {name}" for name in function.names) + switch
