"""The devices of `dra.cpu`, and the CPUs it gives a claim (docs/rules/dra.md D-22, D-23)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from numalign.dra.drivers import DRIVERS
from numalign.dra.publish.devices import Made, flag, number, text
from numalign.dra.values import Attribute, Capacity, Device
from numalign.kubelet.cpu.packed import take_packed
from numalign.kubelet.cpu.topology import CPUTopology, build
from numalign.kubelet.cpu.uncore import exact_fit
from numalign.kubelet.errors import AllocationError
from numalign.model.cpuset import ids
from numalign.model.machine import Machine, Unit
from numalign.model.quantity import from_int
from numalign.values import NamedTuple

GroupBy = Literal["numanode", "socket", "machine", "cpu"]

DRIVER = "dra.cpu"
CAPACITY = "dra.cpu/cpu"
"""The capacity that a claim takes a part of in grouped mode."""


def devices(machine: Machine, group: GroupBy, reserved: int) -> list[Made]:
    """Give the devices that the driver publishes; none for a machine without CPUs."""
    if not machine.cpus:
        return []
    topology = build(machine)
    if group == "cpu":
        return list(_single(machine, topology, reserved))
    smt = flag(any(cpus.bit_count() > 1 for cpus in topology.cores.values()))
    if group == "machine":
        return [Made(_grouped("cpudevmachine", machine.cpus & ~reserved, {"dra.cpu/smtEnabled": smt}))]
    units = topology.sockets if group == "socket" else topology.nodes
    return [_unit(topology, unit, group, reserved, smt) for unit in units if unit.id >= 0]


def _unit(topology: CPUTopology, unit: Unit, group: GroupBy, reserved: int, smt: Attribute) -> Made:
    attributes = {"dra.cpu/smtEnabled": smt}
    if group == "socket":
        attributes["dra.cpu/socketID"] = number(unit.id)
        return Made(_grouped(f"cpudevsocket{unit.id:03d}", unit.cpus & ~reserved, attributes))
    attributes |= dict.fromkeys(DRIVERS[DRIVER].numa, number(unit.id))
    sockets = [socket.id for socket in topology.sockets if socket.cpus & unit.cpus]
    if sockets:
        attributes["dra.cpu/socketID"] = number(sockets[0])
    return Made(_grouped(f"cpudevnuma{unit.id:03d}", unit.cpus & ~reserved, attributes), (unit.id,))


def _grouped(name: str, cpus: int, attributes: dict[str, Attribute]) -> Device:
    count = cpus.bit_count()
    return Device(
        name=name,
        attributes={**attributes, "dra.cpu/numCPUs": number(count)},
        capacity={CAPACITY: Capacity(from_int(count))},
        shared=True,
    )


def _single(machine: Machine, topology: CPUTopology, reserved: int) -> Iterator[Made]:
    """Yield a device for each CPU, the threads of a core one after the other."""
    kinds = {kind.kind: kind.cpus for kind in machine.hardware.cpu_kinds} if machine.hardware else {}
    smt = flag(any(cpus.bit_count() > 1 for cpus in topology.cores.values()))
    order = [(core, cpu) for core in sorted(topology.cores) for cpu in ids(topology.cores[core])]
    free = [(core, cpu) for core, cpu in order if not reserved >> cpu & 1]
    for index, (core, cpu) in enumerate(free):
        numa = [unit.id for unit in topology.nodes if unit.cpus >> cpu & 1]
        attributes = {
            "dra.cpu/cpuID": number(cpu),
            "dra.cpu/coreID": number(core),
            "dra.cpu/coreType": text(next((kind for kind, cpus in kinds.items() if cpus >> cpu & 1), "standard")),
            "dra.cpu/smtEnabled": smt,
        }
        attributes |= {
            name: number(unit.id)
            for name, units in (("dra.cpu/cacheL3ID", topology.uncores), ("dra.cpu/socketID", topology.sockets))
            for unit in units
            if unit.cpus >> cpu & 1
        }
        attributes |= {name: number(one) for one in numa for name in DRIVERS[DRIVER].numa}
        yield Made(Device(name=f"cpudev{index:03d}", attributes=attributes), tuple(numa))


class Share(NamedTuple):
    """A share of a grouped device that a claim got."""

    claim: str
    device: str
    number: int
    """How many CPUs."""


def pick(topology: CPUTopology, free: int, share: Share) -> int:
    """Give the CPUs that the driver picks for a share (D-22): packed, whole uncore caches of its device's unit first.

    Raises:
        AllocationError: it is larger than what is free.
    """
    return take_packed(topology, free & group_cpus(topology, share.device), share.number, uncore=exact_fit)


def group_cpus(topology: CPUTopology, device: str) -> int:
    """Give the CPUs of a grouped device, by its name.

    Raises:
        AllocationError: the name is none of the driver's.
    """
    for prefix, units in (("cpudevnuma", topology.nodes), ("cpudevsocket", topology.sockets)):
        number_text = device.removeprefix(prefix)
        if number_text != device and number_text.isdecimal() and len(number_text) < 10:
            return next((unit.cpus for unit in units if unit.id == int(number_text)), 0)
    if device == "cpudevmachine":
        return topology.cpus
    raise AllocationError(f"no CPU device has the name {device}")
