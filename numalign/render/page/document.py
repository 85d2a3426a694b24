"""Text for people: documents made of lines and tables, and the one place that prints them.

Views build a `Document` (pure); `show` prints it. On a terminal tables have boxes and colour (rich), and one that is
too wide is told row by row, since words cut in pieces cannot be read; off a terminal tables are plain padded columns
that are never wrapped or cut, and rich is not imported.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, TextIO

from numalign.render.escape import guarded, printable

MIN_WIDTH: Final = 20
MAX_WIDTH: Final = 1000
"""Columns of a terminal between which its width is taken as told; `COLUMNS` may say anything."""

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


Document = Sequence[Line | Table]

_COLOURS: dict[Style, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "dim": "dim",
    "bold": "bold",
}


def show(document: Document, stream: TextIO | None = None) -> None:
    """Print a document to a stream (standard output); no character of it steers the terminal or a build server."""
    stream = stream or sys.stdout
    if _is_terminal(stream):
        _show_rich(document, stream)
    else:
        stream.write(plain(document))


def _is_terminal(stream: TextIO) -> bool:
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def plain(document: Document) -> str:
    """Write a document as plain text; trailing blanks are cut."""
    lines: list[str] = []
    for part in harmless(document):
        if isinstance(part, Line):
            lines.append(part.text)
        else:
            lines.extend(_plain_table(part))
    return guarded("".join(f"{line.rstrip()}\n" for line in lines))


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
    if isinstance(cell, Styled):
        return cell._replace(text=printable(cell.text))
    return printable(cell)


def text_of(cell: Cell) -> str:
    """Return the text of a cell."""
    return cell.text if isinstance(cell, Styled) else cell


def _style(cell: Cell) -> str:
    return _COLOURS[cell.style] if isinstance(cell, Styled) else ""


def terminal_width() -> int:
    """Return how wide the terminal is, or 80 where there is none; `COLUMNS` counts first."""
    return min(max(shutil.get_terminal_size().columns, MIN_WIDTH), MAX_WIDTH)


def _widths(table: Table) -> list[int]:
    return [
        max([len(column), *(len(text_of(row[place])) for row in table.rows)])
        for place, column in enumerate(table.columns)
    ]


def _plain_table(table: Table) -> Iterable[str]:
    texts = [[text_of(cell) for cell in row] for row in table.rows]
    widths = _widths(table)
    for row in [list(table.columns), *texts]:
        cells = [
            cell.rjust(width) if column in table.right else cell.ljust(width)
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        yield " " * table.indent + "  ".join(cells)


_BETWEEN = "   "
"""What rich puts between columns."""


def _records(table: Table, width: int) -> Iterable[list[tuple[str, str]]]:
    """Tell a table row by row, as many `COLUMN value` a line as fit; a dash says nothing and is left out."""
    margin = " " * (table.indent + 2)
    for row in table.rows:
        line = [(" " * table.indent + text_of(row[0]), _COLOURS["bold"])]
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            text = text_of(cell)
            if text in ("", "-"):
                continue
            if sum(len(piece) for piece, _ in line) + len(f"  {column} {text}") > width:
                yield line
                line = [(margin, "")]
            else:
                line.append(("  ", ""))
            line += [(f"{column} ", _COLOURS["dim"]), (text, _style(cell))]
        yield line


def _show_rich(document: Document, stream: TextIO) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(file=stream, highlight=False, width=terminal_width(), height=1)
    with console.capture() as shown:
        for part in harmless(document):
            if isinstance(part, Line):
                console.print(Text(part.text, style=_COLOURS[part.style]), soft_wrap=True)
                continue
            if part.indent + sum(_widths(part)) + len(_BETWEEN) * (len(part.columns) - 1) > console.width:
                for line in _records(part, console.width):
                    console.print(Text.assemble(*line), soft_wrap=True)
                continue
            table = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
            for column in part.columns:
                table.add_column(column, justify="right" if column in part.right else "left")
            for row in part.rows:
                table.add_row(*(Text(text_of(cell), style=_style(cell)) for cell in row))
            console.print(Padding(table, (0, 0, 0, part.indent)))
    stream.write(guarded(shown.get()))
