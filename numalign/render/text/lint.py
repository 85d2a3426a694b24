"""What `lint` shows: a head, sentences and fixes a finding, and the same for build servers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.analysis.lint.finding import Finding, reaches
from numalign.model.words import sentence
from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.page.document import Block, Document, Note, Paragraph, Style, Title
from numalign.render.text.amounts import many

if TYPE_CHECKING:
    from numalign.results.lint import KnownFinding, LintResult


MAX_FIX = 73
"""How long fixes of one kind may be that share a line of a terminal."""

_STYLES: dict[str, Style] = {"note": "dim", "unaligned": "warn", "rejected": "bad", "impossible": "bad"}


def lint_document(result: LintResult) -> Document:
    """Tell each finding: its place, what is wrong, the fix; and close with a line that counts."""
    linted = result.pods
    found = [(one.file, number, finding) for one in linted for finding, number in one.found]
    parts = [block for _, group in groupby(found, _place) for block in _lines(list(group))]
    parts += [_gone(one, count) for one, count in result.gone]
    ignored = sum(len(one.ignored) for one in linted)
    pods = sum(one.qos is not None for one in linted)
    claims = len(linted) - pods
    counted = [many(pods, "pod")] if pods or not claims else []
    counted += [many(claims, "claim")] if claims else []
    aside, known = sum(not one.judged for one in linted), sum(len(one.known) for one in linted)
    told = (
        ", ".join([*counted, many(len(found), "finding")]),
        f"{many(aside, 'pod')} {'has' if aside == 1 else 'have'} nothing to align" * bool(aside),
        f"{many(ignored, 'rule')} ignored" * bool(ignored),
        f"{many(known, 'finding')} known from the baseline" * bool(known),
        f"Machine: {result.machine}" if result.machine is not None else "No machine given (--machine adds checks)",
    )
    closing = Note(f"{'. '.join(filter(None, told))}.", "dim")
    return [*parts, Paragraph(), closing] if parts else [closing]


def page_document(code: str) -> Document:
    """Explain a code: what is found, what comes of it and what to write instead."""
    from numalign.analysis.lint.pages import PAGES

    parts = PAGES[code]._asdict()
    return [
        Title(code),
        *(Paragraph(f"{label + ':':9}{text}", 2) for label, text in parts.items()),
        Paragraph(),
        Note(f"To ignore: --ignore {code} or {code}@CONTAINER, or annotation numalign/ignore", "dim"),
    ]


Place = tuple[str, int, "Finding"]
"""A file, a line, and what was found there."""


def _place(one: Place) -> tuple[object, ...]:
    """Return what findings share that stand under one head."""
    file, line, finding = one
    return file, line, finding.code, finding.effect, finding.container


def _lines(group: list[Place]) -> Iterable[Block]:
    file, line, first = group[0]
    who = f" container {first.container}" if first.container else ""
    yield Note(f"{file}:{line}: {first.code} ({first.effect}){who}", _STYLES[first.effect])
    yield Paragraph(_joined([finding.message for _, _, finding in group]), 2)
    advice = list(dict.fromkeys(finding.advice for _, _, finding in group))
    together = ", and ".join(advice)
    yield from (Paragraph(f"fix: {one}", 2) for one in ([together] if len(together) <= MAX_FIX else advice))


def _joined(messages: list[str]) -> str:
    """Write several findings of one kind as a sentence each, or as one where they begin alike."""
    head, mark, _ = messages[0].partition(": ")
    if mark and all(text.startswith(head + mark) for text in messages):
        return sentence(head + mark + ", ".join(text.removeprefix(head + mark) for text in messages))
    return " ".join(map(sentence, messages))


def _gone(one: KnownFinding, count: int) -> Block:
    who = f", container {one.container}" if one.container else ""
    return Note(f"{one.file}: {one.code} is gone from {one.pod}{who}{f' ({count} times)' * (count > 1)}", "good")


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
    return Problem(level, finding.code, f"{who}{finding.message}", reaches(finding, bar), line, fix=finding.advice)
