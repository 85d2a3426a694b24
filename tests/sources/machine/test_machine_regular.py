"""Regular machines: the `regular:` section and the short form of the command line."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.errors import InputError
from numalign.model.cpuset import format_set, ids
from numalign.model.machine import Machine, Unit
from numalign.sources.machine.file import from_data
from numalign.sources.machine.loading import load_machine


def regular(**keys: Any) -> Machine:
    return from_data({"regular": {"memoryPerNumaNode": "1Gi", **keys}}, "m")[0]


def node_cpus(machine: Machine) -> list[str]:
    return [format_set(node.cpus) for node in machine.numa_nodes]


@pytest.mark.parametrize(
    ("numbering", "cores", "nodes"),
    [
        ("siblings-last", [[0, 4], [1, 5], [2, 6], [3, 7]], ["0-1,4-5", "2-3,6-7"]),
        ("siblings-adjacent", [[0, 1], [2, 3], [4, 5], [6, 7]], ["0-3", "4-7"]),
        ("interleaved", [[0, 4], [2, 6], [1, 5], [3, 7]], ["0,2,4,6", "1,3,5,7"]),
    ],
)
def test_cpus_are_numbered_as_asked(numbering: str, cores: list[list[int]], nodes: list[str]) -> None:
    machine = regular(sockets=2, coresPerNumaNode=2, threadsPerCore=2, cpuNumbering=numbering)

    assert [list(ids(core)) for core in machine.cores] == cores
    assert node_cpus(machine) == nodes
    assert [format_set(socket.cpus) for socket in machine.sockets] == nodes


def test_siblings_come_last_unless_asked_otherwise() -> None:
    assert regular(coresPerNumaNode=2, threadsPerCore=2).cores == (0b101, 0b1010)


def test_several_numa_nodes_share_a_socket() -> None:
    machine = regular(sockets=2, numaNodesPerSocket=2, coresPerNumaNode=1, distances={"sameSocket": 11, "remote": 21})

    assert machine.sockets == (Unit(0, 0b0011), Unit(1, 0b1100))
    assert [node.distances for node in machine.numa_nodes] == [
        (10, 11, 21, 21),
        (11, 10, 21, 21),
        (21, 21, 10, 11),
        (21, 21, 11, 10),
    ]


def test_several_sockets_share_a_numa_node() -> None:
    machine = regular(sockets=4, socketsPerNumaNode=2, coresPerNumaNode=4)

    assert node_cpus(machine) == ["0-3", "4-7"]
    assert [format_set(socket.cpus) for socket in machine.sockets] == ["0-1", "2-3", "4-5", "6-7"]


@pytest.mark.parametrize(
    ("cores_per_cache", "expected"),
    [(2, ["0-1", "2-3", "4-5", "6-7"]), (4, []), (8, ["0-7"])],
    ids=["within a node", "as large as a node: none for the kubelet", "over both nodes of the socket"],
)
def test_uncore_caches_hold_neighbouring_cores(cores_per_cache: int, expected: list[str]) -> None:
    """docs/rules/discovery.md 1.11."""
    machine = regular(numaNodesPerSocket=2, coresPerNumaNode=4, coresPerUncoreCache=cores_per_cache)

    assert [format_set(cache.cpus) for cache in machine.uncore_caches] == expected


def test_devices_are_numbered_node_by_node() -> None:
    machine = regular(sockets=2, coresPerNumaNode=1, devices={"nvidia.com/gpu": {"perNumaNode": 2}})

    assert [(device.id, device.numa_nodes) for device in machine.devices["nvidia.com/gpu"]] == [
        ("gpu0", (0,)),
        ("gpu1", (0,)),
        ("gpu2", (1,)),
        ("gpu3", (1,)),
    ]


def test_the_short_form_has_the_same_keys() -> None:
    """Nested keys are dotted; a resource name keeps its own dots."""
    loaded = load_machine(
        "sockets=2,numaNodesPerSocket=2,coresPerNumaNode=8,memoryPerNumaNode=1Gi,distances.remote=32,"
        "hugepagesPerNumaNode.2Mi.pages=4,devices.nvidia.com/gpu.perNumaNode=4,cpuNumbering=siblings-adjacent"
    )

    expected = regular(
        sockets=2,
        numaNodesPerSocket=2,
        coresPerNumaNode=8,
        distances={"remote": 32},
        hugepagesPerNumaNode={"2Mi": {"pages": 4}},
        devices={"nvidia.com/gpu": {"perNumaNode": 4}},
        cpuNumbering="siblings-adjacent",
    )
    assert loaded.machine._replace(name="m") == expected
    assert (loaded.warnings, loaded.origin) == ((), "short form")


REFUSED = {
    "sockets=1000000000": "--machine: sockets: expected a whole number from 1 to 1024, got 1000000000",
    "sockets=0,coresPerNumaNode=1": "--machine: sockets: expected a whole number from 1 to 1024, got 0",
    "sockets=-1": '--machine: sockets: expected a whole number, got "-1"',
    "sockets=2": "--machine: coresPerNumaNode: expected the number of cores of a NUMA node, got nothing",
    "sokets=2": "--machine: sokets: unknown key; hint: similar: sockets",
    "sockets=2,coresPerNumaNode": '--machine: expected key=value, got "coresPerNumaNode"',
    "sockets=": '--machine: expected key=value, got "sockets="',
    "sockets=2,sockets=3": "--machine: sockets: duplicate key",
    "distances.far=3,coresPerNumaNode=1": "--machine: distances.far: unknown key; allowed: local, sameSocket, remote",
    "distances=3,distances.local=1": "--machine: distances.local: distances has its own value already",
    "sockets=1024,numaNodesPerSocket=2,coresPerNumaNode=1": (
        "--machine: numaNodesPerSocket: expected at most 1024 NUMA nodes in all, got 2048"
    ),
    "sockets=1024,coresPerNumaNode=1024": (
        "--machine: coresPerNumaNode: expected at most 16384 CPUs in all, got 1048576"
    ),
    "sockets=3,socketsPerNumaNode=2,coresPerNumaNode=2": (
        "--machine: socketsPerNumaNode: expected a divisor of the 3 sockets, got 2"
    ),
    "sockets=2,socketsPerNumaNode=2,coresPerNumaNode=3": (
        "--machine: coresPerNumaNode: expected a multiple of the 2 sockets of a NUMA node, got 3"
    ),
    "numaNodesPerSocket=2,socketsPerNumaNode=1,coresPerNumaNode=1": (
        "--machine: socketsPerNumaNode: expected numaNodesPerSocket or socketsPerNumaNode, got both"
    ),
    "coresPerNumaNode=4,coresPerUncoreCache=3": (
        "--machine: coresPerUncoreCache: "
        "expected a divisor of the 4 cores of a socket that fits the 4 of a NUMA node, got 3"
    ),
    "coresPerNumaNode=4,cpuNumbering=random": (
        '--machine: cpuNumbering: expected one of siblings-last, siblings-adjacent, interleaved, got "random"'
    ),
    "coresPerNumaNode=4,devices.gpu.perNumaNode=4": (
        '--machine: devices.gpu: expected the name of an extended resource like "nvidia.com/gpu"'
    ),
    "coresPerNumaNode=4,devices.v/g.perNode=4": (
        "--machine: devices.v/g.perNode: unknown key; hint: similar: perNumaNode"
    ),
}


@pytest.mark.parametrize(("spec", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_the_short_form_refuses(spec: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_machine(spec)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "key", ["sockets", "threadsPerCore", "memoryPerNumaNode", "devices", "distances", "cpuNumbering"]
)
@pytest.mark.parametrize("value", [None, True, "x", [], {}, -1, 1.5, 10**30], ids=repr)
def test_any_value_of_any_key_is_taken_or_refused(key: str, value: object) -> None:
    try:
        regular(coresPerNumaNode=2, **{key: value})
    except InputError as error:
        where = error.where
    else:
        where = "regular"

    assert where.startswith("regular")
