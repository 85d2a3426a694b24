"""What `explain` tells programs: an `AdmitResult`'s pods, each with its matrices, its refusal and the changes found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numalign.analysis.alternatives import alternatives
from numalign.analysis.explanation import Explanation
from numalign.analysis.matrix import Matrix
from numalign.analysis.merging import merging
from numalign.analysis.placement import Placement
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.changes import Change
from numalign.errors import Notice, StartError
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.node import Node
from numalign.model.cpuset import ids
from numalign.model.machine import Machine
from numalign.render.json.admit import pod_json, settings_json
from numalign.render.text.details import alternatives_json, merging_json
from numalign.render.text.explain import Advice, More, change_text, quantity_text
from numalign.render.text.refusal import why


def explain_json(
    node: Node,
    base: str,
    told: Sequence[Explanation],
    advice: Sequence[Advice],
    notices: Sequence[Notice],
    more: More,
) -> dict[str, Any]:
    """Write the result of `explain` (keys are only ever added)."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "ExplainResult",
        "machine": node.machine.name,
        "base": base,
        "kubelet": settings_json(node.config),
        "startError": None,
        "pods": [{**_pod(node, one, commands), **_more(one, more)} for one, commands in zip(told, advice, strict=True)],
        "warnings": [notice._asdict() for notice in notices],
    }


def _pod(node: Node, told: Explanation, advice: Advice) -> dict[str, Any]:
    return {
        **pod_json(node, told.outcome),
        "decisions": [matrix_json(table) for table in told.matrices],
        "refusal": None if told.refusal is None else _refusal(node, told.refusal),
        "changes": [
            _change(node, change, command) for change, command in zip(told.changes, advice.changes, strict=True)
        ],
        "placements": [_placement(one) for one in told.placements],
        "next": None if told.refusal is None else (*advice.changes, advice.otherwise)[0],
    }


def start_json(machine: Machine, config: KubeletConfig, base: str, error: StartError, check: str) -> dict[str, Any]:
    """Write that the kubelet does not start; `check` is the command that goes on from here."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "ExplainResult",
        "machine": machine.name,
        "base": base,
        "kubelet": settings_json(config),
        "startError": error.message,
        "next": check,
        "pods": [],
        "warnings": [],
    }


def _more(told: Explanation, more: More) -> dict[str, Any]:
    node = told.outcome.before.node
    pairs = list(zip(told.decisions, told.matrices, strict=True))
    written: dict[str, Any] = {}
    if more.details:
        written["details"] = [merging_json(merging(node, decision)) for decision, _ in pairs]
    if more.alternatives:
        written["alternatives"] = [
            alternatives_json(decision.container, alternatives(node, decision, table)) for decision, table in pairs
        ]
    return written


def matrix_json(table: Matrix) -> dict[str, Any]:
    """Write a matrix: amounts are CPUs, devices or bytes."""
    return {
        "container": table.container,
        "resources": [
            {
                "resource": row.resource,
                "requested": row.requested,
                "free": row.free,
                "leastNodes": row.width,
                "nodes": [
                    {"numaNode": numa, "free": cell.free, "total": cell.total, "verdict": cell.verdict}
                    for numa, cell in zip(table.nodes, row.cells, strict=True)
                ],
            }
            for row in table.rows
        ],
        "nodesWithAll": [numa for place, numa in enumerate(table.nodes) if table.fits(place)],
    }


def _refusal(node: Node, refusal: Refusal) -> dict[str, Any]:
    return {
        "stage": refusal.stage,
        "reason": refusal.reason,
        "message": refusal.message,
        "container": refusal.container,
        "resources": [row.resource for row in refusal.culprits],
        "why": list(why(refusal, node)),
        "never": refusal.never,
    }


def _change(node: Node, change: Change, command: str) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "text": change_text(change, node),
        "aligned": change.aligned,
        "pods": [pod.name for pod in change.pods],
        "fewest": change.fewest,
        "requests": [
            {
                "container": container,
                "resource": resource,
                "asked": quantity_text(change.asked[container, resource]),
                "ask": quantity_text(nano),
            }
            for (container, resource), nano in change.amounts.items()
        ],
        "settings": dict(change.flags),
        "machine": change.machine or None,
        "command": command,
    }


def _placement(placement: Placement) -> dict[str, Any]:
    judged = placement.judged
    return {
        "container": placement.container.name,
        "aligned": judged.aligned,
        "numaNodes": list(ids(judged.nodes)),
        "leastNodes": judged.least,
        "distance": placement.distance,
        "localDistance": placement.local,
        "resources": [
            {"resource": place.resource, "numaNodes": list(ids(place.nodes)), "distance": place.distance}
            for place in placement.places
        ],
        "unplaced": list(judged.unplaced),
    }
