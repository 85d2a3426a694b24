"""What `lint` shows: a row a finding, and the same for programs and build servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.lint.finding import reaches
from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.json import Data, head, warnings
from numalign.render.page.document import Document, Line, Style

if TYPE_CHECKING:
    from numalign.analysis.lint.finding import Finding
    from numalign.errors import Notice
    from numalign.results.lint import KnownFinding, LintResult


_STYLES: dict[str, Style] = {"note": "dim", "unaligned": "warn", "rejected": "bad", "impossible": "bad"}


def lint_document(result: LintResult) -> Document:
    """Tell each finding on a line, with `help:` below, and close with a line that counts."""
    linted = result.pods
    lines = [line for one in linted for finding, number in one.found for line in _lines(one.file, finding, number)]
    ignored = sum(len(one.ignored) for one in linted)
    pods = sum(one.qos is not None for one in linted)
    claims = len(linted) - pods
    counted = [_many(pods, "pod")] if pods or not claims else []
    counted += [_many(claims, "claim")] if claims else []
    told = [", ".join([*counted, _many(len(lines) // 2, "finding")])]
    aside = sum(not one.judged for one in linted)
    if aside:
        told.append(f"{_many(aside, 'pod')} with nothing to align")
    if ignored:
        told.append(f"{_many(ignored, 'rule')} ignored")
    known = sum(len(one.known) for one in linted)
    if known:
        told.append(f"{_many(known, 'finding')} known from the baseline")
    told.append(f"judged on {result.machine}" if result.machine is not None else "judged without a machine")
    lines += [_gone(one, count) for one, count in result.gone]
    closing = Line("; ".join(told), "dim")
    return [*lines, Line(), closing] if lines else [closing]


def page_document(code: str) -> Document:
    """Explain a code: what is found, what comes of it and what to write instead."""
    from numalign.analysis.lint.pages import PAGES

    parts = PAGES[code]._asdict()
    return [
        Line(code, "bold"),
        *(Line(f"  {label + ':':9}{text}") for label, text in parts.items()),
        Line(),
        Line(f"To pass over it: --ignore {code}, or {code}@CONTAINER; the annotation numalign/ignore", "dim"),
    ]


def _lines(file: str, finding: Finding, line: int) -> Iterable[Line]:
    who = f"container {finding.container}: " if finding.container else ""
    yield Line(f"{file}:{line}: {finding.code} ({finding.effect}) {who}{finding.message}", _STYLES[finding.effect])
    yield Line(f"  help: {finding.advice}")


def _gone(one: KnownFinding, count: int) -> Line:
    who = f", container {one.container}" if one.container else ""
    return Line(f"{one.file}: {one.code} is gone from {one.pod}{who}{f' ({count} times)' * (count > 1)}", "good")


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"


def severity(finding: Finding) -> str:
    """Return `note` or `warning`."""
    return "note" if finding.effect == "note" else "warning"


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
