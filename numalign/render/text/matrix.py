"""The matrix of a decision as a table: a row a resource and a column a NUMA node; if that is too wide a row a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.model.resources import is_memory
from numalign.render.page.document import Cell, Style, Styled, Table, text_of
from numalign.render.page.layout import GAP
from numalign.render.text.amounts import amount_text, listed, nodes_count, nodes_text
from numalign.render.text.words.asked import each_device, how_many
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.analysis.loose import Loose
    from numalign.analysis.matrix import Cell as MatrixCell
    from numalign.analysis.matrix import Matrix, Row, Verdict

SIGNS: dict[str, tuple[str, Style]] = {
    "enough": ("✓", "good"),
    "together": ("~", "warn"),
    "no": ("✗", "bad"),
    "parts": ("✗", "bad"),
}
FROM_ANYWHERE = ": CPUs and devices may come from any NUMA node"
SOME = "~ part of the request"
"""What a sign means."""

WRAPPED = 1 << 63
"""From this amount on a difference has gone below zero: the kubelet counts without signs."""

MAX_GROUPS_NAMED = 2
"""How many sets of nodes that are used only together stand in a cell."""
MAX_COLUMNS_APART = 4
"""How many NUMA nodes have a column each; of more, those that show the same share one."""

MAX_WIDTH = 78
"""How wide a table may be, without breaking what is in a cell, that has a column a node; else nodes are its rows."""

MAX_LAST = 19
"""How wide its last column may be: more breaks there, and nowhere else."""

ASKED = "(request)"
"""The first row beside those of the NUMA nodes."""


def matrix_table(
    table: Matrix, *, verdict: bool = False, given: Mapping[str, tuple[str, str]] | None = None, mean: str = ""
) -> Table:
    """Lay the matrix out; of many nodes those that do not differ share a column, or a row in a table that is too wide.

    Args:
        table: the matrix.
        verdict: say of each node whether it has everything.
        given: resource -> where it was allocated, and its distance; without it: where each resource fits.
        mean: the mean distance, where the nodes of all of it are not as near as can be.
    """
    judged = verdict and table.policy != "none"
    shown: list[tuple[Cell, ...]] = []
    for place in range(len(table.nodes)):
        shown.append(tuple(_cell(table, row, place) for row in table.rows))
        shown[-1] += (_verdict(table, place),) * judged
    columns = _alike(shown)
    asked = [amount_text(row.resource, row.requested, up=True) for row in table.rows]
    names = [row.resource for row in table.rows]
    last: dict[str, list[str]] = {"FITS ON": [could_use(table, row) for row in table.rows]}
    if given:
        where, far = zip(*(given.get(name, ("-", "-")) for name in names), strict=True)
        last = {"ALLOCATED": [*where], "DISTANCE": [*far]}
    if judged:
        names, asked = [*names, "all"], [*asked, ""]
        last = {title: [*cells, f"mean {mean}" * bool(mean and title == "DISTANCE")] for title, cells in last.items()}
    cells = [shown[places[0]] for places in columns]
    titles = ("FREE", "REQUEST", *(_where(table, one).upper() for one in columns), *last)
    by_resource = _table(titles, zip(names, asked, *cells, *last.values(), strict=True))
    if len(columns) <= MAX_COLUMNS_APART and _width(by_resource) <= MAX_WIDTH:
        return by_resource
    nodes = (_where(table, places) for places in columns)
    titles = ("FREE ON", *(name.upper() if name == "all" else name for name in names))
    by_node = ((node, *each) for node, each in zip(nodes, cells, strict=True))
    return _table(titles, [(ASKED, *asked), *by_node, *((f"({title.lower()})", *each) for title, each in last.items())])


def _table(titles: tuple[str, ...], rows: Iterable[tuple[Cell, ...]]) -> Table:
    return Table(titles, tuple(rows), right=frozenset({"REQUEST"}), indent=2)


def _width(table: Table) -> int:
    """Return how wide a table is at least whose titles break at blanks, and a long last column, too."""
    columns = zip(table.columns, *([text_of(cell) for cell in row] for row in table.rows), strict=True)
    wide = [max(*map(len, title.split()), *map(len, cells)) for title, *cells in columns]
    return sum(wide[:-1]) + min(wide[-1], MAX_LAST) + GAP * (len(wide) - 1)


def _where(table: Matrix, places: Sequence[int]) -> str:
    return f"{nodes_text(table.mask(places))}{' each' * (len(places) > 1)}"


def _cell(table: Matrix, row: Row, place: int) -> Cell:
    """Write what a node has of a resource."""
    cell = row.cells[place]
    sign, style = SIGNS.get(_shown(row, cell), ("", "")) if _counts(table, row) else ("", "")
    if row.unplaced:
        return "-"
    free, handed, total = (amount_text(row.resource, each) for each in (cell.free, cell.handed, cell.total))
    return Styled(f"{free}{f' + {handed}' * bool(cell.handed)} of {total} {sign}".rstrip(), style)


def _alike(shown: Sequence[tuple[Cell, ...]]) -> list[list[int]]:
    """Group the places of nodes that show the same; a few nodes stay apart."""
    if len(shown) <= MAX_COLUMNS_APART:
        return [[place] for place in range(len(shown))]
    return list(grouped((cells, place) for place, cells in enumerate(shown)).values())


def matrix_notes(table: Matrix) -> Iterator[str]:
    """Say what the signs of a matrix mean, and what they do not tell: what init containers leave, and so on."""
    counted = [row for row in table.rows if _counts(table, row)]
    if any(_shown(row, cell) == "together" for row in counted for cell in row.cells):
        yield SOME
    if any(cell.handed for row in table.rows for cell in row.cells):
        yield f"+ left by the pod's init containers{_tied(table, counted)}"
    if table.policy == "none":
        yield f"Policy none does not align{FROM_ANYWHERE * (len(counted) < len(table.rows))}."
    for row in table.rows:
        if row.loose is not None and not row.unplaced:
            yield from (f"{row.resource}: {text}" for text in _counted(row.loose))
        if row.unplaced:
            left = f" and {row.left} left by init containers" * bool(row.left)
            nowhere = "the device plugin reports no NUMA node, so any will match"
            yield f"{row.resource}: {nowhere}. {row.free} free{left}, {row.requested} requested."
        for group in sorted({cell.group for cell in row.cells if cell.group and _unused(row, cell)}):
            free, nodes = amount_text(row.resource, _free(table, row, group)), nodes_text(group)
            holders = _holders(row, group)
            yield f"{row.resource}: {holders} memory of {nodes} together, so each alone is ✗ ({free} free in total)."
        yield from _never_together(row)
        yield from _below_zero(table, row)


def _below_zero(table: Matrix, row: Row) -> Iterator[str]:
    """Say of nodes with more memory than any has what the kubelet counts there (docs/rules/memory-manager.md 14)."""
    places = [place for place, cell in enumerate(row.cells) if cell.total >= WRAPPED]
    if places and is_memory(row.resource):
        where, amount = nodes_text(table.mask(places)), amount_text(row.resource, row.cells[places[0]].total)
        why = "more is reserved there than it has, and the kubelet counts below zero"
        yield f"{row.resource}: {where} cannot have {amount}: {why}."


def _holders(row: Row, nodes: int) -> str:
    """Say who holds memory of some nodes together: `pods hold`, `a of this pod holds`."""
    own, others = next(((one.own, one.others) for one in row.bound if one.nodes == nodes), ((), True))
    who = f"{listed(own)} of this pod"
    if not own:
        return "pods hold"
    return f"other pods and {who} hold" if others else f"{who} hold{'s' * (len(own) == 1)}"


def _never_together(row: Row) -> Iterator[str]:
    """Say why memory that is enough in all cannot be used, or not all of it: nodes are held alone, or as a whole."""
    free = sum(cell.free for cell in row.cells)
    if not row.bound or (not row.possible and free < row.requested) or (row.possible and row.width < 2):
        return
    alone = [one.nodes for one in row.bound if not one.nodes & (one.nodes - 1)]
    sets = [f"{nodes_text(reduce(or_, alone))} (in single use)"] if alone else []
    sets += [f"{nodes_text(one.nodes)} (in use together)" for one in row.bound if one.nodes & (one.nodes - 1)]
    verb = "is" if len(sets) == len(alone) == 1 else "are"
    in_all = "" if row.possible else "enough is free in total, but "
    yield f"{row.resource}: {in_all}{listed(sets)} {verb} not combined with others."


def _tied(table: Matrix, rows: Sequence[Row]) -> str:
    """Say of which resources a container must use the nodes that init containers leave some on: others are ✗."""
    there: dict[int, list[str]] = {}
    several = []
    for row in rows:
        if any(_unused(row, cell) and not cell.group for cell in row.cells):
            left = table.mask((place for place, cell in enumerate(row.cells) if cell.handed))
            if row.loose is not None and row.loose.several:
                several.append(f"; the container must use the NUMA nodes of every {row.resource} left, so others are ✗")
            else:
                there.setdefault(left, []).append(row.resource)
    return "".join(several) + "".join(
        f"; for {listed(names)} the container must use {nodes_text(left)}"
        + (" together" if left & (left - 1) else ", so others are ✗")
        for left, names in there.items()
        if left
    )


def _free(table: Matrix, row: Row, nodes: int) -> int:
    """Add up what some nodes have free."""
    return sum(cell.free for numa, cell in zip(table.nodes, row.cells, strict=True) if nodes >> numa & 1)


def _counts(table: Matrix, row: Row) -> bool:
    """Tell whether it counts what one node has: under policy none only of memory, which is still kept on few nodes."""
    return table.policy != "none" or is_memory(row.resource)


def _counted(devices: Loose) -> Iterator[str]:
    """Say how a row counts devices that do not lie on one node."""
    if devices.several:
        yield f"a device of several NUMA nodes counts on each ({each_device(devices._replace(nowhere=(0, 0)))})"
    free, total = devices.nowhere
    if total:
        yield f"devices with an unknown NUMA node count on none ({how_many(free, total)})"


def _shown(row: Row, cell: MatrixCell) -> Verdict:
    """Judge a cell by all that is written in it: with what init containers leave it may be enough, and of no use."""
    enough = not is_memory(row.resource) and cell.handed and cell.free + cell.handed >= row.requested
    return "no" if cell.verdict == "together" and enough else cell.verdict


def _unused(row: Row, cell: MatrixCell) -> bool:
    """Tell whether a node that has enough of a resource cannot be used."""
    return _shown(row, cell) == "no" and (cell.free >= row.requested or cell.verdict == "together")


def _verdict(table: Matrix, place: int) -> Cell:
    return Styled("yes", "good") if table.fits(place) else Styled("no", "bad")


def could_use(table: Matrix, row: Row) -> str:
    """Say which nodes could hold a resource alone, or that it takes several."""
    if any(cell.verdict == "parts" for cell in row.cells):
        return "whole cores only"
    if not _counts(table, row):
        return "any NUMA nodes" if row.free + sum(cell.handed for cell in row.cells) >= row.requested else "nothing"
    if row.unplaced and not row.possible:
        return "nothing"
    alone = [place for place, cell in enumerate(row.cells) if cell.verdict in ("enough", "any")]
    if row.cells and len(alone) == len(row.cells):
        return "any NUMA node" if len(alone) > 1 else nodes_text(table.mask(alone))
    if alone:
        one = ("one of " if len(alone) > 1 else "") + nodes_text(table.mask(alone))
        return " or ".join([one, *_wholes(table, row)])
    if not row.possible:
        return "nothing"
    one_node = table.policy == "single-numa-node" or row.width < 2
    return "no single NUMA node" if one_node else f"{nodes_count(row.width)} together"


def _wholes(table: Matrix, row: Row) -> Iterator[str]:
    """Name the nodes whose memory pods hold together and that have enough as a whole, where several may be used."""
    groups = sorted({cell.group for cell in row.cells if cell.group and cell.verdict != "enough"})
    enough = [one for one in groups if _free(table, row, one) >= row.requested]
    if table.policy != "single-numa-node":
        yield from (f"{nodes_text(one)} together" for one in enough[:MAX_GROUPS_NAMED])
