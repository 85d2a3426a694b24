"""A node of which only amounts are known: what is taken is held by nobody in particular (podresources.md 29)."""

from __future__ import annotations

from numalign.kubelet import node
from numalign.kubelet.node import Node, NodeState
from numalign.model.cpuset import ids
from numalign.model.machine import Device
from numalign.scheduler.nrt.occupied import CONTAINER, UID, occupied
from tests.kubelet.regular import GI, regular
from tests.scheduler.nrt.nodes import static

GPU = "example.com/gpu"
MACHINE = regular(
    devices={
        GPU: (
            Device("a", (0,), healthy=False),
            Device("b", (0,)),
            Device("c", (0, 1)),
            Device("d", (1,)),
            Device("e", None),
        )
    }
)


def taken(used: dict[int, dict[str, int]]) -> tuple[Node, NodeState, NodeState]:
    """The node, its first state, and the one in which this is taken."""
    started, empty = node.start(static(MACHINE))
    return started, empty, occupied(started, used)


def test_nothing_taken_is_the_first_state() -> None:
    started, empty, state = taken({0: {"cpu": 0, "memory": 0}, 1: {}})
    assert state == empty
    assert started.cpu.static


def test_the_lowest_cpus_that_may_be_handed_out_are_taken() -> None:
    started, empty, state = taken({1: {"cpu": 2}, 0: {"cpu": 1}})
    own = [one.cpus & started.cpu.allocatable & empty.cpu.default for one in started.machine.numa_nodes]

    for number, count in ((0, 1), (1, 2)):
        cpus = state.cpu.assigned(f"{UID}-{number}", CONTAINER)
        assert cpus == sum(1 << cpu for cpu in list(ids(own[number]))[:count])
        assert state.cpu.default & cpus == 0
    assert (state.pods[f"{UID}-1"].cpus, state.pods[f"{UID}-1"].guaranteed) == (2, True)


def test_more_than_there_is_is_cut() -> None:
    started, empty, state = taken({0: {"cpu": 999, "memory": 999 * GI, GPU: 9}})
    own = started.machine.numa_nodes[0].cpus & started.cpu.allocatable & empty.cpu.default
    place = started.memory.places["memory"]

    assert state.cpu.assigned(f"{UID}-0", CONTAINER) == own
    assert state.memory.free[place][0] == 0
    assert state.memory.free[place][1] == empty.memory.free[place][1]
    assert state.device.allocated == {GPU: 0b0110}


def test_memory_is_a_block_of_its_node() -> None:
    started, empty, state = taken({1: {"memory": 3 * GI}})
    place = started.memory.places["memory"]
    assert state.cpu == empty.cpu
    [block] = state.memory.blocks(f"{UID}-1", CONTAINER) or ()

    assert (block.mask, block.type, block.size) == (0b10, "memory", 3 * GI)
    assert empty.memory.free[place][1] - state.memory.free[place][1] == 3 * GI
    assert state.memory.reserved[place][1] - empty.memory.reserved[place][1] == 3 * GI
    assert state.memory.counts == tuple(count + number for number, count in enumerate(empty.memory.counts))
    assert state.pods[f"{UID}-1"].memory == (("memory", 3 * GI),)


def test_the_first_devices_that_are_well_are_taken() -> None:
    _, _, state = taken({0: {GPU: 1}})
    assert state.device.allocated == {GPU: 0b0010}
    assert state.device.holdings == {f"{UID}-0": {CONTAINER: {GPU: 0b0010}}}
    _, _, state = taken({1: {GPU: 2}})
    assert state.device.allocated == {GPU: 0b1100}


def test_nothing_is_taken_of_a_node_that_is_not_there() -> None:
    _, empty, state = taken({7: {"cpu": 2, "memory": GI, GPU: 1}})
    assert state.states == empty.states


def test_no_cpu_is_taken_where_none_is_exclusive() -> None:
    started, _ = node.start(static(MACHINE, cpu_manager_policy="none", reserved_system_cpus=""))
    assert occupied(started, {0: {"cpu": 2}}).cpu.assignments == {}


def test_no_memory_is_taken_where_no_manager_hands_it_out() -> None:
    started, empty = node.start(static(MACHINE, memory_manager_policy="None", reserved_memory=()))
    assert occupied(started, {0: {"memory": GI}}).memory == empty.memory
