"""How close two devices of a container are on the PCI bus: below one switch a GPU and a NIC talk without the CPU."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.holding import Holding
    from numalign.model.hardware import PCIFunction
    from numalign.model.machine import Machine

Closeness = Literal["same switch", "same root", "same node", "other node"]

NEAREST_FIRST: tuple[Closeness, ...] = ("same switch", "same root", "same node", "other node")


class Neighbours(NamedTuple):
    """A device of one resource, and the nearest of another that the same container holds."""

    resource: str
    device: str
    other_resource: str
    other_device: str
    closeness: Closeness


def neighbours(machine: Machine, held: Holding) -> tuple[Neighbours, ...]:
    """List for each device of a container the nearest device of each later resource, where the PCI bus is known."""
    known = _functions(machine)
    found = []
    for one, other in combinations(held.devices, 2):
        for device in one.ids:
            pairs = [
                Neighbours(one.resource, device, other.resource, each, closeness(known[device], known[each]))
                for each in other.ids
                if device in known and each in known
            ]
            if pairs:
                found.append(min(pairs, key=lambda pair: NEAREST_FIRST.index(pair.closeness)))
    return tuple(found)


def closeness(one: PCIFunction, other: PCIFunction) -> Closeness:
    """Compare two functions: below the same switch, the same root complex, on the same NUMA node, or apart."""
    if one.switch is not None and one.switch == other.switch:
        return "same switch"
    if one.root is not None and one.root == other.root:
        return "same root"
    if one.numa_node is not None and one.numa_node >= 0 and one.numa_node == other.numa_node:
        return "same node"
    return "other node"


def _functions(machine: Machine) -> dict[str, PCIFunction]:
    """Find functions by their address, and by the names that the operating system gives them."""
    functions = machine.hardware.pci if machine.hardware else ()
    return {name: function for function in functions for name in (*function.names, function.address)}
