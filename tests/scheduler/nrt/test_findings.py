"""What is odd about an NRT object (docs/rules/podresources.md 18, 20, 30)."""

from __future__ import annotations

import pytest

from numalign.scheduler.nrt.findings import doubled_zones, findings
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource

CPU = {"cpu": ZoneResource(4, 3, 2)}
GOOD = Zone("node-0", resources=CPU, costs={"node-0": 10, "node-1": 20})
OTHER = GOOD._replace(name="node-1")


def of(*zones: Zone, policies: tuple[str, ...] = (), **attributes: str) -> NodeResourceTopology:
    return NodeResourceTopology("n", zones or (GOOD, OTHER), tuple(attributes.items()), policies)


def zone(**changes: object) -> NodeResourceTopology:
    """An object whose first zone is changed."""
    return of(GOOD._replace(**changes), OTHER)


def amount(capacity: int | None, allocatable: int | None, available: int | None) -> NodeResourceTopology:
    return zone(resources={"cpu": ZoneResource(capacity, allocatable, available)})


ODD = [
    ("nothing", of(), []),
    ("an old policy that all know", of(policies=("RestrictedPodLevel",)), []),
    ("none", of(policies=("None",)), []),
    ("a short one", of(policies=("Restricted",)), [("nrt-policy-old", "topologyPolicies[0]")]),
    ("one that nobody knows", of(policies=("Odd",)), [("nrt-policy-unknown", "topologyPolicies[0]")]),
    ("a second one", of(policies=("None", "Odd")), [("nrt-policy-ignored", "topologyPolicies[1]")]),
    (
        "the first one is held against it",
        of(policies=("RestrictedPodLevel", "None"), topologyManagerPolicy="restricted"),
        [("nrt-policy-ignored", "topologyPolicies[1]")],
    ),
    ("an attribute that says the same", of(policies=("RestrictedPodLevel",), topologyManagerPolicy="restricted"), []),
    (
        "an attribute that says something else",
        of(policies=("RestrictedPodLevel",), topologyManagerPolicy="none"),
        [("nrt-policy-contradicted", "topologyPolicies")],
    ),
    (
        "a policy that is none",
        of(topologyManagerPolicy="odd"),
        [("nrt-attribute-unknown", "attributes.topologyManagerPolicy")],
    ),
    (
        "a scope that is none",
        of(topologyManagerScope="node"),
        [("nrt-attribute-unknown", "attributes.topologyManagerScope")],
    ),
    ("an attribute beside no list", of(topologyManagerPolicy="restricted"), []),
    ("two nodes at most", of(topologyManagerMaxNUMANodes="2"), []),
    ("eighteen figures", of(topologyManagerMaxNUMANodes=f"{2:018}"), []),
    (
        "more figures than a number has",
        of(topologyManagerMaxNUMANodes=f"{2:019}"),
        [("nrt-attribute-unknown", "attributes.topologyManagerMaxNUMANodes")],
    ),
    (
        "one node at most",
        of(topologyManagerMaxNUMANodes="1"),
        [("nrt-attribute-unknown", "attributes.topologyManagerMaxNUMANodes")],
    ),
    (
        "a number that is none",
        of(topologyManagerMaxNUMANodes="x"),
        [("nrt-attribute-unknown", "attributes.topologyManagerMaxNUMANodes")],
    ),
    (
        "figures of another script",
        of(topologyManagerMaxNUMANodes="٣"),
        [("nrt-attribute-unknown", "attributes.topologyManagerMaxNUMANodes")],
    ),
    (
        "a zone of another type takes a number",
        zone(type="Core"),
        [("nrt-zone-type", "zones[0].type"), ("nrt-crash", "zones[1].name")],
    ),
    (
        "a number is left out",
        of(GOOD._replace(costs={"node-0": 10}), OTHER._replace(name="node-8", costs={})),
        [("nrt-crash", "zones[1].name")],
    ),
    (
        "no zone of a node",
        of(GOOD._replace(type="Core")),
        [("nrt-zone-type", "zones[0].type"), ("nrt-no-zone", "zones")],
    ),
    ("a zone below another", zone(parent="socket"), [("nrt-zone-parent", "zones[0].parent")]),
    (
        "a name that KAI reads",
        of(GOOD._replace(name="numa0", costs={}), OTHER._replace(costs={"node-1": 10})),
        [("nrt-zone-name", "zones[0].name"), ("nrt-crash", "zones[1].name")],
    ),
    ("the last number that there is", of(GOOD._replace(name="node-63", costs={})), [("nrt-crash", "zones[0].name")]),
    ("a number behind it", of(GOOD._replace(name="node-64", costs={})), [("nrt-zone-name", "zones[0].name")]),
    (
        "a number behind it leaves one fewer",
        of(*(GOOD._replace(name=f"node-{number}", costs={"node-0": 10}) for number in (0, 64, 2))),
        [("nrt-zone-name", "zones[1].name"), ("nrt-crash", "zones[2].name")],
    ),
    ("costs to a zone that is not there", zone(costs={"node-7": 10}), [("nrt-cost-unknown", "zones[0].costs")]),
    ("no costs at all", of(GOOD._replace(costs={}), OTHER._replace(costs={})), [("nrt-no-costs", "zones")]),
    ("one zone needs none", of(GOOD._replace(costs={})), []),
    ("nothing left", amount(4, 4, 0), []),
    ("less than nothing left", amount(4, 4, -1), [("nrt-amount-negative", "zones[0].resources.cpu")]),
    ("all left", amount(4, 4, 4), []),
    ("more left than there is", amount(4, 3, 4), [("nrt-amount-odd", "zones[0].resources.cpu")]),
    ("more than the capacity", amount(3, 4, 1), [("nrt-amount-odd", "zones[0].resources.cpu")]),
    ("nobody says what is left", amount(4, 4, None), [("nrt-amount-missing", "zones[0].resources.cpu")]),
    ("nobody says what there is", amount(None, None, 4), []),
    ("nobody says the capacity", amount(None, 4, 4), []),
    ("nobody says what may be had", amount(4, None, 4), []),
]


@pytest.mark.parametrize(("nrt", "found"), [row[1:] for row in ODD], ids=[row[0] for row in ODD])
def test_what_is_odd_is_told_with_its_field(nrt: NodeResourceTopology, found: list[tuple[str, str]]) -> None:
    assert [(one.code, one.path) for one in findings(nrt)] == found


def test_the_words_say_who_reads_a_name() -> None:
    [kai, nobody, far] = (
        [one.message for one in findings(of(GOOD._replace(name=name, costs={}))) if one.code == "nrt-zone-name"]
        for name in ("numa0", "socket", "node-64")
    )
    assert kai[0].endswith("the plugin skips the zone, KAI reads it")
    assert nobody[0].endswith("the plugin skips the zone, KAI sorts it last")
    assert far == ["the largest NUMA id is 63: the scheduler plugin skips this zone"]


def test_the_first_policy_is_the_one_that_is_contradicted() -> None:
    policies = ("RestrictedPodLevel", "BestEffortPodLevel")
    ignored, contradicted = findings(of(policies=policies, topologyManagerPolicy="best-effort"))
    assert ignored.code == "nrt-policy-ignored"
    assert contradicted.message == "RestrictedPodLevel contradicts the attribute best-effort, which wins"


DOUBLED = [
    ("two names", ("node-0", "node-1"), []),
    ("one name twice", ("node-0", "node-0"), ["zones[1].name"]),
    ("one number twice", ("node-0", "numa0"), ["zones[1].name"]),
    ("three times", ("node-0", "node-0", "x0"), ["zones[1].name", "zones[2].name"]),
    ("names without a number", ("a", "b"), []),
]


@pytest.mark.parametrize(("names", "paths"), [row[1:] for row in DOUBLED], ids=[row[0] for row in DOUBLED])
def test_zones_that_are_there_twice(names: tuple[str, ...], paths: list[str]) -> None:
    assert [one.path for one in doubled_zones(of(*(Zone(name) for name in names)))] == paths


def test_a_zone_of_another_type_has_a_name_and_no_number() -> None:
    assert list(doubled_zones(of(Zone("node-0"), Zone("core-0", "Core")))) == []
    [one] = doubled_zones(of(Zone("node-0"), Zone("node-0", "Core")))
    assert one.message == "duplicate 'node-0', see zones[0]"
