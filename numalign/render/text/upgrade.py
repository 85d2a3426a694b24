"""What `compare --kubelet-version` shows: the versions' decisions side by side, and the differences behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numalign.analysis.compare.upgrade import Change, Run, decision
from numalign.errors import Notice
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.profile import version
from numalign.render.json.admit import pod_json, settings_json
from numalign.render.page.document import Cell, Document, Line, Styled, Table
from numalign.render.text.admit import COLUMNS, NOTHING, header, outcome_rows


def upgrade_document(runs: Sequence[Run], changes: Sequence[Change], base: str, origin: str) -> Document:
    """Build the header, the table of decisions, a sentence a pod, and the table of differences, decisive ones first."""
    names = [version(run.profile.release) for run in runs]
    rows = [row for run in runs for row in _rows(run)]
    started = next((run.session for run in runs if run.session is not None), None)
    document: list[Line | Table] = [
        *(Line(text, "dim") for text in (header(started.node, base, origin)[:2] if started else ())),
        Line(f"history: kubelet {' and '.join(names)} as they decided", "dim"),
        Line(),
        Table(("KUBELET", *COLUMNS), tuple(rows)),
        Line(),
        *map(Line, _sentences(runs)),
        Line(),
    ]
    if not changes:
        return [*document, Line(f"nothing that numalign replays changed from {names[0]} to {names[-1]}")]
    ordered = sorted(changes, key=lambda change: not change.decides)
    table = Table(
        ("SINCE", "DECIDES HERE", "TOPIC", "BEFORE", "SINCE THEN"),
        tuple(
            (
                version(change.difference.since),
                Styled("yes", "warn") if change.decides else "no",
                change.difference.topic,
                change.difference.older,
                change.difference.newer,
            )
            for change in ordered
        ),
    )
    return [*document, Line(f"what changed from {names[0]} to {names[-1]}:"), table]


def _rows(run: Run) -> Iterable[tuple[Cell, ...]]:
    name = version(run.profile.release)
    if run.session is None:
        yield (name, NOTHING, Styled(f"does not start: {run.error}", "bad"), *[NOTHING] * (len(COLUMNS) - 2))
    for outcome in run.outcomes:
        for row in outcome_rows(outcome.before.node, outcome):
            yield (name, *row)


def _sentences(runs: Sequence[Run]) -> Iterable[str]:
    """Say for each pod what the upgrade changes."""
    older, newer = runs[0], runs[-1]
    if older.session is None or newer.session is None:
        yield "the kubelet does not start with these settings in both versions"
        return
    for before, after in zip(older.outcomes, newer.outcomes, strict=True):
        if before.admit != after.admit:
            text = f"{'admitted' if before.admit else 'refused'} before, {'admitted' if after.admit else 'REFUSED'} now"
        elif decision(before) == decision(after):
            text = "the same in both"
        elif before.admit:
            text = "admitted by both, with another hint or other resources"
        else:
            text = "refused by both, in other words"
        yield f"{before.pod.name}: {text}"


def upgrade_json(
    config: KubeletConfig,
    machine: str,
    base: str,
    runs: Sequence[Run],
    changes: Iterable[Change],
    notices: Iterable[Notice],
) -> dict[str, Any]:
    """Write the comparison for programs."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "UpgradeComparison",
        "machine": machine,
        "base": base,
        "kubelet": settings_json(config),
        "versions": [
            {
                "version": version(run.profile.release),
                "startError": run.error or None,
                "pods": [pod_json(outcome.before.node, outcome) for outcome in run.outcomes],
            }
            for run in runs
        ],
        "differences": [
            {
                "since": version(change.difference.since),
                "topic": change.difference.topic,
                "before": change.difference.older,
                "after": change.difference.newer,
                "decides": change.decides,
            }
            for change in changes
        ],
        "warnings": [notice._asdict() for notice in notices],
    }
