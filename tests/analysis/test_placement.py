"""Where an admitted container's resources lie, and the NUMA distance it pays for that."""

from __future__ import annotations

import pytest

from numalign.analysis.holding import holding
from numalign.analysis.placement import Placement, distance_between, placements
from numalign.kubelet.admission import Outcome
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, PAGES, STATIC, config, limits, outcome, pod, pod_of

GI = 1 << 30


def line(rows: tuple[tuple[int, ...] | None, ...], ids: tuple[int, ...] | None = None) -> Machine:
    """Nodes of two CPUs in a row, with these distances, a GPU on the last."""
    ids = ids or tuple(range(len(rows)))
    nodes = tuple(NUMANode(node, 0b11 << 2 * place, 8 * GI, {}, rows[place]) for place, node in enumerate(ids))
    cores = tuple(1 << cpu for cpu in range(2 * len(rows)))
    sockets = tuple(Unit(place, node.cpus) for place, node in enumerate(nodes))
    return Machine("line", nodes, sockets, cores, devices={GPU: (Device("g", (ids[-1],)),)})


THREE = line(((10, 12, 30), (12, 10, 20), (30, 20, 10)))


def only(found: Outcome) -> Placement:
    assert found.admit, found.message
    [placed] = placements(found)
    return placed


def test_each_resource_has_its_nodes_and_its_way_to_the_cpus() -> None:
    placed = only(outcome(config("none"), pod("p", 2, gpu=1), on=THREE))
    assert [(place.resource, place.nodes, place.distance) for place in placed.places] == [
        ("cpu", 0b001, 10),
        (GPU, 0b100, 30),
    ]
    assert placed.local == 10
    assert placed.distance == (10 + 30 + 30 + 10) / 4


def test_the_nearest_of_its_nodes_to_itself_counts_as_local() -> None:
    placed = only(outcome(config("none"), pod("p", 2, gpu=1), on=line(((12, 30), (30, 10)))))
    assert (placed.distance, placed.local) == ((12 + 30 + 30 + 10) / 4, 10)


def test_together_it_pays_the_way_home() -> None:
    placed = only(outcome(config("single-numa-node"), pod("p", 2, gpu=1), on=THREE))
    assert [(place.nodes, place.distance) for place in placed.places] == [(0b100, 10)] * 2
    assert (placed.distance, placed.local) == (10, 10)


def test_what_is_pinned_has_a_place_too() -> None:
    placed = only(outcome(config("restricted", **STATIC), pod("p", 2, "1Gi", gpu=1, nic=1, pages="2Mi")))
    assert {place.resource: place.nodes for place in placed.places} == {
        "cpu": 1,
        GPU: 1,
        NIC: 1,
        PAGES: 1,
        "memory": 1,
    }


def test_without_cpus_of_its_own_there_is_no_way() -> None:
    there = line(((10, 20), (20, 10)))._replace(devices={GPU: (Device("a", (0,)), Device("b", (1,)))})
    asked = pod_of("p", app={**limits(0.5), GPU: "2"})
    placed = only(outcome(config("best-effort"), asked, on=there))
    assert [(place.resource, place.nodes, place.distance) for place in placed.places] == [(GPU, 0b11, None)]
    assert (placed.distance, placed.local) == (None, None)


def test_a_container_that_holds_nothing_is_nowhere() -> None:
    placed = only(outcome(config("restricted"), pod("p", 0.5)))
    assert (placed.places, placed.distance, placed.local) == ((), None, None)


@pytest.mark.parametrize("rows", [(None, None), ((10,), (20, 10))], ids=["no distances", "a row that is too short"])
def test_distances_that_nobody_knows_are_none(rows: tuple[tuple[int, ...] | None, ...]) -> None:
    placed = only(outcome(config("none"), pod("p", 2, gpu=1), on=line(rows)))
    assert placed.places[-1].distance is None
    assert (placed.distance, placed.local) == (None, None)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (0b001, 0b100, 30),
        (0b011, 0b100, 30),
        (0b010, 0b101, 20),
        (0b001, 0b001, 10),
        (0b001, 0, None),
        (0, 0b001, None),
    ],
)
def test_between_sets_the_farthest_pair_counts(one: int, other: int, expected: int | None) -> None:
    node = outcome(config("none"), pod("p"), on=THREE).before.node
    assert distance_between(node, one, other) == expected


def test_rows_follow_ascending_ids_whatever_the_ids() -> None:
    sparse = line(((10, 12, 30), (12, 10, 20), (30, 20, 10)), ids=(0, 4, 9))
    node = outcome(config("none"), pod("p"), on=sparse).before.node
    assert distance_between(node, 1 << 0, 1 << 9) == 30
    assert distance_between(node, 1 << 9, 1 << 4) == 20
    backwards = sparse._replace(numa_nodes=sparse.numa_nodes[::-1])
    node = outcome(config("none"), pod("p"), on=backwards).before.node
    assert distance_between(node, 1 << 9, 1 << 0) == 30


def test_each_container_has_a_placement_in_the_kubelets_order() -> None:
    asked = pod_of("p", first=limits(1), initial=limits(1), second=limits(2))
    found = outcome(config("best-effort"), asked)
    assert [placed.container for placed in placements(found)] == ["initial", "first", "second"]


@pytest.mark.parametrize(
    ("settings", "asked", "cpus", "devices", "memory"),
    [
        (config("restricted"), pod("p", 2), 0b11, {}, {}),
        (config("restricted"), pod("p", 0.5), None, {}, {}),
        (config("restricted"), pod("p", 2, gpu=1), 0b11, {GPU: ("0",)}, {}),
        (config("best-effort"), pod("p", 1, gpu=2), 0b1, {GPU: ("0", "1")}, {}),
        (config("restricted", **STATIC), pod("p", 2, "1Gi"), 0b11, {}, {"memory": GI}),
    ],
    ids=["CPUs of its own", "in the shared pool", "a GPU", "two GPUs", "pinned memory"],
)
def test_what_a_container_holds(
    settings: KubeletConfig,
    asked: Pod,
    cpus: int | None,
    devices: dict[str, tuple[str, ...]],
    memory: dict[str, int],
) -> None:
    found = outcome(settings, asked)
    held = holding(found.before.node, found.after, found.demand.uid, found.demand.containers[0])
    assert held.cpus == cpus
    assert {each.resource: each.ids for each in held.devices} == devices
    assert {block.type: block.size for block in held.memory} == memory
    assert held.missing == ()


def test_devices_that_no_plugin_has_are_missing_unless_none_are_asked() -> None:
    asked = pod_of("p", app={**limits(1), "b.com/x": "1", "a.com/y": "2", "c.com/z": "0"})
    found = outcome(config("restricted"), asked)
    held = holding(found.before.node, found.after, found.demand.uid, found.demand.containers[0])
    assert held.missing == ("a.com/y", "b.com/x")
