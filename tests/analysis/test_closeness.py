"""How close devices are on the PCI bus."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.closeness import between, closeness, neighbours, rail, reaches
from numalign.analysis.holding import HeldDevices, Holding
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Machine
from numalign.sources.machine.loading import load_machine

GPU = PCIFunction("0000:17:00.0", numa_node=0, root="pci0000:15", switch="0000:16:00.0")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (GPU._replace(address="0000:18:00.0"), "same switch"),
        (GPU._replace(address="0000:18:00.0", switch="0000:19:00.0"), "same root"),
        (GPU._replace(address="0000:18:00.0", switch="0000:19:00.0", outer_switch="0000:16:00.0"), "common bridge"),
        (GPU._replace(address="0000:18:00.0", switch=None, root="pci0000:20"), "same node"),
        (GPU._replace(address="0000:18:00.0", switch=None, root="pci0000:20", numa_node=1), "other node"),
        (PCIFunction("0000:18:00.0", numa_node=-1), "unknown"),
        (PCIFunction("0000:18:00.0"), "unknown"),
    ],
)
def test_the_nearest_thing_they_share(other: PCIFunction, expected: str) -> None:
    assert closeness(GPU, other) == closeness(other, GPU) == expected


def test_each_device_has_its_nearest_neighbour_of_another_resource() -> None:
    near = GPU._replace(address="0000:18:00.0", names=("mlx5_0",))
    far = PCIFunction("0000:98:00.0", numa_node=1, root="pci0000:97")
    machine = load_machine("figure-1").machine._replace(hardware=Hardware(pci=(GPU, near, far)))
    gpus = HeldDevices("v.com/gpu", ("0000:17:00.0", "gone"), {0: 1}, 1)
    nics = HeldDevices("v.com/nic", ("0000:98:00.0", "gone", "mlx5_0"), {0: 1}, 1)

    near_pair, far_pair = neighbours(machine, Holding(None, (gpus, nics), ()))

    assert near_pair == ("v.com/gpu", "0000:17:00.0", "v.com/nic", "mlx5_0", "same switch", None)
    assert far_pair == ("v.com/gpu", "0000:17:00.0", "v.com/nic", "0000:98:00.0", "other node", None)


def test_without_the_bus_nothing_is_said() -> None:
    machine = load_machine("figure-1").machine
    held = HeldDevices("v.com/gpu", ("0",), {0: 1}, 1)
    assert neighbours(machine, Holding(None, (held, held._replace(resource="v.com/nic")), ())) == ()


def ports_of(*functions: PCIFunction, nodes: int = 2) -> dict[str, dict[str, list[str]]]:
    """Accelerator -> how close -> names of network ports."""
    machine = load_machine("figure-1").machine
    machine = machine._replace(numa_nodes=machine.numa_nodes[:nodes], hardware=Hardware(pci=functions))
    return {
        reach.accelerator.address: {near: [port.address for port in ports] for near, ports in reach.ports.items()}
        for reach in reaches(machine)
    }


def test_an_accelerator_sees_each_physical_port_once() -> None:
    gpu = GPU._replace(class_id="0302", names=("card0",))
    port = GPU._replace(address="0000:18:00.0", class_id="0200", names=("eth0", "mlx5_0"))
    virtual = port._replace(address="0000:18:00.2", names=(), physical_function="0000:18:00.0")
    far = PCIFunction("0000:98:00.0", "0207", numa_node=1, root="pci0000:97")
    lost = PCIFunction("0000:99:00.0", "0200", numa_node=-1)

    assert ports_of(gpu, port, virtual, far, lost) == {
        gpu.address: {"same switch": [port.address], "unknown": [lost.address], "other node": [far.address]}
    }
    assert ports_of(gpu, lost, nodes=1) == {gpu.address: {"same node": [lost.address]}}


@pytest.mark.parametrize(
    ("class_id", "expected"),
    [("0302", True), ("1200", True), ("0b40", True), ("0300", False), ("0108", False), (None, False)],
)
def test_what_an_accelerator_is(class_id: str | None, expected: bool) -> None:
    port = GPU._replace(address="0000:18:00.0", class_id="0200")
    assert bool(ports_of(GPU._replace(class_id=class_id), port)) == expected


SWITCHED = Hardware(
    pci=(
        GPU._replace(class_id="030200", names=("gpu0",)),
        GPU._replace(address="0000:18:00.0", class_id="020000", names=("near",)),
        PCIFunction("0000:98:00.0", class_id="020700", numa_node=0, root="pci0000:97", names=("far",)),
        PCIFunction("0000:99:00.0", class_id="010802", numa_node=0, root="pci0000:97", names=("disk",)),
    )
)


@pytest.mark.parametrize(
    ("gpus", "others", "expected"),
    [
        (("gpu0",), {"v.com/port": ("near",)}, "near"),
        (("gpu0",), {"v.com/port": ("far", "near")}, "near"),
        (("gpu0",), {"v.com/port": ("far",)}, "far"),
        (("gpu0",), {"v.com/port": ("far",), "v.com/sriov_eth": ("gone",)}, "unknown"),
        (("gpu0", "gone"), {"v.com/port": ("near",)}, "unknown"),
        (("gone",), {"v.com/port": ("near",)}, "unknown"),
        (("gpu0",), {"v.com/disk": ("disk",)}, None),
        (("gpu0",), {"technical.com/disk": ("gone",)}, None),
    ],
)
def test_a_gpu_is_on_the_rail_of_a_nic_below_its_switch(
    gpus: tuple[str, ...], others: dict[str, tuple[str, ...]], expected: str | None
) -> None:
    machine = load_machine("figure-1").machine._replace(hardware=SWITCHED)
    every = {"v.com/gpu": gpus, **others}
    held = tuple([HeldDevices(name, ids, {0: len(ids)}, 1) for name, ids in every.items()])
    assert rail(machine, Holding(None, held, ())) == expected


def a_machine(resource: str, links: tuple[tuple[str, str, int], ...] | None, **hardware: Any) -> Machine:
    """Two GPUs of one switch, and a third that nobody places."""
    gpus = [GPU._replace(address=f"0000:{bus}:00.0", names=(name,)) for bus, name in (("17", "gpu0"), ("18", "gpu1"))]
    machine = load_machine("figure-1").machine
    machine = machine._replace(hardware=Hardware(pci=tuple(gpus), **hardware))
    return machine if links is None else machine._replace(links={resource: links})


@pytest.mark.parametrize(
    ("resource", "ids", "links", "hardware", "expected"),
    [
        ("nvidia.com/gpu", ("gpu0", "gpu1"), None, {}, {"gpu0 gpu1": ("same switch", None)}),
        ("nvidia.com/gpu", ("gpu0", "gpu1"), (), {}, {"gpu0 gpu1": ("same switch", False)}),
        ("amd.com/gpu", ("gpu0", "gpu1"), (("gpu1", "gpu0", 2),), {}, {"gpu0 gpu1": ("same switch", True)}),
        ("nvidia.com/gpu", ("gpu0", "gpu1"), None, {"nv_switch": True}, {"gpu0 gpu1": ("same switch", True)}),
        ("amd.com/gpu", ("gpu0", "gpu1"), None, {"nv_switch": True}, {"gpu0 gpu1": ("same switch", None)}),
        ("nvidia.com/mig-1g.5gb", ("MIG-a", "MIG-b"), None, {"nv_switch": True}, {}),
        ("nvidia.com/gpu", ("MIG-a", "MIG-b"), None, {"nv_switch": True}, {}),
        ("nvidia.com/gpu", ("gpu0", "MIG-a"), None, {"nv_switch": True}, {}),
        ("nvidia.com/gpu", ("MIG-a", "gpu0"), None, {"nv_switch": True}, {}),
        ("nvidia.com/gpu", ("gpu0", "gpu2"), None, {}, {}),
        ("nvidia.com/gpu", ("gpu0", "gpu2"), (), {}, {"gpu0 gpu2": ("unknown", False)}),
        ("v.com/disk", ("gpu0", "gpu1"), None, {}, {}),
        ("nvidia.com/gpu", tuple(map(str, range(33))), (), {}, {}),
        ("nvidia.com/gpu", ("gpu0", *["gpu0"] * 31), (), {}, {"gpu0 gpu0": ("same switch", False)}),
    ],
)
def test_links_and_the_bus_join_gpus(
    resource: str,
    ids: tuple[str, ...],
    links: tuple[tuple[str, str, int], ...] | None,
    hardware: dict[str, bool],
    expected: dict[str, tuple[str, bool | None]],
) -> None:
    machine = a_machine(resource, links, **hardware)
    held = Holding(None, (HeldDevices(resource, ids, {0: len(ids)}, 1),), ())
    found = neighbours(machine, held)
    assert {f"{one.device} {one.other_device}": (one.closeness, one.joined) for one in found} == expected
    assert all(one.alike for one in found)


@pytest.mark.parametrize(("vendor", "device", "expected"), [("10de", "22a3", True), ("10de", "2330", False)])
def test_nvswitch_is_a_pci_function_up_to_h100(vendor: str, device: str, expected: bool) -> None:
    assert Hardware(pci=(PCIFunction("0000:01:00.0", "0680", vendor, device),)).nvlink_switched is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"nvidia.com/gpu": ("gpu0",)}, {"nvidia.com/gpu": ("gpu3",)}, [("gpu0", "gpu3", "same node", True)]),
        ({"nvidia.com/gpu": ("gpu0",)}, {"nvidia.com/gpu": ("gpu5",)}, [("gpu0", "gpu5", "other node", False)]),
        (
            {"nvidia.com/gpu": ("gpu0",), "mellanox.com/ib": ("mlx5_0",)},
            {"mellanox.com/ib": ("mlx5_1",)},
            [("mlx5_0", "mlx5_1", "same node", None)],
        ),
        ({"nvidia.com/gpu": ("gpu0",)}, {"mellanox.com/ib": ("mlx5_1",)}, []),
    ],
)
def test_devices_of_two_containers(
    one: dict[str, tuple[str, ...]], other: dict[str, tuple[str, ...]], expected: list[tuple[object, ...]]
) -> None:
    def of(held: dict[str, tuple[str, ...]]) -> Holding:
        return Holding(None, tuple([HeldDevices(name, ids, {0: 1}, 1) for name, ids in held.items()]), ())

    found = between(load_machine("dgx-1").machine, of(one), of(other))
    assert [(pair.device, pair.other_device, pair.closeness, pair.joined) for pair in found] == expected
