"""Text for people: documents made of lines and tables, and the one place that prints them.

Views build a `Document` (pure); `show` prints it. On a terminal tables have a rule and colour (rich), and fit its width
(`layout`); off a terminal they are plain padded columns that are never wrapped or cut, and rich is not imported unless
somebody wants colour there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TextIO

from numalign.render.escape import guarded, printable
from numalign.render.page import layout
from numalign.values import NamedTuple

MIN_WIDTH: Final = 20
MAX_WIDTH: Final = 1000
"""Columns of a terminal between which its width is taken as told; `COLUMNS` may say anything."""

NOTHING: Final = "-"
"""A cell where there is nothing to say."""

Style = Literal["", "good", "bad", "warn", "dim", "bold"]


class Styled(NamedTuple):
    """Text with a meaning; the meaning is in the words too, never in the colour alone."""

    text: str
    style: Style


Cell = str | Styled


class Line(NamedTuple):
    """One line."""

    text: str = ""
    style: Style = ""


class Table(NamedTuple):
    """A table; `right` names the columns that are flush right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    right: frozenset[str] = frozenset()
    indent: int = 0
    droppable: tuple[str, ...] = ()
    """Columns that a narrow terminal can do without, the least needed first."""
    headings: tuple[str, ...] = ()
    """Columns that a terminal which is narrow even then shows as lines above the rows that share a cell."""


Document = Sequence[Line | Table]

_COLOURS: dict[Style, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "dim": "dim",
    "bold": "bold",
}


ASCII: Final = str.maketrans(
    {"✓": "+", "✗": "x", "–": "-", "×": "x", "…": "...", "→": "->", "·": "-", "−": "-", "µ": "u", "≤": "<=", "≥": ">="}
)
"""What stands for signs that a terminal without UTF-8 does not have."""


def show(document: Document, stream: TextIO | None = None) -> None:
    """Print a document to a stream (standard output); no character of it steers the terminal or a build server."""
    stream = stream or sys.stdout
    if not (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf"):
        document = [_in_ascii(part) for part in document]
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        _show_rich(document, stream, terminal_width(stream))
    elif os.environ.get("FORCE_COLOR"):
        _show_rich(document, stream, None)
    else:
        stream.writelines(_plain_lines(document))


def _in_ascii(part: Line | Table) -> Line | Table:
    if isinstance(part, Line):
        return part._replace(text=part.text.translate(ASCII))
    rows = tuple(tuple(_with_text(cell, text_of(cell).translate(ASCII)) for cell in row) for row in part.rows)
    return part._replace(columns=tuple(column.translate(ASCII) for column in part.columns), rows=rows)


def _with_text(cell: Cell, text: str) -> Cell:
    return cell._replace(text=text) if isinstance(cell, Styled) else text


def plain(document: Document) -> str:
    """Write a document as plain text; trailing blanks are cut."""
    return "".join(_plain_lines(document))


def _plain_lines(document: Document) -> Iterator[str]:
    """Yield the lines of a plain text one by one: a table may have a row for each of 160,000 pods."""
    for part in document:
        for line in (_shown(part.text),) if isinstance(part, Line) else _plain_table(part):
            yield guarded(f"{line.rstrip()}\n")


def harmless(document: Document) -> Document:
    """Return the document with each character that cannot be seen shown as its escape."""
    return [
        part._replace(text=printable(part.text))
        if isinstance(part, Line)
        else part._replace(
            columns=tuple(printable(column) for column in part.columns),
            rows=tuple(tuple(_harmless(cell) for cell in row) for row in part.rows),
        )
        for part in document
    ]


def _harmless(cell: Cell) -> Cell:
    return _with_text(cell, _shown(cell))


def text_of(cell: Cell) -> str:
    """Return the text of a cell."""
    return cell.text if isinstance(cell, Styled) else cell


def _shown(cell: Cell) -> str:
    return printable(text_of(cell))


def _style(cell: Cell) -> str:
    return _COLOURS[cell.style] if isinstance(cell, Styled) else ""


def terminal_width(stream: TextIO | None = None) -> int:
    """Return how wide the terminal of a stream (standard output) is, or 80 where it is none; `COLUMNS` counts first."""
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isascii() and told.isdigit() and len(told) < 6 else 0
    if not width:
        try:
            width = os.get_terminal_size((stream or sys.stdout).fileno()).columns
        except (OSError, ValueError, AttributeError):
            width = 0
    return min(max(width or 80, MIN_WIDTH), MAX_WIDTH)


def _widths(table: Table) -> list[int]:
    return [max(len(_shown(row[place])) for row in (table.columns, *table.rows)) for place in range(len(table.columns))]


def _plain_table(table: Table) -> Iterator[str]:
    widths = _widths(table)
    for row in (table.columns, *table.rows):
        cells = [
            text.rjust(width) if column in table.right else text.ljust(width)
            for text, width, column in zip(map(_shown, row), widths, table.columns, strict=True)
        ]
        yield " " * table.indent + "  ".join(cells)


def _show_rich(document: Document, stream: TextIO, width: int | None) -> None:
    """Print with colour; without a width as `plain` does, and nothing wraps."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, width=width or MAX_WIDTH * 100, height=1)
    with console.capture() as shown:
        for part in harmless(document):
            lines = _line(part, width) if isinstance(part, Line) else _table(part, width)
            for line in lines:
                console.print(Text.assemble(*line), soft_wrap=True)
    stream.write(guarded(shown.get()))


Pieces = list[tuple[str, str]]
"""Texts of a line with their colours."""


def _line(line: Line, width: int | None) -> Iterable[Pieces]:
    for text in [line.text] if width is None else layout.hung(line.text, width):
        yield [(text.rstrip(), _COLOURS[line.style])]


def _table(table: Table, width: int | None) -> Iterable[Pieces]:
    """Lay a table out: all of it, or what fits a width, with a rule under the titles."""
    texts = [[text_of(cell) for cell in row] for row in table.rows]
    apart: list[int] = []
    if width is None:
        places, wide = list(range(len(table.columns))), _widths(table)
    else:
        room = max(width - table.indent, MIN_WIDTH)
        places = layout.chosen(table.columns, texts, (*table.droppable, *table.headings), room)
        apart = [place for place, title in enumerate(table.columns) if title in table.headings and place not in places]
        wide = layout.widths(table.columns, texts, places, room)
    titles: tuple[Cell, ...] = tuple(Styled(column, "bold") for column in table.columns)
    yield from _row(table, titles, places, wide, title=True)
    if width is not None:
        yield [(" " * table.indent + "─" * (sum(wide) + layout.GAP * (len(wide) - 1)), _COLOURS["dim"])]
    above: list[str] = []
    for row, cells in zip(table.rows, texts, strict=True):
        heading = [f"{table.columns[place].lower()} {cells[place]}" for place in apart if cells[place] != NOTHING]
        if heading != above:
            yield from _line(Line(" " * table.indent + ", ".join(heading), "bold"), width)
            above = heading
        yield from _row(table, row, places, wide)


def _row(
    table: Table, row: Sequence[Cell], places: Sequence[int], wide: Sequence[int], *, title: bool = False
) -> Iterable[Pieces]:
    """Write one row, as many lines as its longest cell needs."""
    cells = [layout.wrapped(text_of(row[place]), width, title=title) for place, width in zip(places, wide, strict=True)]
    for number in range(max(map(len, cells))):
        line: Pieces = [(" " * table.indent, "")]
        for place, width, lines in zip(places, wide, cells, strict=True):
            text = lines[number] if number < len(lines) else ""
            flush = text.rjust(width) if table.columns[place] in table.right else text.ljust(width)
            line += [(flush, _style(row[place])), (" " * layout.GAP, "")]
        yield _without_trailing_blanks(line)


def _without_trailing_blanks(line: Pieces) -> Pieces:
    while line and not line[-1][0].strip():
        line.pop()
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else []
