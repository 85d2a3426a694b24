"""What pods hold by claim beside what the kubelet gives them, and the verdict over both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from numalign.model.cpuset import format_set
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table, Title
from numalign.render.text.alignment import bus_text
from numalign.render.text.dra import why_lines

if TYPE_CHECKING:
    from numalign.results.admit import PodResult
    from numalign.results.dra import ClaimedDevice, ContainerClaims, NodeClaims, PodClaims, Verdict

COLUMNS: Final = ("POD", "CONTAINER", "REQUEST", "DEVICES", "NUMA NODE", "TOGETHER")
WIDTH: Final = 78
"""Where prose is broken, so that it reads on 80 columns."""
_STYLES: Final[dict[Verdict, Style]] = {"aligned": "good", "spread": "bad", "floating": "bad", "unknown": "warn"}


def claims_document(claims: NodeClaims, *, write: bool = False) -> Document:
    """Build the table of claimed devices and, below it, a sentence and the ways out for each container.

    Args:
        claims: what pods hold.
        write: below each way out stands what to write.
    """
    document: list[Block] = [Paragraph(), Title(f"claims on node {claims.node} ({claims.source}):")]
    if not claims.deterministic:
        text = f"scheduler {claims.release}: pools are tried in random order, this is one possible answer"
        document.append(Note(text, "dim"))
    rows = tuple(row for pod in claims.pods for row in _rows(pod))
    if rows:
        document.append(Table(COLUMNS, rows))
    else:
        document.append(Paragraph("no admitted pod has claims", 2))
    for pod in claims.pods:
        document += list(_failure(pod))
        for container in pod.containers:
            document += [Paragraph(), *_judgement(pod, container, write=write)]
    if not write and any(way.write for pod in claims.pods for one in pod.containers for way in one.ways_out):
        document.append(Note("for what to write, run numalign explain with the same arguments", "dim", 2))
    return document


def with_verdicts(
    rows: Sequence[tuple[Cell, ...]], pods: Sequence[PodResult], claims: NodeClaims
) -> list[tuple[Cell, ...]]:
    """Put the verdict over both worlds into the last column of an admission's rows, where a container has claims."""
    verdicts = {
        (pod.namespace, pod.pod, container.container): container.verdict
        for pod in claims.pods
        for container in pod.containers
    }
    keys = [
        (pod.namespace, pod.name, name)
        for pod in pods
        for name in ([one.name for one in pod.containers] if pod.admitted else [""])
    ]
    found: list[tuple[Cell, ...]] = []
    for row, key in zip(rows, keys, strict=True):
        verdict = verdicts.get(key)
        if verdict is None:
            found.append(row)
        else:
            text = "yes" if verdict == "aligned" else "NO" if verdict != "unknown" else "-"
            found.append((*row[:-1], Styled(f"{text}, {verdict} with its claims", _STYLES[verdict])))
    return found


def claims_cell(claims: NodeClaims | None) -> Cell:
    """Say the worst verdict over the pods' claims in a word."""
    if claims is None or not claims.pods:
        return "-"
    if not all(pod.allocated for pod in claims.pods):
        return Styled("not allocated", "bad")
    order: tuple[Verdict, ...] = ("floating", "spread", "unknown", "aligned")
    verdicts = {container.verdict for pod in claims.pods for container in pod.containers}
    found = next((one for one in order if one in verdicts), None)
    if found is None:
        return "-"
    copies = f", {claims.copies} by claims" if claims.copies is not None else ""
    return Styled(f"{found}{copies}", _STYLES[found])


def _rows(pod: PodClaims) -> Iterator[tuple[Cell, ...]]:
    if not pod.allocated:
        yield (pod.pod, "-", "-", Styled("not allocated here", "bad"), "-", "-")
    for container in pod.containers:
        for request, group in groupby(container.devices, key=lambda one: one.got.request):
            got = list(group)
            yield (
                pod.pod,
                container.container,
                request,
                ", ".join(map(_device, got)),
                ", ".join(dict.fromkeys(map(_numa, got))),
                Styled(container.verdict, _STYLES[container.verdict]),
            )


def _device(one: ClaimedDevice) -> str:
    name = f"{one.got.device.driver} {one.got.device.device}"
    return f"{name} (CPUs {format_set(one.cpus)})" if one.cpus is not None else name


def _numa(one: ClaimedDevice) -> str:
    if one.numa is None:
        return "unknown"
    nodes = ", ".join(map(str, one.numa))
    return nodes if one.told_by == "driver" else f"{nodes} (by the machine)"


def _failure(pod: PodClaims) -> Iterator[Block]:
    if pod.allocated:
        return
    yield Paragraph()
    yield Note(f"{pod.namespace}/{pod.pod}: the scheduler would not place the pod on this node", "bad")
    if pod.absent:
        yield Paragraph(f"{', '.join(pod.absent)} is neither given nor in the cluster", 2)
    if pod.outcome is not None and pod.outcome.error:
        yield Paragraph(pod.outcome.error, 2)
    if pod.why is not None:
        yield from why_lines(pod.why)


def _judgement(pod: PodClaims, container: ContainerClaims, *, write: bool) -> Iterator[Block]:
    head = f"{pod.pod}/{container.container}: "
    lines = wrap(f"{head}{container.reason}", WIDTH, subsequent_indent="  ", break_long_words=False)
    yield from (Paragraph(line) for line in lines)
    if container.neighbours:
        yield from _item(bus_text(container.neighbours), "  ")
    for way in container.ways_out:
        yield from _item(way.text, "  - ")
        if way.gives:
            yield from _item(f"tested: gives {', '.join(way.gives)}", "    ")
        if way.holds:
            yield from _item(way.holds, "    ")
        if write:
            yield from (Paragraph(line, 6) for line in way.write)


def _item(text: str, indent: str) -> Iterator[Block]:
    broken = wrap(text, WIDTH, initial_indent=indent, subsequent_indent="    ", break_long_words=False)
    yield from (Paragraph(line) for line in broken)
