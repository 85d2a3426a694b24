"""What is free on a node, NUMA node by NUMA node, and the largest pod that would be aligned there."""

from __future__ import annotations

from numalign.analysis.node.room import Room, largest_by_policy, rooms
from numalign.kubelet.admission import Session, admit, open_session
from numalign.kubelet.setup import Setup
from numalign.model.cpuset import parse
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, PAGES, STATIC, config, limits, machine, pod, pod_of

GI = 1 << 30
PINS = config("single-numa-node", **STATIC)


def session(*pods: Pod, **changes: object) -> tuple[Setup, Session]:
    setup = Setup(machine("figure-1"), PINS._replace(**changes), "ideal")
    there = open_session(setup)
    for one in pods:
        found = admit(there, one)
        assert found.admit, found.message
        there = found.then
    return setup, there


def test_what_is_free_on_each_node() -> None:
    _, there = session(pod_of("p", a=limits(3, "1Gi", gpu=1, pages="64Mi")), reserved_system_cpus="4")
    [first, second] = rooms(there)

    assert first == Room(
        node=0,
        cpus=parse("3"),
        reserved=0,
        total_cpus=parse("0-3"),
        memory={"memory": (13 * GI, 14 * GI), PAGES: (GI - (64 << 20), GI)},
        devices={GPU: (0, 1), NIC: (1, 1)},
        largest=1,
    )
    assert (second.cpus, second.reserved, second.largest) == (parse("5-7"), parse("4"), 3)
    assert second.devices == {GPU: (1, 1), NIC: (1, 1)}


def test_without_managers_nothing_is_given_out() -> None:
    _, there = session(cpu_manager_policy="none", memory_manager_policy="None", reserved_memory=())

    assert [(room.cpus, room.memory, room.largest) for room in rooms(there)] == [(0, {}, 0)] * 2


def test_pages_are_told_of_the_nodes_that_have_some() -> None:
    on = machine("figure-1")
    first, second = on.numa_nodes
    on = on._replace(numa_nodes=(first, second._replace(hugepages={})))
    there = open_session(Setup(on, PINS, "ideal"))

    assert [list(room.memory) for room in rooms(there)] == [[PAGES, "memory"], ["memory"]]


def test_a_node_whose_memory_is_all_given_out_has_no_room() -> None:
    _, there = session(pod("p", 1, "14Gi"))
    [first, second] = rooms(there)

    assert (first.memory["memory"], first.largest) == ((0, 14 * GI), 0)
    assert second.largest > 0


def test_a_node_with_an_id_that_no_mask_holds_has_room() -> None:
    """Neither manager that would crash on it is on; its four CPUs are given out all the same."""
    first, second = machine("figure-1").numa_nodes
    on = machine("figure-1")._replace(numa_nodes=(first._replace(id=-1), second))
    there = open_session(Setup(on, config("none"), "ideal"))

    assert [(room.node, room.largest) for room in rooms(there)] == [(-1, 4), (1, 4)]


def test_memory_in_use_over_nodes_leaves_no_room_on_one() -> None:
    _, there = session(pod("p", 1, "20Gi"), topology_manager_policy="best-effort")

    assert [room.largest for room in rooms(there)] == [0, 0]
    assert [room.cpus.bit_count() for room in rooms(there)] in ([3, 4], [4, 3])


def test_the_largest_pod_by_policy() -> None:
    setup, there = session(pod("p", 3))

    assert largest_by_policy(setup, there, 4) == {
        "none": 1,
        "best-effort": 4,
        "restricted": 4,
        "single-numa-node": 4,
    }
    assert largest_by_policy(setup, there, 2)["restricted"] == 2
    full, there = session(pod("p", 4), pod("q", 4))
    assert set(largest_by_policy(full, there, 4).values()) == {0}
    free, there = session(cpu_manager_policy="none")
    assert largest_by_policy(free, there, 4) == {}
