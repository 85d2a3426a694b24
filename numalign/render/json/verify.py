"""What `verify` says to programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.verify.compare import Judged, pages
from numalign.model.cpuset import format_set, ids
from numalign.render.json import Data, head, warnings
from numalign.render.json.node import findings_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numalign.results.node import ProcessResult, VerifyResult


def verify_json(result: VerifyResult) -> Data:
    """Write the answer of `verify` (product contract: keys are only ever added)."""
    return {
        **head("VerifyResult"),
        "machine": result.machine,
        "source": result.origin,
        "containers": [_container(one) for one in result.containers],
        "process": None,
        "endedInitContainers": result.ended,
        "hostProcessesAllowed": result.host_allowed,
        "leftOut": list(result.left_out),
        "unknown": list(result.unknown),
        "findings": findings_json(result.findings),
        "warnings": warnings(result.notices),
    }


def _container(one: Judged) -> Data:
    plan, group = one.plan, one.group
    used = pages(group) if group else None
    return {
        "pod": plan.pod,
        "uid": plan.uid,
        "container": plan.container,
        "id": group.id if group else None,
        "verdict": one.verdict,
        "exclusive": plan.exclusive,
        "plannedCPUs": None if plan.cpus is None else format_set(plan.cpus),
        "cpus": None if group is None or group.cpus is None else format_set(group.cpus or group.effective_cpus or 0),
        "plannedNumaNodes": None if plan.nodes is None else list(ids(plan.nodes)),
        "memory": _by_node(used),
        "devices": {held.resource: list(held.ids) for held in plan.holding.devices},
        "findings": [finding._asdict() for finding in one.findings],
    }


def _by_node(used: Mapping[int, int] | None) -> dict[str, int] | None:
    return None if used is None else {str(node): size for node, size in sorted(used.items())}


def process_json(result: ProcessResult) -> Data:
    """Write what `verify --pid` and `--self` found, in the shape of a `VerifyResult`."""
    return {
        **head("VerifyResult"),
        "machine": result.machine,
        "source": f"process {result.pid}",
        "containers": [],
        "process": {
            "pid": result.pid,
            "verdict": result.verdict,
            "reason": result.reason,
            "cpus": format_set(result.cpus),
            "numaNodes": list(ids(result.cpu_nodes)),
            "memoryNodes": list(ids(result.mems)),
            "memory": _by_node(result.pages),
            "devices": dict(result.devices),
        },
        "endedInitContainers": 0,
        "hostProcessesAllowed": 0,
        "leftOut": [],
        "unknown": [],
        "findings": [],
        "warnings": [],
    }
