"""A simulation for people: the runs side by side, then filter against kubelet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Styled, Table
from numalign.results.cluster import SimulateResult
from numalign.scheduler.simulate.report import Report, Share, Verdicts

_ENDINGS = {
    "failed pods": "stopped early: kubelets rejected too many pods",
    "interrupted": "interrupted: the report ends here",
}


def seconds(value: float | None) -> str:
    """Write seconds as people do."""
    if value is None:
        return "never"
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"


def percent(value: float | None) -> str:
    """Write a share."""
    return "-" if value is None else f"{100 * value:.1f} %"


NOTHING = Share(0.0, 0.0)
"""Of a resource that no machine has."""

_ROWS: tuple[tuple[str, Callable[[Report], str]], ...] = (
    ("replicas requested", lambda one: f"{one.submitted:,}"),
    ("admitted", lambda one: f"{one.admitted:,}"),
    ("pending at the end", lambda one: f"{one.pending_at_end:,}"),
    ("rejected by kubelets", lambda one: f"{sum(one.rejected.values()):,}"),
    ("rejected: TopologyAffinityError", lambda one: f"{one.topology_affinity_errors:,}"),
    ("binds in vain", lambda one: percent(one.wasted_binds)),
    ("run-away replicas", lambda one: f"{one.runaway_replicas:,}"),
    ("most rejections in 60 s", lambda one: f"{one.peak_failed_rate:,}"),
    ("pods created", lambda one: f"{one.api_objects_created:,}"),
    ("attempts, a replica", lambda one: f"{one.attempts.mean:,.1f}"),
    ("attempts, at most", lambda one: f"{one.attempts.most:,.0f}"),
    ("attempts without a node", lambda one: f"{one.unschedulable:,}"),
    ("wait, median", lambda one: seconds(one.wait_s.p50)),
    ("wait, 95 %", lambda one: seconds(one.wait_s.p95)),
    ("CPUs in use, mean", lambda one: percent(one.utilisation.get("cpu", NOTHING).mean)),
    ("CPUs in use, most", lambda one: percent(one.utilisation.get("cpu", NOTHING).most)),
    ("memory in use, mean", lambda one: percent(one.utilisation.get("memory", NOTHING).mean)),
    ("containers on one NUMA node", lambda one: percent(one.alignment_rate)),
    ("containers as the kubelet prefers", lambda one: percent(one.preferred_rate)),
    ("stranded at NUMA borders, mean", lambda one: percent(one.fragmentation.mean)),
    ("stranded at NUMA borders, most", lambda one: percent(one.fragmentation.most)),
    ("age of NRT data, 95 %", lambda one: seconds(one.nrt_age_s.p95) if one.nrt_age_s.figures else "-"),
)


_FIRST = ("admitted", "rejected by kubelets", "binds in vain", "wait, 95 %")
"""What a row of many runs always shows."""
MAX_SIDE_BY_SIDE = 4
"""More runs than these stand below each other."""


def simulate_document(result: SimulateResult) -> Document:
    """Lay the runs side by side."""
    done = [(one.name, one.report) for one in result.runs if one.report is not None]
    machines = done[0][1].machines if done else 0
    document: list[Block] = [
        Paragraph(f"cluster: {result.cluster}, {machines:,} machines; trace: {result.trace}; seed {result.seed}"),
        Paragraph(),
    ]
    if done:
        document += [_side_by_side(done) if len(done) <= MAX_SIDE_BY_SIDE else _below_each_other(done), Paragraph()]
        for name, report in done:
            document += _verdicts(name, "chosen nodes", report.verdicts, result.causes)
            document += _no_machine(name, report)
            if report.audited != Verdicts():
                document += _verdicts(name, "all nodes of the audited attempts", report.audited, result.causes)
            if report.ended_by in _ENDINGS:
                document.append(Note(f"{name}: {_ENDINGS[report.ended_by]} (at {seconds(report.ended_s)})", "warn"))
    document += [Note(f"{one.name}: failed: {one.error}", "bad") for one in result.runs if one.report is None]
    while document and document[-1] == Paragraph():
        document.pop()
    return document


def _side_by_side(done: Sequence[tuple[str, Report]]) -> Table:
    """Lay out a few runs, a column each."""
    columns = ("", *(name.upper() for name, _ in done))
    rows: list[tuple[Cell, ...]] = [(title, *(write(report) for _, report in done)) for title, write in _ROWS]
    return Table(columns, tuple(rows), frozenset(columns[1:]))


def _below_each_other(done: Sequence[tuple[str, Report]]) -> Table:
    """Lay out many runs, a row each; a narrow terminal shows what tells them apart first."""
    titles = [title for title, _ in _ROWS]
    rows: list[tuple[Cell, ...]] = [(name, *(write(report) for _, write in _ROWS)) for name, report in done]
    droppable = tuple(title.upper() for title in reversed(titles) if title not in _FIRST)
    columns = tuple(title.upper() for title in titles)
    return Table(("RUN", *columns), tuple(rows), frozenset(columns), droppable=droppable)


MAX_MESSAGES = 5
"""More reasons of a scheduler than these are not told; data for programs have them all."""


def _no_machine(name: str, report: Report) -> Iterator[Block]:
    """Tell what the scheduler said of machines where none could be chosen."""
    said = sorted(report.messages.items(), key=lambda item: (-item[1], item[0]))
    if said:
        yield Paragraph(f"{name}: why attempts found no node, counted by node")
        yield from (Paragraph(f"{count:,} × {message}", 2) for message, count in said[:MAX_MESSAGES])
        if len(said) > MAX_MESSAGES:
            yield Paragraph(f"and {len(said) - MAX_MESSAGES} other reasons", 2)
        yield Paragraph()


def _verdicts(name: str, what: str, verdicts: Verdicts, texts: Mapping[str, str]) -> Iterator[Block]:
    """Hold the filter against the kubelet."""
    yield Paragraph(f"{name}: filter against kubelet, {what}")
    bad, good = verdicts.pass_reject, verdicts.fail_admit
    yield Table(
        ("", "KUBELET ADMITS", "KUBELET REJECTS"),
        (
            ("filter passes", f"{verdicts.pass_admit:,}", Styled(f"{bad:,}", "bad") if bad else "0"),
            ("filter rejects", Styled(f"{good:,}", "warn") if good else "0", f"{verdicts.fail_reject:,}"),
        ),
        frozenset({"KUBELET ADMITS", "KUBELET REJECTS"}),
        indent=2,
    )
    for cause, count in sorted(verdicts.causes.items(), key=lambda item: (-item[1], item[0])):
        yield Paragraph(f"{count:,} × {cause}: {texts[cause]}", 2)
    yield Paragraph()
