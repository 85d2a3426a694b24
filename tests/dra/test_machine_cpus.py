"""The CPUs of a machine, from the devices of `dra.cpu` (docs/rules/dra.md D-22, D-23)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.machine_cpus import MAX_CPU, CPUs, cpus_of
from numalign.dra.values import Attribute, Capacity, Device
from numalign.errors import InputError
from numalign.model.cpuset import format_set
from numalign.model.machine import Unit
from numalign.model.quantity import from_int


def device(name: str, **attributes: Any) -> Device:
    """A device; names are the driver's."""
    kinds = {bool: "bool", int: "int", str: "string"}
    return Device(name, {f"dra.cpu/{key}": Attribute(kinds[type(one)], one) for key, one in attributes.items()})  # type: ignore[arg-type]  # a kind


def cpu(number: int, numa: int = 0, **more: Any) -> Device:
    return device(f"cpu{number}", cpuID=number, numaNodeID=numa, **more)


def group(numa: int, count: int, **more: Any) -> Device:
    return device(f"group{numa}", numaNodeID=numa, numCPUs=count, **more)


def told(sets: Any) -> dict[int, str]:
    return {key: format_set(cpus) for key, cpus in sets.items()}


def test_single_cpus_are_exact() -> None:
    found = cpus_of(
        [
            cpu(number, number // 2, socketID=number // 4, coreID=number % 4 // 2, coreType="standard")
            for number in range(8)
        ]
    )

    assert told(found.nodes) == {0: "0-1", 1: "2-3", 2: "4-5", 3: "6-7"}
    assert found.sockets == (Unit(0, 0x0F), Unit(1, 0xF0))
    assert found.cores == (0x03, 0x0C, 0x30, 0xC0), "core numbers repeat on every socket"
    assert (found.caches, found.kinds) == ((), ())
    assert len(found.left_out) == 1


def test_cores_stand_by_their_first_cpu() -> None:
    devices = [cpu(0, coreID=5), cpu(1, coreID=1), cpu(2, coreID=5), cpu(3, coreID=1)]

    assert cpus_of(devices).cores == cpus_of(devices[::-1]).cores == (0b0101, 0b1010)


def test_what_is_not_said_is_the_node_s_or_its_own() -> None:
    found = cpus_of([cpu(0, 3), cpu(1, 3)])

    assert found.sockets == (Unit(3, 0b11),)
    assert found.cores == (0b01, 0b10)


def test_names_without_a_domain_are_the_driver_s() -> None:
    bare = Device("c", {"cpuID": Attribute("int", 4), "numaNodeID": Attribute("int", 1)})

    assert told(cpus_of([bare]).nodes) == {1: "4"}


CACHES = [
    ("a cache of a whole node says nothing new", [0, 0, 1, 1], {}),
    ("a cache of several nodes neither", [0, 0, 0, 0], {}),
    ("caches of parts of nodes", [0, 1, 2, 3], {0: "0", 1: "1", 2: "2", 3: "3"}),
    ("one that is split is enough", [0, 0, 1, 2], {0: "0-1", 1: "2", 2: "3"}),
]


@pytest.mark.parametrize(("ids", "caches"), [row[1:] for row in CACHES], ids=[row[0] for row in CACHES])
def test_caches_are_told_where_they_split_a_node(ids: list[int], caches: dict[int, str]) -> None:
    found = cpus_of([cpu(number, number // 2, cacheL3ID=cache) for number, cache in enumerate(ids)])

    assert told({unit.id: unit.cpus for unit in found.caches}) == caches


def test_kinds_of_cores_beside_the_standard_one() -> None:
    found = cpus_of([cpu(0, coreType="p-core"), cpu(1, coreType="e-core"), cpu(2, coreType="p-core"), cpu(3)])

    assert [(kind.kind, format_set(kind.cpus)) for kind in found.kinds] == [("p-core", "0,2"), ("e-core", "1")]


def test_cpus_that_are_missing_are_named() -> None:
    assert cpus_of([cpu(1), cpu(4)]).left_out[0] == "CPUs 0,2-3 are in no slice: reserved by the driver, or offline"


def counted(*devices: Device) -> CPUs:
    return cpus_of(devices)


def test_cpus_of_groups_are_numbered_node_by_node() -> None:
    found = counted(group(1, 2), group(0, 3))

    assert told(found.nodes) == {0: "0-2", 1: "3-4"}
    assert found.cores == (1, 2, 4, 8, 16)
    assert found.sockets == (Unit(0, 0b00111), Unit(1, 0b11000))


def test_second_threads_come_behind_all_first_ones() -> None:
    found = counted(group(0, 4, smtEnabled=True), group(1, 4, smtEnabled=True))

    assert told(found.nodes) == {0: "0-1,4-5", 1: "2-3,6-7"}
    assert [format_set(core) for core in found.cores] == ["0,4", "1,5", "2,6", "3,7"]


def test_an_odd_number_of_threads_leaves_a_core_of_one() -> None:
    found = counted(group(0, 3, smtEnabled=True), group(1, 2, smtEnabled=True))

    assert told(found.nodes) == {0: "0-1,3", 1: "2,5"}
    assert [format_set(core) for core in found.cores] == ["0,3", "1", "2,5"]


def test_one_group_with_second_threads_is_enough_for_all() -> None:
    assert counted(group(0, 2, smtEnabled=True), group(1, 2, smtEnabled=False)).cores == (0b0101, 0b1010)


@pytest.mark.parametrize("more", [{}, {"smtEnabled": True}], ids=["of one thread", "of two"])
def test_there_are_at_most_as_many_cpus_as_linux_has(more: dict[str, bool]) -> None:
    half = MAX_CPU // 4 * 2
    assert counted(group(0, half, **more), group(1, half, **more)).nodes.keys() == {0, 1}
    with pytest.raises(InputError, match="more than"):
        counted(group(0, half, **more), group(1, half + 4, **more))


def test_groups_of_one_socket() -> None:
    assert counted(group(0, 1, socketID=7), group(1, 1, socketID=7)).sockets == (Unit(7, 0b11),)


def test_a_count_may_be_the_capacity() -> None:
    one = device("g", numaNodeID=0)._replace(capacity={"dra.cpu/cpu": Capacity(from_int(3))})
    both = group(0, 2)._replace(capacity={"dra.cpu/cpu": Capacity(from_int(3))})

    assert told(counted(one).nodes) == {0: "0-2"}
    assert told(counted(both).nodes) == {0: "0-1"}


def test_a_node_without_cpus() -> None:
    assert told(counted(group(0, 0), group(1, 1)).nodes) == {0: "", 1: "0"}


def test_a_machine_of_as_many_cpus_as_linux_has() -> None:
    assert counted(group(0, MAX_CPU)).nodes[0].bit_count() == MAX_CPU
    assert cpus_of([cpu(MAX_CPU)]).nodes[0] == 1 << MAX_CPU


REFUSED = [
    ("no device", [], "no device of dra.cpu found; fix: "),
    ("a device without its node", [device("s", socketID=0)], "s of dra.cpu has no NUMA node"),
    ("one of several without it", [group(0, 1), device("s", socketID=0)], "has no NUMA node"),
    ("a node that is a text", [device("s", numaNodeID="0")], "has no NUMA node"),
    ("no count", [device("g", numaNodeID=0)], "g of dra.cpu has no number of CPUs"),
    ("a CPU without its node", [cpu(0), device("c", cpuID=1)], "c of dra.cpu has no CPU id or no NUMA node"),
    ("a CPU twice", [cpu(3), cpu(3)], "duplicate CPU 3"),
    ("more CPUs than Linux has", [group(0, MAX_CPU), group(1, 1)], "more than 16383 CPUs"),
    ("a CPU that Linux has not", [cpu(MAX_CPU + 1)], "dra.cpu/cpuID 16384 is not a valid number in Linux"),
    ("a count that it has not", [group(0, MAX_CPU + 1)], "dra.cpu/numCPUs 16384 is not a valid number in Linux"),
    ("a number below zero", [cpu(-1)], "dra.cpu/cpuID -1 is not a valid number in Linux"),
    (
        "a capacity below zero",
        [device("g", numaNodeID=0)._replace(capacity={"dra.cpu/cpu": Capacity(from_int(-1))})],
        "g of dra.cpu has no number of CPUs",
    ),
]


@pytest.mark.parametrize(("devices", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_devices_that_are_no_machine(devices: list[Device], said: str) -> None:
    with pytest.raises(InputError) as caught:
        cpus_of(devices)
    assert said in str(caught.value)
