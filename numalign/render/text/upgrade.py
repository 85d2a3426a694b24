"""What `compare --kubelet-version` shows: the versions' decisions side by side, and the differences behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.kubelet.releases.release import version_text
from numalign.render.page.document import NOTHING, Block, Cell, Document, Note, Paragraph, Styled, Table
from numalign.render.text.admit import COLUMNS, header, pod_rows
from numalign.render.text.restart import restart_parts

if TYPE_CHECKING:
    from numalign.results.compare import PodUpgrade, UpgradeResult, VersionResult


MAX_PODS_SHOWN = 8
"""More pods than these: only those that the versions decide differently are shown."""

MAX_DIFFERENCES_SHOWN = 12
"""More differences than these: only those that decide something here are shown."""


def upgrade_document(result: UpgradeResult, origin: str, *, wide: bool) -> Document:
    """Build the header, the table of decisions, a sentence a pod, and the table of differences, decisive ones first."""
    runs = (result.older, result.newer)
    names = [run.version for run in runs]
    few = wide or len(result.newer.pods) <= MAX_PODS_SHOWN
    rows = [row for run in runs for row in _rows(run, () if few else result.same)]
    started = next((run for run in runs if not run.error), None)
    head = header(result.setup, origin, started.reserved_cpus, " and ".join(names))[:2] if started else ()
    past = [notice.message for notice in result.notices]
    droppable = () if wide else ("QOS", "HINT")
    table = Table(("KUBELET", *COLUMNS), tuple(rows), droppable=droppable, headings=("KUBELET",))
    document: list[Block] = [
        *(Note(text, "dim") for text in (*head, *past)),
        Paragraph(),
        *([table, Paragraph()] if rows else ()),
        *map(Paragraph, _sentences(result, few=few)),
        *(restart_parts(result.restart, f"The restart for {names[-1]}") if result.restart else ()),
        Paragraph(),
    ]
    if not result.differences:
        return [*document, Paragraph(f"No change that numalign replays from {names[0]} to {names[-1]}.")]
    return [*document, *_differences(result, wide=wide)]


def _differences(result: UpgradeResult, *, wide: bool) -> Document:
    first, last = result.older.version, result.newer.version
    ordered = sorted(result.differences, key=lambda change: not change.decides)
    shown = ordered
    if not wide and len(ordered) > MAX_DIFFERENCES_SHOWN:
        shown = [change for change in ordered if change.decides]
    rest = len(ordered) - len(shown)
    table = Table(
        ("SINCE", "MATTERS", "TOPIC", "BEFORE", "NOW"),
        tuple(
            (
                version_text(change.difference.since),
                Styled("yes", "warn") if change.decides else "no",
                change.difference.topic,
                change.difference.older,
                change.difference.newer,
            )
            for change in shown
        ),
    )
    title = Paragraph(f"Changes from {first} to {last}:")
    if not shown:
        return [
            Paragraph(f"None of the {rest} changes from {first} to {last} affects these pods (-o wide lists them).")
        ]
    more = [Note(f"{rest} other changes do not affect these pods (-o wide lists them).", "dim")] if rest else []
    return [title, table, *more]


def _rows(run: VersionResult, same: Sequence[bool]) -> Iterable[tuple[Cell, ...]]:
    if run.error:
        yield (run.version, NOTHING, Styled(f"does not start: {run.error}", "bad"), *[NOTHING] * (len(COLUMNS) - 2))
    for place, pod in enumerate(run.pods):
        if place < len(same) and same[place]:
            continue
        for row in pod_rows(pod, exclusive_cpus=run.exclusive_cpus):
            yield (run.version, *row)


def _sentences(result: UpgradeResult, *, few: bool) -> Iterable[str]:
    """Say for each pod what the upgrade changes, why, and what to do."""
    yield from _start(result)
    alike, first, last = 0, result.older.version, result.newer.version
    for before, after, same, upgrade in zip(
        result.older.pods, result.newer.pods, result.same, result.upgrades, strict=False
    ):
        if same and not few:
            alike += 1
        elif before.admitted != after.admitted:
            was, now = "admitted" if before.admitted else "rejected", "admitted" if after.admitted else "rejected"
            yield f"{before.name}: {now} by {last}, {was} by {first}"
        elif same:
            yield f"{before.name}: same decision"
        elif before.admitted:
            yield f"{before.name}: admitted by both, {', '.join(upgrade.changes) or 'with another hint'}"
        else:
            yield f"{before.name}: rejected by both, with different messages"
        if not same and len(result.differences) > 1:
            yield from _causes(upgrade)
    if alike:
        yield f"{alike} pods have the same decision."


def _start(result: UpgradeResult) -> Iterable[str]:
    """Say which of the versions does not come up, and what to do."""
    stopped = [run.version for run in (result.older, result.newer) if run.error]
    if stopped:
        named = f"kubelet {stopped[0]} does" if len(stopped) == 1 else f"kubelets {' and '.join(stopped)} do"
        yield f"{named} not start with these settings"
    elif not result.newer.pods:
        yield f"kubelets {result.older.version} and {result.newer.version} start with these settings"
    if result.newer.error:
        yield f"  For the errors, run numalign config check --kubelet-version {result.newer.version}"


def _causes(upgrade: PodUpgrade) -> Iterable[str]:
    for cause in upgrade.causes:
        yield f"  Cause, since {version_text(cause.since)}: {cause.topic}: {cause.newer}"
        if cause.remedy and upgrade.worse:
            yield f"  fix: {cause.remedy}"
    if not upgrade.causes:
        yield "  Cause: several changes together, or what other pods now hold."
