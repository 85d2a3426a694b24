"""A document as Markdown, to paste into an issue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from numalign.render.escape import guarded
from numalign.render.page.document import Document, Line, harmless, text_of

SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\|*_`<>[]#~"})


def markdown(document: Document) -> str:
    """Write lines as paragraphs, bold lines strong, commands as code, tables with pipes."""
    text = "".join(f"{line}\n" for line in _lines(document))
    return guarded(re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n")


def _lines(document: Document) -> Iterator[str]:
    for part in harmless(document):
        if isinstance(part, Line):
            yield from _paragraph(part)
            continue
        yield ""
        yield _row(part.columns)
        yield _row(["--:" if column in part.right else "---" for column in part.columns], plain=False)
        for row in part.rows:
            yield _row([text_of(cell) for cell in row])
        yield ""


def _paragraph(line: Line) -> Iterator[str]:
    text = line.text.strip()
    if not text:
        yield ""
    elif text.startswith("numalign "):
        yield from ("   ```sh", f"   {text}", "   ```")
    elif line.style in ("good", "bad", "bold"):
        yield from (f"**{text.translate(SPECIAL)}**", "")
    elif text[0].isdigit() and ". " in text[:4]:
        yield text.translate(SPECIAL)
    else:
        yield from (text.translate(SPECIAL), "")


def _row(cells: tuple[str, ...] | list[str], *, plain: bool = True) -> str:
    return f"| {' | '.join(cell.translate(SPECIAL) if plain else cell for cell in cells)} |"
