"""An NRT object as the API writes it (docs/rules/podresources.md part B)."""

from __future__ import annotations

from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource, amount_text, manifest

NANO = 10**9


def test_every_field_is_written() -> None:
    zone = Zone(
        "node-0",
        resources={"cpu": ZoneResource(4 * NANO, 3 * NANO, 2_500_000_000), "gpu": ZoneResource(available=NANO)},
        costs={"node-0": 10, "node-1": 20},
        attributes=(("b", "2"), ("a", "1")),
        parent="socket-0",
    )
    nrt = NodeResourceTopology("n", (zone, Zone("core", "Core")), (("x", "y"),), ("None",), {"k": "v"})

    assert manifest(nrt) == {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n", "annotations": {"k": "v"}},
        "topologyPolicies": ["None"],
        "attributes": [{"name": "x", "value": "y"}],
        "zones": [
            {
                "name": "node-0",
                "type": "Node",
                "parent": "socket-0",
                "costs": [{"name": "node-0", "value": 10}, {"name": "node-1", "value": 20}],
                "attributes": [{"name": "b", "value": "2"}, {"name": "a", "value": "1"}],
                "resources": [
                    {"name": "cpu", "capacity": "4", "allocatable": "3", "available": "2500m"},
                    {"name": "gpu", "available": "1"},
                ],
            },
            {"name": "core", "type": "Core"},
        ],
    }


def test_what_is_not_there_is_not_written() -> None:
    assert manifest(NodeResourceTopology("n")) == {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n"},
        "zones": [],
    }


def test_amounts_are_short() -> None:
    assert [amount_text(nano) for nano in (0, NANO, 3 << 30, (3 << 30) * NANO, 1_500_000_000, 1)] == [
        "0",
        "1",
        "3221225472n",
        "3221225472",
        "1500m",
        "1n",
    ]
