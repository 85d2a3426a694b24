"""What comparisons tell, for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from numalign.kubelet.releases.release import version_text
from numalign.model.resources import is_memory
from numalign.render.json import Data, head, warnings
from numalign.render.json.admit import claims_of, pod_json, settings_json, setup_json
from numalign.render.json.node import restart_json

if TYPE_CHECKING:
    from numalign.analysis.compare.table import Left
    from numalign.errors import Notice
    from numalign.results.compare import ComparedRow, CompareResult, UpgradeResult


def compare_json(result: CompareResult, notices: Iterable[Notice]) -> Data:
    """Write the comparison for programs."""
    return {
        **head("CompareResult"),
        "variants": [_row_json(one) for one in result.rows],
        "warnings": warnings(notices),
    }


def compare_of(results: Iterable[Data], notices: Iterable[Notice]) -> Data:
    """Put the written comparisons of several nodes together."""
    return {
        **head("CompareResult"),
        "variants": [row for one in results for row in cast("list[Data]", one["variants"])],
        "warnings": warnings(notices),
    }


def _row_json(one: ComparedRow) -> Data:
    ended = one.ended
    return {
        **setup_json(one.setup),
        "option": one.option or None,
        "present": one.present,
        "startError": one.error or None,
        "admit": one.admit,
        "aligned": one.aligned,
        "verdict": one.verdict if one.pods else None,
        "pods": [pod_json(pod) for pod in one.pods],
        "replicas": one.replicas,
        "alignedReplicas": one.aligned_replicas,
        "moreReplicas": not one.error and ended is None,
        "refusal": ended
        and {"pod": ended.name, "stage": ended.stage, "reason": ended.reason, "message": ended.message},
        "stranded": [_left_json(left) for left in one.stranded],
        **claims_of(one.claims),
    }


def _left_json(left: Left) -> Data:
    memory = {name: amount for name, amount in left.free.items() if is_memory(name)}
    return {
        "numaNode": left.numa,
        "cpus": left.free.get("cpu"),
        "memory": memory,
        "devices": {name: amount for name, amount in left.free.items() if name != "cpu" and name not in memory},
    }


def upgrade_json(result: UpgradeResult, notices: Iterable[Notice]) -> Data:
    """Write the comparison for programs."""
    return {
        **head("UpgradeComparison"),
        "machine": result.setup.machine.name,
        "base": result.setup.base,
        "kubelet": settings_json(result.setup.config),
        "worse": result.worse,
        "versions": [
            {"version": run.version, "startError": run.error or None, "pods": [pod_json(pod) for pod in run.pods]}
            for run in (result.older, result.newer)
        ],
        "pods": [
            {
                "name": upgrade.name,
                "changes": list(upgrade.changes),
                "worse": upgrade.worse,
                "causes": [
                    {"since": version_text(cause.since), "topic": cause.topic, "remedy": cause.remedy}
                    for cause in upgrade.causes
                ],
            }
            for upgrade in result.upgrades
        ],
        "differences": [
            {
                "since": version_text(change.difference.since),
                "topic": change.difference.topic,
                "before": change.difference.older,
                "after": change.difference.newer,
                "decides": change.decides,
            }
            for change in result.differences
        ],
        "restart": restart_json(result.restart),
        "warnings": warnings(notices),
    }


def releases_json(results: Sequence[UpgradeResult], notices: Iterable[Notice]) -> Data:
    """Write the comparison on one machine, or those on several."""
    if len(results) == 1:
        return upgrade_json(results[0], notices)
    return report_of([upgrade_json(result, result.notices) for result in results], notices)


def report_of(nodes: Sequence[Data], notices: Iterable[Notice]) -> Data:
    """Put the written comparisons of several nodes together."""
    return {
        **head("UpgradeReport"),
        "worse": any(node["worse"] for node in nodes),
        "nodes": list(nodes),
        "warnings": warnings(notices),
    }
