"""How a table and prose fit a terminal: which columns stay, how wide each is, and where lines break.

A table stays a table. Columns that say nothing are left out, then the least needed, and long cells wrap inside their
column, at words where they can. Prose breaks at words, and its next lines hang below the first. Nothing is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

GAP: Final = 2
"""Blanks between columns."""

MIN_COLUMN: Final = 6
"""How narrow a column may get before a word of it is broken anywhere."""

LONG_WORD: Final = 24
"""How long a word may be that keeps its column as wide as itself."""


def _breaking(more: str = "") -> str:
    """Match what stays together: a word up to a sign after which a line may break, or blanks.

    What is printed off a terminal needs none of these patterns, so they are compiled when used.
    """
    return rf"\s+|\S+?(?:(?<=[,;/])(?=\S)|(?<=[A-Za-z]-)(?=[A-Za-z])|{more}(?=\s)|$)"


_PIECE: Final = _breaking()

_PART: Final = _breaking(r"(?<=_)(?=\S)|")
"""Where not even a piece has room, and of titles, since nobody copies a name from there: it ends at an underscore."""

_HUMP: Final = _breaking(r"(?<=_)(?=\S)|(?<=[a-z])(?=[A-Z])|")
"""Where not even a part has room: `TopologyAffinityError` breaks before a capital."""

_AMOUNT: Final = r"\d\S*(?: \+ \d\S*)? of \d\S*(?: [✓✗~])?(?=\s|$)"
"""An amount of another (`32 of 32 ✓`) is read at once."""

_WORD: Final = rf"{_AMOUNT}|\S+"
_PIECE_OR_AMOUNT: Final = rf"{_AMOUNT}|{_PIECE}"

Cells = Sequence[str]


def useful(columns: Cells, rows: Sequence[Cells]) -> list[int]:
    """List the places of columns that say something in some row; the first one always stays."""
    return [
        place
        for place in range(len(columns))
        if not place or not rows or any(row[place].strip() not in ("", "-") for row in rows)
    ]


def chosen(columns: Cells, rows: Sequence[Cells], droppable: Cells, width: int) -> list[int]:
    """Choose the columns that fit a width: those that say something, without the least needed ones if need be.

    Args:
        columns: titles.
        rows: texts.
        droppable: titles, the least needed first.
        width: how wide the table may be.
    """
    places = useful(columns, rows)
    for title in droppable:
        if sum(_whole_words(columns, rows, place) for place in places) + GAP * (len(places) - 1) <= width:
            break
        places = [place for place in places if columns[place] != title]
    return places


def widths(columns: Cells, rows: Sequence[Cells], places: Sequence[int], width: int) -> list[int]:
    """Give each chosen column its width: as wide as it likes, else the widest ones shrink until all fit."""
    found = [max([len(columns[place]), *(len(row[place]) for row in rows)]) for place in places]
    room = width - GAP * (len(places) - 1)
    if sum(found) <= room:
        return found
    for least in (
        [_whole_words(columns, rows, place) for place in places],
        [_broken_title(columns, rows, place) for place in places],
        *([_least(columns, rows, place, piece) for place in places] for piece in (_PIECE, _PART, _HUMP)),
        [MIN_COLUMN] * len(places),
    ):
        able = [place for place in range(len(found)) if found[place] > least[place]]
        while sum(found) > room and able:
            found[max(able, key=lambda place: found[place])] -= 1
            able = [place for place in able if found[place] > least[place]]
    return found


def _whole_words(columns: Cells, rows: Sequence[Cells], place: int) -> int:
    """Return how narrow a column can be if lines break only at blanks; a very long word counts as less."""
    return max(len(word[:LONG_WORD]) for word in (*columns[place].split(), *_words(rows, place), ""))


def _broken_title(columns: Cells, rows: Sequence[Cells], place: int) -> int:
    """Return how narrow a column can be if its title breaks wherever it may, and its cells only at blanks."""
    return max(len(word[:LONG_WORD]) for word in (*re.findall(_PART, columns[place]), *_words(rows, place), ""))


def _words(rows: Sequence[Cells], place: int) -> Iterator[str]:
    for row in rows:
        yield from re.findall(_WORD, row[place])


def _least(columns: Cells, rows: Sequence[Cells], place: int, piece: str) -> int:
    """Return how narrow a column can be if lines break wherever a piece ends."""
    words = [word for text in (columns[place], *(row[place] for row in rows)) for word in re.findall(piece, text)]
    return max([0, *(len(word.rstrip()[:LONG_WORD]) for word in words)])


def wrapped(text: str, width: int, *, title: bool = False) -> list[str]:
    """Break a text into lines of a width: at blanks, after commas, slashes and hyphens, and inside a word at last."""
    if len(text) <= width:
        return [text]
    for pattern in (_PART if title else _PIECE_OR_AMOUNT, _PIECE, _PART, _HUMP):
        pieces = re.findall(pattern, text)
        if max(len(piece.rstrip()) for piece in pieces) <= width:
            break
    lines, line = [], ""
    for piece in pieces:
        while len(line) + len(piece.rstrip()) > width:
            if line.strip():
                lines.append(line.rstrip())
                line = ""
                piece = piece.lstrip()
            else:
                lines.append(piece[:width])
                line, piece = "", piece[width:]
        line += piece
    return [*lines, line.rstrip()] if line.strip() else lines


def hung(text: str, width: int, hang: int = 2) -> list[str]:
    """Break a line of prose at words; what follows hangs some blanks below where the first line begins."""
    if len(text) <= width:
        return [text]
    from textwrap import TextWrapper  # a terminal alone is too narrow for a line

    indent = len(text) - len(text.lstrip())
    writer = TextWrapper(width, " " * indent, " " * (indent + hang), break_long_words=False, break_on_hyphens=False)
    return writer.wrap(" ".join(text.split())) or [" " * indent]
