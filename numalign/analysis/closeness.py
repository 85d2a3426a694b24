"""How close two devices are: below one PCI switch a GPU and a NIC talk without the CPU, and links may join GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations, groupby, product
from typing import TYPE_CHECKING, Literal

from numalign.model.hardware import PCIFunction
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.holding import Holding
    from numalign.model.machine import Machine

Closeness = Literal["same switch", "common bridge", "same root", "same node", "other node", "unknown"]

NEAREST_FIRST: tuple[Closeness, ...] = (
    "same switch",
    "common bridge",
    "same root",
    "same node",
    "unknown",
    "other node",
)

NETWORK = "02"
"""PCI class of network controllers."""
DISPLAY = "03"
ACCELERATORS = ("0302", "12", "0b40")
"""PCI classes of GPUs without a screen, of accelerators and of co-processors."""


class Neighbours(NamedTuple):
    """Two devices that a container holds, of which one is the nearest of its resource to the other."""

    resource: str
    device: str
    other_resource: str
    other_device: str
    closeness: Closeness
    joined: bool | None = None
    """Whether NVLink, or AMD's XGMI, joins two GPUs; None: not known, or they are not GPUs of one resource."""

    @property
    def alike(self) -> bool:
        """Whether both are GPUs of one resource."""
        return self.resource == self.other_resource


Rail = Literal["near", "far", "unknown"]
"""`near`: each GPU of a container has a NIC of it below a common switch. `far`: one has none. `unknown`: nobody can
tell of one, as the PCI bus is not known."""

MAX_PAIRED = 32
"""Of so many GPUs of one resource the pairs are listed."""
GPUS = ("gpu", "mig")
NICS = ("nic", "rdma", "sriov", "roce", "ib", "hca", "mlnx", "efa")
"""How words of a resource's name begin of whose devices the PCI class is not known."""


def rail(machine: Machine, held: Holding) -> Rail | None:
    """Tell whether the GPUs of a container reach NICs of it below a switch; None: it does not hold both."""
    known = machine.functions()
    gpus, nics = ([known.get(name) for _, name in each] for each in ends(held, known))
    if not gpus or not nics:
        return None
    lone = [
        one for one in gpus if not one or all(not nic or closeness(one, nic) not in NEAREST_FIRST[:2] for nic in nics)
    ]
    # Where a GPU, or a NIC that may be below its switch, is not known, neither is the answer.
    return "near" if not lone else "far" if None not in nics and any(lone) else "unknown"


def farthest(machine: Machine, held: Holding) -> Closeness:
    """Tell how close the GPU of a container that holds GPUs and NICs is that is farthest from every NIC."""
    known, lost = _placed(machine), PCIFunction("")
    gpus, nics = ends(held, known)
    near = [[closeness(known.get(gpu, lost), known.get(nic, lost)) for _, nic in nics] for _, gpu in gpus]
    return max((min(each, key=NEAREST_FIRST.index) for each in near), key=NEAREST_FIRST.index)


Named = tuple[str, str]
"""(resource, device)."""


def ends(held: Holding, known: Mapping[str, PCIFunction]) -> tuple[list[Named], list[Named]]:
    """List the GPUs and the NICs of a container."""
    devices = {name for one in held.devices for name in one.ids}
    each = [(one.resource, name) for one in held.devices for name in one.ids]
    gpus = [one for one in each if _is_gpu(one[0], known.get(one[1]), devices)]
    return gpus, [one for one in each if _is_nic(one[0], known.get(one[1]))]


def _is_gpu(resource: str, function: PCIFunction | None, devices: set[str]) -> bool:
    """Tell a GPU by its PCI class, else by the name of its resource."""
    return _accelerates(function, devices) if function and function.class_id else _named(resource, GPUS)


def _is_nic(resource: str, function: PCIFunction | None) -> bool:
    return is_port(function) if function and function.class_id else _named(resource, NICS)


def _named(resource: str, beginnings: tuple[str, ...]) -> bool:
    """Tell whether a word of a resource's name, behind its domain, begins so."""
    words = "".join(one if one.isalnum() else " " for one in resource.rpartition("/")[2].lower()).split()
    return any(word.startswith(beginnings) for word in words)


class Reach(NamedTuple):
    """An accelerator, and how close each network port of the machine is to it."""

    accelerator: PCIFunction
    ports: Mapping[Closeness, tuple[PCIFunction, ...]]
    """Nearest first; without what there is nothing of."""


def neighbours(machine: Machine, held: Holding) -> tuple[Neighbours, ...]:
    """List for each device of a container the nearest of each other resource, a pair once, where the bus is known.

    Behind them stand the pairs of its GPUs, where the bus is known or whether links join them.
    """
    known = _placed(machine)
    found = []
    for one, other in combinations(held.devices, 2):
        pairs = [
            _pair(known, (one.resource, device), (other.resource, each))
            for device in one.ids
            for each in other.ids
            if device in known and each in known
        ]
        pairs.sort(key=lambda pair: NEAREST_FIRST.index(pair.closeness))
        nearest = [*{pair.device: pair for pair in reversed(pairs)}.values()]
        nearest += {pair.other_device: pair for pair in reversed(pairs)}.values()
        found += sorted(set(nearest), key=pairs.index)
    return (*found, *_joins(machine, known, [combinations(one, 2) for one in _by_resource(ends(held, known)[0])]))


def between(machine: Machine, one: Holding, other: Holding) -> tuple[Neighbours, ...]:
    """List the pairs of GPUs, or of NICs where one has no GPU, of two containers; of resources that both hold.

    Where the bus is not known the NUMA nodes of the devices are.
    """
    known = {
        device.id: PCIFunction(device.id, numa_node=device.numa_nodes[0])
        for listed in machine.devices.values()
        for device in listed
        if device.numa_nodes and len(device.numa_nodes) == 1
    } | _placed(machine)
    for mine, theirs in zip(ends(one, known), ends(other, known), strict=True):
        both = product(_by_resource(mine), _by_resource(theirs))
        pairs = [product(here, there) for here, there in both if here[0][0] == there[0][0]]
        if pairs:
            return tuple(_joins(machine, known, pairs))
    return ()


def _by_resource(devices: list[Named]) -> list[list[Named]]:
    """Group devices by resource; of very many none are there: their pairs would be too many."""
    groups = [list(each) for _, each in groupby(devices, key=lambda one: one[0])]
    return [one for one in groups if len(one) <= MAX_PAIRED]


def _joins(
    machine: Machine, known: Mapping[str, PCIFunction], pairs: Iterable[Iterable[tuple[Named, Named]]]
) -> Iterator[Neighbours]:
    """Yield of each pair of devices of one resource how close it is and whether links join it, if either is known."""
    switched = machine.hardware is not None and machine.hardware.nvlink_switched
    for one, other in chain.from_iterable(pairs):
        linked: bool | None = True if switched and _whole(*one) and _whole(*other) else None
        if one[0] in machine.links:
            linked = any({one[1], other[1]} == {*ends} for *ends, number in machine.links[one[0]] if number)
        found = _pair(known, one, other)._replace(joined=linked)
        if linked is not None or found.closeness != "unknown":
            yield found


def _pair(known: Mapping[str, PCIFunction], one: Named, other: Named) -> Neighbours:
    here, there = known.get(one[1]), known.get(other[1])
    return Neighbours(*one, *other, closeness(here, there) if here and there else "unknown")


def _whole(resource: str, device: str) -> bool:
    """Tell a GPU of NVIDIA from a part of one: no NVLink leads to that."""
    return resource.startswith("nvidia.com/") and "mig" not in resource and not device.startswith("MIG-")


def closeness(one: PCIFunction, other: PCIFunction) -> Closeness:
    """Compare two functions: below the same switch, a common bridge, the same root, on the same NUMA node, or apart.

    A common bridge is one further up: two levels of switches, or a card with a switch of its own.
    `unknown`: they share no root, and nobody tells the NUMA node of one of them.
    """
    if one.switch is not None and one.switch == other.switch:
        return "same switch"
    if not one.outer_bridges.isdisjoint(other.outer_bridges):
        return "common bridge"
    if one.root is not None and one.root == other.root:
        return "same root"
    if any(each.numa_node is None or each.numa_node < 0 for each in (one, other)):
        return "unknown"
    return "same node" if one.numa_node == other.numa_node else "other node"


def _placed(machine: Machine) -> dict[str, PCIFunction]:
    """Find functions by name; on a machine with one NUMA node all are on it, whatever the firmware says."""
    found = machine.functions()
    if len(machine.numa_nodes) != 1:
        return found
    [only] = machine.numa_nodes
    return {name: function._replace(numa_node=only.id) for name, function in found.items()}


class Bus(NamedTuple):
    """A root complex with an accelerator and a network port below it."""

    root: str
    switches: Mapping[str, tuple[PCIFunction, ...]]
    """The outermost switch, by its upstream port (empty: below none) -> accelerators and physical network ports."""


def buses(machine: Machine) -> dict[int, tuple[Bus, ...]]:
    """Group accelerators and network ports by NUMA node, root complex and switch.

    Roots that do not have both, and nodes that nobody tells, are left out.
    """
    found: dict[tuple[int, str], dict[str, list[PCIFunction]]] = {}
    accelerators = [reach.accelerator for reach in reaches(machine)]
    there = dict.fromkeys((one.numa_node, one.root) for one in accelerators)
    for function in dict.fromkeys((*accelerators, *_ports(_placed(machine)))):
        node, root = function.numa_node, function.root
        if node is not None and node >= 0 and root is not None and (node, root) in there:
            found.setdefault((node, root), {}).setdefault(function.outermost or "", []).append(function)
    result: dict[int, tuple[Bus, ...]] = {}
    for (node, root), switches in sorted(found.items()):
        if any(is_port(function) for listed in switches.values() for function in listed):
            bus = Bus(root, {switch: tuple(listed) for switch, listed in switches.items()})
            result[node] = (*result.get(node, ()), bus)
    return result


def reaches(machine: Machine) -> Iterator[Reach]:
    """Yield the accelerators with the network ports around them; virtual functions are where their device is."""
    known = _placed(machine)
    devices = {device.id for group in machine.devices.values() for device in group}
    ports = _ports(known)
    for name, function in known.items() if ports else ():
        if name == function.address and function.physical_function is None and _accelerates(function, devices):
            found: dict[Closeness, tuple[PCIFunction, ...]] = dict.fromkeys(NEAREST_FIRST, ())
            for port in ports:
                near = closeness(function, port)
                found[near] = (*found[near], port)
            yield Reach(function, {near: there for near, there in found.items() if there})


def _ports(known: Mapping[str, PCIFunction]) -> list[PCIFunction]:
    """List the network ports; virtual functions are no ports of their own."""
    physical = [one for name, one in known.items() if name == one.address and one.physical_function is None]
    return [one for one in physical if is_port(one)]


def is_port(function: PCIFunction) -> bool:
    """Tell whether a function is a network port."""
    return (function.class_id or "").startswith(NETWORK)


def _accelerates(function: PCIFunction, devices: set[str]) -> bool:
    """Tell an accelerator from the chip that draws a server's console: that is no plugin's device."""
    kind = function.class_id or ""
    named = not devices.isdisjoint((function.address, *function.names))
    return kind.startswith(ACCELERATORS) or (kind.startswith(DISPLAY) and named)
