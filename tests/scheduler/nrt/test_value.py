"""How the schedulers read an NRT object (docs/rules/scheduling.md 1.4, T-6, L-6; podresources.md 18 to 20)."""

from __future__ import annotations

import pytest

from numalign.scheduler.nrt.value import (
    NodeResourceTopology,
    NUMAZone,
    TopologyManagerConfig,
    Zone,
    ZoneResource,
    attribute,
    legacy_name,
    legacy_policy,
    manager_config,
    numa_zones,
    number_of,
    with_available,
    zone_id,
)

NAMES = [
    ("the plugin's own form", "node-7", 7, 7),
    ("a long number", "node-123456789012345678", 123456789012345678, 123456789012345678),
    ("a longer one", "node-1234567890123456789", None, 234567890123456789),
    ("another word", "numa7", None, 7),
    ("a number with a zero", "node-07", 7, 7),
    ("two numbers", "socket-1-node-2", None, 2),
    ("something behind the number", "node-7x", None, None),
    ("a line break behind it", "node-7\n", None, None),
    ("no number", "node-", None, None),
    ("a sign", "node--7", None, 7),
    ("figures of another script", "node-٣", None, None),
]


@pytest.mark.parametrize(("name", "plugin", "kai"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_the_number_of_a_zone(name: str, plugin: int | None, kai: int | None) -> None:
    assert (zone_id(name), number_of(name)) == (plugin, kai)


def config(*policies: str, **attributes: str) -> TopologyManagerConfig:
    return manager_config(NodeResourceTopology("n", (), tuple(attributes.items()), policies))


SETTINGS = [
    ("nothing said", config(), ("none", "container", 8)),
    ("the old list", config("RestrictedPodLevel"), ("restricted", "pod", 8)),
    ("only its first element", config("None", "RestrictedPodLevel"), ("none", "container", 8)),
    ("a short one says nothing", config("Restricted"), ("none", "container", 8)),
    ("attributes", config(topologyManagerPolicy="restricted", topologyManagerScope="pod"), ("restricted", "pod", 8)),
    (
        "one attribute wins over the list",
        config("RestrictedPodLevel", topologyManagerPolicy="none"),
        ("none", "pod", 8),
    ),
    ("the other one", config("RestrictedPodLevel", topologyManagerScope="container"), ("restricted", "container", 8)),
    ("a policy that is none", config(topologyManagerPolicy="odd"), ("none", "container", 8)),
    ("a scope that is none", config(topologyManagerScope="odd"), ("none", "container", 8)),
    ("how many nodes", config(topologyManagerMaxNUMANodes="12"), ("none", "container", 12)),
    ("two", config(topologyManagerMaxNUMANodes="+2"), ("none", "container", 2)),
    ("one is no number of nodes", config(topologyManagerMaxNUMANodes="1"), ("none", "container", 8)),
    ("nor is a word", config(topologyManagerMaxNUMANodes="x"), ("none", "container", 8)),
    ("the most", config(topologyManagerMaxNUMANodes="1024"), ("none", "container", 1024)),
    ("more than that", config(topologyManagerMaxNUMANodes="1025"), ("none", "container", 1024)),
]


@pytest.mark.parametrize(("found", "said"), [row[1:] for row in SETTINGS], ids=[row[0] for row in SETTINGS])
def test_what_an_object_says_of_the_topology_manager(found: TopologyManagerConfig, said: tuple[str, str, int]) -> None:
    assert found == TopologyManagerConfig(*said)


def test_policies_of_the_old_list_are_written_as_they_are_read() -> None:
    for policy in ("single-numa-node", "restricted", "best-effort"):
        for scope in ("container", "pod"):
            assert legacy_policy(legacy_name(policy, scope)) == (policy, scope)
    assert legacy_name("none", "container") == "None"
    assert legacy_policy("BestEffort") is None
    assert legacy_policy("BestEffort", short=True) == ("best-effort", "container")
    assert legacy_policy("odd", short=True) is None


def test_of_equal_attributes_the_first_counts() -> None:
    assert attribute((("a", "1"), ("b", "2"), ("a", "3")), "a") == "1"
    assert attribute((("a", "1"),), "b") is None


def listing(*zones: Zone) -> NodeResourceTopology:
    return NodeResourceTopology("n", zones)


def test_which_zones_the_plugin_looks_at() -> None:
    cpu = {"cpu": ZoneResource(9, 8, 7)}
    zones = [
        Zone("node-1", resources=cpu, costs={"node-0": 20, "x": 30, "node-1": 10}),
        Zone("node-64", resources=cpu),
        Zone("node-63", resources=cpu),
        Zone("numa0", resources=cpu),
        Zone("node-0", "Core", cpu),
    ]
    assert numa_zones(listing(*zones)) == (NUMAZone(1, {"cpu": 7}, {0: 20, 1: 10}), NUMAZone(63, {"cpu": 7}))


def test_what_is_free_where_nobody_says_it() -> None:
    nrt = listing(Zone("node-0", resources={"a": ZoneResource(9, 8), "b": ZoneResource(9), "c": ZoneResource(9, 8, 0)}))

    assert numa_zones(nrt)[0].available == {"a": 0, "b": 0, "c": 0}
    assert numa_zones(nrt, "kep")[0].available == {"a": 8, "b": 0, "c": 0}


def test_free_amounts_are_replaced_where_they_are_named() -> None:
    nrt = listing(
        Zone("a", resources={"cpu": ZoneResource(9, 8, 7), "gpu": ZoneResource(1, 1, 1)}),
        Zone("b", resources={"cpu": ZoneResource(9, 8, 7)}),
    )
    found = with_available(nrt, [{"cpu": 3, "nic": 5}, {}])

    assert [dict(zone.resources) for zone in found.zones] == [
        {"cpu": ZoneResource(9, 8, 3), "gpu": ZoneResource(1, 1, 1)},
        {"cpu": ZoneResource(9, 8, 7)},
    ]
    assert nrt.listed == {"cpu", "gpu"}
