"""What `capacity` says to programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import head, warnings

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.capacity import CapacityResult, NodeCapacity, ShapeCapacity
    from numalign.scheduler.fragmentation import Fragmentation


def capacity_json(result: CapacityResult, origin: str, notices: Sequence[Notice]) -> dict[str, object]:
    """Write the result of `capacity` (keys are only ever added); amounts are CPUs, devices or bytes."""
    found = result.right_size
    return {
        **head("CapacityResult"),
        "cluster": origin,
        "shapes": [_shape(shape) for shape in result.shapes],
        "rightSize": None
        if found is None
        else {
            "shape": found.shape,
            "replicas": found.replicas,
            "container": found.container,
            "cpus": found.cpus,
            "memory": found.memory,
        },
        "warnings": warnings(notices),
    }


def _shape(shape: ShapeCapacity) -> dict[str, object]:
    return {
        "name": shape.name,
        "rounds": None
        if shape.rounds is None
        else {
            "now": shape.rounds.now,
            "empty": shape.rounds.empty,
            "blind": shape.rounds.blind,
            "blindEmpty": shape.rounds.blind_empty,
        },
        "now": shape.now,
        "aligned": shape.aligned,
        "empty": shape.empty,
        "emptyAligned": shape.empty_aligned,
        "nothingToAlign": shape.nothing,
        "emptyNothingToAlign": shape.empty_nothing,
        "blind": shape.blind,
        "blindEmpty": shape.blind_empty,
        "stranded": shape.stranded,
        "fragmentation": _fragmentation(shape.fragmentation),
        "nodes": [_node(one) for one in shape.nodes],
    }


def _node(one: NodeCapacity) -> dict[str, object]:
    return {
        "name": one.node,
        "now": one.now,
        "aligned": one.aligned,
        "empty": one.empty,
        "emptyAligned": one.empty_aligned,
        "nothingToAlign": one.nothing,
        "emptyNothingToAlign": one.empty_nothing,
        "blind": one.blind,
        "blindEmpty": one.blind_empty,
        "limit": None
        if one.limit is None
        else {
            "resource": one.limit.resource or None,
            "numaNodes": list(one.limit.numa_nodes),
            "reason": one.limit.reason,
        },
        "missing": list(one.missing),
        "stranded": dict(one.stranded),
        "fragmentation": None if one.fragmentation is None else _fragmentation(one.fragmentation),
        "numaNodes": [
            {
                "id": zone.id,
                "free": dict(zone.free),
                "total": dict(zone.total),
                "copies": zone.copies,
                "most": zone.most,
            }
            for zone in one.zones
        ],
    }


def _fragmentation(found: Fragmentation) -> dict[str, object]:
    return {"single": found.single, "total": found.total, "share": round(float(found.share), 6)}
