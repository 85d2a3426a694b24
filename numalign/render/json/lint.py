"""The findings of `lint` for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import Data, head, warnings

if TYPE_CHECKING:
    from numalign.analysis.lint.finding import Finding
    from numalign.errors import Notice
    from numalign.results.lint import LintResult


def lint_json(result: LintResult, notices: Sequence[Notice]) -> Data:
    """Write the result for programs (keys are only ever added)."""
    return {
        **head("LintResult"),
        "machine": result.machine,
        "pods": [
            {
                "name": one.name,
                "namespace": one.namespace,
                "kind": one.kind,
                "owner": one.owner,
                "file": one.file,
                "line": one.line,
                "qos": one.qos,
                "findings": [_finding_json(finding, line) for finding, line in one.found],
                "ignored": list(one.ignored),
                "judged": one.judged,
                "known": list(one.known),
            }
            for one in result.pods
        ],
        "gone": [{**one._asdict(), "container": one.container or None, "count": count} for one, count in result.gone],
        "warnings": warnings(notices),
    }


def _finding_json(finding: Finding, line: int) -> Data:
    return {
        "code": finding.code,
        "severity": "note" if finding.effect == "note" else "warning",
        "effect": finding.effect,
        "container": finding.container or None,
        "message": finding.message,
        "advice": finding.advice,
        "path": finding.path,
        "line": line,
    }
