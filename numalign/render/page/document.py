"""Text for people: documents made of blocks, and the one place that prints them.

Views build a `Document` (pure); `show` prints it. On a terminal tables have a rule and colour (rich), and fit its width
(`layout`); off a terminal they are plain padded columns that are never wrapped or cut, and rich is not imported unless
somebody wants colour there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
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


class Title(NamedTuple):
    """What stands above other blocks, or sums them up."""

    text: str
    indent: int = 0


class Paragraph(NamedTuple):
    """Prose; without a text an empty line."""

    text: str = ""
    indent: int = 0
    """Blanks before it, as of all blocks."""


class Note(NamedTuple):
    """Prose that is good or bad news, a warning, or said aside."""

    text: str
    level: Style
    indent: int = 0


class Item(NamedTuple):
    """A numbered paragraph of a list."""

    number: int
    text: str
    indent: int = 0


class Command(NamedTuple):
    """A command to copy, which never breaks."""

    text: str
    indent: int = 0


class Picture(NamedTuple):
    """Lines that make sense one below the other alone."""

    lines: tuple[str, ...]


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


Prose = Title | Paragraph | Note | Item | Command
Block = Prose | Picture | Table
Document = Sequence[Block]

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
    | {raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
)
"""What stands for signs that a terminal without UTF-8 does not have."""


def show(document: Document, stream: TextIO | None = None) -> None:
    """Print a document to a stream (standard output); no character of it steers the terminal or a build server."""
    stream = stream or sys.stdout
    if not (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf"):
        document = [_changed(part, lambda text: text.translate(ASCII)) for part in document]
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        _show_rich(document, stream, terminal_width(stream))
    elif os.environ.get("FORCE_COLOR"):
        _show_rich(document, stream, None)
    else:
        stream.writelines(_plain_lines(document))


def _changed(part: Block, change: Callable[[str], str]) -> Block:
    """Change all texts of a block."""
    if isinstance(part, Table):
        rows = tuple(
            tuple(Styled(change(cell.text), cell.style) if isinstance(cell, Styled) else change(cell) for cell in row)
            for row in part.rows
        )
        return part._replace(columns=tuple(map(change, part.columns)), rows=rows)
    if isinstance(part, Picture):
        return Picture(tuple(map(change, part.lines)))
    return part._replace(text=change(part.text))


def plain(document: Document) -> str:
    """Write a document as plain text; trailing blanks are cut."""
    return "".join(_plain_lines(document))


def _plain_lines(document: Document) -> Iterator[str]:
    """Yield the lines of a plain text one by one: a table may have a row for each of 160,000 pods."""
    for part in document:
        for line in _plain_table(part) if isinstance(part, Table) else map(printable, lines_of(part)):
            yield guarded(f"{line.rstrip()}\n")


def lines_of(part: Prose | Picture) -> tuple[str, ...]:
    """Write a block that is no table, each of its lines whole."""
    if isinstance(part, Picture):
        return part.lines
    number = f"{part.number}. " if isinstance(part, Item) else ""
    return (f"{' ' * part.indent}{number}{part.text}",)


def style_of(part: Prose | Picture) -> Style:
    """Return how a block that is no table looks on a terminal."""
    if isinstance(part, Note):
        return part.level
    return "bold" if isinstance(part, Title) else "dim" if isinstance(part, Command) else ""


def one_below_the_other(documents: Iterable[Document]) -> Document:
    """Join documents, with an empty line between any two."""
    parts = [part for document in documents for part in (Paragraph(), *document)]
    return parts[1:]


def harmless(document: Document) -> Sequence[Block]:
    """Return the blocks with each character that cannot be seen shown as its escape."""
    return [_changed(part, printable) for part in document]


def text_of(cell: Cell) -> str:
    """Return the text of a cell."""
    return cell.text if isinstance(cell, Styled) else cell


def _shown(cell: Cell) -> str:
    return printable(text_of(cell))


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
            lines = _table(part, width) if isinstance(part, Table) else _lines(part, width)
            for line in lines:
                console.print(Text.assemble(*line), soft_wrap=True)
    stream.write(guarded(shown.get()))


Pieces = list[tuple[str, str]]
"""Texts of a line with their colours."""


def _lines(part: Prose | Picture, width: int | None) -> Iterable[Pieces]:
    whole = lines_of(part)
    if width is not None and not isinstance(part, Command | Picture):
        whole = tuple(layout.hung(whole[0], width, _hang(part)))
    for text in whole:
        yield [(text.rstrip(), _COLOURS[style_of(part)])]


def _hang(part: Prose) -> int:
    """Return how far the next lines of prose stand behind its first: what to do below its own words."""
    if part.text.startswith(("fix: ", "hint: ")):
        return 5
    return 3 if isinstance(part, Item) else 0 if part.indent else 2


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
    hidden = [table.columns[place] for place in layout.useful(table.columns, texts) if place not in (*places, *apart)]
    left_out = f"hidden: {', '.join(hidden)} (-o wide)" * bool(hidden)
    if width is not None and not table.indent:
        rule = "─" * (sum(wide) + layout.GAP * (len(wide) - 1))
        if left_out and len(left_out) + MIN_WIDTH < width:
            rule, left_out = f"{rule[: -len(left_out) - 1] or rule[:MIN_WIDTH]} {left_out}", ""
        yield [(rule, _COLOURS["dim"])]
    above: list[str] = []
    for row, cells in zip(table.rows, texts, strict=True):
        heading = [f"{table.columns[place].lower()} {cells[place]}" for place in apart if cells[place] != NOTHING]
        if heading != above:
            yield from _lines(Title(", ".join(heading), table.indent), width)
            above = heading
        yield from _row(table, row, places, wide)
    if left_out:
        yield from _lines(Note(left_out, "dim", table.indent), width)


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
            cell = row[place]
            look = _COLOURS[cell.style] if isinstance(cell, Styled) else ""
            line += [(flush, look), (" " * layout.GAP, "")]
        yield _without_trailing_blanks(line)


def _without_trailing_blanks(line: Pieces) -> Pieces:
    while line and not line[-1][0].strip():
        line.pop()
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else []
