"""What the files of a node say together, and against its machine (docs/rules/kubelet-files.md 41, 42)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.node.state import state_findings
from numalign.kubelet import node as twin
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.device.checkpoint import DeviceCheckpoint, DeviceEntry
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.memory.checkpoint import FileNode, MemoryCheckpoint, Table
from numalign.kubelet.node import NodeState
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.restore import StateFiles
from numalign.model.cpuset import parse
from tests.analysis.support import GPU, STATIC, config, limits, machine, outcome, pod_of

GI = 1 << 30
STARTED = outcome(config("none", **STATIC), pod_of("p", a=limits(1, "1Gi")))
NODE, EMPTY = STARTED.before.node, STARTED.before.state
UNPINNED = twin.start(Setup(machine("figure-1"), config("none", cpu_manager_policy="none"), "ideal"))[0]


def found(
    state: NodeState = EMPTY, files: StateFiles | None = None, active: tuple[str, ...] | None = None, node: Any = NODE
) -> list[tuple[str, str]]:
    """(code, message) of each finding."""
    given = files if files is not None else StateFiles(cpu="x")
    return [(one.code, one.message) for one in state_findings(node, state, given, active, str.upper, "/k")]


def holding(default: str, **pods: dict[str, str]) -> NodeState:
    """A state of the CPU Manager; other managers hold what the first state has."""
    cpu = EMPTY.cpu._replace(
        default=parse(default),
        assignments={uid: {name: parse(cpus) for name, cpus in held.items()} for uid, held in pods.items()},
    )
    return EMPTY._replace(states=(EMPTY.device, cpu, EMPTY.memory))


CPUS = [
    ("all are in the pool", holding("0-7"), []),
    ("a pod has some", holding("2-7", u={"a": "0-1"}), []),
    (
        "CPUs of the pool",
        holding("1-7", u={"a": "0-1"}),
        [("cpu-in-pool", "CPUs 1 of U/a are also in the shared pool")],
    ),
    (
        "CPUs of the pool, container by container",
        holding("0-7", u={"b": "1", "a": "0"}),
        [
            ("cpu-in-pool", "CPUs 0 of U/a are also in the shared pool"),
            ("cpu-in-pool", "CPUs 1 of U/b are also in the shared pool"),
        ],
    ),
    ("CPUs of two pods", holding("2-7", u={"a": "0-1"}, v={"a": "1"}), [("cpu-twice", "CPUs 1 belong to U and to V")]),
    ("two containers of a pod may share", holding("2-7", u={"a": "0-1", "b": "1"}), []),
    (
        "CPUs that nobody has",
        holding("3-7", u={"a": "0-1"}),
        [("cpu-nowhere", "CPUs 2 are in no pool and belong to no container")],
    ),
    ("CPUs that are missing", holding("0-8"), [("cpu-offline", "CPUs 8 are not online on this machine")]),
]


@pytest.mark.parametrize(("state", "said"), [row[1:] for row in CPUS], ids=[row[0] for row in CPUS])
def test_cpus_of_a_state(state: NodeState, said: list[tuple[str, str]]) -> None:
    assert found(state) == said


def test_cpus_are_looked_at_where_the_manager_and_its_file_are() -> None:
    assert found(holding("0-8"), node=UNPINNED) == []
    assert found(holding("0-8"), StateFiles()) == []


def memory(
    total: int = 16 * GI, groups: tuple[tuple[int, ...], tuple[int, ...]] = ((0,), (1,)), name: str = "memory"
) -> str:
    nodes = {
        number: FileNode(0, cells, {name: Table(total, 0, total, 0, total)}) for number, cells in enumerate(groups)
    }
    return memory_file.write(memory_file.sealed(MemoryCheckpoint("current", "Static", nodes)))


HAD = NODE.memory.total[NODE.memory.places["memory"]]


def test_memory_that_is_what_the_machine_has() -> None:
    assert HAD[0] == HAD[1]
    assert found(files=StateFiles(memory=memory(HAD[0]))) == []
    assert found(files=StateFiles(memory=memory(HAD[0], ((0,), (1,), (2,))))) == [], "a node that is no more"
    assert found(files=StateFiles(memory="no file")) == []
    assert found(files=StateFiles(memory=memory(1, name="hugepages-1Gi"))) == []


def test_memory_that_the_machine_does_not_have() -> None:
    [first, second] = found(files=StateFiles(memory=memory(HAD[0] - 1)))

    assert first[0] == second[0] == "memory-total-differs"
    assert first[1].startswith(f"NUMA node 0 had {HAD[0] - 1} bytes of memory, this machine has {HAD[0]}: ")
    assert found(files=StateFiles(memory=memory(1)), node=UNPINNED) == []


def test_groups_that_overlap() -> None:
    assert found(files=StateFiles(memory=memory(HAD[0], ((0, 1), (1,))))) == [
        ("memory-groups-overlap", "the groups of NUMA nodes 0 and 1 overlap without being equal")
    ]


def test_cpus_without_memory() -> None:
    state = holding("2-7", u={"a": "0-1"})
    files = StateFiles(memory=memory(HAD[0]))

    assert [code for code, _ in found(state, files)] == ["cpu-without-memory"]
    assert [code for code, _ in found(state, files, ("u",))] == ["cpu-without-memory"]
    assert [code for code, _ in found(state, files, ("v",))] == ["leftover"], "one that is gone is told as such"
    assert found(STARTED.after, files) == []


def devices(*entries: DeviceEntry, healthy: tuple[str, ...] = ("0", "1")) -> StateFiles:
    return StateFiles(devices=device_file.write(device_file.sealed(DeviceCheckpoint(entries, {GPU: healthy}))))


def entry(uid: str, *ids: str) -> DeviceEntry:
    return DeviceEntry(uid, "c", GPU, {0: ids})


DEVICES = [
    ("each has its own", devices(entry("u", "0"), entry("v", "1")), []),
    ("one has the same twice", devices(entry("u", "0"), entry("u", "0")), []),
    ("two have one", devices(entry("u", "0"), entry("v", "0")), [("device-twice", f"{GPU} 0 belongs to U and to V")]),
    (
        "one that is not registered",
        devices(entry("u", "7")),
        [("device-not-registered", f"{GPU} 7 of U is not registered: unhealthy, or its device plugin has stopped")],
    ),
    ("a file that is none", StateFiles(devices="x"), []),
    ("a file without pods", StateFiles(devices=device_file.write(device_file.sealed(DeviceCheckpoint(None, {})))), []),
]


@pytest.mark.parametrize(("files", "said"), [row[1:] for row in DEVICES], ids=[row[0] for row in DEVICES])
def test_devices_of_a_file(files: StateFiles, said: list[tuple[str, str]]) -> None:
    assert found(files=files) == said


def test_what_pods_that_are_gone_hold_and_until_when() -> None:
    after = outcome(config("none", **STATIC), pod_of("p", a=limits(1, "1Gi", gpu=1))).after
    [uid] = after.cpu.assignments
    files = StateFiles()

    assert found(after, files, (uid,)) == []
    assert found(after, files) == []
    assert [message.partition(" at ")[2] for _, message in found(after, files, ())] == [
        "the next reconcile, at most about 10 s",
        "the next admission of a Guaranteed pod",
        "the next device allocation",
    ]
