"""What `capacity` shows: copies by node, now and empty, what limits them, what is stranded; and the same as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Styled, Table, Title
from numalign.render.page.table_csv import Rows
from numalign.render.text.admit import header as node_header
from numalign.render.text.amounts import amount_text, bytes_text
from numalign.render.text.schedule import MAX_ROWS_SHOWN, header, names_text

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup
    from numalign.results.capacity import CapacityResult, Limit, NodeCapacity, RightSize, ShapeCapacity
    from numalign.scheduler.node import Fleet

COLUMNS = ("NODE", "FITS NOW", "ALIGNED", "EMPTY", "BLIND", "LIMITED BY", "STRANDED")
RIGHT = frozenset(COLUMNS[1:5])


def capacity_document(
    result: CapacityResult, fleet: Fleet, origin: str, setup: Setup | None, *, wide: bool = False
) -> Document:
    """Build a table a shape and the sums below it.

    Args:
        result: the counts.
        fleet: the cluster.
        origin: where it came from.
        setup: the kubelet of a node that stands for itself.
        wide: show every group of nodes.
    """
    document: list[Block] = [Note(text, "dim") for text in _header(fleet, origin, setup)]
    for shape in result.shapes:
        document += [Paragraph(), *_shape(shape, "cluster" if setup is None else "node", wide=wide)]
    if result.right_size is not None:
        document += [Paragraph(), Title(right_size_text(result.right_size))]
    return document


def _header(fleet: Fleet, origin: str, setup: Setup | None) -> Iterator[str]:
    if setup is None:
        yield next(header(fleet, origin))
        return
    (node,) = fleet.nodes
    pods = node.totals.pods
    yield from node_header(setup, origin, node.session.node.cpu.reserved if node.session else 0)
    yield f"{pods} pod{'s' * (pods != 1)} on the node"


def _shape(shape: ShapeCapacity, place: str, *, wide: bool) -> Iterator[Block]:
    groups = [tuple(group) for _, group in groupby(shape.nodes, lambda one: one._replace(node=""))]
    shown = groups if wide else groups[:MAX_ROWS_SHOWN]
    yield Title(shape.name)
    if shape.rounds is not None:
        yield Title(f"complete rounds: {shape.rounds.now} now, {shape.rounds.empty} on an empty {place}", 2)
    what, whole = "pods" if shape.rounds is not None else "fits now", shape.whole
    unknown = shape.unknown if whole.now is not None else 0
    where = f", unknown on {unknown} of {len(shape.nodes)} nodes" * bool(unknown)
    yield Title(f"{what}: {alignment_text(whole.now, whole.aligned, whole.nothing)}{where}", 2)
    yield Paragraph(f"on an empty {place}: {alignment_text(whole.empty, whole.empty_aligned, whole.empty_nothing)}", 2)
    blind, more = f"by node totals only: {whole.blind} (empty: {whole.blind_empty})", shape.too_many
    yield Note(f"{blind}{f': {more} too many' * (more > 0)}", "warn" if more > 0 else "", 2)
    if stranded := amounts_text(shape.stranded, ""):
        yield Paragraph(f"stranded: {stranded}", 2)
    found = shape.fragmentation
    if found.total:
        lost = f"by free amounts, {found.single} of {found.total} copies fit on 1 NUMA node"
        yield Paragraph(f"NUMA fragmentation: {float(found.share):.2f} ({lost})", 2)
    yield Paragraph()
    yield Table(COLUMNS, tuple(_row(group) for group in shown), RIGHT)
    if len(groups) > len(shown):
        more = sum(len(group) for group in groups[len(shown) :])
        yield Note(f"and {more} more nodes; -o wide shows them", "dim")


def alignment_text(count: int | None, aligned: int | None, nothing: int) -> str:
    """Say how many copies there are, and how many of them are aligned; None: unknown."""
    if count is None:
        return "unknown"
    if not count:
        return "0"
    if nothing == count:
        return f"{count}, with nothing to align"
    rest = f", {nothing} with nothing to align" if nothing else ""
    return f"{count}, {'all' if aligned == count else f'{aligned} of these'} aligned{rest}"


def _row(group: Sequence[NodeCapacity]) -> tuple[Cell, ...]:
    first = group[0]
    each = " each" if len(group) > 1 else ""
    return (
        names_text([one.node for one in group]),
        _count(first.now) + each,
        "-" if first.now and first.nothing == first.now else _count(first.aligned),
        _count(first.empty),
        Styled(str(first.blind), "warn") if first.now is not None and first.blind > first.now else str(first.blind),
        limit_text(first.limit, first.missing),
        amounts_text(first.stranded),
    )


def _count(count: int | None) -> str:
    return "?" if count is None else str(count)


def limit_text(limit: Limit | None, missing: Sequence[str]) -> str:
    """Write what is short, and where, or what devices the node does not have."""
    if limit is None:
        return "-"
    if limit.resource in missing:
        return f"no {', '.join(missing)}"
    if not limit.resource:
        return limit.reason or "-"
    if not limit.numa_nodes:
        return f"{limit.resource}, node total"
    return f"{limit.resource} on NUMA {format_set(sum(1 << number for number in limit.numa_nodes))}"


def amounts_text(amounts: Mapping[str, int], nothing: str = "-") -> str:
    """Write amounts that are not zero."""
    return ", ".join(f"{name} {amount_text(name, amount)}" for name, amount in amounts.items() if amount) or nothing


def right_size_text(found: RightSize) -> str:
    """Say the best shape for so many copies."""
    if found.cpus is None or found.memory is None:
        return f"{found.shape}: no size fits: {found.replicas} copies with 1 CPU each are not all aligned here"
    size = f"cpu {found.cpus}, memory {bytes_text(found.memory)}"
    return f"{found.shape}, right size for {found.replicas} aligned copies: container {found.container} with {size}"


CSV_COLUMNS = (
    "shape",
    "node",
    "now",
    "aligned",
    "empty",
    "emptyAligned",
    "nothingToAlign",
    "blind",
    "blindEmpty",
    "limitResource",
    "limitNumaNodes",
    "fragmentation",
)


def capacity_rows(result: CapacityResult) -> Rows:
    """Give a row for each shape and node."""
    return (
        CSV_COLUMNS,
        (
            (
                shape.name,
                one.node,
                one.now,
                one.aligned,
                one.empty,
                one.empty_aligned,
                one.nothing,
                one.blind,
                one.blind_empty,
                one.limit.resource if one.limit else None,
                " ".join(map(str, one.limit.numa_nodes)) if one.limit else None,
                None if one.fragmentation is None else round(float(one.fragmentation.share), 4),
            )
            for shape in result.shapes
            for one in shape.nodes
        ),
    )
