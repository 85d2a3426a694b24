"""Which pools a node has, and which of them can be used (docs/rules/dra.md 3)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.features import features
from numalign.dra.pools import Pool, matches, pools_of, published, reaches
from numalign.dra.reading import read_slice
from numalign.dra.values import Device, Node, Placement, Requirement, Slice, Term
from numalign.model.quantity import parse
from tests.dra.objects import device, resource_slice

NODE = Node("node-1", {"zone": "a"})


def part(
    name: str = "s", pool: str = "p", *, generation: int = 1, count: int = 1, node: str = "node-1", **spec: Any
) -> dict[str, Any]:
    """A slice of a pool of `drv`, with the device `NAME-0`."""
    made = resource_slice(spec.pop("driver", "drv"), spec.pop("devices", [device(f"{name}-0")]), node, **spec)
    made["metadata"]["name"] = name
    made["spec"]["pool"] = {"name": pool, "generation": generation, "resourceSliceCount": count}
    return made


def counting(name: str, **more: Any) -> dict[str, Any]:
    """A slice with a counter set, of the node `else`."""
    sets = [{"name": "gpu", "counters": {"slices": {"value": "7"}}}]
    return part(name, node="else", devices=[], sharedCounters=more.pop("sets", sets), **more)


def using(counter_set: str, *counters: str) -> dict[str, Any]:
    uses = [{"counterSet": counter_set, "counters": {name: {"value": "1"} for name in counters}}]
    return {"name": "part", "consumesCounters": uses}


def pools(*slices: dict[str, Any], release: str = "1.36", **gates: bool) -> tuple[Pool, ...]:
    return pools_of(NODE, published(read_slice(one) for one in slices), features(release, gates))


def test_a_pool_can_be_used_where_nothing_is_said_against_it() -> None:
    assert Pool("drv", "p", (), ()).is_usable


def names(found: tuple[Pool, ...]) -> list[str]:
    return [str(pool) for pool in found]


def test_only_the_node_s_pools_are_there() -> None:
    mine, other = part(pool="a"), part(pool="b", node="node-2")
    anywhere, zone = part(pool="c", nodeName=None, allNodes=True), part(pool="d", nodeName=None)
    zone["spec"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    }

    assert names(pools(zone, anywhere, other, mine)) == ["drv/a", "drv/c", "drv/d"]


def test_pools_stand_by_driver_and_name_their_slices_by_name() -> None:
    found = pools(part("two", "a", count=2), part("x", "b", driver="abc"), part("x", "0"), part("one", "a", count=2))

    assert names(found) == ["abc/b", "drv/0", "drv/a"]
    assert [one.name for one in found[2].slices] == ["one", "two"]


def test_pools_with_binding_conditions_come_last() -> None:
    bound = part(pool="a", devices=[{"name": "d"}, {"name": "e", "bindingConditions": ["ready"]}])

    assert names(pools(bound, part(pool="b"))) == ["drv/b", "drv/a"]
    assert names(pools(bound, part(pool="b"), DRADeviceBindingConditions=False)) == ["drv/a", "drv/b"]


GENERATIONS = [
    ("only the newest counts", [part("old"), part("new", generation=2)], "1.36", ["new"], False),
    ("a slice is missing", [part(count=2)], "1.36", ["s"], True),
    ("all are there", [part("a", count=2), part("b", count=2)], "1.36", ["a", "b"], False),
    ("one too many", [part("a"), part("b")], "1.36", ["a", "b"], True),
    ("the rest is on another node", [part("a", count=2), part("b", count=2, node="n2")], "1.36", ["a"], False),
    (
        "too many over all nodes",
        [part("a", count=2), part("b", count=2, node="n2"), part("c", count=2, node="n3")],
        "1.36",
        ["a"],
        True,
    ),
    ("1.34 counts what is on the node", [part("a", count=2), part("b", count=2, node="n2")], "1.34", ["a"], True),
    ("whole here, a newer one elsewhere", [part("a"), part("b", generation=2, node="n2")], "1.36", ["a"], False),
    (
        "not whole here, and older ones elsewhere",
        [part("a", generation=2, count=2), part("b", node="n2", count=2)],
        "1.36",
        ["a"],
        True,
    ),
    ("the last slice says how many there are", [part("a", count=1), part("b", count=2)], "1.36", ["a", "b"], False),
]


@pytest.mark.parametrize(
    ("slices", "release", "kept", "incomplete"), [row[1:] for row in GENERATIONS], ids=[row[0] for row in GENERATIONS]
)
def test_a_pool_is_whole_or_not(slices: list[dict[str, Any]], release: str, kept: list[str], incomplete: bool) -> None:
    [pool] = pools(*slices, release=release)

    assert [one.name for one in pool.slices] == kept
    assert pool.incomplete is incomplete
    assert pool.is_usable is not incomplete


def test_a_pool_of_which_a_newer_generation_is_on_its_way_is_not_there() -> None:
    slices = [part("a", count=2), part("b", generation=2, node="n2")]

    assert pools(*slices) == ()
    assert names(pools(*slices, release="1.34")) == ["drv/p"]


def test_slices_of_the_generation_on_other_nodes_are_remembered() -> None:
    [pool] = pools(part("a", count=2), part("b", count=2, node="n2"), part("old", generation=0, node="n2"))

    assert [one.name for one in pool.elsewhere] == ["b"]


def test_counters_belong_to_every_node_and_devices_by_themselves_to_some() -> None:
    assert names(pools(counting("c"))) == ["drv/p"]
    assert pools(counting("c"), DRAPartitionableDevices=False) == ()
    own = part(nodeName="else", perDeviceNodeSelection=True, devices=[{"name": "d", "nodeName": "node-1"}])
    assert names(pools(own)) == ["drv/p"]


TWO_SETS = [{"name": "gpu", "counters": {}}, {"name": "gpu", "counters": {}}]
INVALID = [
    ("two devices of one name", [part(devices=[device("d"), device("d")])], "duplicate device name d"),
    (
        "two devices of one name in two slices",
        [part("a", count=2, devices=[device("d")]), part("b", count=2, devices=[device("d")])],
        "duplicate device name d",
    ),
    (
        "one name on two nodes is none",
        [part("a", count=2, devices=[device("d")]), part("b", count=2, devices=[device("d")], node="n2")],
        "",
    ),
    ("a counter set that is there twice", [counting("c", sets=TWO_SETS)], "duplicate counter set name gpu"),
    ("a counter set that is not there", [part(devices=[using("gpu", "slices")])], "counter set gpu not found"),
    (
        "a counter that is not there",
        [part("a", count=2, devices=[using("gpu", "slices", "z", "b")]), counting("c", count=2)],
        "counter b not found in counter set gpu",
    ),
    ("counters that are there", [part("a", count=2, devices=[using("gpu", "slices")]), counting("c", count=2)], ""),
    (
        "a device of another node uses one that is not there",
        [counting("c", count=2), part("a", count=2, devices=[using("gpu", "z")], node="n2")],
        "counter z not found in counter set gpu",
    ),
]


@pytest.mark.parametrize(("slices", "why"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_a_pool_is_invalid(slices: list[dict[str, Any]], why: str) -> None:
    [pool] = pools(*slices)

    assert pool.invalid == why
    assert pool.is_usable is not bool(why)


def test_counters_are_not_looked_at_where_nothing_can_be_parted() -> None:
    [pool] = pools(part(devices=[using("gpu", "slices")]), DRAPartitionableDevices=False)
    assert pool.invalid == ""


def test_a_pool_that_is_not_whole_is_not_judged_but_in_1_34() -> None:
    slices = [part(count=2, devices=[device("d"), device("d")])]

    assert [(pool.incomplete, pool.invalid) for pool in pools(*slices)] == [(True, "")]
    assert [(pool.incomplete, pool.invalid) for pool in pools(*slices, release="1.34")] == [
        (True, "duplicate device name d")
    ]


OF_MANY_LABELS = Node("n1", {"zone": "a", "size": "12", "word": "x"})


def asks(key: str, operator: str, *values: str) -> Placement:
    return Placement(selector=(Term(expressions=(Requirement(key, operator, values),)),))


def named(operator: str, *values: str, key: str = "metadata.name") -> Placement:
    return Placement(selector=(Term(fields=(Requirement(key, operator, values),)),))


TWO_TERMS = Placement(selector=(*(asks("zone", "In", "b").selector or ()), *(asks("zone", "In", "a").selector or ())))
BOTH = Placement(selector=(Term((Requirement("zone", "Exists"),), (Requirement("metadata.name", "In", ("n2",)),)),))

PLACED = [
    ("the node's own name", Placement(node_name="n1"), True),
    ("another node's name", Placement(node_name="n2"), False),
    ("another node's name beside all nodes", Placement(node_name="n2", all_nodes=True), False),
    ("all nodes", Placement(all_nodes=True), True),
    ("nothing said", Placement(), False),
    ("a selector without terms", Placement(selector=()), False),
    ("an empty term holds for no node", Placement(selector=(Term(),)), False),
    ("one of two terms", TWO_TERMS, True),
    ("a term's label holds, its field does not", BOTH, False),
    ("In one of the values", asks("zone", "In", "b", "a"), True),
    ("In other values", asks("zone", "In", "b"), False),
    ("In of a label that is missing", asks("gone", "In", "a"), False),
    ("NotIn other values", asks("zone", "NotIn", "b"), True),
    ("NotIn one of the values", asks("zone", "NotIn", "a"), False),
    ("NotIn of a label that is missing", asks("gone", "NotIn", "a"), True),
    ("Exists", asks("zone", "Exists"), True),
    ("Exists of a label that is missing", asks("gone", "Exists"), False),
    ("DoesNotExist", asks("zone", "DoesNotExist"), False),
    ("DoesNotExist of a label that is missing", asks("gone", "DoesNotExist"), True),
    ("Gt a smaller number", asks("size", "Gt", "11"), True),
    ("Gt the same number", asks("size", "Gt", "12"), False),
    ("Lt a larger number", asks("size", "Lt", "13"), True),
    ("Lt the same number", asks("size", "Lt", "12"), False),
    ("Gt as numbers, not as texts", asks("size", "Gt", "9"), True),
    ("Gt of a label that is missing", asks("gone", "Gt", "1"), False),
    ("Gt a number of 64 bits", asks("size", "Gt", "-9223372036854775808"), True),
    ("Lt a number that has more", asks("size", "Lt", "9223372036854775808"), False),
    ("Lt no number of Go's", asks("size", "Lt", "1_000"), False),
    ("Gt of a text", asks("word", "Gt", "1"), False),
    ("Gt a text", asks("size", "Gt", "x"), False),
    ("Gt several numbers", asks("size", "Gt", "1", "2"), False),
    ("Lt nothing", asks("size", "Lt"), False),
    ("an operator that is none", asks("zone", "Like", "a"), False),
    ("the node by a field", named("In", "n1"), True),
    ("another node by a field", named("In", "n2"), False),
    ("a field that no node has", named("Exists", key="metadata.uid"), False),
]


@pytest.mark.parametrize(("placement", "holds"), [row[1:] for row in PLACED], ids=[row[0] for row in PLACED])
def test_a_placement_allows_a_node(placement: Placement, holds: bool) -> None:
    assert matches(placement, OF_MANY_LABELS) is holds


HERE, THERE = Device("a", placement=Placement(node_name="n1")), Device("b", placement=Placement(node_name="n2"))
ELSEWHERE = Slice("s", "d", "p", 1, 1, Placement(node_name="n2"))
EACH = ELSEWHERE._replace(placement=Placement(), per_device=True)
COUNTING = ELSEWHERE._replace(counters=(("set", {"c": parse("1")}),))

REACHED = [
    ("another node's slice", ELSEWHERE, True, False),
    ("a slice of which one device is the node's", EACH._replace(devices=(THERE, HERE)), True, True),
    ("a slice of which no device is the node's", EACH._replace(devices=(THERE,)), True, False),
    ("devices by themselves where nothing can be parted", EACH._replace(devices=(HERE,)), False, False),
    ("shared counters belong to every node", COUNTING, True, True),
    ("shared counters where nothing can be parted", COUNTING, False, False),
]


@pytest.mark.parametrize(
    ("slice_", "partitionable", "is_reached"), [row[1:] for row in REACHED], ids=[row[0] for row in REACHED]
)
def test_a_slice_belongs_to_a_node(slice_: Slice, partitionable: bool, is_reached: bool) -> None:
    assert reaches(slice_, OF_MANY_LABELS, partitionable=partitionable) is is_reached
