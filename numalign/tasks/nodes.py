"""List the nodes of a cluster: policy, scope, and what is free on each NUMA node."""

from __future__ import annotations

from numalign.model.quantity import NANO
from numalign.results.cluster import NodeLine
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.nrt.value import manager_config


def list_nodes(fleet: Fleet) -> tuple[NodeLine, ...]:
    """Take from the published objects what people want to see."""
    return tuple([_line(node) for node in fleet.nodes])


def _line(node: ClusterNode) -> NodeLine:
    if node.nrt is None:
        return NodeLine(node.name, node.totals.pods, None, None, {})
    config = manager_config(node.nrt)
    free = {
        zone.name: {name: (one.available or 0) // NANO for name, one in zone.resources.items()}
        for zone in node.nrt.zones
    }
    return NodeLine(node.name, node.totals.pods, config.policy, config.scope, free)
