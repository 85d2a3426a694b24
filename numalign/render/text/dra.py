"""What `dra check` shows: a row for each request on each node, and below it why other nodes have nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from numalign.dra.allocator import MAX_WORK
from numalign.model.words import few_of
from numalign.render.page.document import NOTHING, Block, Cell, Document, Note, Paragraph, Styled, Table, Title
from numalign.render.text.amounts import many
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.dra.changes import ClaimChange
    from numalign.dra.result import Gate
    from numalign.dra.values import Constraint
    from numalign.dra.why import Publisher, Why
    from numalign.results.dra import ClaimsCheck, DeviceGot, DraCheckResult, NodeCheck

COLUMNS: Final = ("FOR", "NODE", "RESULT", "REQUEST", "DEVICES", "NUMA NODE")
WIDE: Final = ("FOR", "NODE", "RESULT", "CLAIM", "REQUEST", "DEVICES", "NUMA NODE", "POOL", "TAKES", "SCORE")
NODES_NAMED: Final = 3
CLASSES_NAMED: Final = 6
_GATES: Final[dict[Gate, tuple[str, str]]] = {
    "in use": ("is in use by another claim", "are in use by other claims"),
    "taken": ("is allocated to another request here", "are allocated to other requests here"),
    "class": ("is of another class", "are of other classes"),
    "selector": ("fails the request's selector", "fail the request's selector"),
    "taint": ("has a taint", "have a taint"),
    "counter": ("lacks counters of its pool", "lack counters of their pool"),
    "capacity": ("has too little capacity", "have too little capacity"),
    "constraint": ("does not meet the constraint", "do not meet the constraint"),
    "pool": ("is in an unusable pool", "are in unusable pools"),
}


def check_document(result: DraCheckResult, *, wide: bool = False) -> Document:
    """Build the table, then a block for each way in which nodes fail."""
    features = result.features
    of = f"{many(result.nodes, 'node')}, {many(result.slices, 'slice')}, {many(result.devices, 'device')}"
    head = [f"cluster: {of}; scheduler {features.release}, {features.copy} allocator"]
    if not result.deterministic:
        head.append("the scheduler tries pools and slices in random order: these devices are one possible answer")
    document: list[Block] = [Note(text, "dim") for text in head]
    columns = WIDE if wide else COLUMNS
    places = [WIDE.index(column) for column in columns]
    rows = (row for check in result.checks for row in _rows(check))
    document += [Paragraph(), Table(columns, tuple(tuple([row[place] for place in places]) for row in rows))]
    for check in result.checks:
        errors = [f"{', '.join(check.absent)} is not in the input or the cluster"] * bool(check.absent)
        if check.ended is not None:
            errors.append(f"unschedulable: the error on {check.ended.node} ends the scheduling on all nodes")
        for text in errors:
            document += [Paragraph(), Note(f"{check.full_name}: {text}", "bad")]
        for nodes in grouped((node.failure, node) for node in check.nodes if not node.fits).values():
            document += [Paragraph(), *_failure(check, nodes)]
    if len(result.checks) > 1:
        fitting = sum(check.fits for check in result.checks)
        text = f"{fitting} of {len(result.checks)} can be allocated somewhere, each tested alone"
        document += [Paragraph(), Title(text)]
    return document


def check_names(result: DraCheckResult) -> Iterator[str]:
    """Name what can be allocated somewhere, with the nodes: `default/train node-1 node-2`."""
    for check in result.checks:
        if check.fits:
            yield " ".join([check.full_name, *(node.node for node in check.nodes if node.fits)])


def _rows(check: ClaimsCheck) -> Iterator[tuple[Cell, ...]]:
    """Lay a check out under `WIDE`."""
    if check.absent:
        yield check.name, NOTHING, Styled("claim missing", "bad"), *[NOTHING] * 7
    for node in check.nodes:
        fits = check.name, node.node, Styled("fits", "good")
        if not node.fits:
            outcome, why = node.outcome, node.why
            result = "gave up" if outcome.gave_up else "error" if outcome.error else "no"
            asked = (why.claim, why.request) if why else (NOTHING, NOTHING)
            yield *fits[:2], Styled(result, "bad"), *asked, *[NOTHING] * 5
        elif not node.devices:
            yield *fits, NOTHING, NOTHING, "allocated already", *[NOTHING] * 4
        for request, group in groupby(node.devices if node.fits else (), key=lambda one: (one.claim, one.request)):
            got = list(group)
            yield *fits, *request, devices_text(got), numa_text(got), *_more(got, node)


def _more(got: Sequence[DeviceGot], node: NodeCheck) -> tuple[str, str, str]:
    takes = sorted({f"{amount} {name}" for one in got for name, amount in one.consumed})
    pools = sorted({one.device.pool for one in got})
    return ", ".join(pools), ", ".join(takes) or NOTHING, str(node.score) if node.outcome.chosen else NOTHING


def devices_text(got: Iterable[DeviceGot]) -> str:
    """Write devices, driver by driver: `gpu.nvidia.com gpu-0, gpu-1`."""
    return "; ".join(
        f"{driver} {', '.join(one.device.device for one in group)}"
        for driver, group in groupby(got, key=lambda one: one.device.driver)
    )


def numa_text(got: Iterable[DeviceGot]) -> str:
    """Write the NUMA nodes that devices say they are on."""
    said = [one.numa for one in got]
    nodes = sorted({node for one in said if one is not None for node in one})
    if not nodes:
        return "not said"
    return ", ".join(map(str, nodes)) + (", NUMA node unknown" if None in said else "")


def _failure(check: ClaimsCheck, nodes: Sequence[NodeCheck]) -> Iterator[Block]:
    first = nodes[0]
    names = ", ".join(node.node for node in nodes[:NODES_NAMED])
    more = f" and {many(len(nodes) - NODES_NAMED, 'more node')}" if len(nodes) > NODES_NAMED else ""
    yield Title(f"{check.full_name} on {names}{more}:")
    if first.outcome.error:
        yield Note(first.outcome.error, "bad", 2)
    if first.outcome.selector:
        yield Paragraph(f"selector: {first.outcome.selector}", 2)
    if first.why is not None:
        yield from why_lines(first.why)
    if first.outcome.gave_up:
        yield Paragraph(
            f"stopped after {MAX_WORK:,} devices: a solution may exist, but the scheduler stops after 10 s", 2
        )
    yield from _changes(next((node.changes for node in nodes if node.changes), ()))


def why_lines(why: Why) -> Iterator[Block]:
    """Say where an attempt got stuck, and what the devices failed at."""
    if why.classes:
        yield Paragraph(f"allowed classes: {few_of(why.classes, CLASSES_NAMED)}", 2)
    if not why.gates and why.constraint is None:
        return
    if why.wanted is not None:
        yield Paragraph(
            f"request {why.request} of claim {why.claim} gets {why.found} of {many(why.wanted, 'device')}", 2
        )
    elif why.gates:
        yield Paragraph(f"request {why.request} of claim {why.claim} requests all devices, and some are not free", 2)
    for gate, count in why.gates.items():
        yield Paragraph(f"{count} {_GATES[gate][count != 1]}", 4)
    if why.constraint is not None:
        yield Paragraph(f"the constraint is {constraint_text(why.constraint)}", 2)
        yield from (Paragraph(text, 4) for text in map(publisher_text, why.publishers))
        if why.constraint.match and why.publishers and all(one.having for one in why.publishers):
            yield Paragraph("but no two free devices have the same value", 4)


def constraint_text(written: Constraint) -> str:
    """Write a constraint as the claim has it."""
    kind = "matchAttribute" if written.match else "distinctAttribute"
    over = f" over {', '.join(written.requests)}" if written.requests else ""
    return f"{kind} {written.match or written.distinct}{over}"


def publisher_text(one: Publisher) -> str:
    """Say how many devices of a driver publish an attribute."""
    if one.having == 0:
        return f"{one.driver} does not publish it"
    if one.having == one.devices:
        return f"{one.driver} publishes it"
    return f"{one.driver} publishes it on {one.having} of {one.devices} devices"


def _changes(changes: Sequence[ClaimChange]) -> Iterator[Block]:
    if changes:
        yield Paragraph("fixes (each tested):", 2)
        for change in changes:
            yield Paragraph(f"- {change.text}", 2)
            devices = [one.device.device for claim in change.claims for one in claim.devices]
            yield Note(f"gives {few_of(devices, 8)}", "dim", 6)
