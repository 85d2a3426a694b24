"""What `explain` tells programs: an `AdmitResult`'s pods, each with its matrices, its refusal and the changes found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set, ids
from numalign.model.quantity import NANO
from numalign.render.json import Data, closeness_json, head, warnings
from numalign.render.json.admit import claims_of, pod_json, setup_json, together_json
from numalign.render.json.changes import change_json
from numalign.render.json.reasons import alternatives_json, merging_json, told_json
from numalign.render.text.aligned_then import unaligned
from numalign.render.text.alignment import cause_text
from numalign.render.text.changes import Advice
from numalign.render.text.details import first_of_all, numbers_text
from numalign.render.text.reasons import settings_text
from numalign.render.text.tables import untied_text
from numalign.render.text.words import sentence, why
from numalign.results.explain import ExplainedPod, ExplainResult, Reasons, reasons_of

if TYPE_CHECKING:
    from numalign.analysis.crash import Crash
    from numalign.analysis.explanation import Unpinned
    from numalign.analysis.in_the_way import Amount
    from numalign.analysis.loose import Loose
    from numalign.analysis.matrix import Cell, Matrix
    from numalign.analysis.placement import Placement
    from numalign.analysis.refusal import Refusal
    from numalign.errors import Notice, StartError
    from numalign.kubelet.config import KubeletConfig
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import QoS
    from numalign.results.admit import ContainerResult


def explain_json(result: ExplainResult, advice: Sequence[Advice], notices: Sequence[Notice]) -> Data:
    """Write the result of `explain` (keys are only ever added)."""
    config = result.setup.config
    return {
        **head("ExplainResult"),
        **setup_json(result.setup),
        "startError": None,
        "pods": [
            {**_pod(config, one, commands), **_more(one)} for one, commands in zip(result.pods, advice, strict=True)
        ],
        **together_json(result.together),
        **claims_of(result.claims),
        "warnings": warnings(notices),
    }


def _pod(config: KubeletConfig, told: ExplainedPod, advice: Advice) -> Data:
    found = reasons_of(told, config)
    return {
        **pod_json(told.pod),
        "decisions": [matrix_json(table) for table in told.matrices],
        "refusal": None if told.refusal is None else _refusal(told.refusal, found, told.besides),
        "changes": [
            change_json(config, told, change, after, command, parts)
            for change, after, command, parts in zip(told.changes, told.after, advice.changes, found.parts, strict=True)
        ],
        "placements": [_placement(*both) for both in zip(told.pod.containers, told.placements, strict=False)],
        "unpinned": [_unpinned(one, told.pod.qos) for one in told.unpinned],
        "untied": [
            {"container": one.container, "resource": one.resource, "text": untied_text(one, told.pod.qos)}
            for one in told.untied
        ],
        "leastBad": told.least_bad
        and {
            "settings": dict(told.least_bad[0].flags),
            "text": ". ".join(settings_text(told.least_bad[0], config)),
            "notAligned": list(unaligned(*told.least_bad)),
        },
        "cpusHandedOutTwice": format_set(told.doubled),
        "repair": told.repair
        and {
            "devices": [{"resource": name, "told": list(wrong)} for name, wrong in told.repair.devices],
            "admits": told.repair.admits,
            "keptOut": list(told.repair.kept_out),
        },
        "next": None if told.refusal is None and not told.changes else (*advice.changes, advice.otherwise)[0],
    }


def start_json(setup: Setup, error: StartError, check: str) -> Data:
    """Write that the kubelet does not start; `check` is the command that goes on from here."""
    return {
        **head("ExplainResult"),
        **setup_json(setup),
        "startError": error.message,
        "next": check,
        "pods": [],
        "warnings": [],
    }


def _more(told: ExplainedPod) -> Data:
    written: Data = {}
    closer = [one for one in told.closer if one.amounts or one.numa or one.write]
    if closer:
        written["closer"] = [
            {
                "container": one.container,
                "closeness": one.closeness,
                "requests": dict(one.amounts),
                "numaNodes": list(ids(one.numa)),
                "write": "\n".join(one.write),
            }
            for one in closer
        ]
    if told.details is not None:
        written["details"] = [merging_json(steps) for steps in told.details]
    if told.alternatives is not None:
        written["alternatives"] = [
            alternatives_json(table.container, found)
            for table, found in zip(told.matrices, told.alternatives, strict=True)
        ]
    return written


def matrix_json(table: Matrix) -> Data:
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
                    {"numaNode": numa, "free": cell.free, "total": cell.total, "verdict": cell.verdict, **_bound(cell)}
                    for numa, cell in zip(table.nodes, row.cells, strict=True)
                ],
                **_apart(row.loose),
            }
            for row in table.rows
        ],
        "nodesWithAll": [numa for place, numa in enumerate(table.nodes) if table.fits(place)],
    }


def _bound(cell: Cell) -> Data:
    """Write what init containers leave on a node, and with which nodes its memory is used only."""
    left: Data = {"left": cell.handed} if cell.handed else {}
    return {**left, "together": list(ids(cell.group))} if cell.group else left


def _apart(devices: Loose | None) -> Data:
    """Write where devices lie that are on no node or on several, which the nodes do not tell."""
    if devices is None or not devices.apart:
        return {}
    return {
        "devices": [
            {
                "numaNodes": list(ids(mask)),
                "free": free,
                "total": total,
                **({} if mask else {"told": list(devices.told)}),
            }
            for mask, free, total in (*sorted(devices.places), (0, *devices.nowhere))
            if total
        ]
    }


def _refusal(refusal: Refusal, found: Reasons, besides: Sequence[Refusal]) -> Data:
    return {
        "stage": refusal.stage,
        "reason": refusal.reason,
        "message": refusal.message,
        "messageCounts": numbers_text(refusal) or None,
        "container": refusal.container,
        "resources": list(refusal.resources),
        "amounts": [_amount(one) for one in refusal.amounts],
        "why": list(map(sentence, found.own)),
        "facts": list(map(told_json, found.every)),
        "never": refusal.never,
        "besides": [
            {
                "stage": one.stage,
                "container": one.at,
                "resources": list(one.resources),
                "amounts": [_amount(amount) for amount in one.told],
                "why": list(why(one)),
            }
            for one in besides
        ],
        "crash": None if refusal.crash is None else _crash(refusal.crash),
    }


def _crash(crash: Crash) -> Data:
    return {
        "kind": crash.kind,
        "advice": first_of_all(crash),
        "missing": [
            {
                "resource": one.resource,
                "requested": one.requested,
                "containers": list(one.containers),
                "numaNodes": list(ids(one.nodes)),
            }
            for one in crash.missing
        ],
    }


def _amount(one: Amount) -> Data:
    return {
        "resource": one.resource,
        "requested": _number(one.requested),
        "used": _number(one.used),
        "capacity": _number(one.capacity),
    }


def _number(nano: int) -> int | float:
    """Write billionths as CPUs, devices or bytes; a share of one has decimals."""
    return nano // NANO if nano % NANO == 0 else nano / NANO


def _unpinned(one: Unpinned, qos: QoS) -> Data:
    return {
        "container": one.container,
        "because": one.cause.kind,
        "text": cause_text(one.cause, qos),
        "advice": [
            {"container": blame.container, "path": blame.path, "message": blame.message, "advice": blame.advice}
            for blame in one.blame
        ],
    }


def _placement(container: ContainerResult, placement: Placement) -> Data:
    judged = container.alignment
    return {
        "container": placement.container,
        "aligned": judged.aligned,
        "verdict": judged.verdict,
        "numaNodes": list(ids(judged.nodes)),
        "leastNodes": judged.least,
        "distance": placement.distance,
        "localDistance": placement.local,
        "resources": [
            {"resource": place.resource, "numaNodes": list(ids(place.nodes)), "distance": place.distance}
            for place in placement.places
        ],
        "unplaced": list(judged.unplaced),
        "neighbours": closeness_json(container.neighbours),
    }
