"""Under which names drivers publish where a device is (docs/rules/dra.md D-19)."""

from __future__ import annotations

import pytest

from numalign.dra.drivers import DRIVERS, is_place_name, numa_names, numa_node, pci_address
from numalign.dra.values import Attribute, Device

NUMA = "resource.kubernetes.io/numaNode"


def publishing(**attributes: object) -> Device:
    """A device; `__` stands for the slash of a name, `_` for its dots."""
    kinds = {bool: "bool", int: "int", str: "string", tuple: "ints"}
    return Device(
        "d",
        {
            ".".join(key.split("__")[:1]).replace("_", ".")
            + ("/" + key.split("__")[1] if "__" in key else ""): Attribute(kinds[type(value)], value)  # type: ignore[arg-type]  # a kind
            for key, value in attributes.items()
        },
    )


NODES = [
    ("the standard name", "x", {"resource_kubernetes_io__numaNode": 1}, 1),
    ("a driver's own name", "dra.net", {"dra_net__numaNode": 2}, 2),
    ("a name of another driver that all know", "gpu", {"dra_net__numaNode": 2}, 2),
    ("a name of another driver that nobody knows", "gpu", {"acme_com__numaNode": 2}, None),
    ("a bare name is the driver's own", "gpu.amd.com", {"numaNode": 1}, 1),
    ("a bare name of any driver", "acme.com", {"numaNodeID": 1}, 1),
    ("the short name of NVIDIA's", "gpu.nvidia.com", {"numa": 3}, 3),
    ("the first node", "x", {"numaNode": 0}, 0),
    ("no node is no place", "x", {"numaNode": -1}, None),
    ("a text is no place", "x", {"numaNode": "1"}, None),
    ("true is no place", "x", {"numaNode": True}, None),
    ("the next name says it", "x", {"resource_kubernetes_io__numaNode": -1, "numaNode": 1}, 1),
    ("of a list the first is its own", "x", {"resource_kubernetes_io__numaNode": (2, 1)}, 2),
    ("and it alone", "x", {"resource_kubernetes_io__numaNode": (-1, 1)}, None),
    ("another name says nothing", "x", {"socket": 1}, None),
    ("nothing said", "x", {}, None),
]


@pytest.mark.parametrize(("driver", "said", "node"), [row[1:] for row in NODES], ids=[row[0] for row in NODES])
def test_the_node_that_a_device_says(driver: str, said: dict[str, object], node: int | None) -> None:
    assert numa_node(publishing(**said), driver) == node


def test_names_are_given_in_full() -> None:
    device = publishing(numaNode=1, resource_kubernetes_io__numaNode=0, model="x")

    assert {name: one.value for name, one in numa_names(device, "acme.com").items()} == {
        "acme.com/numaNode": 1,
        NUMA: 0,
    }


PLACES = [
    ("the standard name", NUMA, True),
    ("the PCIe root", "resource.kubernetes.io/pcieRoot", True),
    ("the PCI address says no place", "resource.kubernetes.io/pciBusID", False),
    ("a name of a driver", "dra.cpu/numaNodeID", True),
    ("a bare name of a driver that is known", "gpu.nvidia.com/numa", True),
    ("of one that is not", "acme.com/numa", False),
    ("another name of a driver that is known", "gpu.nvidia.com/model", False),
    ("a name without a domain", "numaNode", False),
]


@pytest.mark.parametrize(("name", "is_place"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_a_name_says_where_a_device_is(name: str, is_place: bool) -> None:
    assert is_place_name(name) is is_place


def test_an_address_is_found_under_any_of_its_names() -> None:
    assert pci_address(publishing(pcieBusID="0000:17:00.0")) == ("pcieBusID", "0000:17:00.0")
    assert pci_address(publishing(dra_net__pciAddress="b", pcieBusID="a")) == ("dra.net/pciAddress", "b")
    standard = Device(
        "d", {"resource.kubernetes.io/pciBusID": Attribute("string", "c"), "pcieBusID": Attribute("int", 1)}
    )
    assert pci_address(standard) == ("resource.kubernetes.io/pciBusID", "c")
    assert pci_address(publishing(pcieBusID=1)) is None


def test_a_class_means_the_devices_of_its_driver() -> None:
    for driver in DRIVERS.values():
        for one in driver.classes:
            assert one.selectors[0] is not None
            assert one.selectors[0].startswith(f'device.driver == "{driver.name}"')


def test_who_says_a_pcie_root() -> None:
    assert {name for name, one in DRIVERS.items() if one.pcie_root} == {"gpu.nvidia.com", "gpu.amd.com", "dra.net"}
