"""What `status` shows: who holds what, what is free on each NUMA node, problems, would the kubelet restart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import TYPE_CHECKING

from numalign.analysis.node.finding import NodeFinding, drain_and_delete
from numalign.model.cpuset import format_set
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table
from numalign.render.text.admit import devices_text, header, memory_text, short_names, verdict_cell
from numalign.render.text.amounts import bytes_text, listed, nodes_text
from numalign.render.text.restart import RESTARTS, node_parts
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.analysis.alignment import Alignment
    from numalign.analysis.node.room import Room
    from numalign.results.node import PodStatus, StatusResult

MAX_NODE_COLUMNS = 4
"""With more NUMA nodes than this, each is a row."""
COLUMNS = ("POD", "CONTAINER", "CPUS", "DEVICES", "MEMORY", "ALIGNED")
STYLES: dict[str, Style] = {"error": "bad", "warning": "warn", "info": "dim"}


def status_document(result: StatusResult, *, wide: bool = False) -> Document:
    """Build the page; `wide` shows leftovers' UIDs, free memory of every kind, and what to do about each finding."""
    parts: list[Block] = [*(Note(text, "dim") for text in header(result.setup, result.origin, result.reserved_cpus))]
    parts += _start(result, wide=wide)
    parts += [Note(f"unknown: {one}", "warn") for one in result.unknown]
    parts.append(Paragraph())
    short = {} if wide else short_names(result.pods)
    rows = [row for pod in result.pods for row in _rows(pod, short, wide=wide)]
    if rows:
        parts.append(Table(COLUMNS, tuple(rows)))
    apart = [pod for pod in result.pods if any(one.alignment.verdict == "spread" for one in pod.containers)]
    if apart:
        said, name = f"{len(apart)} pods are", "POD"
        if len(apart) == 1:
            said, name = "1 pod is", apart[0].full_name
        how = f"numalign explain with a pod's manifest, --node {quote(result.node)} and --without {name}"
        parts.append(Paragraph(f"{said} spread. For fixes, run {how}."))
    parts += [Paragraph(text) for pod in result.pods for text in _claims(pod)]
    if result.others:
        many = result.others != 1
        parts.append(Note(f"{result.others} more pod{'s hold' if many else ' holds'} no exclusive resources.", "dim"))
    if result.exclusive_cpus:
        parts.append(Paragraph(f"shared pool: {format_set(result.shared_pool) or 'empty'}"))
    parts += [Paragraph(), _free_table(result, wide=wide)]
    if result.largest:
        parts += [Paragraph(), Paragraph(_largest(result.largest, result.setup.config.topology_manager_policy))]
    told = list(findings_parts(result.findings, result.remedy, wide=wide))
    return [*parts, Paragraph(), *told] if told else parts


def _largest(by_policy: Mapping[str, int], own: str) -> str:
    """Say the largest aligned pod of the node's own policy first, and once where policies agree."""
    sizes: dict[int, list[str]] = {}
    for policy, cpus in sorted(by_policy.items(), key=lambda item: item[0] != own):
        sizes.setdefault(cpus, []).append(policy)
    if not any(sizes):
        return "No aligned Guaranteed pod fits under any policy. To make room, move a pod off the node."
    told = [
        f"{cpus} CPU{'s' * (cpus != 1)} under {'every policy' if len(sizes) == 1 else f'policy {listed(policies)}'}"
        for cpus, policies in sizes.items()
        if policies != ["none"] or own == "none"  # which does not align
    ]
    return f"Largest aligned Guaranteed pod: {', '.join(told)}."


def _rows(pod: PodStatus, short: Mapping[str, str], *, wide: bool) -> Iterable[tuple[Cell, ...]]:
    for container in pod.containers:
        name: Cell = f"{pod.full_name} ({pod.uid})" if wide and pod.namespace else pod.full_name
        yield (
            name if pod.active else Styled(f"{pod.full_name} (ended)", "warn"),
            container.name,
            "shared pool" if container.holding.cpus is None else format_set(container.holding.cpus),
            devices_text(container.holding, short),
            memory_text(container.holding),
            _verdict(container.alignment) if pod.active else "-",
        )


def _verdict(judged: Alignment) -> Cell:
    """Write the verdict on a container, also of one that is spread with its NUMA nodes."""
    if judged.verdict == "spread":
        return Styled(f"no: spread, {nodes_text(judged.nodes)}", "warn")
    return verdict_cell(judged)


def _claims(pod: PodStatus) -> Iterable[str]:
    """Say which devices a pod holds by claim, a line for each claim."""
    by_claim = grouped(
        (one.claim, f"{one.driver} {one.pool}/{one.device}{f' (share {one.share})' * bool(one.share)}")
        for one in pod.claims
    )
    for claim, devices in by_claim.items():
        yield f"{pod.full_name} holds devices of claim {claim}: {', '.join(devices)}"


def _free_table(result: StatusResult, *, wide: bool) -> Table:
    """Lay out what is free: a row for each resource, or for each NUMA node where there are many."""
    resources = _resources(result, wide=wide)
    tails = [name.rpartition("/")[2] for name in resources]
    many = len(result.rooms) > MAX_NODE_COLUMNS
    short = [tail if many and tails.count(tail) == 1 else name for name, tail in zip(resources, tails, strict=True)]
    titles = ("cpu", "CPU ids" if many else "  CPU ids", *short, "largest aligned pod")
    nodes = tuple(f"NUMA {room.node}" for room in result.rooms)
    columns = [_room(room, result, resources) for room in result.rooms]
    if many:
        rows = tuple((node, *cells) for node, cells in zip(nodes, columns, strict=True))
        return Table(("FREE", *map(str.upper, titles)), rows)
    return Table(("FREE", *nodes), tuple(zip(titles, *columns, strict=True)))


def _resources(result: StatusResult, *, wide: bool) -> list[str]:
    memory = {
        name: None for room in result.rooms for name in room.memory if wide or name == "memory" or room.memory[name][1]
    }
    devices = {name: None for room in result.rooms for name in room.devices}
    return [*sorted(memory, key=lambda name: (name != "memory", name)), *devices]


def _room(room: Room, result: StatusResult, resources: Iterable[str]) -> list[Cell]:
    total = (room.total_cpus & ~room.reserved).bit_count()
    cells: list[Cell] = [
        f"{room.cpus.bit_count()} of {total}" if result.exclusive_cpus else "-",
        format_set(room.cpus) or "-",
    ]
    for name in resources:
        if name in room.memory:
            free, every = room.memory[name]
            cells.append(f"{bytes_text(free)} of {bytes_text(every)}")
        elif name in room.devices:
            cells.append("{} of {}".format(*room.devices[name]))
        else:
            cells.append("-")
    cells.append(largest_text(room) if result.exclusive_cpus else "-")
    return cells


def largest_text(room: Room) -> str:
    """Write the largest aligned pod of a NUMA node: `6 CPUs, 45.8Gi`."""
    if not room.largest:
        return "none"
    parts = [f"{room.largest} CPU{'s' * (room.largest != 1)}"]
    if "memory" in room.memory:
        parts.append(bytes_text(room.memory["memory"][0]))
    return ", ".join(parts)


def _start(result: StatusResult, *, wide: bool) -> Iterable[Block]:
    if not result.starts:
        yield Note("The kubelet would NOT restart:", "bad")
        yield from stopped(result.start_error, result.remedy)
    elif result.restart is None or not result.restart.pods:
        yield Note(f"{RESTARTS}.", "good")
    if result.restart is not None:
        yield from node_parts(result.restart, starts=result.starts, wide=wide)


def stopped(error: str, remedy: str) -> Iterable[Block]:
    """Say what stops a kubelet on a node, and what to do about it."""
    yield Note(
        f'"{error}"' if error else "A file of resized pods or of claims stops the kubelet (see below).", "bad", 2
    )
    yield Paragraph(f"fix: {remedy}", 2)


def findings_parts(findings: Iterable[NodeFinding], told: str, *, wide: bool = False) -> Iterable[Block]:
    """List problems, each with its fix; `told` is the fix that was told already. A note's fix is for `wide`."""
    for one in findings:
        label = "note" if one.severity == "info" else one.severity
        file = one.file if wide or label != "note" else one.file.rpartition("/")[2]
        where = f"{file}: " if file else ""
        yield Note(f"{label}: {where}{one.message} ({one.code})", STYLES[one.severity])
        known = one.remedy == drain_and_delete(one.file) and one.file in told
        if one.remedy and not known and (wide or one.severity != "info"):
            yield Paragraph(f"fix: {one.remedy}", 2)
