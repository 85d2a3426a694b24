"""What device plugins hand out today, as DRA drivers would publish it."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.drivers import DRIVERS
from numalign.dra.publish.devices import memory_devices, plugin_devices
from numalign.dra.values import Attribute
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine, NUMANode
from numalign.model.quantity import canonical

NODES = (NUMANode(0, 1, 1), NUMANode(1, 2, 1))
AT_1 = PCIFunction("0000:17:00.0", numa_node=1, names=("mlx5_0",), root="pci0000:15")
NUMA = "resource.kubernetes.io/numaNode"
BUS, ROOT = "resource.kubernetes.io/pciBusID", "resource.kubernetes.io/pcieRoot"


def published(
    driver: str, resource: str, *ids: str, numa: tuple[int, ...] | None = (1,), pci: tuple[PCIFunction, ...] = ()
) -> list[tuple[str, dict[str, Any], tuple[int, ...]]]:
    """(name, attributes, NUMA nodes) of each device."""
    hardware = Hardware(pci=pci) if pci else None
    machine = Machine("m", NODES, devices={resource: tuple(Device(one, numa) for one in ids)}, hardware=hardware)
    return [
        (one.device.name, {key: value.value for key, value in one.device.attributes.items()}, one.numa)
        for one in plugin_devices(machine, DRIVERS[driver], [resource, "none/such"])
    ]


GPUS = [
    ("NVIDIA's says its id and its type", "gpu.nvidia.com", "GPU-1", (), {"uuid": "GPU-1", "type": "gpu", NUMA: 1}),
    ("AMD's its node and its type", "gpu.amd.com", "GPU-1", (), {"type": "amdgpu", "numaNode": 1}),
    ("the example its id and its number", "gpu.example.com", "GPU-1", (), {"uuid": "GPU-1", "index": 0}),
    (
        "an id that is an address is one",
        "gpu.nvidia.com",
        "0000:18:00.0",
        (),
        {BUS: "0000:18:00.0", "uuid": "0000:18:00.0", "type": "gpu", NUMA: 1},
    ),
    (
        "the bus knows its root",
        "gpu.nvidia.com",
        "0000:17:00.0",
        (AT_1,),
        {BUS: "0000:17:00.0", ROOT: "pci0000:15", "uuid": "0000:17:00.0", "type": "gpu", NUMA: 1},
    ),
]


@pytest.mark.parametrize(("driver", "id_", "pci", "said"), [row[1:] for row in GPUS], ids=[row[0] for row in GPUS])
def test_a_gpu(driver: str, id_: str, pci: tuple[PCIFunction, ...], said: dict[str, object]) -> None:
    assert published(driver, "vendor/gpu", id_, pci=pci) == [("gpu-0", said, (1,))]


NICS = [
    (
        "an interface by its name",
        "vendor/sriov_net",
        "eth0",
        (),
        "eth0",
        {"dra.net/rdma": False, "dra.net/ifName": "eth0"},
    ),
    ("a resource of RDMA", "vendor/rdma-vf", "eth0", (), "eth0", {"dra.net/rdma": True, "dra.net/ifName": "eth0"}),
    (
        "a word inside another is none",
        "vendor/hibernate",
        "eth0",
        (),
        "eth0",
        {"dra.net/rdma": False, "dra.net/ifName": "eth0"},
    ),
    (
        "a card by its RDMA device",
        "vendor/net",
        "mlx5_3",
        (),
        "mlx5-3",
        {"dra.net/rdma": True, "dra.net/rdmaDevice": "mlx5_3"},
    ),
    (
        "a card by its address",
        "vendor/net",
        "0000:18:00.1",
        (),
        "pci-0000-18-00-1",
        {"dra.net/pciAddress": "0000:18:00.1", "dra.net/rdma": False},
    ),
    (
        "the bus knows names",
        "vendor/net",
        "mlx5_0",
        (AT_1,),
        "mlx5-0",
        {
            "dra.net/pciAddress": "0000:17:00.0",
            ROOT: "pci0000:15",
            "dra.net/rdma": True,
            "dra.net/rdmaDevice": "mlx5_0",
        },
    ),
    (
        "an odd name becomes a label",
        "vendor/net",
        "-Ä_X.1-",
        (),
        "x-1",
        {"dra.net/rdma": False, "dra.net/ifName": "-Ä_X.1-"},
    ),
    ("of a name without letters", "vendor/net", "___", (), "device", {"dra.net/rdma": False, "dra.net/ifName": "___"}),
]


@pytest.mark.parametrize(
    ("resource", "id_", "pci", "name", "said"), [row[1:] for row in NICS], ids=[row[0] for row in NICS]
)
def test_a_network_card(
    resource: str, id_: str, pci: tuple[PCIFunction, ...], name: str, said: dict[str, object]
) -> None:
    assert published("dra.net", resource, id_, pci=pci) == [(name, {**said, "dra.net/numaNode": 1}, (1,))]


def test_a_long_name_is_cut() -> None:
    [(name, _, _)] = published("dra.net", "vendor/net", "x" * 59 + "-" + "y" * 9)
    assert name == "x" * 59
    assert published("dra.net", "vendor/net", "x" * 70)[0][0] == "x" * 60


def test_a_device_without_a_node_says_none() -> None:
    assert published("dra.net", "vendor/net", "eth0", numa=None)[0][1:] == (
        {"dra.net/rdma": False, "dra.net/ifName": "eth0"},
        (),
    )
    assert published("gpu.amd.com", "amd.com/gpu", "a", numa=(-1,))[0][1:] == ({"type": "amdgpu"}, ())


def test_of_several_nodes_the_first_is_said() -> None:
    [(_, said, numa)] = published("gpu.amd.com", "amd.com/gpu", "a", numa=(0, 1))
    assert (said["numaNode"], numa) == (0, (0, 1))


def test_gpus_are_numbered() -> None:
    assert [name for name, _, _ in published("gpu.nvidia.com", "nvidia.com/gpu", "a", "b")] == ["gpu-0", "gpu-1"]
    assert [said["index"] for _, said, _ in published("gpu.example.com", "gpu", "a", "b")] == [0, 1]


GI = 1 << 30


def of(*nodes: NUMANode) -> list[tuple[str, str, tuple[int, ...]]]:
    """(name, size, NUMA nodes) of each device."""
    return [
        (one.device.name, canonical(one.device.capacity["size"].value), one.numa)
        for one in memory_devices(Machine("m", nodes))
    ]


def test_memory_beside_huge_pages_and_each_size_of_them() -> None:
    node = NUMANode(1, 1, 8 * GI, {"1Gi": 2 * GI, "2Mi": GI, "64Ki": 0})

    assert of(node) == [("memory-1", "5Gi", (1,)), ("hugepages-2m-1", "1Gi", (1,)), ("hugepages-1g-1", "2Gi", (1,))]


def test_a_node_without_memory_publishes_none() -> None:
    assert of(NUMANode(0, 1, 0), NUMANode(1, 1, GI, {"1Gi": GI})) == [("hugepages-1g-1", "1Gi", (1,))]
    assert of(NUMANode(-1, 1, GI)) == []
    assert of(NUMANode(0, 1, 1)) == [("memory-0", "1", (0,))]


def test_what_a_device_says_of_itself() -> None:
    plain, huge = memory_devices(Machine("m", (NUMANode(1, 1, 3 * GI, {"1Gi": GI}),)))

    assert plain.device.attributes == {
        "dra.memory/numaNode": Attribute("int", 1),
        "dra.cpu/numaNode": Attribute("int", 1),
        "dra.net/numaNode": Attribute("int", 1),
        "dra.memory/pageSize": Attribute("string", "4k"),
        "dra.memory/hugeTLB": Attribute("bool", False),
    }
    assert huge.device.attributes["dra.memory/pageSize"].value == "1g"
    assert huge.device.attributes["dra.memory/hugeTLB"].value is True
    assert plain.device.shared
    assert huge.device.shared
