"""Start-up checks, node tables and the check of a restored state (docs/rules/memory-manager.md 2, 3, 9)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.memory.reserved import read_reserved_memory, validate_reserved_memory
from numalign.kubelet.memory.start import NodeRecord, Table, sorted_entries, start, validate_state
from numalign.kubelet.memory.state import (
    Block,
    MemoryManager,
    MemoryState,
    initial_state,
    machine_state,
    overdrawn_tables,
)
from numalign.kubelet.node import start as start_node
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model import quantity
from numalign.model.machine import Machine, NUMANode
from tests.kubelet.memory.nodes import GI, Node, static

NOT_EQUAL = 'the total amount "{}" of type "{}" is not equal to the value "{}" determined by Node Allocatable feature'
ELEMENTS = {
    "less than the reservation": ([(0, "1Gi")], "2Gi", NOT_EQUAL.format("1Gi", "memory", "2Gi")),
    "equal, in two formats": ([(0, "1Gi"), (1, "1073741824")], "2Gi", None),
    "plain digits last": ([(0, "1Gi"), (1, "1000000000")], "2Gi", NOT_EQUAL.format("2073741824", "memory", "2Gi")),
    "a binary sum": ([(0, "1Gi"), (1, "924Mi")], "2Gi", NOT_EQUAL.format("1948Mi", "memory", "2Gi")),
    "decimal, like the last": ([(0, "1Gi"), (1, "926258176")], "1Gi", NOT_EQUAL.format("2G", "memory", "1Gi")),
    "binary, like the last": ([(0, "926258176"), (1, "1Gi")], "1Gi", NOT_EQUAL.format("1953125Ki", "memory", "1Gi")),
    "nothing set": ([], "1Gi", NOT_EQUAL.format("0", "memory", "1Gi")),
    "nothing set, 0 reserved": ([], "0", "[memorymanager] you should specify the system reserved memory"),
    "nothing set, nothing reserved": ([], None, "[memorymanager] you should specify the system reserved memory"),
    "a fraction": ([(0, "1.5Gi"), (1, "512Mi")], "2Gi", "could not covert a variable of type Quantity to int64"),
    "a node that is not there": (
        [(2, "1Gi")],
        "1Gi",
        "the reserved memory configuration references a NUMA node 2 that does not exist on this machine",
    ),
}


def machine(**hugepages: int) -> Machine:
    return Machine("two", tuple(NUMANode(node, memory=10 * GI, hugepages=hugepages) for node in (0, 1)))


@pytest.mark.parametrize(("elements", "reservation", "text"), ELEMENTS.values(), ids=ELEMENTS.keys())
def test_example_13(elements: list[tuple[int, str]], reservation: str | None, text: str | None) -> None:
    reserved = tuple(MemoryReservation(node, {"memory": amount}) for node, amount in elements)
    wanted = {"memory": quantity.parse(reservation)} if reservation else {}
    if text is None:
        assert start(machine(), "Static", read_reserved_memory(reserved), wanted).policy == "Static"
        return
    with pytest.raises(StartError) as refused:
        start(machine(), "Static", read_reserved_memory(reserved), wanted)
    assert refused.value.message == text


def test_huge_pages_cannot_be_reserved() -> None:
    """Kube and system reservation refuse huge pages, so their sum can never be met (rule 5)."""
    reserved = (MemoryReservation(0, {"memory": "1Gi", "hugepages-2Mi": "2Mi"}),)
    with pytest.raises(StartError) as refused:
        start(machine(), "Static", read_reserved_memory(reserved), {"memory": quantity.parse("1Gi")})
    assert refused.value.message == NOT_EQUAL.format("2Mi", "hugepages-2Mi", "0")


def test_none_of_a_resource_is_what_nobody_reserves() -> None:
    """Rule 5: a sum of 0 is equal to a node reservation that does not name the resource."""
    reserved = (MemoryReservation(0, {"memory": "1Gi", "hugepages-2Mi": "0"}),)
    manager = start(machine(), "Static", read_reserved_memory(reserved), {"memory": quantity.parse("1Gi")})
    assert manager.system_reserved == ((GI, 0),)


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ("static", 'unknown policy: "static"'),
        ("none", 'unknown policy: "none"'),
        ("BestEffort", 'policy "BestEffort" is not available for platform "linux"'),
    ],
)
def test_policy_names_are_exact(policy: str, text: str) -> None:
    with pytest.raises(StartError) as refused:
        start(machine(), policy, (), {})
    assert refused.value.message == text


def test_policy_none_checks_and_keeps_nothing() -> None:
    manager = start(machine(), "None", read_reserved_memory([MemoryReservation(7, {"memory": "1Gi"})]), {})
    assert machine_state(manager, initial_state(manager)) == {}


def test_validation_collects_all_texts() -> None:
    """Per resource: name, zero, duplicate (rule 3 a to c)."""
    reserved = (
        MemoryReservation(0, {"memory": "1Gi", "cpu": "0"}),
        MemoryReservation(0, {"memory": "0"}),
        MemoryReservation(1, {"hugepages-2Mi": "2Mi"}),
    )
    assert validate_reserved_memory(read_reserved_memory(reserved)) == [
        (
            'invalid configuration: the limit type "cpu" for NUMA node 0 is not supported, '
            "only [memory hugepages-<HugePageSize>] is accepted"
        ),
        'invalid configuration: reserved memory may not be zero for NUMA node 0 and resource "cpu"',
        'invalid configuration: reserved memory may not be zero for NUMA node 0 and resource "memory"',
        'invalid configuration: the reserved memory has a duplicate value for NUMA node 0 and resource "memory"',
    ]


def test_of_a_repeated_element_the_sum_counts_both_and_the_node_keeps_the_later() -> None:
    reserved = (MemoryReservation(0, {"memory": "1Gi"}), MemoryReservation(0, {"memory": "2Gi"}))
    manager = start(machine(), "Static", read_reserved_memory(reserved), {"memory": quantity.parse("3Gi")})
    assert manager.system_reserved[manager.places["memory"]] == (2 * GI, 0)


def test_tables_take_all_huge_pages_off_the_memory() -> None:
    manager = static([10, 10], {0: 1}, {0: {"1Gi": 4}, 1: {"1Gi": 0}})
    assert machine_state(manager, initial_state(manager))["0"] == {
        "numberOfAssignments": 0,
        "cells": [0],
        "memory": {
            "hugepages-1Gi": table(4, 0, 4),
            "memory": table(10, 1, 5),
        },
    }


def table(total: int, kept: int, allocatable: int) -> dict[str, int]:
    amounts = {"total": total, "systemReserved": kept, "allocatable": allocatable, "reserved": 0, "free": allocatable}
    return {name: amount * GI for name, amount in amounts.items()}


def test_too_much_taken_off_a_node_wraps() -> None:
    """Nothing checks that the reservation fits: the node then looks almost infinite (rule 14)."""
    manager = static([10, 10], {0: 11})
    assert manager.allocatable[0] == ((1 << 64) - GI, 10 * GI)
    assert overdrawn_tables(manager) == ((0, "memory"),)
    node = Node(manager)
    assert node.hints("p", memory=100) == "{0}:P"
    node.take("p", [0])
    assert node.line(0).endswith("1, [0]")


def test_where_no_node_is_there_is_nothing_of_anything() -> None:
    """Nodes 1 and 3; only the latter has huge pages (rules 8 to 10)."""
    nodes = NUMANode(1, memory=10 * GI), NUMANode(3, memory=8 * GI, hugepages={"1Gi": 2 * GI})
    kept = read_reserved_memory([MemoryReservation(1, {"memory": "1Gi"})])
    manager = start(Machine("gap", nodes), "Static", kept, {"memory": quantity.parse("1Gi")})
    assert (manager.policy, manager.nodes, manager.node_ids) == ("Static", 0b1010, (1, 3))
    assert (manager.resources, manager.places) == (("hugepages-1Gi", "memory"), {"hugepages-1Gi": 0, "memory": 1})
    assert (manager.offered, manager.everywhere) == ((0b1000, 0b1010), {"memory"})
    assert manager.total == ((0, 0, 0, 2 * GI), (0, 10 * GI, 0, 8 * GI))
    assert manager.system_reserved == ((0, 0, 0, 0), (0, GI, 0, 0))
    assert manager.allocatable == ((0, 0, 0, 2 * GI), (0, 9 * GI, 0, 6 * GI))
    assert manager.widest == ((2 * GI, 2 * GI), (9 * GI, 15 * GI))
    assert (manager.wraps, manager.by_node) == ((False, False), False)
    assert initial_state(manager) == MemoryState(
        counts=(0,) * 4, groups=(0, 0b10, 0, 0b1000), free=manager.allocatable, reserved=((0,) * 4,) * 2
    )


def test_amounts_that_pass_a_word_together_wrap() -> None:
    """Rule 14: the sum of all nodes decides."""
    for half, wraps in ((1 << 63, True), ((1 << 63) - 1, False)):
        nodes = tuple(NUMANode(node, memory=half + GI * (node == 0)) for node in (0, 1))
        kept = read_reserved_memory([MemoryReservation(0, {"memory": "1Gi"})])
        manager = start(Machine("huge", nodes), "Static", kept, {"memory": quantity.parse("1Gi")})
        assert manager.wraps == (wraps,)


@pytest.mark.parametrize(("last", "crashes"), [(-1, True), (62, False), (63, False), (64, True), (65, True)])
def test_a_node_that_no_mask_can_hold_would_crash_the_kubelet(last: int, crashes: bool) -> None:
    nodes = Machine("far", (NUMANode(0, memory=10 * GI), NUMANode(last, memory=10 * GI)))
    kept = read_reserved_memory([MemoryReservation(0, {"memory": "1Gi"})])
    with pytest.raises(StartError, match=f"NUMA node {last} is outside 0-63") if crashes else nullcontext():
        assert start(nodes, "Static", kept, {"memory": quantity.parse("1Gi")}).node_ids == (0, last)


def test_the_first_of_such_nodes_is_told() -> None:
    nodes = Machine("far", tuple(NUMANode(node, memory=10 * GI) for node in (0, 64, 70)))
    kept = read_reserved_memory([MemoryReservation(0, {"memory": "1Gi"})])
    with pytest.raises(StartError, match="NUMA node 64 is outside 0-63"):
        start(nodes, "Static", kept, {"memory": quantity.parse("1Gi")})


def test_page_size_that_only_one_node_offers_has_one_table() -> None:
    manager = static([10, 10], {0: 1}, {1: {"2Mi": 0}})
    state = machine_state(manager, initial_state(manager))
    assert [sorted(record["memory"]) for record in state.values()] == [["memory"], ["hugepages-2Mi", "memory"]]


EMPTY = Table(10 * GI, GI, 9 * GI, 0, 9 * GI)
TAKEN = Table(10 * GI, GI, 9 * GI, GI, 8 * GI)
ONE = {"p": {"c": (Block(1, "memory", GI),)}}
RECORDS = {0: NodeRecord(1, 1, {"memory": TAKEN}), 1: NodeRecord(0, 2, {"memory": EMPTY})}
DIFFERENT = "[memorymanager] the expected machine state is different from the real one"
WHERE = "[memorymanager] (pod: p, container: c) the memory assignment uses"
BROKEN: dict[str, tuple[dict[int, NodeRecord], Any, str]] = {
    "entries without a machine state": (
        {},
        ONE,
        "[memorymanager] machine state can not be empty when it has memory assignments",
    ),
    "a node that is gone": (RECORDS, {"p": {"c": (Block(4, "memory", GI),)}}, f"{WHERE} the NUMA that does not exist"),
    "a resource that is gone": (
        RECORDS,
        {"p": {"c": (Block(1, "hugepages-2Mi", GI),)}},
        f"{WHERE} memory resource that does not exist",
    ),
    "another set of nodes": ({0: RECORDS[0]}, ONE, DIFFERENT),
    "another count": ({**RECORDS, 1: RECORDS[1]._replace(assignments=1)}, ONE, DIFFERENT),
    "another group": ({**RECORDS, 1: RECORDS[1]._replace(group=3)}, ONE, DIFFERENT),
    "a resource too few": ({**RECORDS, 1: RECORDS[1]._replace(tables={})}, ONE, DIFFERENT),
    "a resource too many": (
        {**RECORDS, 1: RECORDS[1]._replace(tables={"memory": EMPTY, "hugepages-2Mi": EMPTY})},
        ONE,
        DIFFERENT,
    ),
    "a few kB less": (
        {**RECORDS, 1: RECORDS[1]._replace(tables={"memory": EMPTY._replace(total=10 * GI - 4096)})},
        ONE,
        DIFFERENT,
    ),
    "another sum of free memory": (
        {**RECORDS, 1: RECORDS[1]._replace(tables={"memory": EMPTY._replace(free=8 * GI)})},
        ONE,
        DIFFERENT,
    ),
    "another sum of reserved memory": (
        {**RECORDS, 0: RECORDS[0]._replace(tables={"memory": TAKEN._replace(reserved=0)})},
        ONE,
        DIFFERENT,
    ),
}


@pytest.fixture
def m2() -> MemoryManager:
    manager: MemoryManager = static([10, 10], {0: 1, 1: 1})
    return manager


@pytest.mark.parametrize(("records", "entries", "text"), BROKEN.values(), ids=BROKEN.keys())
def test_a_state_that_does_not_fit_stops_the_kubelet(
    m2: MemoryManager, records: dict[int, NodeRecord], entries: Any, text: str
) -> None:
    with pytest.raises(StartError) as refused:
        validate_state(m2, records, entries)
    assert refused.value.message == text


def test_a_state_that_fits_is_taken_over(m2: MemoryManager) -> None:
    assert validate_state(m2, RECORDS, ONE) == MemoryState(
        counts=(1, 0),
        groups=(1, 2),
        free=((8 * GI, 9 * GI),),
        reserved=((GI, 0),),
        entries=ONE,
    )


def test_a_resource_is_of_the_nodes_that_have_it() -> None:
    """Rules 49 and 50: NUMA node 0 has no huge pages."""
    manager = static([10, 10], {0: 1}, {1: {"2Mi": 2}})
    pages, memory = Table(2 * GI, 0, 2 * GI, 0, 2 * GI), Table(10 * GI, 0, 8 * GI, 0, 8 * GI)
    records = {
        0: NodeRecord(0, 1, {"memory": EMPTY}),
        1: NodeRecord(0, 2, {"memory": memory, "hugepages-2Mi": pages}),
    }
    assert validate_state(manager, records, {}) == initial_state(manager)
    more = NodeRecord(0, 1, {"memory": EMPTY, "hugepages-2Mi": Table(0, 0, 0, 0, 0)})
    with pytest.raises(StartError, match="expected machine state is different"):
        validate_state(manager, {**records, 0: more}, {})
    with pytest.raises(StartError, match="uses memory resource that does not exist"):
        validate_state(manager, records, {"p": {"c": (Block(1, "hugepages-2Mi", GI),)}})


def test_memory_that_moved_inside_a_group_stops_kubelets_before_1_32(m2: MemoryManager) -> None:
    """Rule 50, kubernetes/kubernetes 113130: 2Gi of the group are on NUMA node 1, where a fresh start takes node 0."""
    entries = {"u": {"c": (Block(0b11, "memory", 2 * GI),)}}
    tables = {node: Table(10 * GI, GI, 9 * GI, taken * GI, (9 - taken) * GI) for node, taken in ((0, 0), (1, 2))}
    records = {node: NodeRecord(1, 0b11, {"memory": table}) for node, table in tables.items()}

    assert validate_state(m2, records, entries).reserved == ((0, 2 * GI),)
    with pytest.raises(StartError, match="expected machine state is different"):
        validate_state(m2._replace(by_node=True), records, entries)


@pytest.mark.parametrize(("release", "by_node"), [((1, 31), True), ((1, 32), False)])
def test_up_to_which_release_it_does(release: tuple[int, int], by_node: bool) -> None:
    config = KubeletConfig(
        memory_manager_policy="Static",
        kube_reserved={"memory": "1Gi"},
        reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),),
        eviction_hard={},
    )
    node, _ = start_node(Setup(machine(), config, "ideal", kubelet(release)))
    assert node.memory.by_node == by_node


def test_policy_none_takes_nothing_over(m2: MemoryManager) -> None:
    without = m2._replace(policy="None")
    assert validate_state(without, RECORDS, ONE) == initial_state(without)


def test_without_any_state_the_tables_are_built(m2: MemoryManager) -> None:
    assert validate_state(m2, {}, {}) == initial_state(m2)


def test_where_tables_wrap_too_many_nodes_are_a_hang() -> None:
    """The kubelet's walk goes through every set of them (rule 14)."""
    node = Node(static([10] * 21, {0: 11}))
    with pytest.raises(KubeletHangError, match="tries every set of NUMA nodes"):
        node.hints("p", memory=1)


def test_huge_pages_alone_have_no_mask_of_their_own() -> None:
    """Rule 37 looks for the best hint of `memory`; the kubelet then dereferences none."""
    node = Node(static([10], {0: 1}, {0: {"1Gi": 4}}))
    alone = ContainerDemand("c", "app", 0, (("hugepages-1Gi", GI),), ())
    with pytest.raises(KubeletPanicError, match="nil pointer dereference"):
        node.give(PodDemand("p", True, (alone,), 0, alone.memory, ()), alone, TopologyHint(None, preferred=False))


def test_blocks_are_in_the_order_of_their_resources() -> None:
    pages, memory = Block(0b10, "hugepages-1Gi", GI), Block(0b1, "memory", GI)
    assert sorted_entries({"p": {"c": (memory, pages)}}) == {"p": {"c": (pages, memory)}}
