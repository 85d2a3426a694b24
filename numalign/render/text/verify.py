"""What `verify` shows: a row a container, planned beside measured, and below it what is not as planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.verify.compare import VERDICTS, Judged, Verdict, pages
from numalign.model.cpuset import format_set
from numalign.render.page.document import Block, Cell, Command, Document, Note, Paragraph, Style, Styled, Table, Title
from numalign.render.text.amounts import bytes_text
from numalign.render.text.status import findings_parts

if TYPE_CHECKING:
    from numalign.results.node import ProcessResult, VerifyResult

COLUMNS = ("POD", "CONTAINER", "VERDICT", "CPUS", "PLANNED", "MEMORY", "DEVICES")
STYLES: dict[Verdict, Style] = {
    "drifted": "bad",
    "spread": "warn",
    "floating": "warn",
    "unknown": "warn",
    "aligned": "good",
}


_FIXES = {
    "cpuset-differs": "restart the kubelet: it writes the planned cpusets again",
    "mems-differ": "restart the kubelet: it writes the planned cpusets again",
    "thread-outside": "let the program choose among the planned CPUs",
    "memory-remote": "restart the container: its memory then comes from the planned NUMA nodes",
    "device-moved": "restart the device plugin, then the pod",
    "intruder": "move it with taskset -a -p, or set CPUAffinity= in its systemd unit",
    "missing-cpu": "put the CPU online, or drain the node and delete cpu_manager_state",
}
"""Finding -> what to do; `waiting` ends by itself, and the kubelet plans no interrupts."""

_COUNTED = {"none": "shared and as planned"}
"""What a verdict is called where containers are counted."""


def verify_document(result: VerifyResult, *, wide: bool = False) -> Document:
    """Build the page; without `wide` containers that hold nothing and are as planned are only counted."""
    shown = [one for one in result.containers if wide or one.verdict != "none" or one.findings]
    counts = Counter(one.verdict for one in result.containers)
    told = ", ".join(f"{counts[word]} {_COUNTED.get(word, word)}" for word in VERDICTS if counts[word])
    head = f"{len(result.containers)} containers: {told}" if told else "no container runs"
    name = result.machine if result.origin.endswith(f"/{result.machine}") else f"{result.machine} ({result.origin})"
    parts: list[Block] = [Title(f"{name}: {head}")]
    parts += [Note(f"unknown: {one}", "warn") for one in (*result.unknown, *result.left_out)]
    parts += [Paragraph(), Table(COLUMNS, tuple([_row(one) for one in shown]))]
    details = [line for one in shown for line in _details(one)]
    parts += [Paragraph(), *details] if details else []
    found = dict.fromkeys(finding.code for one in shown for finding in one.findings)
    parts += [Paragraph(f"fix: {text}", 2) for text in dict.fromkeys(_FIXES[one] for one in found if one in _FIXES)]
    if result.ended:
        one = "init container has ended; its pod keeps"
        text = one if result.ended == 1 else "init containers have ended; their pods keep"
        parts.append(Note(f"{result.ended} {text} the CPUs.", "dim"))
    if result.host_allowed:
        parts += [
            Note(f"{result.host_allowed} host processes may run on exclusive CPUs.", "dim"),
            Paragraph("fix: kernel parameter isolcpus, or CPUAffinity= of systemd", 2),
        ]
    return [*parts, *findings_parts(result.findings, "")]


def _row(one: Judged) -> tuple[Cell, ...]:
    plan, group = one.plan, one.group
    real = None if group is None else group.cpus or group.effective_cpus
    devices = ", ".join(name for held in plan.holding.devices for name in held.ids)
    planned = "-" if plan.cpus is None else "same" if plan.cpus == real else format_set(plan.cpus)
    return (
        plan.pod,
        plan.container,
        Styled(one.verdict, STYLES.get(one.verdict, "")),
        "?" if real is None else format_set(real),
        planned + " (shared)" * (plan.cpus is not None and not plan.exclusive),
        memory_text(one),
        devices or "-",
    )


def memory_text(one: Judged) -> str:
    """Write where a container's own memory is: `2Gi NUMA 0, 64Mi NUMA 1`."""
    return _memory(pages(one.group) if one.group else None, "?", "-")


def _memory(used: Mapping[int, int] | None, unread: str, nothing: str) -> str:
    if used is None:
        return unread
    return ", ".join(f"{bytes_text(size)} NUMA {node}" for node, size in sorted(used.items()) if size) or nothing


def _details(one: Judged) -> Iterable[Block]:
    for finding in one.findings:
        style: Style = "bad" if finding.drift else "dim" if finding.code in ("waiting", "irq-elsewhere") else "warn"
        yield Note(f"{one.plan.pod} {one.plan.container}: {finding.code}: {finding.message}", style)
        yield Command(finding.file, 2)


def process_document(result: ProcessResult) -> Document:
    """Show one process."""
    memory = _memory(result.pages, "not readable", "none")
    lines: list[Block] = [
        Note(f"process {result.pid} on {result.machine}", "dim"),
        Note(f"{result.verdict}: {result.reason}", STYLES.get(result.verdict, "bold")),
        Paragraph(f"CPUs     {format_set(result.cpus)} (NUMA {format_set(result.cpu_nodes)})"),
        Paragraph(f"memory   {memory}; NUMA {format_set(result.mems)} allowed"),
    ]
    for device, node in sorted(result.devices.items()):
        lines.append(Paragraph(f"device   {device} on {'no NUMA node' if node < 0 else f'NUMA {node}'}"))
    return lines
