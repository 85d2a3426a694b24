"""What `verify` shows: a row a container, planned beside measured, and below it what is not as planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from numalign.analysis.verify.compare import VERDICTS, pages
from numalign.model.cpuset import format_set
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table, Title
from numalign.render.text.amounts import bytes_text

if TYPE_CHECKING:
    from numalign.analysis.verify.compare import Judged, Verdict
    from numalign.results.node import ProcessResult, VerifyResult

COLUMNS = ("POD", "CONTAINER", "VERDICT", "PLANNED CPUS", "REAL CPUS", "PLANNED NODES", "MEMORY", "DEVICES")
STYLES: dict[Verdict, Style] = {
    "drifted": "bad",
    "spread": "warn",
    "floating": "warn",
    "unknown": "warn",
    "aligned": "good",
}


def verify_document(result: VerifyResult, *, wide: bool = False) -> Document:
    """Build the page; without `wide` containers that hold nothing and are as planned are only counted."""
    shown = [one for one in result.containers if wide or one.verdict != "none" or one.findings]
    head = [Note(f"machine: {result.machine} ({result.origin})", "dim")]
    head += [Note(f"not known: {one}", "warn") for one in (*result.unknown, *result.left_out)]
    parts: list[Block] = [*head, Paragraph(), Table(COLUMNS, tuple([_row(one) for one in shown]))]
    left = len(result.containers) - len(shown)
    if left:
        parts.append(Note(f"{left} more hold nothing of their own and are as planned", "dim"))
    if result.ended:
        many = result.ended > 1
        text = f"{result.ended} init container{'s have' if many else ' has'} ended; the CPUs stay with the pod"
        parts.append(Note(text, "dim"))
    details = [line for one in shown for line in _details(one)]
    parts += [Paragraph(), *details] if details else []
    if result.host_allowed:
        text = f"{result.host_allowed} processes of the host may run on exclusive CPUs (isolcpus or CPUAffinity helps)"
        parts += [Paragraph(), Note(text, "dim")]
    parts += [Note(f"{one.severity} {one.code}: {one.file}: {one.message}", "warn") for one in result.findings]
    counts = Counter(one.verdict for one in result.containers)
    told = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
    last = f"{len(result.containers)} containers: {told}" if told else "no container runs"
    return [*parts, Paragraph(), Title(last)]


def _row(one: Judged) -> tuple[Cell, ...]:
    plan, group = one.plan, one.group
    real = None if group is None else group.cpus or group.effective_cpus
    devices = ", ".join(f"{held.resource} [{','.join(held.ids)}]" for held in plan.holding.devices)
    return (
        plan.pod,
        plan.container,
        Styled(one.verdict, STYLES.get(one.verdict, "")),
        "-" if plan.cpus is None else format_set(plan.cpus) + ("" if plan.exclusive else " (shared)"),
        "?" if real is None else format_set(real),
        "-" if not plan.nodes else format_set(plan.nodes),
        memory_text(one),
        devices or "-",
    )


def memory_text(one: Judged) -> str:
    """Write where a container's own memory is: `2Gi on 0, 64Mi on 1`."""
    used = pages(one.group) if one.group else None
    if used is None:
        return "?"
    return ", ".join(f"{bytes_text(size)} on {node}" for node, size in sorted(used.items()) if size) or "-"


def _details(one: Judged) -> Iterable[Block]:
    for finding in one.findings:
        style: Style = "bad" if finding.drift else "dim" if finding.code in ("waiting", "irq-elsewhere") else "warn"
        yield Note(f"{one.plan.pod} {one.plan.container}: {finding.code}: {finding.message} ({finding.file})", style)


def process_document(result: ProcessResult) -> Document:
    """Show one process."""
    used = result.pages
    memory = (
        "may not be counted"
        if used is None
        else ", ".join(f"{bytes_text(size)} on node {node}" for node, size in sorted(used.items()) if size) or "none"
    )
    lines: list[Block] = [
        Note(f"process {result.pid} on machine {result.machine}", "dim"),
        Paragraph(f"CPUs     {format_set(result.cpus)} (NUMA nodes {format_set(result.cpu_nodes)})"),
        Paragraph(f"memory   from nodes {format_set(result.mems)}; has {memory}"),
    ]
    for device, node in sorted(result.devices.items()):
        lines.append(Paragraph(f"device   {device} on {'no node' if node < 0 else f'node {node}'}"))
    return [*lines, Note(f"{result.verdict}: {result.reason}", STYLES.get(result.verdict, "bold"))]
