"""What `schedule` shows: a row a node, or a row for several that are alike, and where schedulers and kubelet differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO, of_thousandths
from numalign.render.page.document import Cell, Document, Line, Style, Styled, Table
from numalign.render.page.table_csv import table_csv
from numalign.render.text.amounts import amount_text

if TYPE_CHECKING:
    from numalign.results.schedule import ClaimsScheduler, KubeletVerdict, NodeAnswer, ScheduledPod, ScheduleResult
    from numalign.scheduler.attempt import Kind, SchedulerConfig
    from numalign.scheduler.node import Fleet
    from numalign.scheduler.verdict import Verdict

WIDTH = 78
"""Where prose is broken, so that it reads on 80 columns."""
COLUMNS = ("NODE", "FIT", "KEP", "NRT", "KAI", "KUBELET", "SCORE")
MAX_ROWS_SHOWN = 40
"""More groups of nodes than this are shown by `wide` only."""
SCHEDULERS = {
    "unaware": "kube-scheduler alone, which sees a node as one bag of resources",
    "kep": "the topology-aware scheduling proposal's filter",
    "nrt": "the NodeResourceTopologyMatch plugin",
    "kai": "KAI Scheduler's numa plugin",
}


def schedule_document(result: ScheduleResult, fleet: Fleet, origin: str, *, wide: bool = False) -> Document:
    """Build a table a pod, and below it what became of the pod and where the answers differ.

    Args:
        result: the pods.
        fleet: the cluster as it was.
        origin: where the cluster came from.
        wide: show every group of nodes.
    """
    document: list[Line | Table] = [Line(text, "dim") for text in header(fleet, origin, result.scheduler)]
    if result.claims is not None:
        document += [Line(text, "dim") for text in _claims(result.claims)]
    for pod in result.pods:
        document += [Line(), *_pod(pod, result.scheduler.kind, wide=wide)]
    if len(result.pods) > 1:
        running = sum(pod.runs for pod in result.pods)
        document += [Line(), Line(f"{running} of {len(result.pods)} pods run", "bold")]
    return document


def header(fleet: Fleet, origin: str, scheduler: SchedulerConfig) -> Iterator[str]:
    """Name the cluster and the scheduler."""
    count = len(fleet.nodes)
    pods = sum(node.totals.pods for node in fleet.nodes)
    yield f"cluster: {origin}, {count} node{'s' * (count != 1)}, {pods} pod{'s' * (pods != 1)} on them"
    unknown = sum(node.known == "nothing" for node in fleet.nodes)
    counts = sum(node.known == "counts" for node in fleet.nodes)
    if unknown or counts:
        exact = count - unknown - counts
        yield f"known: every CPU of {exact} nodes, counts per NUMA node of {counts}, nothing of {unknown}"
    scoring = f", strategy {scheduler.strategy}" if scheduler.kind == "nrt" else ""
    yield f"scheduler: {scheduler.kind}{scoring} ({SCHEDULERS[scheduler.kind]})"


def _claims(by: ClaimsScheduler) -> Iterator[str]:
    """Name the release whose allocator answers about claims."""
    yield f"claims: scheduler {by.release}, {by.allocator} allocator"
    if not by.deterministic:
        yield "  it tries pools in random order: the devices taken are one possible answer"


def _pod(pod: ScheduledPod, kind: Kind, *, wide: bool) -> Iterator[Line | Table]:
    groups = [tuple(group) for _, group in groupby(pod.answers, _alike)]
    shown = groups if wide else groups[:MAX_ROWS_SHOWN]
    hidden = groups[len(shown) :]
    shown += [group for group in hidden if any(one.node == pod.node for one in group)]
    yield Line(f"{pod.namespace}/{pod.name}", "bold")
    yield Table(COLUMNS, tuple(_row(group, pod) for group in shown), frozenset({"SCORE"}))
    if len(groups) > len(shown):
        more = len(pod.answers) - sum(len(group) for group in shown)
        yield Line(f"and {more} more nodes; -o wide shows them", "dim")
    yield from _disagreements(pod)
    yield from _outcome(pod, kind)


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
        verdict_cell(first.kep),
        verdict_cell(first.nrt),
        Styled("pass", "good") if first.kai.passed else Styled("no", "bad"),
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


def _disagreements(pod: ScheduledPod) -> Iterator[Line]:
    """Say where the scheduler and the kubelet differ, and why."""
    found: dict[tuple[bool, str], list[str]] = {}
    for one in pod.answers:
        if one.disagrees:
            otherwise = "no kubelet looks at claims" if one.by_claims else "cause not looked for"
            why = f"{one.cause.code}: {one.cause.text}" if one.cause else otherwise
            found.setdefault((one.feasible, why), []).append(one.node)
    for (passes, why), names in found.items():
        says = "the scheduler passes, the kubelet refuses" if passes else "the scheduler refuses, the kubelet admits"
        yield Line(f"{names_text(names)}: {says} ({why})", "warn")


def _outcome(pod: ScheduledPod, kind: Kind) -> Iterator[Line]:
    chosen = pod.chosen
    if chosen is None:
        reasons = reasons_text(pod.answers, kind)
        yield Line(f"no node takes it: {reasons}", "bad")
    elif chosen.kubelet is None:
        yield Line(f"it goes to {pod.node}; what its kubelet says, nobody knows", "warn")
    elif not chosen.kubelet.admitted:
        yield Line(f"it goes to {pod.node}, whose kubelet refuses it: {chosen.kubelet.reason}", "bad")
        if chosen.kubelet.message:
            yield Line(f"  {chosen.kubelet.message}", "dim")
    else:
        apart = {True: ", aligned", False: ", not aligned", None: ""}[chosen.kubelet.aligned]
        if pod.claims is None or not pod.claims.containers:
            yield Line(f"it goes to {pod.node}, whose kubelet admits it{apart}", "good")
            return
        yield Line(f"it goes to {pod.node}, whose kubelet admits it", "good")
        for container in pod.claims.containers:
            style: Style = "good" if container.verdict == "aligned" else "warn"
            head = f"  with its claims {container.container} is {container.verdict}: "
            lines = wrap(f"{head}{container.reason}", WIDTH, subsequent_indent="    ", break_long_words=False)
            yield from (Line(line, style) for line in lines)


def reasons_text(answers: Sequence[NodeAnswer], kind: Kind) -> str:
    """Count why nodes do not pass, as kube-scheduler's event does: `0/3 nodes are available: 2 Insufficient cpu, …`."""
    counts: dict[str, int] = {}
    for one in answers:
        own = {"kep": one.kep, "nrt": one.nrt, "kai": one.kai}.get(kind)
        failed = one.fit if not one.fit.passed or own is None else own
        counts[failed.message] = counts.get(failed.message, 0) + 1
    said = ", ".join(f"{count} {message}" for message, count in sorted(counts.items()))
    return f"0/{len(answers)} nodes are available: {said}"


def schedule_names(result: ScheduleResult) -> list[str]:
    """Return a line a pod: its name, and its node where it has one."""
    return [f"{pod.namespace}/{pod.name} {pod.node or '-'}" for pod in result.pods]


CSV_COLUMNS = (
    "pod",
    "node",
    "chosen",
    "fit",
    "kep",
    "nrt",
    "kai",
    "kubelet",
    "reason",
    "aligned",
    "nodeScore",
    "nrtScore",
    "kaiScore",
    "cause",
)


def schedule_csv(result: ScheduleResult) -> str:
    """Write a line for each pod and node."""
    return table_csv(
        CSV_COLUMNS,
        (
            (
                f"{pod.namespace}/{pod.name}",
                one.node,
                one.node == pod.node,
                one.fit.passed,
                one.kep.passed,
                one.nrt.passed,
                one.kai.passed,
                one.kubelet.admitted if one.kubelet else None,
                one.kubelet.reason if one.kubelet else None,
                one.kubelet.aligned if one.kubelet else None,
                *(one.scores[name] for name in ("node", "nrt", "kai")),
                one.cause.code if one.cause else None,
            )
            for pod in result.pods
            for one in pod.answers
        ),
    )
