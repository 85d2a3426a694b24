"""What `schedule` shows: a row a node, or a row for several that are alike, and where schedulers and kubelet differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO, of_thousandths
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table, Title
from numalign.render.page.table_csv import Rows
from numalign.render.text.amounts import amount_text

if TYPE_CHECKING:
    from numalign.results.cluster import ClaimsScheduler, KubeletVerdict, NodeAnswer, ScheduledPod, ScheduleResult
    from numalign.scheduler.node import Fleet
    from numalign.scheduler.verdict import Verdict

WIDTH = 78
"""Where prose is broken, so that it reads on 80 columns."""
MAX_ROWS_SHOWN = 40
"""More groups of nodes than this are shown by `wide` only."""


def schedule_document(result: ScheduleResult, fleet: Fleet, origin: str, *, wide: bool = False) -> Document:
    """Build a table a pod, and below it what became of the pod and where the answers differ.

    Args:
        result: the pods.
        fleet: the cluster as it was.
        origin: where the cluster came from.
        wide: show every group of nodes.
    """
    document: list[Block] = [Note(text, "dim") for text in (*header(fleet, origin), f"scheduler: {result.title}")]
    if result.claims is not None:
        document += [Note(text, "dim") for text in _claims(result.claims)]
    for pod in result.pods:
        document += [Paragraph(), *_pod(pod, wide=wide)]
    if len(result.pods) > 1:
        running = sum(pod.runs for pod in result.pods)
        document += [Paragraph(), Title(f"{running} of {len(result.pods)} pods run")]
    return document


def header(fleet: Fleet, origin: str) -> Iterator[str]:
    """Name the cluster, and how much is known of its nodes."""
    count = len(fleet.nodes)
    pods = sum(node.totals.pods for node in fleet.nodes)
    yield f"cluster: {origin}, {count} node{'s' * (count != 1)}, {pods} pod{'s' * (pods != 1)} on them"
    unknown = sum(node.known == "nothing" for node in fleet.nodes)
    counts = sum(node.known == "counts" for node in fleet.nodes)
    if unknown or counts:
        exact = count - unknown - counts
        yield f"known: every CPU of {exact} nodes, counts per NUMA node of {counts}, nothing of {unknown}"


def _claims(by: ClaimsScheduler) -> Iterator[str]:
    """Name the release whose allocator answers about claims."""
    yield f"claims: scheduler {by.release}, {by.allocator} allocator"
    if not by.deterministic:
        yield "  it tries pools in random order: the devices taken are one possible answer"


def _pod(pod: ScheduledPod, *, wide: bool) -> Iterator[Block]:
    groups = [tuple(group) for _, group in groupby(pod.answers, _alike)]
    shown = groups if wide else groups[:MAX_ROWS_SHOWN]
    hidden = groups[len(shown) :]
    shown += [group for group in hidden if any(one.node == pod.node for one in group)]
    yield Title(f"{pod.namespace}/{pod.name}")
    filters = [name.upper() for name in pod.answers[0].verdicts] if pod.answers else []
    yield Table(
        ("NODE", "FIT", *filters, "KUBELET", "SCORE"), tuple(_row(group, pod) for group in shown), frozenset({"SCORE"})
    )
    if len(groups) > len(shown):
        more = len(pod.answers) - sum(len(group) for group in shown)
        yield Note(f"and {more} more nodes; -o wide shows them", "dim")
    yield from _disagreements(pod)
    yield from _outcome(pod)


def _alike(answer: NodeAnswer) -> tuple[object, ...]:
    """Nodes in a row of which everybody says the same are one row."""
    return (answer._replace(node="", scores={}, cause=None),)


def _row(group: Sequence[NodeAnswer], pod: ScheduledPod) -> tuple[Cell, ...]:
    first = group[0]
    name = names_text([one.node for one in group])
    chosen = any(one.node == pod.node for one in group)
    return (
        Styled(f"{name} *" if chosen else name, "bold" if chosen else ""),
        verdict_cell(first.fit),
        *(filter_cell(one) for one in first.verdicts.values()),
        kubelet_cell(first.kubelet),
        f"{first.points:g}" if first.feasible else "-",
    )


def names_text(names: Sequence[str]) -> str:
    """Name nodes: all of a few, else the first and the last with their number."""
    if len(names) < 3:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)})"


def verdict_cell(verdict: Verdict) -> Cell:
    """Write a filter's answer: `pass`, or what is short and how much of it the best zone has."""
    if verdict.passed:
        return Styled("pass", "good")
    if not verdict.resource:
        return Styled(verdict.message or "no", "bad")
    asked = _amount(verdict.resource, verdict.requested)
    if verdict.best is None:
        return Styled(f"no: {verdict.resource} in no zone", "bad")
    where = "" if verdict.best_zone is None else f" on {verdict.best_zone}"
    return Styled(f"no: {verdict.resource} {asked}, {_amount(verdict.resource, verdict.best)} free{where}", "bad")


def filter_cell(verdict: Verdict) -> Cell:
    """Write what a scheduler says of NUMA nodes; one that names nothing says no."""
    return verdict_cell(verdict) if verdict.passed or verdict.container or verdict.resource else Styled("no", "bad")


def _amount(resource: str, nano: int) -> str:
    return amount_text(resource, nano // NANO) if nano % NANO == 0 else of_thousandths(nano * 1000 // NANO)


def kubelet_cell(verdict: KubeletVerdict | None) -> Cell:
    """Write the kubelet's own answer."""
    if verdict is None:
        return Styled("unknown", "warn")
    if not verdict.admitted:
        return Styled(verdict.reason or verdict.stage, "bad")
    if verdict.missing:
        return Styled(f"admits, without {', '.join(verdict.missing)}", "bad")
    if verdict.aligned is False:
        return Styled("admits, not aligned", "warn")
    return Styled("admits", "good")


def _disagreements(pod: ScheduledPod) -> Iterator[Block]:
    """Say where the scheduler and the kubelet differ, and why."""
    found: dict[tuple[bool, str], list[str]] = {}
    for one in pod.answers:
        if one.disagrees:
            otherwise = "no kubelet looks at claims" if one.by_claims else "cause not looked for"
            why = f"{one.cause.code}: {one.cause.text}" if one.cause else otherwise
            found.setdefault((one.feasible, why), []).append(one.node)
    for (passes, why), names in found.items():
        says = "the scheduler passes, the kubelet refuses" if passes else "the scheduler refuses, the kubelet admits"
        yield Note(f"{names_text(names)}: {says} ({why})", "warn")


def _outcome(pod: ScheduledPod) -> Iterator[Block]:
    chosen = pod.chosen
    if chosen is None:
        reasons = reasons_text(pod.answers)
        yield Note(f"no node takes it: {reasons}", "bad")
        if pod.preemption is not None:
            victims = ", ".join(pod.preemption.victims)
            yield Note(f"the scheduler evicts for it: {victims}; then it fits on {pod.preemption.node}", "warn")
    elif chosen.kubelet is None:
        yield Note(f"it goes to {pod.node}; what its kubelet says, nobody knows", "warn")
    elif not chosen.kubelet.admitted:
        yield Note(f"it goes to {pod.node}, whose kubelet refuses it: {chosen.kubelet.reason}", "bad")
        if chosen.kubelet.message:
            yield Note(chosen.kubelet.message, "dim", 2)
    else:
        apart = {True: ", aligned", False: ", not aligned", None: ""}[chosen.kubelet.aligned]
        if pod.claims is None or not pod.claims.containers:
            yield Note(f"it goes to {pod.node}, whose kubelet admits it{apart}", "good")
            return
        yield Note(f"it goes to {pod.node}, whose kubelet admits it", "good")
        for container in pod.claims.containers:
            style: Style = "good" if container.verdict == "aligned" else "warn"
            head = f"  with its claims {container.container} is {container.verdict}: "
            lines = wrap(f"{head}{container.reason}", WIDTH, subsequent_indent="    ", break_long_words=False)
            yield from (Note(line, style) for line in lines)


def reasons_text(answers: Sequence[NodeAnswer]) -> str:
    """Count why nodes do not pass, as kube-scheduler's event does: `0/3 nodes are available: 2 Insufficient cpu, …`."""
    counts: dict[str, int] = {}
    for one in answers:
        counts[one.verdict.message] = counts.get(one.verdict.message, 0) + 1
    said = ", ".join(f"{count} {message}" for message, count in sorted(counts.items()))
    return f"0/{len(answers)} nodes are available: {said}"


def schedule_names(result: ScheduleResult) -> list[str]:
    """Return a line a pod: its name, and its node where it has one."""
    return [f"{pod.namespace}/{pod.name} {pod.node or '-'}" for pod in result.pods]


def schedule_rows(result: ScheduleResult) -> Rows:
    """Give a row for each pod and node."""
    first = next((one for pod in result.pods for one in pod.answers), None)
    filters, scores = (list(first.verdicts), list(first.scores)) if first is not None else ([], [])
    head = ("pod", "node", "chosen", "fit", *filters, "kubelet", "reason", "aligned")
    return (
        (*head, *(f"{name}Score" for name in scores), "cause"),
        (
            (
                f"{pod.namespace}/{pod.name}",
                one.node,
                one.node == pod.node,
                one.fit.passed,
                *(verdict.passed for verdict in one.verdicts.values()),
                one.kubelet.admitted if one.kubelet else None,
                one.kubelet.reason if one.kubelet else None,
                one.kubelet.aligned if one.kubelet else None,
                *one.scores.values(),
                one.cause.code if one.cause else None,
            )
            for pod in result.pods
            for one in pod.answers
        ),
    )
