"""How close devices are on the PCI bus."""

from __future__ import annotations

import pytest

from numalign.analysis.closeness import closeness, neighbours
from numalign.analysis.holding import HeldDevices, Holding
from numalign.model.hardware import Hardware, PCIFunction
from numalign.sources.machine.file import load_machine

GPU = PCIFunction("0000:17:00.0", numa_node=0, root="pci0000:15", switch="0000:16:00.0")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (GPU._replace(address="0000:18:00.0"), "same switch"),
        (GPU._replace(address="0000:18:00.0", switch="0000:19:00.0"), "same root"),
        (GPU._replace(address="0000:18:00.0", switch=None, root="pci0000:20"), "same node"),
        (GPU._replace(address="0000:18:00.0", switch=None, root="pci0000:20", numa_node=1), "other node"),
        (PCIFunction("0000:18:00.0", numa_node=-1), "other node"),
        (PCIFunction("0000:18:00.0"), "other node"),
    ],
)
def test_the_nearest_thing_they_share(other: PCIFunction, expected: str) -> None:
    assert closeness(GPU, other) == closeness(other, GPU) == expected


def test_each_device_has_its_nearest_neighbour_of_another_resource() -> None:
    near = GPU._replace(address="0000:18:00.0", names=("mlx5_0",))
    far = PCIFunction("0000:98:00.0", numa_node=1, root="pci0000:97")
    machine = load_machine("figure-1").machine._replace(hardware=Hardware(pci=(GPU, near, far)))
    gpus = HeldDevices("v.com/gpu", ("0000:17:00.0", "gone"), {0: 1}, 1)
    nics = HeldDevices("v.com/nic", ("0000:98:00.0", "mlx5_0"), {0: 1}, 1)

    (pair,) = neighbours(machine, Holding(None, (gpus, nics), ()))

    assert pair == ("v.com/gpu", "0000:17:00.0", "v.com/nic", "mlx5_0", "same switch")


def test_without_the_bus_nothing_is_said() -> None:
    machine = load_machine("figure-1").machine
    held = HeldDevices("v.com/gpu", ("0",), {0: 1}, 1)
    assert neighbours(machine, Holding(None, (held, held._replace(resource="v.com/nic")), ())) == ()
