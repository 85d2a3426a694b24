"""KAI's plugin beyond the recorded cases: XK-1, and its search against plain enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.model.quantity import NANO
from numalign.scheduler.kai import evaluate, records, topology
from numalign.scheduler.kai.topology import KaiOptions, KaiZone
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import Zone, ZoneResource
from numalign.scheduler.request import PodRequest
from numalign.scheduler.schedulers.kai import surroundings
from tests.conformance.sched import amounts
from tests.dice import Dice, draws, rolled
from tests.scheduler.make import cpus, object_of, pod, zone


def test_a_reserved_cpu_makes_kai_pass_what_the_kubelet_refuses_for_ever() -> None:
    """XK-1: the width comes from what is allocatable (39 + 39), the kubelet's from all CPUs (40 on one node)."""
    machine = topology.topology(object_of(zone(0, cpu="39"), zone(1, cpu="39"), policy="restricted"))
    assert machine is not None
    assert sorted(evaluate.evaluate(cpus(40), machine).placement) == [0, 1]


def test_kai_filters_restricted_machines_and_says_so() -> None:
    machine = topology.topology(object_of(zone(0, cpu="4"), zone(1, cpu="4"), policy="restricted"))
    assert evaluate.check_kai(cpus(9), machine).message == evaluate.CANNOT_ALIGN
    assert evaluate.check_kai(cpus(9), None).passed


@pytest.mark.parametrize("zones", [(), (zone(0, cpu="4")._replace(type="Socket"),)], ids=["no zone", "sockets"])
def test_an_object_without_a_numa_node_is_no_topology(zones: tuple[Zone, ...]) -> None:
    assert topology.topology(object_of(*zones)) is None


def some_free(dice: Dice) -> list[dict[str, int]]:
    return dice.several(lambda one: {name: one.below(6) for name in ("cpu", "gpu") if one.flag()}, 1, 6)


@given(rolled(some_free, 40), st.integers(1, 9), st.integers(1, 9))
@draws(120)
def test_restricted_takes_the_first_set_of_its_width(zones: list[dict[str, int]], cpu: int, gpu: int) -> None:
    machine = topology.of_zones([KaiZone(f"node-{n}", one, one) for n, one in enumerate(zones)], "restricted", "pod")
    wanted = {name: amount for name, amount in (("cpu", cpu), ("gpu", gpu)) if name in machine.aware}
    answer = evaluate.solve(machine, [wanted])
    widths = set()
    for name, amount in wanted.items():
        have = sorted((one.get(name, 0) for one in zones), reverse=True)
        widths.add(next((size for size in range(1, len(zones) + 1) if sum(have[:size]) >= amount), None))
    expected = None
    if not wanted:
        expected = ()
    elif len(widths) == 1 and None not in widths:
        sets = combinations(range(len(zones)), widths.pop())
        fits = (
            members
            for members in sets
            if all(sum(zones[place].get(name, 0) for place in members) >= amount for name, amount in wanted.items())
        )
        expected = next(fits, None)
    assert answer.admit == (expected is not None)
    if expected is not None:
        assert set(answer.placement) <= set(expected)
        taken = {name: sum(part.get(name, 0) for part in answer.placement.values()) for name in wanted}
        assert taken == wanted


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "5", "{}", "[5]", '[{"zone": 1}]', '[{"zone": "a", "amount": [1]}]', "["]
)
def test_a_malformed_record_is_none(text: str) -> None:
    assert records.read_record(text) is None


def test_a_record_without_amounts_names_its_zone() -> None:
    assert records.read_record('[{"zone": "node-1"}]') == (("node-1", {}),)
    assert records.read_record('[{"zone": "node-1", "amount": {"cpu": 2}}]') == (("node-1", amounts({"cpu": "2"})),)


TWO = topology.topology(object_of(zone(0, cpu="4", memory="9Gi"), zone(1, cpu="4", memory="9Gi"), policy="best-effort"))
FREE = topology.topology(object_of(*(zone(number, cpu="4") for number in range(4)), policy="none"))
SCORES = [
    ("one zone is enough", cpus(3), "two", Fraction(100)),
    ("two zones are needed", cpus(5), "two", Fraction(50)),
    ("policy none uses all of its zones", cpus(3), "free", Fraction(25)),
    ("a machine without an object counts like the largest", cpus(3), "bare", Fraction(25)),
    ("a pod that is not Guaranteed and asks for no device", pod({"cpu": "3"}), "two", Fraction(0)),
]


MACHINES = {"two": TWO, "free": FREE, "bare": None}


@pytest.mark.parametrize(("asked", "name", "points"), [row[1:] for row in SCORES], ids=[row[0] for row in SCORES])
def test_the_fewer_zones_the_better(asked: PodRequest, name: str, points: Fraction) -> None:
    assert evaluate.score(asked, MACHINES[name], topology.around(MACHINES.values(), None, rebuilds=True)) == points


def test_a_machine_that_cannot_take_the_pod_scores_nothing() -> None:
    tight = topology.topology(object_of(zone(0, cpu="2", memory="9Gi"), policy="single-numa-node"))
    assert evaluate.score(cpus(3), tight, topology.around([tight], None, rebuilds=True)) == 0


def test_what_a_pod_took_of_each_zone_is_what_went() -> None:
    """K-8: of what both objects say; where none says what is free, nothing went."""
    before = object_of(zone(0, cpu="4", memory="2Gi"), zone(1, cpu="4", gpu="1"), zone(2, cpu="4"))
    silent = [ZoneResource(4, 4, None)] * 2
    after = object_of(zone(0, cpu="1", memory="2Gi"), zone(1, cpu="4", nic="1"))
    assert records.taken(before, after) == (("node-0", amounts({"cpu": "3"})),)
    one, other = (object_of(zone(0)._replace(resources={"cpu": each})) for each in silent)
    assert records.taken(one, other) == ()
    assert records.taken(before, None) == records.taken(None, after) == ()


SETTINGS = [
    ("both", {"policy": "restricted", "scope": "pod"}, ("restricted", "pod")),
    ("a policy that is not known", {"policy": "own", "scope": "pod"}, ("none", "pod")),
    ("a scope that is not known", {"policy": "restricted", "scope": "own"}, ("restricted", "container")),
    ("an empty scope", {"policy": "restricted", "scope": ""}, ("restricted", "container")),
]


@pytest.mark.parametrize(("said", "read"), [row[1:] for row in SETTINGS], ids=[row[0] for row in SETTINGS])
def test_policy_and_scope_as_kai_reads_them(said: dict[str, str], read: tuple[str, str]) -> None:
    assert topology.policy_scope(object_of(zone(0, cpu="4"), **said)) == read


def test_what_kai_ignores_it_looks_at_on_no_machine() -> None:
    """K-1, K-8: the option `ignoreList`; what is rebuilt unless told depends on records. No machine exposes devices."""
    totals = NodeTotals(amounts({"cpu": "4", "memory": "1Gi"}), {}, 0)
    found = object_of(zone(0, cpu="4", memory="1Gi", gpu="1"))
    placed = [records.PlacedPod("Running")]
    for options, pods, aware, rebuilds in (
        (KaiOptions(), [], {"cpu", "memory"}, False),
        (KaiOptions(ignored=("memory",)), placed, {"cpu"}, True),
        (KaiOptions(reconstruct=False), placed, {"cpu", "memory"}, False),
    ):
        around = surroundings(options, [(totals, found, pods), (totals, None, [])])
        assert (around.aware, around.rebuilds, around.exposed, around.zones) == (aware, rebuilds, {"cpu", "memory"}, 1)


def test_which_resources_kai_looks_at() -> None:
    """K-1: what zones list and machines expose, without those of `ignoreList`."""
    listed = object_of(zone(0, cpu="4", gpu="1"), zone(1, cpu="4", memory="1Gi"))
    for exposed, ignored, aware in (
        (None, (), {"cpu", "gpu", "memory"}),
        (("cpu", "gpu", "nic"), (), {"cpu", "gpu"}),
        (None, ("gpu", "nic"), {"cpu", "memory"}),
    ):
        machine = topology.topology(listed, exposed=exposed, ignored=ignored)
        assert machine is not None
        assert machine.aware == aware


def test_the_cluster_as_a_whole() -> None:
    known = topology.around([TWO, None, FREE], frozenset({"cpu"}), rebuilds=False)
    assert (known.zones, known.exposed, known.rebuilds) == (4, {"cpu"}, False)
    assert known.aware >= {"cpu", "memory"}
    assert topology.around([None], None, rebuilds=True).zones == 0


def test_zones_come_by_the_numbers_at_the_end_of_their_names() -> None:
    """K-1."""
    names = ["a", "b-10", "a-2", "c-0", "a-1"]
    machine = topology.of_zones([KaiZone(name, {}, {}) for name in names], "none", "pod")
    assert [one.name for one in machine.zones] == ["c-0", "a-1", "a-2", "b-10", "a"]


@pytest.mark.parametrize(
    ("zones", "asked", "placement"),
    [
        pytest.param([1, 2, 1], {"cpu": 4}, {0: 1, 1: 2, 2: 1}, id="each zone once"),
        pytest.param([2, 2], {"cpu": 2, "gpu": 3}, None, id="one resource needs one zone, the other two"),
        pytest.param([1] * 8, {"cpu": 8, "gpu": 1}, None, id="one resource needs all of many zones, the other one"),
        pytest.param([2, 2], {"cpu": 3, "gpu": 3}, {0: 2, 1: 1}, id="both need two"),
    ],
)
def test_restricted_takes_as_many_zones_as_each_resource_needs(
    zones: list[int], asked: dict[str, int], placement: dict[int, int] | None
) -> None:
    """K-6."""
    made = [
        KaiZone(f"node-{number}", both, both) for number, one in enumerate(zones) for both in [{"cpu": one, "gpu": one}]
    ]
    answer = evaluate.solve(topology.of_zones(made, "restricted", "pod"), [asked])
    assert answer.admit == (placement is not None)
    assert {zone: part["cpu"] for zone, part in answer.placement.items()} == (placement or {})


def test_the_record_of_a_pending_bind_counts_before_what_was_predicted() -> None:
    """K-8; what is observed counts before both."""
    seen, bound, predicted = ((("node-0", amounts({"cpu": text})),) for text in ("1", "2", "3"))
    written = {
        kind: f'[{{"zone": "node-0", "amount": {{"cpu": {cpus}}}}}]'
        for kind, cpus in ((records.OBSERVED, 1), (records.PREDICTED, 3))
    }
    told = {records.PREDICTED: written[records.PREDICTED]}
    assert records.of_annotations(written, "Bound", bound).record == seen
    assert records.of_annotations(told, "Bound", bound).record == bound
    assert records.of_annotations(told, "Bound").record == predicted
    assert records.of_annotations({}, "Bound").record is None


def test_a_pod_gives_back_once_what_it_took() -> None:
    machine = topology.topology(object_of(zone(0, cpu="4"), zone(1, cpu="4")))
    empty = records.Ledger(machine)
    full = empty.place("p", cpus(3))
    assert full is not None
    assert full.free("p") == full.free("p").free("p") == empty
    assert empty.place("q", pod({"cpu": "3"})) == empty, "K-2: the filter does not handle it, so nothing is charged"
    assert empty.place("r", cpus(5)) is None


def test_what_has_no_record_gives_nothing_back() -> None:
    machine = topology.topology(object_of(zone(0, cpu="4")))
    assert records.seed(cpus(3), machine, records.PlacedPod("Running")) == {}


def test_a_zone_that_lists_nothing_free_takes_nothing_from_the_others() -> None:
    zones = [KaiZone(f"node-{number}", {"cpu": 1}, free) for number, free in enumerate(({"cpu": 2}, {}))]
    assert evaluate.solve(topology.of_zones(zones, "restricted", "pod"), [{"cpu": 2}]).placement == {0: {"cpu": 2}}


def test_a_placement_is_in_the_order_of_zones() -> None:
    zones = [KaiZone(f"node-{number}", free, free) for number, free in enumerate(({"gpu": 1}, {"cpu": 4}))]
    machine = topology.of_zones(zones, "best-effort", "container")
    assert list(evaluate.solve(machine, [{"cpu": 4}, {"gpu": 1}]).placement) == [0, 1]


def test_a_zone_covers_what_it_has_and_no_more() -> None:
    """The zone of the CPUs has no device: the one that has is taken, too."""
    zones = [KaiZone(f"node-{number}", free, free) for number, free in enumerate(({"cpu": 4}, {"gpu": 1}))]
    machine = topology.of_zones(zones, "best-effort", "container")
    assert evaluate.solve(machine, [{"cpu": 4, "gpu": 1}]).placement == {0: {"cpu": 4}, 1: {"gpu": 1}}


ODD_ZONES = [
    ("what is free beyond it widens nothing", [({"cpu": 3}, {"cpu": 3}), ({}, {"cpu": 1})], {"cpu": 4}),
    (
        "nor does it hold what needs another width",
        [({"cpu": 4, "gpu": 1}, {"cpu": 4, "gpu": 2})] * 2,
        {"cpu": 4, "gpu": 2},
    ),
]


@pytest.mark.parametrize(("zones", "asked"), [row[1:] for row in ODD_ZONES], ids=[row[0] for row in ODD_ZONES])
def test_the_width_is_from_what_may_be_had_of_an_empty_machine(
    zones: list[tuple[dict[str, int], dict[str, int]]], asked: dict[str, int]
) -> None:
    """K-6, where an object says that more is free than there is."""
    made = [KaiZone(f"node-{number}", had, free) for number, (had, free) in enumerate(zones)]
    assert not evaluate.solve(topology.of_zones(made, "restricted", "pod"), [asked]).admit


LISTS = [
    ("no policy", (), ("none", "container")),
    ("the first one counts", ("Restricted", "BestEffortPodLevel"), ("restricted", "container")),
    ("one that is not known", ("Odd", "BestEffortPodLevel"), ("none", "container")),
]


@pytest.mark.parametrize(("policies", "read"), [row[1:] for row in LISTS], ids=[row[0] for row in LISTS])
def test_the_old_list_as_kai_reads_it(policies: tuple[str, ...], read: tuple[str, str]) -> None:
    """K-1."""
    found = object_of(zone(0, cpu="4"))._replace(attributes=(), topology_policies=policies)
    assert topology.policy_scope(found) == read


def test_where_no_machine_has_an_object_none_scores() -> None:
    assert evaluate.score(cpus(3), None, topology.Around()) == 0


def test_a_device_of_which_none_is_asked_is_not_asked_for() -> None:
    """K-2."""
    assert not evaluate.asks_device(pod({"gpu": "0"}), {"gpu"})
    assert evaluate.asks_device(pod({"gpu": "0"}, {"gpu": "1"}), {"gpu"})


CPUS = [
    ("containers together", (cpus(2, 3)), 5),
    ("whole ones only", cpus(2, "1500m"), 2),
    (
        "an init container that asks for more",
        pod({"cpu": "2", "memory": "1Gi"}, init=({"cpu": "7", "memory": "1Gi"},)),
        7,
    ),
    ("or for less", pod({"cpu": "2", "memory": "1Gi"}, init=({"cpu": "1", "memory": "1Gi"},)), 2),
    ("only the pod as a whole", cpus(1)._replace(containers=(), level=(("cpu", 4),)), 0),
]


@pytest.mark.parametrize(("asked", "count"), [row[1:] for row in CPUS], ids=[row[0] for row in CPUS])
def test_how_many_cpus_a_pod_asks_for(asked: PodRequest, count: int) -> None:
    """K-4."""
    assert evaluate.demands(asked).pod["cpu"] == count * NANO
