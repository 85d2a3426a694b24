"""What `compare --kubelet-version` shows: the versions' decisions side by side, and the differences behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from numalign.kubelet.releases.release import version_text
from numalign.render.json.admit import pod_json, settings_json
from numalign.render.json.data import Data
from numalign.render.page.document import Cell, Document, Line, Styled, Table
from numalign.render.text.admit import COLUMNS, NOTHING, header, pod_rows

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.compare import UpgradeResult, VersionResult


def upgrade_document(result: UpgradeResult, origin: str) -> Document:
    """Build the header, the table of decisions, a sentence a pod, and the table of differences, decisive ones first."""
    runs = (result.older, result.newer)
    names = [run.version for run in runs]
    rows = [row for run in runs for row in _rows(run)]
    started = next((run for run in runs if not run.error), None)
    head = header(result.setup, origin, started.reserved_cpus)[:2] if started else ()
    document: list[Line | Table] = [
        *(Line(text, "dim") for text in head),
        Line(f"history: kubelet {' and '.join(names)} as they decided", "dim"),
        Line(),
        Table(("KUBELET", *COLUMNS), tuple(rows)),
        Line(),
        *map(Line, _sentences(result)),
        Line(),
    ]
    if not result.differences:
        return [*document, Line(f"nothing that numalign replays changed from {names[0]} to {names[-1]}")]
    ordered = sorted(result.differences, key=lambda change: not change.decides)
    table = Table(
        ("SINCE", "DECIDES HERE", "TOPIC", "BEFORE", "SINCE THEN"),
        tuple(
            (
                version_text(change.difference.since),
                Styled("yes", "warn") if change.decides else "no",
                change.difference.topic,
                change.difference.older,
                change.difference.newer,
            )
            for change in ordered
        ),
    )
    return [*document, Line(f"what changed from {names[0]} to {names[-1]}:"), table]


def _rows(run: VersionResult) -> Iterable[tuple[Cell, ...]]:
    if run.error:
        yield (run.version, NOTHING, Styled(f"does not start: {run.error}", "bad"), *[NOTHING] * (len(COLUMNS) - 2))
    for pod in run.pods:
        for row in pod_rows(pod, exclusive_cpus=run.exclusive_cpus):
            yield (run.version, *row)


def _sentences(result: UpgradeResult) -> Iterable[str]:
    """Say for each pod what the upgrade changes."""
    if result.older.error or result.newer.error:
        yield "the kubelet does not start with these settings in both versions"
        return
    for before, after, same in zip(result.older.pods, result.newer.pods, result.same, strict=True):
        if before.admitted != after.admitted:
            was, now = "admitted" if before.admitted else "refused", "admitted" if after.admitted else "REFUSED"
            text = f"{was} before, {now} now"
        elif same:
            text = "the same in both"
        elif before.admitted:
            text = "admitted by both, with another hint or other resources"
        else:
            text = "refused by both, in other words"
        yield f"{before.name}: {text}"


def upgrade_json(result: UpgradeResult, notices: Iterable[Notice]) -> Data:
    """Write the comparison for programs."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "UpgradeComparison",
        "machine": result.setup.machine.name,
        "base": result.setup.base,
        "kubelet": settings_json(result.setup.config),
        "versions": [
            {"version": run.version, "startError": run.error or None, "pods": [pod_json(pod) for pod in run.pods]}
            for run in (result.older, result.newer)
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
        "warnings": [notice._asdict() for notice in notices],
    }
