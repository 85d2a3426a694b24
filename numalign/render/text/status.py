"""What `status` shows: who holds what, what is free on each NUMA node, what is odd, would the kubelet come up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from numalign.analysis.node.finding import drain_and_delete
from numalign.kubelet.releases.release import version_text
from numalign.model.cpuset import format_set
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table
from numalign.render.text.admit import devices_text, header, memory_text, verdict_cell
from numalign.render.text.amounts import bytes_text

if TYPE_CHECKING:
    from numalign.analysis.node.finding import NodeFinding
    from numalign.analysis.node.room import Room
    from numalign.results.node import PodStatus, StatusResult

COLUMNS = ("POD", "CONTAINER", "CPUS", "DEVICES", "MEMORY", "ALIGNED")
STYLES: dict[str, Style] = {"error": "bad", "warning": "warn", "info": "dim"}


def status_document(result: StatusResult, *, wide: bool = False) -> Document:
    """Build the page; `wide` shows leftovers' UIDs, free memory of every kind, and what to do about each finding."""
    parts: list[Block] = [*(Note(text, "dim") for text in header(result.setup, result.origin, result.reserved_cpus))]
    parts += [Note(f"not known: {one}", "warn") for one in result.unknown]
    parts.append(Paragraph())
    rows = [row for pod in result.pods for row in _rows(pod, wide=wide)]
    if rows:
        parts.append(Table(COLUMNS, tuple(rows)))
    parts += [Paragraph(text) for pod in result.pods for text in _claims(pod)]
    if result.others:
        many = "s" * (result.others != 1)
        parts.append(Note(f"{result.others} other pod{many} with nothing of their own", "dim"))
    if result.exclusive_cpus:
        parts.append(Paragraph(f"shared pool: {format_set(result.shared_pool) or 'empty'}"))
    parts += [
        Paragraph(),
        Table(_room_columns(result, wide=wide), tuple(_room(one, result, wide=wide) for one in result.rooms)),
    ]
    if result.largest:
        told = ", ".join(f"{policy}: {cpus} CPU{'s' * (cpus != 1)}" for policy, cpus in result.largest.items())
        parts.append(Paragraph(f"largest aligned Guaranteed pod now, by policy {told}"))
    return [*parts, Paragraph(), *_start(result), *_findings(result.findings, result.remedy, wide=wide)]


def _rows(pod: PodStatus, *, wide: bool) -> Iterable[tuple[Cell, ...]]:
    for container in pod.containers:
        name: Cell = f"{pod.full_name} ({pod.uid})" if wide and pod.namespace else pod.full_name
        yield (
            name if pod.active else Styled(f"{pod.full_name} (left over)", "warn"),
            container.name,
            "shared pool" if container.holding.cpus is None else format_set(container.holding.cpus),
            devices_text(container.holding),
            memory_text(container.holding),
            verdict_cell(container.alignment),
        )


def _claims(pod: PodStatus) -> Iterable[str]:
    """Say which devices a pod holds by claim, a line for each claim."""
    by_claim: dict[str, list[str]] = {}
    for one in pod.claims:
        share = f" (share {one.share})" if one.share else ""
        by_claim.setdefault(one.claim, []).append(f"{one.driver} {one.pool}/{one.device}{share}")
    for claim, devices in by_claim.items():
        yield f"{pod.full_name} holds by claim {claim}: {', '.join(devices)}"


def _room_columns(result: StatusResult, *, wide: bool) -> tuple[str, ...]:
    return ("NUMA NODE", "CPUS FREE", "WHICH", *_resources(result, wide=wide), "LARGEST ALIGNED POD")


def _resources(result: StatusResult, *, wide: bool) -> list[str]:
    memory = {
        name: None for room in result.rooms for name in room.memory if wide or name == "memory" or room.memory[name][1]
    }
    devices = {name: None for room in result.rooms for name in room.devices}
    return [*sorted(memory, key=lambda name: (name != "memory", name)), *devices]


def _room(room: Room, result: StatusResult, *, wide: bool) -> tuple[Cell, ...]:
    cells: list[Cell] = [f"node {room.node}"]
    total = (room.total_cpus & ~room.reserved).bit_count()
    cells += [f"{room.cpus.bit_count()} of {total}" if result.exclusive_cpus else "-", format_set(room.cpus) or "-"]
    for name in _resources(result, wide=wide):
        if name in room.memory:
            free, every = room.memory[name]
            cells.append(f"{bytes_text(free)} of {bytes_text(every)}")
        elif name in room.devices:
            cells.append("{} of {}".format(*room.devices[name]))
        else:
            cells.append("-")
    cells.append(largest_text(room) if result.exclusive_cpus else "-")
    return tuple(cells)


def largest_text(room: Room) -> str:
    """Write the largest aligned pod of a NUMA node: `6 CPUs, 45.8Gi`."""
    if not room.largest:
        return "none"
    parts = [f"{room.largest} CPU{'s' * (room.largest != 1)}"]
    if "memory" in room.memory:
        parts.append(bytes_text(room.memory["memory"][0]))
    return ", ".join(parts)


def _start(result: StatusResult) -> Iterable[Block]:
    release = version_text(result.setup.kubelet.version)
    if result.starts:
        yield Note(
            f"The kubelet ({release}) would come up again with these files, this configuration and machine.", "good"
        )
        return
    yield Note(f"The kubelet ({release}) would NOT come up again:", "bad")
    yield from stopped(result.start_error, result.remedy)


def stopped(error: str, remedy: str) -> Iterable[Block]:
    """Say what stops a kubelet on a node, and what to do about it."""
    yield Note(error or "a file of resized pods or of claims stops it (see below)", "bad", 2)
    yield Paragraph(f"what to do: {remedy}", 2)


def _findings(findings: Iterable[NodeFinding], told: str, *, wide: bool) -> Iterable[Block]:
    """List what is odd; `told` is the remedy that was told already."""
    for one in findings:
        where = f"{one.file}: " if one.file else ""
        yield Note(f"{one.severity} {one.code}: {where}{one.message}", STYLES[one.severity])
        known = one.remedy == drain_and_delete(one.file) and one.file in told
        if one.remedy and not known and (wide or one.severity == "error"):
            yield Paragraph(f"what to do: {one.remedy}", 2)
