"""The devices of `dra.cpu`, and the CPUs it gives a claim (docs/rules/dra.md D-22, D-23)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.publish.cpus import CAPACITY, GroupBy, Share, devices, group_cpus
from numalign.kubelet.cpu.topology import build
from numalign.kubelet.errors import AllocationError
from numalign.model.cpuset import format_set, parse
from numalign.model.hardware import CPUKind, Hardware
from numalign.model.machine import Machine, NUMANode, Unit
from tests.dra.publish.sharing import prepare

# Two sockets of one NUMA node each; cores of two threads: CPUs 0 and 4, 1 and 5 on node 0, 2 and 6, 3 and 7 on node 1.
MACHINE = Machine(
    "m",
    (NUMANode(0, parse("0-1,4-5"), 1), NUMANode(1, parse("2-3,6-7"), 1)),
    sockets=(Unit(0, parse("0-1,4-5")), Unit(1, parse("2-3,6-7"))),
    cores=tuple(parse(text) for text in ("0,4", "1,5", "2,6", "3,7")),
)
NO_THREADS = Machine("m", (NUMANode(0, parse("0-1"), 1),), cores=(1, 2))

NUMA = ("dra.cpu/numaNodeID", "dra.net/numaNode", "resource.kubernetes.io/numaNode")


def published(group: GroupBy, reserved: str = "", machine: Machine = MACHINE) -> list[tuple[str, dict[str, Any]]]:
    return [
        (one.device.name, {key: value.value for key, value in one.device.attributes.items()})
        for one in devices(machine, group, parse(reserved))
    ]


def test_a_device_for_each_numa_node() -> None:
    both = {"dra.cpu/smtEnabled": True}
    assert published("numanode", "0") == [
        (
            "cpudevnuma000",
            {**both, **dict.fromkeys(NUMA, 0), "dra.cpu/socketID": 0, "dra.cpu/numCPUs": 3},
        ),
        (
            "cpudevnuma001",
            {**both, **dict.fromkeys(NUMA, 1), "dra.cpu/socketID": 1, "dra.cpu/numCPUs": 4},
        ),
    ]


def test_a_device_for_each_socket() -> None:
    assert published("socket", "2,6") == [
        ("cpudevsocket000", {"dra.cpu/smtEnabled": True, "dra.cpu/socketID": 0, "dra.cpu/numCPUs": 4}),
        ("cpudevsocket001", {"dra.cpu/smtEnabled": True, "dra.cpu/socketID": 1, "dra.cpu/numCPUs": 2}),
    ]


def test_a_device_for_the_machine() -> None:
    assert published("machine", "2") == [("cpudevmachine", {"dra.cpu/smtEnabled": True, "dra.cpu/numCPUs": 7})]
    assert published("machine", machine=NO_THREADS) == [
        ("cpudevmachine", {"dra.cpu/smtEnabled": False, "dra.cpu/numCPUs": 2})
    ]


def test_a_single_cpu_says_its_socket() -> None:
    assert [said["dra.cpu/socketID"] for _, said in published("cpu")] == [0] * 4 + [1] * 4


def test_claims_share_a_group_by_its_capacity() -> None:
    for one in devices(MACHINE, "numanode", 0):
        assert one.device.shared
        assert one.device.capacity[CAPACITY].value.int64 == 4
    assert [one.numa for one in devices(MACHINE, "numanode", 0)] == [(0,), (1,)]
    assert [one.numa for one in devices(MACHINE, "socket", 0)] == [(), ()]


def test_a_device_for_each_cpu_the_threads_of_a_core_one_after_the_other() -> None:
    found = published("cpu", "1")

    assert [name for name, _ in found] == [f"cpudev{index:03d}" for index in range(7)]
    assert [said["dra.cpu/cpuID"] for _, said in found] == [0, 4, 5, 2, 6, 3, 7]
    assert [said["dra.cpu/coreID"] for _, said in found] == [0, 0, 1, 2, 2, 3, 3]
    assert found[3][1] == {
        "dra.cpu/cpuID": 2,
        "dra.cpu/coreID": 2,
        "dra.cpu/coreType": "standard",
        "dra.cpu/smtEnabled": True,
        "dra.cpu/cacheL3ID": found[3][1]["dra.cpu/cacheL3ID"],
        "dra.cpu/socketID": 1,
        **dict.fromkeys(NUMA, 1),
    }
    assert [one.numa for one in devices(MACHINE, "cpu", 0)][:5] == [(0,), (0,), (0,), (0,), (1,)]
    assert not any(one.device.shared for one in devices(MACHINE, "cpu", 0))


def test_kinds_of_cores_are_told() -> None:
    machine = MACHINE._replace(hardware=Hardware(cpu_kinds=(CPUKind("e-core", parse("3,7")),)))
    found = published("cpu", machine=machine)

    assert [said["dra.cpu/cpuID"] for _, said in found if said["dra.cpu/coreType"] == "e-core"] == [3, 7]


def test_a_machine_without_cpus_publishes_nothing() -> None:
    groups: tuple[GroupBy, ...] = ("numanode", "socket", "machine", "cpu")
    for group in groups:
        assert devices(Machine("m", (NUMANode(0, 0, 1),)), group, 0) == []


GROUPS = [
    ("a NUMA node", "cpudevnuma001", "2-3,6-7"),
    ("a NUMA node that is not there", "cpudevnuma007", ""),
    ("a socket", "cpudevsocket000", "0-1,4-5"),
    ("the machine", "cpudevmachine", "0-7"),
]


@pytest.mark.parametrize(("name", "cpus"), [row[1:] for row in GROUPS], ids=[row[0] for row in GROUPS])
def test_the_cpus_of_a_group(name: str, cpus: str) -> None:
    assert format_set(group_cpus(build(MACHINE), name)) == cpus


@pytest.mark.parametrize("name", ["cpudev000", "cpudevnuma", "cpudevnumax", "cpudevnuma0000000000", "gpu-0", "0"])
def test_a_name_that_is_no_group_is_refused(name: str) -> None:
    with pytest.raises(AllocationError, match=f"no CPU device has the name {name}"):
        group_cpus(build(MACHINE), name)


def test_reserved_cpus_and_those_of_others_are_not_picked() -> None:
    shares = [Share("a", "cpudevnuma000", 2), Share("b", "cpudevmachine", 4)]

    assert [format_set(one) for one in prepare(MACHINE, shares, parse("0,4"))] == ["1,5", "2-3,6-7"]
    with pytest.raises(AllocationError):
        prepare(MACHINE, [*shares, Share("c", "cpudevmachine", 1)], parse("0,4"))
