"""An independent judge of alignment: it reads a machine's file and `admit -o json`, and nothing of numalign's own code.

It follows the words of docs/json.md: a container is aligned when it has CPUs of its own, and these, its devices and its
pinned memory lie on as few NUMA nodes as its widest resource needs on an empty machine, every device and all memory on
nodes of its CPUs; memory that nobody pins has to fit into those nodes. The least is found by trying all sets of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

MAX_SEARCHED = 12
"""How many NUMA nodes may have memory for all their sets to be searched."""


def cpu_ids(text: str | None) -> set[int]:
    """Read a Linux list."""
    found: set[int] = set()
    for part in (text or "").split(","):
        if part:
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
    return found


class Judge:
    """A machine, as its file in full says it (`machines NAME -o json`)."""

    def __init__(self, machine: Mapping[str, Any]) -> None:
        self.cpus = {node["id"]: cpu_ids(node["cpus"]) for node in machine["numaNodes"]}
        self.memory = {node["id"]: node["memory"] for node in machine["numaNodes"]}
        self.pages = {node["id"]: node.get("hugepages", {}) for node in machine["numaNodes"]}
        self.distances = {node["id"]: node.get("distances") for node in machine["numaNodes"]}
        self.devices = {
            resource: {device["id"]: self._near(device) for device in devices}
            for resource, devices in machine.get("devices", {}).items()
        }
        """Resource -> device -> the nodes with CPUs that are nearest; empty: nobody knows."""
        self._widths: dict[tuple[str, int], int] = {}

    def _near(self, device: Mapping[str, Any]) -> set[int]:
        near: set[int] = set()
        for node in device.get("numaNodes") or ():
            if self.cpus.get(node):
                near.add(node)
            elif node in self.cpus:
                near |= self._nearest(node)
        return near

    def _nearest(self, node: int) -> set[int]:
        with_cpus = [other for other, cpus in self.cpus.items() if cpus]
        row, order = self.distances[node], sorted(self.cpus)
        if row is None:
            return set(with_cpus)
        least = min(row[order.index(other)] for other in with_cpus)
        return {other for other in with_cpus if row[order.index(other)] == least}

    def room(self, node: int, resource: str) -> int:
        """What an empty node has of a kind of memory."""
        if resource == "memory":
            return int(self.memory[node]) - sum(self.pages[node].values())
        return int(self.pages[node].get(resource.removeprefix("hugepages-"), 0))

    def width(self, container: Mapping[str, Any]) -> int:
        """How few nodes could hold what a container holds, the widest resource alone."""
        widths = [self._width("cpu", len(cpu_ids(container["cpus"])))]
        widths += [self._width(resource, len(held["ids"])) for resource, held in container["devices"].items()]
        widths += [self._width(block["type"], block["bytes"]) for block in container["memory"] or ()]
        return max(widths)

    def _width(self, resource: str, amount: int) -> int:
        """Search the sets of nodes, the small ones first, for one that has so much."""
        key = (resource, amount)
        if key not in self._widths:
            self._widths[key] = self._search(resource, amount)
        return self._widths[key]

    def _search(self, resource: str, amount: int) -> int:
        seats = sorted(node for node, cpus in self.cpus.items() if cpus)
        if resource == "cpu":
            return _least(seats, lambda some: sum(len(self.cpus[node]) for node in some) >= amount)
        if resource in self.devices:
            known = [near for near in self.devices[resource].values() if near]
            return _least(seats, lambda some: sum(bool(near & set(some)) for near in known) >= min(amount, len(known)))
        room = {node: self.room(node, resource) for node in self.cpus}
        if len(room) <= MAX_SEARCHED:
            return _least(room, lambda some: sum(room[node] for node in some) >= amount)
        largest = sorted(room.values(), reverse=True)  # more nodes than can be searched: the largest ones do it
        sizes = range(1, len(largest) + 1)
        return next((size for size in sizes if sum(largest[:size]) >= amount), len(largest))

    def faults(self, container: Mapping[str, Any], asked: Mapping[str, int]) -> set[str]:
        """Name what is wrong with a container; `asked` are the bytes that it asks for of each kind of memory."""
        own = {node for node, cpus in self.cpus.items() if cpus & cpu_ids(container["cpus"])}
        if not own:
            return {"CPUs float"}
        found = set()
        several = sum(map(bool, self.cpus.values())) > 1
        for resource, held in container["devices"].items():
            for near in (self.devices[resource][device] for device in held["ids"]):
                if not near & own and (near or several):
                    found.add("a device is remote" if near else "nobody knows where a device is")
        blocks = container["memory"] or ()
        if any(not set(block["numaNodes"]) <= own for block in blocks):
            found.add("memory is remote")
        free = set(asked) - {block["type"] for block in blocks}
        if any(sum(self.room(node, each) for node in own) < asked[each] for each in free):
            found.add("memory does not fit")
        if len(own) > self.width(container):
            found.add("wider than needed")
        return found


def _least(nodes: Iterable[int], enough: Any) -> int:
    nodes = list(nodes)
    return next((size for size in range(1, len(nodes) + 1) if any(map(enough, combinations(nodes, size)))), len(nodes))
