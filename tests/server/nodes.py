"""Nodes for the server's tests: those of docs/rules/scheduling.md 7.7."""

from __future__ import annotations

from numalign.scheduler.extender import Extender, Judge
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource

NANO = 10**9
GI = 1 << 30
ATTRIBUTES = (("topologyManagerPolicy", "single-numa-node"), ("topologyManagerScope", "container"))
POD = {
    "metadata": {"name": "p", "namespace": "d"},
    "spec": {
        "containers": [
            {
                "name": "c",
                "env": [{"name": "PASSWORD", "value": "hunter2"}],
                "resources": {
                    "requests": {"cpu": "6", "memory": "1Gi"},
                    "limits": {"cpu": "6", "memory": "1Gi"},
                },
            }
        ]
    },
}


def zone(number: int, free: int, all_cpus: int) -> Zone:
    cpus = ZoneResource(all_cpus * NANO, all_cpus * NANO, free * NANO)
    memory = ZoneResource(64 * GI * NANO, 64 * GI * NANO, 64 * GI * NANO)
    return Zone(f"node-{number}", resources={"cpu": cpus, "memory": memory})


def node(name: str, free: tuple[int, int], all_cpus: int) -> ClusterNode:
    zones = tuple(zone(number, one, all_cpus) for number, one in enumerate(free))
    nrt = NodeResourceTopology(name, zones, ATTRIBUTES)
    totals = NodeTotals({"cpu": 2 * all_cpus * NANO, "memory": 128 * GI * NANO}, {}, 0)
    return ClusterNode(name, totals, None, "counts", nrt)


NODES = (node("a", (20, 0), 24), node("b", (2, 3), 8), node("c", (4, 4), 4))


def extender(judge: Judge = "nrt") -> Extender:
    return Extender(NODES, judge=judge)
