"""Containers on drawn machines, holding what is drawn: how they lie and how close their devices are is as it was.

The machines have what recordings have not: nodes without CPUs or with odd ids, devices of several nodes or of none that
is there, PCI buses with switches, virtual functions and links.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from numalign.analysis.alignment import alignment
from numalign.analysis.closeness import between, buses, ends, farthest, neighbours, rail, reaches
from numalign.analysis.holding import HeldDevices, Holding
from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.device.state import device_ids, per_numa
from numalign.kubelet.memory.state import Block
from numalign.kubelet.node import Node
from numalign.kubelet.setup import Setup
from numalign.model.cpuset import ids
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine, NUMANode, Unit
from tests.analysis.kept import hold
from tests.analysis.support import STATIC, config

GI = 1 << 30
HERE = Path(__file__).parent
RESOURCES = ("nvidia.com/gpu", "nvidia.com/mig-1g", "amd.com/gpu", "v.com/sriov-nic", "rdma/hca", "v.com/qat")
CLASSES = ("0302", "0300", "1200", "0200", "0207", "0b40", "0108", None)


def test_how_containers_lie_is_as_it_was() -> None:
    hold(HERE / "drawn_alignments.jsonl.gz", map(lying, range(1200)))


def lying(number: int) -> Any:
    dice = Random(number)
    on = machine(dice)
    try:
        node = started(dice, with_bus(dice, on) if number % 2 else on)
    except StartError:
        return None
    held = holding(dice, node)
    kinds = {block.type: block.size for block in held.memory}
    asked = {"memory": dice.choice((0, GI, 3 * GI, 9 * GI)), "hugepages-2Mi": dice.choice((0, GI))} | (
        kinds if dice.randrange(2) else {}
    )
    amounts = tuple((one.resource, len(one.ids)) for one in held.devices)
    demand = ContainerDemand("c", "app", dice.choice((0, held.cpus or 0)), tuple(asked.items()), amounts)
    return alignment(node, held, demand)


def test_how_close_devices_are_is_as_it_was() -> None:
    hold(HERE / "drawn_closeness.jsonl.gz", map(closeness, range(600)))


def closeness(number: int) -> Any:
    dice = Random(number)
    on = with_bus(dice, machine(dice))
    node = started(dice, on, "none")
    one, other = holding(dice, node), holding(dice, node)
    gpus, nics = ends(one, on.functions())
    return {
        "ends": [gpus, nics],
        "rail": rail(on, one),
        "farthest": farthest(on, one) if gpus and nics else None,
        "neighbours": neighbours(on, one),
        "between": between(on, one, other),
        "reaches": [[reach.accelerator.address, addresses(reach.ports)] for reach in reaches(on)],
        "buses": {numa: [[bus.root, addresses(bus.switches)] for bus in every] for numa, every in buses(on).items()},
    }


def addresses(groups: Any) -> dict[str, list[str]]:
    return {key: [one.address for one in every] for key, every in groups.items()}


def started(dice: Random, on: Machine, policy: str = "") -> Node:
    policy = policy or dice.choice(("none", "best-effort"))
    if any(numa.id < 0 for numa in on.numa_nodes):  # docs/rules/topology-manager.md 2.3
        policy = "none"
    pins = STATIC if policy != "none" and dice.randrange(2) else {}
    kept = {"reserved_system_cpus": str(next(ids(on.cpus)))} if dice.randrange(2) else {}
    return twin.start(Setup(on, config(policy, **pins, **kept), "ideal"))[0]


def machine(dice: Random) -> Machine:
    count, cpus = dice.choice((1, 2, 2, 3, 4, 4)), 4
    odd = dice.choice((0, 0, 0, 0, 5, -count))  # an id that leaves a gap, or is below 0
    numbers = [place + (odd if place == count - 1 else 0) for place in range(count)]
    bare = dice.choice((None, None, 1, count - 1)) if count > 2 else None  # a node of memory alone
    row = [tuple(10 if a == b else dice.choice((12, 20, 20, 30)) for b in range(count)) for a in range(count)]
    nodes = tuple(
        NUMANode(
            number,
            0 if place == bare else 15 << place * cpus,
            dice.choice((4 * GI, 8 * GI)),
            {"2Mi": GI} if dice.randrange(2) else {},
            dice.choice((row[place], row[place], row[place][:1], None)),
        )
        for place, number in enumerate(numbers)
    )
    sets = [one.cpus for one in nodes if one.cpus]
    sockets = tuple(Unit(place, members) for place, members in enumerate(sets))
    cores = tuple(1 << cpu for members in sets for cpu in ids(members))
    names = dice.sample(RESOURCES, dice.choice((1, 2, 3)))
    devices = {name: tuple(devices_of(dice, name, numbers)) for name in names}
    links = {name: tuple(links_of(dice, [one.id for one in found])) for name, found in devices.items()}
    links = {name: found for name, found in links.items() if found and dice.randrange(2)}
    return Machine("drawn", nodes, sockets, cores, devices=devices, links=links)


def devices_of(dice: Random, name: str, numbers: list[int]) -> Iterator[Device]:
    many = dice.choice((1, 2, 4, 6, 6, 40)) if not dice.randrange(12) else dice.choice((1, 2, 4, 6))
    kind = "MIG-" if "mig" in name and dice.randrange(2) else name[-3:]
    for place in range(many):
        one, other = dice.choice(numbers), dice.choice(numbers)
        yield Device(f"{kind}{place}", dice.choice(((one,), (one,), (one,), (one, other), (), None, (99,), (-1, one))))


def links_of(dice: Random, names: list[str]) -> Iterator[tuple[str, str, int]]:
    for place, one in enumerate(names[:6]):
        for other in names[place + 1 : 6]:
            if dice.randrange(2):
                yield one, other, dice.choice((0, 1, 4))


def with_bus(dice: Random, on: Machine) -> Machine:
    """Give most devices, and what is no device, a place on the bus."""
    numbers = [numa.id for numa in on.numa_nodes]
    listed: list[PCIFunction] = []
    for name in (*(one.id for found in on.devices.values() for one in found[:6]), "eth0", "eth1", "card0"):
        numa = dice.choice((*numbers, *numbers, -1, None))
        root = dice.choice((None, f"pci{numa}:0", f"pci{numa}:0", f"pci{numa}:8"))
        switch = dice.choice((None, f"{root}/s0", f"{root}/s0", f"{root}/s1"))
        function = PCIFunction(
            address=name if not dice.randrange(4) else f"0000:{len(listed):02x}:00.0",
            class_id="0200" if name.startswith("eth") else dice.choice(CLASSES),
            vendor=dice.choice(("10de", "15b3")),
            device=dice.choice(("2330", "2330", "2330", "22a3")),
            numa_node=numa,
            names=(name,) if dice.randrange(5) else (),
            root=root,
            root_port=dice.choice((None, f"{root}/p0", f"{root}/p1")),
            switch=switch,
            outer_switch=dice.choice((None, None, f"{root}/o0")),
            physical_function="0000:00:00.0" if not dice.randrange(6) else None,
        )
        listed += [function] if dice.randrange(8) else []
    return on._replace(hardware=dice.choice((Hardware(pci=tuple(listed), nv_switch=not dice.randrange(6)), None)))


def holding(dice: Random, node: Node) -> Holding:
    cpus = sum(1 << cpu for cpu in ids(node.machine.cpus) if not dice.randrange(3))
    with suppress(IndexError):
        numa = dice.choice([one for one in node.machine.numa_nodes if one.cpus])
        cpus = dice.choice((cpus, numa.cpus, numa.cpus & -numa.cpus, 0))
    devices = []
    for name, resource in sorted(node.device.resources.items()):
        members = sum(1 << place for place in range(len(resource.devices)) if not dice.randrange(3))
        members = dice.choice((members, members, (1 << len(resource.devices)) - 1, 1))
        if members:
            found = tuple(device_ids(resource, members))
            devices.append(HeldDevices(name, found, per_numa(resource, members), members))
    masks = [1 << one.id for one in node.machine.numa_nodes if one.id >= 0]
    mask = dice.choice((*masks, sum(masks), masks[0] | masks[-1])) if masks else 1
    kinds = [name for name in ("memory", "hugepages-2Mi") if name in node.memory.places]
    blocks = tuple(Block(mask, name, dice.choice((0, GI, 5 * GI))) for name in kinds if dice.randrange(2))
    missing = ("v.com/gone",) if not dice.randrange(8) else ()
    return Holding(cpus or None, tuple(dice.sample(devices, len(devices))), blocks, missing)
