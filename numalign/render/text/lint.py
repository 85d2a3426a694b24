"""What `lint` shows: a row a finding, and the same for programs and build servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.lint.finding import reaches
from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.json.data import Data
from numalign.render.page.document import Cell, Document, Line, Style, Styled, Table

if TYPE_CHECKING:
    from numalign.analysis.lint.finding import Finding
    from numalign.errors import Notice
    from numalign.results.lint import LintResult


COLUMNS = ("WHERE", "CODE", "EFFECT", "CONTAINER", "WHAT, AND WHAT TO WRITE INSTEAD")
_STYLES: dict[str, Style] = {"note": "dim", "unaligned": "warn", "rejected": "bad", "impossible": "bad"}


def lint_document(result: LintResult) -> Document:
    """Build the table, two rows a finding, and a closing line that counts."""
    linted = result.pods
    rows = [row for one in linted for finding, line in one.found for row in _rows(one.file, finding, line)]
    ignored = sum(len(one.ignored) for one in linted)
    told = [f"{_many(len(linted), 'pod')}, {_many(len(rows) // 2, 'finding')}"]
    if ignored:
        told.append(f"{_many(ignored, 'rule')} ignored")
    told.append(f"judged on {result.machine}" if result.machine is not None else "judged without a machine")
    closing = Line("; ".join(told), "dim")
    return [Table(COLUMNS, tuple(rows)), Line(), closing] if rows else [closing]


def _rows(file: str, finding: Finding, line: int) -> Iterable[tuple[Cell, ...]]:
    effect = Styled(finding.effect, _STYLES[finding.effect])
    yield (
        f"{file}:{line}", finding.code, effect, finding.container or "-", finding.message
    )  # fmt: skip
    yield "", "", "", "", f"→ {finding.advice}"


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"


def severity(finding: Finding) -> str:
    """Return `note` or `warning`."""
    return "note" if finding.effect == "note" else "warning"


def lint_json(result: LintResult, notices: Sequence[Notice]) -> Data:
    """Write the result for programs (keys are only ever added)."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "LintResult",
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
            }
            for one in result.pods
        ],
        "warnings": [notice._asdict() for notice in notices],
    }


def _finding_json(finding: Finding, line: int) -> Data:
    return {
        "code": finding.code,
        "severity": severity(finding),
        "effect": finding.effect,
        "container": finding.container or None,
        "message": finding.message,
        "advice": finding.advice,
        "path": finding.path,
        "line": line,
    }


def lint_checks(result: LintResult, bar: str) -> list[Check]:
    """Make a check a pod, held against a machine or none; what reaches the bar of `--fail-on` fails."""
    group = "lint" if result.machine is None else f"lint.{result.machine}"
    return [
        Check(
            group,
            f"{one.kind} {one.owner}",
            one.file if one.is_file else None,
            one.line,
            tuple(_problem(finding, line, bar) for finding, line in one.found),
        )
        for one in result.pods
    ]


def _problem(finding: Finding, line: int, bar: str) -> Problem:
    who = f"container {finding.container}: " if finding.container else ""
    level: Level = "notice" if finding.effect == "note" else "warning"
    return Problem(level, finding.code, f"{who}{finding.message}; {finding.advice}", reaches(finding, bar), line)
