"""A document as Markdown, to paste into an issue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from numalign.render.escape import guarded
from numalign.render.page.document import (
    Block,
    Command,
    Document,
    Item,
    Picture,
    Table,
    harmless,
    lines_of,
    style_of,
    text_of,
)

SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\|*_`<>[]#~"})


def markdown(document: Document) -> str:
    """Write titles and news strong, commands and pictures as code, tables with pipes."""
    text = "".join(f"{line}\n" for part in harmless(document) for line in _lines(part))
    return guarded(re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n")


def _lines(part: Block) -> Iterator[str]:
    if isinstance(part, Table):
        yield from ("", _row(part.columns))
        yield _row(["--:" if column in part.right else "---" for column in part.columns], plain=False)
        yield from (_row([text_of(cell) for cell in row]) for row in part.rows)
        yield ""
    elif isinstance(part, Picture):
        yield from ("```", *part.lines, "```", "")
    elif not part.text.strip():
        yield ""
    elif isinstance(part, Command):
        yield from ("   ```sh", f"   {part.text}", "   ```")
    else:
        text = "".join(lines_of(part)).strip().translate(SPECIAL)
        strong = style_of(part) in ("good", "bad", "bold")
        yield f"**{text}**" if strong else text
        if not isinstance(part, Item):
            yield ""


def _row(cells: tuple[str, ...] | list[str], *, plain: bool = True) -> str:
    return f"| {' | '.join(cell.translate(SPECIAL) if plain else cell for cell in cells)} |"
