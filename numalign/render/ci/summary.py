"""Checks as Markdown for a pull request: how many fail, a row a problem with its fix, and the answer folded below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.escape import guarded, printable
from numalign.render.page.document import Document
from numalign.render.page.markdown import SPECIAL, markdown

SIGNS: dict[Level, str] = {"error": "✗", "warning": "!", "notice": "·"}
"""Signs of levels where nothing fails."""
MAX_ROWS = 100
"""How many problems are listed: a summary has a limit of size."""


def summary(command: str, checks: Sequence[Check], document: Document) -> str:
    """Write a title with the count, a table of problems, and the document."""
    failed = sum(any(problem.fails for problem in check.problems) for check in checks)
    many = len(checks) != 1
    verdict = f"{'all' * many} {len(checks)} pass{'es' * (not many)}"
    if failed:
        verdict = f"{failed} of {len(checks)} fail{'s' * (failed == 1)}"
    rows = [f"| {' | '.join(_cells(check, problem))} |" for check in checks for problem in check.problems]
    more = [f"\n{len(rows) - MAX_ROWS} more problems are not listed."] * (len(rows) > MAX_ROWS)
    table = ["", "| | what | where | why | fix |", "| --- | --- | --- | --- | --- |", *rows[:MAX_ROWS], *more] * bool(
        rows
    )
    head = guarded("\n".join([f"### numalign {command}: {verdict.strip()}", *table]))
    return f"{head}\n\n<details><summary>Details</summary>\n\n{markdown(document)}\n</details>\n"


def _cells(check: Check, problem: Problem) -> Iterator[str]:
    yield "✗" if problem.fails else SIGNS[problem.level]
    yield _plain(f"{check.name}: {problem.title}")
    path = check.path(problem)
    yield "" if path is None else _plain(f"{path}:{problem.line or check.line}")
    yield _plain(problem.message)
    yield _plain(problem.fix)


def _plain(text: str) -> str:
    return printable(text.replace("\n", " ")).translate(SPECIAL)
