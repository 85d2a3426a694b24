"""What `schedule` shows: a row a node, or a row for several that are alike, and where schedulers and kubelet differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO, of_thousandths
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table, Title
from numalign.render.page.table_csv import Rows
from numalign.render.text.amounts import amount_text

if TYPE_CHECKING:
    from numalign.results.cluster import ClaimsScheduler, KubeletVerdict, NodeAnswer, ScheduledPod, ScheduleResult
    from numalign.scheduler.node import Fleet
    from numalign.scheduler.verdict import Verdict

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits of the number of a reason below a table."""
MAX_ROWS_SHOWN = 40
"""More groups of nodes than this are shown by `wide` only."""


def schedule_document(result: ScheduleResult, fleet: Fleet, origin: str, *, wide: bool = False) -> Document:
    """Say what became of each pod and why; below it a table of the nodes, and where the answers differ.

    Args:
        result: the pods.
        fleet: the cluster as it was.
        origin: where the cluster came from.
        wide: show every group of nodes.
    """
    document: list[Block] = [Note(text, "dim") for text in (*header(fleet, origin), f"scheduler {result.title}")]
    if result.claims is not None:
        document += [Note(text, "dim") for text in _claims(result.claims)]
    if len(result.pods) > 1:
        running = sum(pod.runs for pod in result.pods)
        document += [Paragraph(), Title(f"{running} of {len(result.pods)} pods run")]
    for pod in result.pods:
        document += [Paragraph(), *_outcome(pod), *(Paragraph(text, 2) for text in _fix(pod))]
        if pod.answers:
            document += [Paragraph(), *_pod(pod, result.title, wide=wide)]
    where = dict.fromkeys(text for pod in result.pods for text in _where_fixes_are(pod))
    return [*document, *[Paragraph()] * bool(where), *map(Paragraph, where)]


def _fix(pod: ScheduledPod) -> Iterator[str]:
    """Name the schedulers, and the nodes that this scheduler accepts, that would run a pod that does not run."""
    if options := list(_options(pod)):
        yield f"fix: use {', or '.join(options)}"


def _options(pod: ScheduledPod) -> Iterator[str]:
    fit = [one for one in pod.answers if one.fit.passed]
    good = [] if pod.runs else [one for one in fit if _runs(one)]
    if not good:
        return
    taken = {name: [_runs(one) for one in fit if one.verdicts[name].passed] for name in good[0].verdicts}
    able = [name for name, runs in taken.items() if runs and all(runs)]
    if able:
        yield f"--scheduler {' or '.join([*filter(None, [', '.join(able[:-1])]), able[-1]])}"
    if accepted := [one.node for one in good if one.feasible]:
        yield f"a nodeSelector for {names_text(accepted)}"


def _where_fixes_are(pod: ScheduledPod) -> Iterator[str]:
    """Say where to find changes of a pod that no node would run."""
    if pod.answers and not pod.gates and not pod.runs and not any(_options(pod)):
        node = next((one.node for one in pod.answers if one.fit.passed), pod.answers[0].node)
        first = f"numalign snapshot on a node, such as {pod.node or node}"
        yield f"For fixes, run {first}, then numalign explain with the pod and --node FILE."


def _runs(one: NodeAnswer) -> bool:
    admits = one.kubelet is not None and one.kubelet.admitted and not one.kubelet.missing
    return admits and not one.by_claims and not one.by_pods


def header(fleet: Fleet, origin: str) -> Iterator[str]:
    """Name the cluster, and how much is known of its nodes."""
    count = len(fleet.nodes)
    pods = sum(node.totals.pods for node in fleet.nodes)
    yield f"{origin}: {count} node{'s' * (count != 1)}, {pods} pod{'s' * (pods != 1)}"
    unknown = sum(node.known == "nothing" for node in fleet.nodes)
    counts = sum(node.known == "counts" for node in fleet.nodes)
    if unknown or counts:
        exact = count - unknown - counts
        yield f"data: CPU ids of {exact} nodes, NUMA totals of {counts}, nothing of {unknown}"


def _claims(by: ClaimsScheduler) -> Iterator[str]:
    """Name the release whose allocator answers about claims."""
    yield f"claims: scheduler {by.release}, {by.allocator} allocator"
    if not by.deterministic:
        yield "  the scheduler tries pools in random order: these devices are one possible answer"


def _pod(pod: ScheduledPod, title: str, *, wide: bool) -> Iterator[Block]:
    groups = [tuple(group) for _, group in groupby(pod.answers, _alike)]
    shown = groups if wide else groups[:MAX_ROWS_SHOWN]
    hidden = groups[len(shown) :]
    shown += [group for group in hidden if any(one.node == pod.node for one in group)]
    filters = [name.upper() for name in pod.answers[0].verdicts] if pod.answers else []
    columns = ("NODES", "FIT", "SCORE", "KUBELET", *filters)
    reasons: dict[str, int] = {}
    yield Table(columns, tuple(_row(group, pod, reasons) for group in shown), frozenset({"SCORE"}))
    notes = [f"{str(number).translate(RAISED)} {why}" for why, number in reasons.items()]
    if any(len(group) > 1 and any(one.node == pod.node for one in group) for group in shown):
        notes.insert(0, "* chosen from these")
    yield from (Note(text, "dim") for text in (notes if len(notes) > 2 else ["   ".join(notes)] * bool(notes)))
    if len(groups) > len(shown):
        more = len(pod.answers) - sum(len(group) for group in shown)
        yield Note(f"and {more} more nodes; -o wide shows them", "dim")
    yield from _disagreements(pod, title)
    if pod.not_judged:
        yield Note(f"not checked: {', '.join(pod.not_judged)}", "warn")


def _alike(answer: NodeAnswer) -> tuple[object, ...]:
    """Nodes in a row of which everybody says the same are one row."""
    return (answer._replace(node="", scores={}, cause=None, points=answer.points if answer.feasible else 0),)


def _row(group: Sequence[NodeAnswer], pod: ScheduledPod, reasons: dict[str, int]) -> tuple[Cell, ...]:
    """Write a row; why a node fails a filter gets a number, and stands once below the table."""
    first = group[0]
    name = names_text([one.node for one in group])
    chosen = any(one.node == pod.node for one in group)
    return (
        Styled(f"{name} *" if chosen else name, "bold" if chosen else ""),
        _filter_cell(first.fit, first.fit, reasons),
        f"{first.points:g}" if first.feasible else "-",
        kubelet_cell(first.kubelet),
        *(_filter_cell(one, first.fit, reasons) for one in first.verdicts.values()),
    )


def names_text(names: Sequence[str]) -> str:
    """Name nodes: all of a few, else the first and the last with their number."""
    if len(names) < 3:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)})"


def _filter_cell(verdict: Verdict, fit: Verdict, reasons: dict[str, int]) -> Cell:
    """Write a filter's answer in one word; a filter of NUMA nodes that names nothing has no reason."""
    if verdict.passed:
        return Styled("pass", "good")
    why = _reason(verdict) if verdict.container or verdict.resource or verdict is fit else ""
    if not why:
        return Styled("no", "bad")
    number = reasons.setdefault(why, len(reasons) + 1)
    return Styled(f"no{str(number).translate(RAISED)}", "bad")


def _reason(verdict: Verdict) -> str:
    """Say why a filter fails a node: what is short, and how much of it the best zone has."""
    if not verdict.resource:
        return verdict.message
    asked = f"{verdict.resource}: {_amount(verdict.resource, verdict.requested)} requested"
    if verdict.best is None:
        return f"{asked}, in no zone"
    where = "" if verdict.best_zone is None else f" on NUMA {str(verdict.best_zone).removeprefix('node-')}"
    return f"{asked}, {_amount(verdict.resource, verdict.best)} free{where}"


def _amount(resource: str, nano: int) -> str:
    return amount_text(resource, nano // NANO) if nano % NANO == 0 else of_thousandths(nano * 1000 // NANO)


def kubelet_cell(verdict: KubeletVerdict | None) -> Cell:
    """Write the kubelet's own answer."""
    if verdict is None:
        return Styled("unknown", "warn")
    if not verdict.admitted:
        return Styled(verdict.reason or verdict.stage, "bad")
    if verdict.missing:
        return Styled(f"admits without {', '.join(verdict.missing)}", "bad")
    if verdict.aligned is False:
        return Styled("admits, NOT aligned", "warn")
    return Styled("admits", "good")


def _disagreements(pod: ScheduledPod, title: str) -> Iterator[Block]:
    """Say where the scheduler and the kubelet differ, and why, unless the scheduler's own line has said it."""
    found: dict[tuple[bool, str], list[str]] = {}
    for one in pod.answers:
        if one.disagrees and not (one.cause and one.cause.text in title):
            otherwise = "kubelets do not check claims" if one.by_claims else "cause not searched"
            otherwise = "kubelets do not check pod affinity and topology spread" if one.by_pods else otherwise
            why = one.cause.text if one.cause else otherwise
            found.setdefault((one.feasible, why), []).append(one.node)
    for (passes, why), names in found.items():
        says = "the scheduler accepts, the kubelet rejects" if passes else "the scheduler rejects, the kubelet admits"
        yield Note(f"{names_text(names)}: {says} ({why})", "warn")


def _outcome(pod: ScheduledPod) -> Iterator[Block]:
    """Say where the pod goes, and what its kubelet answers."""
    chosen, name = pod.chosen, f"{pod.namespace}/{pod.name}"
    if pod.gates:
        yield Note(f"{name}: not scheduled: it has scheduling gates ({', '.join(pod.gates)})", "warn")
        return
    if pod.ended_by is not None:
        yield Note(f"{name}: unschedulable: the error on {pod.ended_by} ends the scheduling on all nodes", "bad")
        yield Note(next(one.verdict.message for one in pod.answers if one.node == pod.ended_by), "dim", 2)
        return
    if chosen is None:
        yield Note(f'{name}: unschedulable: "{reasons_text(pod.answers)}"', "bad")
        if pod.preemption is not None:
            victims = ", ".join(pod.preemption.victims)
            yield Note(f"The scheduler evicts {victims}; {pod.preemption.node} then fits.", "warn", 2)
        return
    placed = f"{name}: scheduled to {pod.node}; "
    if chosen.kubelet is None:
        yield Note(f"{placed}kubelet verdict unknown", "warn")
    elif not chosen.kubelet.admitted:
        yield Note(f"{placed}its kubelet rejects the pod", "bad")
        yield Note(f'Kubelet: "{chosen.kubelet.message or chosen.kubelet.reason}"', "dim", 2)
    elif pod.claims is None or not pod.claims.containers:
        aligned = {True: ", aligned", False: ", NOT aligned", None: ""}[chosen.kubelet.aligned]
        yield Note(
            f"{placed}its kubelet admits the pod{aligned}", "warn" if chosen.kubelet.aligned is False else "good"
        )
    else:
        yield Note(f"{placed}its kubelet admits the pod", "good")
        for container in pod.claims.containers:
            style: Style = "good" if container.verdict == "aligned" else "warn"
            where, _, why = container.reason.rpartition(": ")
            yield Note(f"with claims {container.container} is {container.verdict}: {why}", style, 2)
            yield from [Paragraph(where, 4)] if where else []


def reasons_text(answers: Sequence[NodeAnswer]) -> str:
    """Count why nodes do not pass, as kube-scheduler's event does: `0/3 nodes are available: 2 Insufficient cpu, …`."""
    counts = Counter(one.verdict.message for one in answers)
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
