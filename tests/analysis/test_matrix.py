"""The matrix of a decision: what is asked, what each NUMA node has, and what a node alone can do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.matrix import Cell, Matrix, matrix, offers, on_the_machine
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.topology.hints import CANNOT_FIT, NO_PREFERENCE, HintList, TopologyHint
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, PAGES, STATIC, config, decision, limits, machine, outcome, pod, pod_of

GI = 1 << 30
LEFT, RIGHT = pod("left", 3), pod("right", 2, gpu=1)
"""One after the other on figure-1: one CPU and a GPU stay on node 0, two CPUs on node 1."""


def table(
    settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine | None = None, container: str | None = "app"
) -> Matrix:
    found = outcome(settings, asked, *before, on=on)
    return matrix(found.before.node, found.demand, decision(found, container))


def cells(found: Matrix, resource: str) -> list[tuple[int, int, str]]:
    return [cell[:3] for row in found.rows if row.resource == resource for cell in row.cells]


@pytest.mark.parametrize("policy", ["none", "best-effort", "restricted", "single-numa-node"])
def test_a_cell_is_free_of_what_could_ever_be_there(policy: str) -> None:
    found = table(config("single-numa-node"), pod("p", 2, gpu=1), LEFT, RIGHT)
    assert cells(found, "cpu") == [(1, 4, "together"), (2, 4, "enough")]
    assert cells(found, GPU) == [(1, 1, "enough"), (0, 1, "no")]
    empty = table(config(policy), pod("p", 2, gpu=1))
    assert cells(empty, "cpu") == [(4, 4, "enough")] * 2


def test_rows_are_cpu_then_memory_then_the_rest_by_name() -> None:
    found = table(config("restricted", **STATIC), pod("p", 2, "1Gi", nic=1, gpu=1, pages="4Mi"))
    assert [row.resource for row in found.rows] == ["cpu", "memory", GPU, PAGES, NIC]
    assert (found.nodes, found.policy, found.strayed) == ((0, 1), "restricted", 0)


def test_nodes_stand_in_the_order_of_their_ids() -> None:
    first, second = machine("figure-1").numa_nodes
    backwards = machine("figure-1")._replace(numa_nodes=(second, first))
    found = table(config("restricted"), pod("p", 2, gpu=1), on=backwards)
    assert found.nodes == (0, 1)


def test_what_has_no_say_has_no_row() -> None:
    """A share of a CPU, memory that nobody pins, and a device of no plugin."""
    settings = config("restricted")
    assert [row.resource for row in table(settings, pod("p", 2)).rows] == ["cpu"]
    found = table(settings, pod_of("p", app={**limits(0.5), GPU: "1", "other.com/fpga": "1"}))
    assert [row.resource for row in found.rows] == [GPU]


def test_reserved_cpus_and_memory_are_nobodys() -> None:
    settings = config("restricted", reserved_system_cpus="0-1,4", **STATIC)
    found = table(settings, pod("p", 1, "1Gi"))
    assert cells(found, "cpu") == [(2, 2, "enough"), (3, 3, "enough")]
    # A node's 16 GiB without 1 GiB of huge pages, on node 0 without 1 GiB that is reserved.
    assert cells(found, "memory") == [(14 * GI, 14 * GI, "enough"), (15 * GI, 15 * GI, "enough")]


def test_a_sick_device_is_not_there() -> None:
    sick = machine("figure-1")._replace(devices={GPU: (Device("a", (0,), healthy=False), Device("b", (1,)))})
    assert cells(table(config("restricted"), pod("p", 1, gpu=1), on=sick), GPU) == [(0, 0, "no"), (1, 1, "enough")]


def test_a_device_of_two_nodes_is_on_both_and_counts_once() -> None:
    wide = machine("figure-1")._replace(devices={GPU: (Device("a", (0, 1)), Device("b", (1,)))})
    [row] = [row for row in table(config("restricted"), pod("p", 1, gpu=1), on=wide).rows if row.resource == GPU]
    assert [(cell.free, cell.total) for cell in row.cells] == [(1, 1), (2, 2)]
    assert (row.free, row.width) == (2, 1)


def test_devices_that_lie_nowhere_do_not_matter_for_alignment() -> None:
    loose = machine("figure-1")._replace(devices={GPU: (Device("a"), Device("b"))})
    [row] = [row for row in table(config("restricted"), pod("p", 1, gpu=2), on=loose).rows if row.resource == GPU]
    assert row.cells == (Cell(0, 0, "any"),) * 2
    assert (row.requested, row.free, row.width, row.possible) == (2, 2, 0, True)


@pytest.mark.parametrize(
    ("resource", "free", "total"),
    [("cpu", 5, 7), (GPU, 2, 3), (NIC, 2, 2), ("memory", 28 * GI, 29 * GI), (PAGES, 2 * GI, 2 * GI), ("v/x", 0, 0)],
)
def test_on_the_machine_are_all_nodes_and_what_is_on_none(resource: str, free: int, total: int) -> None:
    """Of CPUs one is reserved, of memory a Gi, and one of four GPUs is sick; a pod holds some of each but of two."""
    gpus = (Device("a", (0,)), Device("b", (1,)), Device("c"), Device("sick", healthy=False))
    on = machine("figure-1")
    on = on._replace(devices={**on.devices, GPU: gpus})
    found = outcome(config("none", reserved_system_cpus="0", **STATIC), pod("p", 2, "1Gi", gpu=1), on=on)
    assert on_the_machine(found.before.node, found.after, resource) == (free, total)


def test_devices_that_lie_nowhere_are_also_what_an_init_container_left() -> None:
    loose = machine("figure-1")._replace(devices={GPU: (Device("a"), Device("b"))})
    found = table(config("restricted"), pod_of("p", init=limits(1, gpu=2), app=limits(1, gpu=2)), on=loose)
    [row] = [row for row in found.rows if row.resource == GPU]
    assert (row.free, row.left, row.possible) == (0, 2, True)


@pytest.mark.parametrize(("gpus", "fits"), [(2, True), (3, False)])
def test_any_node_fits_devices_that_lie_nowhere_if_there_are_enough(gpus: int, fits: bool) -> None:
    loose = machine("figure-1")._replace(devices={GPU: (Device("a"), Device("b"))})
    found = table(config("restricted"), pod("p", 1, gpu=gpus), on=loose)
    assert [found.fits(column) for column in (0, 1)] == [fits, fits]


@pytest.mark.parametrize(
    ("asked", "widths"),
    [
        (pod("p", 4), {"cpu": 1}),
        (pod("p", 5), {"cpu": 2}),
        (pod("p", 1, gpu=2), {"cpu": 1, GPU: 2}),
        (pod("p", 1, "15Gi"), {"cpu": 1, "memory": 1}),
        (pod("p", 1, "16Gi"), {"cpu": 1, "memory": 2}),
        (pod("p", 1, "1Gi", pages="1536Mi"), {"cpu": 1, "memory": 1, PAGES: 2}),
        (pod("p", 1, "1Gi", pages="0"), {"cpu": 1, "memory": 1, PAGES: 0}),
    ],
    ids=[
        "a node's CPUs",
        "a CPU more",
        "two GPUs",
        "memory of one node",
        "a Gi more",
        "pages of two nodes",
        "no pages",
    ],
)
def test_a_width_is_how_few_nodes_hold_it_on_an_empty_machine(asked: Pod, widths: dict[str, int]) -> None:
    settings = config("best-effort", **(STATIC if "memory" in widths else {}))
    for before in ((), (LEFT,)):
        found = table(settings, asked, *before)
        assert {row.resource: row.width for row in found.rows} == widths


def test_what_is_nowhere_free_is_not_possible() -> None:
    found = table(config("best-effort"), pod("p", 6), LEFT)
    [row] = found.rows
    assert (row.requested, row.free, row.possible) == (6, 5, False)
    assert [cell.verdict for cell in row.cells] == ["together", "together"]


def test_in_scope_pod_the_whole_pod_is_one_matrix() -> None:
    found = table(
        config("restricted", topology_manager_scope="pod"),
        pod_of("p", one=limits(2, gpu=1), two=limits(2, nic=1)),
        container=None,
    )
    assert found.container is None
    assert [(row.resource, row.requested) for row in found.rows] == [("cpu", 4), (GPU, 1), (NIC, 1)]
    assert [found.fits(column) for column in (0, 1)] == [True, True]


def test_a_node_fits_when_every_resource_does() -> None:
    found = table(config("single-numa-node"), pod("p", 2, gpu=1), LEFT, RIGHT)
    assert [found.fits(column) for column in (0, 1)] == [False, False]
    found = table(config("single-numa-node"), pod("p", 1, gpu=1), LEFT, RIGHT)
    assert [found.fits(column) for column in (0, 1)] == [True, False]


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        (CANNOT_FIT, False),
        (NO_PREFERENCE, False),
        (HintList((TopologyHint(0b01, True),)), True),
        (HintList((TopologyHint(0b11, True),)), False),
    ],
    ids=["nothing fits", "no opinion", "in the list", "not in the list"],
)
def test_a_set_of_nodes_is_offered_or_not(hints: object, expected: bool) -> None:
    assert offers(hints, 0b01) is expected


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 1)), max_size=4), st.integers(1, 8), st.integers(0, 2))
def test_a_matrix_adds_up(before: list[tuple[int, int]], cpus: int, gpus: int) -> None:
    """Free is never above what there is, `enough` is enough, and the whole machine has what its nodes have."""
    there = [pod(f"p{number}", each, gpu=some) for number, (each, some) in enumerate(before)]
    found = table(config("best-effort"), pod("p", cpus, gpu=gpus), *there)
    for row in found.rows:
        assert row.free == sum(cell.free for cell in row.cells)
        assert row.possible == (row.free >= row.requested)
        if row.requested:
            assert row.width == (-(-row.requested // 4) if row.resource == "cpu" else row.requested)
        for cell in row.cells:
            assert 0 <= cell.free <= cell.total
            assert (cell.verdict == "enough") == (cell.free >= row.requested)
