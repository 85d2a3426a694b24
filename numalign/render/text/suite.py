"""What came of a file of tests: for people, for build servers."""

from __future__ import annotations

from numalign.render.ci.checks import Check, Problem
from numalign.render.page.document import Document, Paragraph, Styled, Table
from numalign.render.text.in_brief import briefs
from numalign.results.replay import SuitePod, SuiteResult

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
            tuple([_problem(problem, one.about) for problem in one.problems]),
        )
        for one in result.cases
    ]


def _problem(text: str, about: SuitePod | None) -> Problem:
    """Say what is not as expected, at the line of the test; with why, at that of the pod, where there is one."""
    problem = Problem("error", "NotAsExpected", f"{text}.", True)
    if about is None:
        return problem
    first = next(briefs(about.told.pod, about.told, about.setup))
    message = f"{text}. {about.told.pod.name}: {first.message}"
    return problem._replace(message=message, line=about.line, file=about.file, fix=first.fix, kubelet=first.kubelet)
