"""What drivers would publish for a machine, and which CPUs `dra.cpu` picks of it."""

from __future__ import annotations

import json

import pytest

from numalign.dra.drivers import DRIVERS, numa_node
from numalign.dra.publish.cpus import Share, devices
from numalign.dra.publish.slices import DEVICES_A_SLICE, Options, driver_of, publish, usual_drivers
from numalign.dra.reading import read_class, read_slice
from numalign.dra.values import Attribute
from numalign.dra.writing import written_class, written_slice
from numalign.kubelet.cpu.topology import build
from numalign.kubelet.errors import AllocationError
from numalign.model.cpuset import format_set, parse
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from tests.dra.publish.sharing import prepare

HGX = load_machine("hgx-h100").machine
EPYC = load_machine("epyc-2s-nps1").machine


def everything(machine: str, options: Options | None = None) -> list[tuple[str, int]]:
    found = load_machine(machine).machine
    drivers = {
        name: tuple(resource for resource in found.devices if driver_of(resource) == name)
        for name in usual_drivers(found)
    }
    published = publish(found, drivers, options or Options())
    for one in published.slices:
        assert read_slice(json.loads(json.dumps(written_slice(one)))) == one
    for class_ in published.classes:
        assert read_class(json.loads(json.dumps(written_class(class_)))) == class_
    return [(one.driver, len(one.devices)) for one in published.slices]


@pytest.mark.parametrize("machine", bundled.names())
@pytest.mark.parametrize("group", ["numanode", "socket", "machine", "cpu"])
def test_what_is_published_is_read_back_as_it_is(machine: str, group: str) -> None:
    for driver, count in everything(machine, Options(cpus=group, standard_numa=True)):  # type: ignore[arg-type]  # one of the literals
        assert driver in DRIVERS
        assert count <= DEVICES_A_SLICE


def test_a_pool_of_many_devices_has_several_slices() -> None:
    assert everything("hgx-h100", Options(cpus="cpu"))[:2] == [("dra.cpu", 128), ("dra.cpu", 96)]


def test_reserved_cpus_are_not_published() -> None:
    """CPUs 0 and 112 are one core of NUMA node 0."""
    [first, second] = devices(HGX, "numanode", parse("0,112"))
    assert first.device.attributes["dra.cpu/numCPUs"] == Attribute("int", 110)
    assert second.device.attributes["dra.cpu/numCPUs"] == Attribute("int", 112)
    assert len(devices(HGX, "cpu", parse("0,112"))) == 222


def test_every_name_of_a_driver_is_published_by_it() -> None:
    """The table of names and what is written for a machine are one thing."""
    for slice_ in publish(HGX, {"dra.cpu": (), "dra.memory": (), "dra.net": ("mellanox.com/ib",)}, Options()).slices:
        for device in slice_.devices:
            assert set(DRIVERS[slice_.driver].numa) <= device.attributes.keys()
            assert numa_node(device, slice_.driver) is not None


SHARES = [
    ("whole cores first, from the fullest unit", [("cpudevnuma000", 4)], ["0-1,112-113"]),
    ("the next claim goes on behind it", [("cpudevnuma000", 4), ("cpudevnuma000", 2)], ["0-1,112-113", "2,114"]),
    ("each device has its own node", [("cpudevnuma001", 2), ("cpudevnuma000", 2)], ["56,168", "0,112"]),
    ("a socket's device", [("cpudevsocket001", 2)], ["56,168"]),
    ("the machine's device", [("cpudevmachine", 2)], ["0,112"]),
]


@pytest.mark.parametrize(("shares", "cpus"), [case[1:] for case in SHARES], ids=[case[0] for case in SHARES])
def test_the_driver_packs_its_shares(shares: list[tuple[str, int]], cpus: list[str]) -> None:
    wanted = [Share(f"c{index}", device, number) for index, (device, number) in enumerate(shares)]
    assert [format_set(one) for one in prepare(HGX, wanted)] == cpus


def test_the_driver_prefers_whole_uncore_caches() -> None:
    """Of a machine with split caches 8 CPUs come from one of them, where packing alone would take them too."""
    unit = build(EPYC).uncores[0]
    [first, second] = prepare(
        EPYC, [Share("a", "cpudevnuma000", 2), Share("b", "cpudevnuma000", unit.cpus.bit_count())]
    )
    assert first & unit.cpus == first
    assert any(second == other.cpus for other in build(EPYC).uncores)


def test_an_odd_rest_comes_from_one_cache_as_in_the_kubelet_of_1_34() -> None:
    """Fourteen CPUs are left of the first cache; of the second the eight cores less their last CPU are fifteen."""
    [_, second] = prepare(EPYC, [Share("a", "cpudevnuma000", 2), Share("b", "cpudevnuma000", 15)])
    assert format_set(second) == "8-15,136-142"


@pytest.mark.parametrize(("device", "number"), [("cpudevnuma000", 113), ("cpudevnuma009", 1), ("nothing", 1)])
def test_what_is_not_there_cannot_be_shared_out(device: str, number: int) -> None:
    with pytest.raises(AllocationError):
        prepare(HGX, [Share("c", device, number)])


TAKERS = [
    ("its exact name", "nvidia.com/gpu", "gpu.nvidia.com"),
    ("any domain for a word that is one", "vendor/gpu", "gpu.example.com"),
    ("a word of the name", "openshift.io/intel_sriov_netdevice", "dra.net"),
    ("the beginning of a word", "vendor/ethernet", "dra.net"),
    ("with a hyphen", "vendor/roce-hca", "dra.net"),
    ("capital letters", "vendor/NIC", "dra.net"),
    ("the middle of a word", "vendor/xnicx", None),
    ("the domain does not count", "nic.example.com/fpga", None),
]


@pytest.mark.parametrize(("resource", "driver"), [row[1:] for row in TAKERS], ids=[row[0] for row in TAKERS])
def test_the_driver_that_takes_the_place_of_a_plugin(resource: str, driver: str | None) -> None:
    assert driver_of(resource) == driver


def test_the_usual_drivers_are_those_with_something_to_publish() -> None:
    machine = HGX._replace(devices={"vendor/fpga": (), "vendor/nic": (), "vendor/eth": (), "nvidia.com/gpu": ()})

    assert usual_drivers(machine) == ("dra.cpu", "dra.memory", "gpu.nvidia.com", "dra.net")


def test_slices_are_named_after_the_node() -> None:
    found = publish(HGX, {"dra.memory": ()}, Options(node="n"))
    [slice_] = found.slices

    assert (slice_.name, slice_.pool, slice_.placement.node_name) == ("n-dra.memory", "n", "n")
    assert (slice_.generation, slice_.slice_count) == (1, 1)
    assert [one.name for one in found.classes] == ["dra.memory", "dra.hugepages-2m", "dra.hugepages-1g"]
    parts = publish(HGX, {"dra.cpu": ()}, Options(node="n", cpus="cpu")).slices
    assert [(one.name, one.slice_count) for one in parts] == [("n-dra.cpu-0", 2), ("n-dra.cpu-1", 2)]


def test_the_standard_name_is_published_where_a_device_is_on_one_node() -> None:
    name = "resource.kubernetes.io/numaNode"
    drivers: dict[str, tuple[str, ...]] = {"dra.memory": (), "gpu.nvidia.com": ("nvidia.com/gpu",)}
    [memory, gpus] = publish(HGX, drivers, Options(standard_numa=True)).slices

    assert {one.attributes[name].value for one in memory.devices} == {0, 1}
    assert [one.attributes[name].value for one in gpus.devices] == [0] * 4 + [1] * 4
    [memory, gpus] = publish(HGX, drivers, Options()).slices
    assert all(name not in one.attributes for one in memory.devices)
    assert [one.attributes[name].value for one in gpus.devices] == [0] * 4 + [1] * 4
    [sockets] = publish(HGX, {"dra.cpu": ()}, Options(standard_numa=True, cpus="socket")).slices
    assert all(name not in one.attributes for one in sockets.devices)
