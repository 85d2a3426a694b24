"""On which NUMA node a claimed device is: by its driver, else by what the machine knows of it."""

from __future__ import annotations

import pytest

from numalign.dra.values import Attribute, Device, DeviceID
from numalign.dra.whereabouts import Place, places
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device as PluginDevice
from numalign.model.machine import Machine, NUMANode
from numalign.sources.machine.loading import load_machine

HGX = load_machine("hgx-h100").machine
BUS, ROOT = "resource.kubernetes.io/pciBusID", "resource.kubernetes.io/pcieRoot"
NOBODY = Place(None, "nobody")


def gpu(name: str, driver: str = "gpu.nvidia.com", **attributes: object) -> tuple[DeviceID, Device]:
    known = {"bus": BUS, "root": ROOT}
    kinds = {int: "int", str: "string"}
    written = {known.get(key, key): Attribute(kinds[type(one)], one) for key, one in attributes.items()}  # type: ignore[arg-type]  # a kind
    return DeviceID(driver, "n", name), Device(name, written)


def place(machine: Machine, *devices: tuple[DeviceID, Device]) -> Place:
    """Where the first of these devices is."""
    return places(dict(devices), machine)[devices[0][0]]


def with_pci(*functions: PCIFunction) -> Machine:
    return HGX._replace(devices={}, hardware=Hardware(pci=functions))


def with_plugin(resource: str = "nvidia.com/gpu", **nodes: tuple[int, ...] | None) -> Machine:
    """A machine whose plugin has these devices."""
    devices = {resource: tuple(PluginDevice(name, numa) for name, numa in nodes.items())}
    return Machine("m", (NUMANode(0, 1, 1), NUMANode(1, 2, 1)), devices=devices)


AT_1 = PCIFunction("0000:17:00.0", numa_node=1, root="pci0000:15")
PCI = [
    ("by its address", [AT_1], {"bus": "0000:17:00.0"}, Place((1,), "machine")),
    ("by its root", [AT_1], {"root": "pci0000:15"}, Place((1,), "machine")),
    (
        "by its root where the address is not known",
        [AT_1],
        {"bus": "0000:18:00.0", "root": "pci0000:15"},
        Place((1,), "machine"),
    ),
    ("nothing is known of it", [AT_1], {}, NOBODY),
    (
        "a root with devices of two nodes says nothing",
        [AT_1, PCIFunction("0000:18:00.0", numa_node=0, root="pci0000:15")],
        {"root": "pci0000:15"},
        NOBODY,
    ),
    (
        "a root with two devices of one node says it",
        [AT_1, PCIFunction("0000:18:00.0", numa_node=1, root="pci0000:15")],
        {"root": "pci0000:15"},
        Place((1,), "machine"),
    ),
    ("an address without a node", [PCIFunction("0000:17:00.0")], {"bus": "0000:17:00.0"}, NOBODY),
    ("an address on no node", [PCIFunction("0000:17:00.0", numa_node=-1)], {"bus": "0000:17:00.0"}, NOBODY),
    (
        "an address on node 0",
        [PCIFunction("0000:17:00.0", numa_node=0)],
        {"bus": "0000:17:00.0"},
        Place((0,), "machine"),
    ),
    ("a root that is a number", [AT_1], {"root": 1}, NOBODY),
    ("the driver is believed first", [AT_1], {"bus": "0000:17:00.0", "numa": 0}, Place((0,), "driver")),
]


@pytest.mark.parametrize(("pci", "said", "at"), [row[1:] for row in PCI], ids=[row[0] for row in PCI])
def test_a_device_on_the_bus(pci: list[PCIFunction], said: dict[str, object], at: Place) -> None:
    assert place(with_pci(*pci), gpu("a", **said)) == at


def test_a_machine_without_hardware_knows_nothing() -> None:
    assert place(HGX._replace(devices={}, hardware=None), gpu("a", bus="0000:17:00.0")) == NOBODY


TWO = {"gpu0": (0,), "gpu1": (1,)}
NUMBERED = [
    ("the same numbers", with_plugin(**TWO), ["gpu-1", "gpu-0"], Place((1,), "machine")),
    ("other numbers", with_plugin(**TWO), ["gpu-1", "gpu-2"], NOBODY),
    ("fewer of them", with_plugin(**TWO), ["gpu-1"], NOBODY),
    ("a number twice", with_plugin(gpu1=(1,)), ["gpu-1", "a-1"], NOBODY),
    ("of another driver", with_plugin("amd.com/gpu", **TWO), ["gpu-1", "gpu-0"], NOBODY),
    ("a device without a node", with_plugin(gpu0=(0,), gpu1=None), ["gpu-1", "gpu-0"], NOBODY),
    ("a device on no node", with_plugin(gpu0=(0,), gpu1=(-1,)), ["gpu-1", "gpu-0"], NOBODY),
    ("the last number of a name counts", with_plugin(a1b0=(0,), a1b1x=(1,)), ["g9-1", "g9-0"], Place((1,), "machine")),
]


@pytest.mark.parametrize(("machine", "names", "at"), [row[1:] for row in NUMBERED], ids=[row[0] for row in NUMBERED])
def test_a_device_by_its_number(machine: Machine, names: list[str], at: Place) -> None:
    assert place(machine, *map(gpu, names)) == at


def test_devices_of_other_drivers_do_not_count() -> None:
    nic = gpu("nic-7", "dra.net")
    assert place(with_plugin(**TWO), gpu("gpu-1"), gpu("gpu-0"), nic) == Place((1,), "machine")
    assert place(with_plugin(**TWO), nic, gpu("gpu-0")) == NOBODY


def test_the_bus_outweighs_the_number() -> None:
    machine = with_plugin(**TWO)._replace(hardware=Hardware(pci=(AT_1,)))
    assert place(machine, gpu("gpu-0", bus="0000:17:00.0"), gpu("gpu-1")) == Place((1,), "machine")


def test_the_gpus_of_a_machine() -> None:
    found = places(dict(gpu(f"gpu-{index}") for index in range(8)), HGX)
    assert [found[gpu(f"gpu-{index}")[0]].numa for index in (0, 3, 4, 7)] == [(0,), (0,), (1,), (1,)]
