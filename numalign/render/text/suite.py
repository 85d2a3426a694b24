"""What came of a file of tests: for people, for build servers."""

from __future__ import annotations

from numalign.render.ci.checks import Check, Problem
from numalign.render.page.document import Document, Paragraph, Styled, Table
from numalign.results.replay import SuiteResult

COLUMNS = ("", "TEST", "MACHINE", "KUBELET", "PROBLEMS")


def suite_document(result: SuiteResult) -> Document:
    """Lay the tests out, and count them."""
    rows = tuple(
        (
            Styled("pass", "good") if one.passed else Styled("FAIL", "bad"),
            one.name,
            one.machine,
            one.settings,
            "; ".join(one.problems) or "-",
        )
        for one in result.cases
    )
    total = len(result.cases)
    return [Table(COLUMNS, rows), Paragraph(), Paragraph(f"{total - result.failed} of {total} tests passed.")]


def suite_checks(result: SuiteResult) -> list[Check]:
    """Make a check a test."""
    return [
        Check(
            f"test.{one.machine}",
            f"{one.name} ({one.settings})",
            one.file,
            one.line,
            tuple([Problem("error", "NotAsExpected", problem, True) for problem in one.problems]),
        )
        for one in result.cases
    ]
