"""How close devices are on the PCI bus."""

from __future__ import annotations

import pytest

from numalign.analysis.closeness import closeness, neighbours, rail, reaches
from numalign.analysis.holding import HeldDevices, Holding
from numalign.model.hardware import Hardware, PCIFunction
from numalign.sources.machine.file import load_machine

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

    assert near_pair == ("v.com/gpu", "0000:17:00.0", "v.com/nic", "mlx5_0", "same switch")
    assert far_pair == ("v.com/gpu", "0000:17:00.0", "v.com/nic", "0000:98:00.0", "other node")


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
