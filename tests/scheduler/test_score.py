"""The scores: worked examples of docs/rules/scheduling.md 7.3 and 7.4, and LeastNUMANodes against plain enumeration."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.scheduler import least_numa_nodes
from numalign.scheduler.nrt.value import UNKNOWN_COST, NodeResourceTopology, NUMAZone, TopologyManagerConfig
from numalign.scheduler.score import Strategy
from tests.conformance.sched import scored
from tests.dice import Dice, draws, rolled
from tests.scheduler.make import cpus, object_of, pod, zone

A = object_of(zone(0, cpu="10", memory="10Gi"), zone(1, cpu="20", memory="10Gi"))
B = object_of(zone(0, cpu="4", memory="4Gi"), zone(1, cpu="40", memory="40Gi"))
SOCKETS = {0: {0: 10, 1: 12, 2: 20, 3: 20}, 1: {0: 12, 1: 10, 2: 20, 3: 20}}
SOCKETS |= {2: {0: 20, 1: 20, 2: 10, 3: 12}, 3: {0: 20, 1: 20, 2: 12, 3: 10}}


@pytest.mark.parametrize(
    ("found", "strategy", "expected"),
    [
        (A, "MostAllocated", 15),
        (B, "MostAllocated", 6),
        (A, "LeastAllocated", 75),
        (B, "LeastAllocated", 37),
        (A, "BalancedAllocation", 95),
        (B, "BalancedAllocation", 71),
    ],
)
def test_worked_examples(found: NodeResourceTopology, strategy: Strategy, expected: int) -> None:
    assert scored(found, cpus(4), strategy) == expected


@pytest.mark.parametrize(("asked", "expected"), [("4", 100), ("20", 100), ("21", 0)])
def test_one_resource_is_balanced_wherever_it_fits(asked: str, expected: int) -> None:
    assert scored(A, pod({"cpu": asked})._replace(qos="Guaranteed"), "BalancedAllocation") == expected


def test_of_what_a_zone_lacks_nothing_would_be_left() -> None:
    """Half of the CPUs of node 0 would be, and none of the devices of which the pod asks for none."""
    assert scored(A, pod({"cpu": "5", "gpu": "0"})._replace(qos="Guaranteed"), "LeastAllocated") == 25


def test_weights_move_the_score() -> None:
    assert scored(A, cpus(4), "MostAllocated", {"cpu": 3, "memory": 1}) == 17
    assert scored(B, cpus(4), "MostAllocated", {"cpu": 3, "memory": 1}) == 8


@pytest.mark.parametrize(
    ("free", "expected"),
    [((4, 4, 4, 4), 82), ((4, 1, 4, 1), 76), ((8, 1, 1, 1), 94), ((1, 1, 1, 1), 0)],
)
def test_least_numa_nodes(free: tuple[int, ...], expected: int) -> None:
    zones = [
        zone(number, {f"node-{other}": cost for other, cost in SOCKETS[number].items()}, cpu=str(count), memory="8Gi")
        for number, count in enumerate(free)
    ]
    assert scored(object_of(*zones, policy="restricted"), cpus(7), "LeastNUMANodes") == expected


def test_a_container_whose_nodes_are_not_the_closest_counts_for_the_pod() -> None:
    """L-8: the first one needs nodes 0 and 2, the second one any node."""
    zones = [
        zone(number, {f"node-{other}": cost for other, cost in SOCKETS[number].items()}, cpu=str(count), memory="8Gi")
        for number, count in enumerate((4, 1, 4, 1))
    ]
    assert scored(object_of(*zones, policy="restricted"), cpus(7, 1), "LeastNUMANodes") == 76


def test_machines_without_data_lose_and_other_pods_do_not_care() -> None:
    assert scored(None, cpus(4), "LeastAllocated") == 0
    burstable = cpus(4)._replace(qos="Burstable")
    assert scored(None, burstable, "LeastAllocated") == 100


def test_zones_of_any_id_are_scored() -> None:
    """Ids with gaps crash the public plugin; here they are ids everywhere."""
    found = object_of(zone(3, cpu="4", memory="8Gi"), zone(17, cpu="4", memory="8Gi"), policy="best-effort")
    assert scored(found, cpus(6), "LeastNUMANodes") == 82


def machine(dice: Dice) -> tuple[NUMAZone, ...]:
    count = dice.between(1, 6)
    zones = []
    for number in range(count):
        free = {name: dice.below(7) for name in ("cpu", "gpu") if dice.flag()}
        zones.append(NUMAZone(number, free, {other: dice.below(41) for other in range(count + 1) if dice.flag()}))
    return tuple(zones)


@given(rolled(machine, 130), st.integers(0, 12), st.integers(0, 12), st.booleans())
@draws(160)
def test_the_smallest_set_is_that_of_plain_enumeration(
    zones: tuple[NUMAZone, ...], cpu: int, gpu: int, guaranteed: bool
) -> None:
    """Only Guaranteed pods need their CPUs in a zone."""
    found = least_numa_nodes.smallest_set(zones, (("cpu", cpu), ("gpu", gpu)), guaranteed=guaranteed)
    assert (found and (found.positions, found.optimal)) == plain(zones, (("cpu", cpu * guaranteed), ("gpu", gpu)))


def plain(zones: tuple[NUMAZone, ...], items: tuple[tuple[str, int], ...]) -> tuple[tuple[int, ...], bool] | None:
    def distance(members: tuple[int, ...]) -> int:
        return sum(zones[one].costs.get(zones[other].id, UNKNOWN_COST) for one in members for other in members)

    for size in range(1, len(zones) + 1):
        sets = list(combinations(range(len(zones)), size))
        fitting = [
            members
            for members in sets
            if all(name in zones[place].available for place in members for name, _ in items)
            and all(sum(zones[place].available[name] for place in members) >= amount for name, amount in items)
        ]
        if fitting:
            chosen = min(fitting, key=distance)
            return chosen, distance(chosen) == min(map(distance, sets))
    return None


def test_sixteen_zones_are_quick() -> None:
    """Plain enumeration would sum 16 choose 8 sets of 64 costs each; here one set shows that no other is closer."""
    zones = [NUMAZone(number, {"cpu": 1}) for number in range(16)]
    found = least_numa_nodes.smallest_set(zones, (("cpu", 8),), guaranteed=True)
    assert found == ((0, 1, 2, 3, 4, 5, 6, 7), True)


def test_a_pod_that_names_nothing_of_the_zones_scores_full() -> None:
    config = TopologyManagerConfig("restricted", "pod", 8)
    assert least_numa_nodes.score([NUMAZone(0, {"gpu": 1})], config, cpus(1)) == 100


@pytest.mark.parametrize("positions", [(0, 1, 2), (2, 1, 0)])
def test_a_resource_is_taken_from_the_lowest_numbers_first(positions: tuple[int, ...]) -> None:
    """L-7: whatever the order of the zones in the object, and of the set."""
    zones = [NUMAZone(number, {"cpu": 4}) for number in (2, 0, 1)]
    taken = least_numa_nodes.take(zones, (("cpu", 6),), positions)
    assert [(zone.id, zone.available) for zone in taken] == [(2, {"cpu": 4}), (0, {"cpu": 0}), (1, {"cpu": 2})]


@pytest.mark.parametrize("unknown", [(0, 1), (1, 2)], ids=["the first ones", "the last ones"])
def test_zones_that_name_no_distance_are_255_apart(unknown: tuple[int, int]) -> None:
    """L-6: as far as those that name it, so the first set is taken; nodes 0 and 2 are farther apart."""
    zones = []
    for one in range(3):
        others = {other: 300 if {one, other} == {0, 2} else 255 for other in range(3) if other != one}
        costs = {other: cost for other, cost in others.items() if {one, other} != set(unknown)}
        zones.append(NUMAZone(one, {"cpu": 4}, {one: 10, **costs}))
    found = least_numa_nodes.smallest_set(zones, (("cpu", 8),), guaranteed=True)
    assert found is not None
    assert found.positions == (0, 1)
