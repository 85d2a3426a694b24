"""A document as a page to send round: title, verdict, the command, pictures and tables, in one file that loads nothing.

No table is wider than the page: cells wrap, and on a narrow screen each row becomes a list.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from numalign.render.escape import printable
from numalign.render.page.document import (
    Block,
    Command,
    Document,
    Item,
    Picture,
    Styled,
    Table,
    Title,
    lines_of,
    style_of,
    text_of,
)

STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0; }
pre { font: 14px/1.4 ui-monospace, monospace; white-space: pre-wrap; margin: .5rem 0; }
pre.art { white-space: pre; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top;
overflow-wrap: break-word; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
.picture svg { width: 100%; max-width: 60rem; height: auto; margin: 1rem 0; }
.dim { opacity: .75; } .bold { font-weight: bold; }
.bad { color: #b3261e; font-weight: bold; } .warn { color: #8a5000; } .good { color: #14618f; }
@media (prefers-color-scheme: dark) { .bad { color: #ff8a80; } .warn { color: #ffb74d; } .good { color: #81c7f0; } }
@media (max-width: 60rem) { td { overflow-wrap: anywhere; } }
@media (max-width: 48rem) {
thead { display: none; } tr { display: block; padding: .5rem 0; border-bottom: 2px solid #8886; }
td, td.right { display: grid; grid-template-columns: 9rem 1fr; gap: .5rem; text-align: left; border: 0; }
td::before { content: attr(data-label); opacity: .75; }
td:empty { display: none; } td[data-label=""] { display: block; font-weight: bold; } }
"""


BREAKS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z]/)(?=\w)|(?<=\w\.)(?=[a-z])")
"""Where a word of a table may break: behind a slash or dot, and before a capital."""


def page(title: str, verdict: str, command: str, body: str, style: str = "") -> str:
    """Write a page.

    Args:
        title: what it is about.
        verdict: what it comes to; empty: the title says it.
        command: the command line that made it; empty: none did.
        body: HTML.
        style: further rules of CSS.
    """
    head = f"{title}: {verdict}" if verdict else title
    called = f"<pre><code>{_text(command)}</code></pre>\n" * bool(command)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(head)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        f'<p class="dim">{_text(title)}</p>\n<h1>{_text(verdict or title)}</h1>\n{called}{body}\n</body>\n</html>\n'
    )


def picture_of(svg: str) -> str:
    """Put a picture into a page."""
    return f'<div class="picture">{svg.removeprefix(XML)}</div>'


XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


def blocks(document: Document) -> str:
    """Write a document."""
    return "\n".join(filter(None, map(_block, document)))


def _block(part: Block) -> str:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Picture):
        return f'<pre class="art">{_lines(part.lines)}</pre>'
    if not part.text.strip():
        return ""
    if isinstance(part, Command):
        return f"<pre><code>{_text(part.text)}</code></pre>"
    text = _text("".join(lines_of(part)).strip())
    if isinstance(part, Title) and not part.indent:
        return f"<h2>{text}</h2>"
    margin = f' style="margin-left:{min(part.indent, 12) / 2:g}rem"' * bool(part.indent)
    look = "bold" if isinstance(part, Item) else style_of(part)
    return f"<p{f' class={chr(34)}{look}{chr(34)}' * bool(look)}{margin}>{text}</p>"


def _table(part: Table) -> str:
    right = [' class="right"' if column in part.right else "" for column in part.columns]
    head = "".join(f"<th{look}>{_text(column)}</th>" for column, look in zip(part.columns, right, strict=True))
    rows = []
    for row in part.rows:
        cells = []
        for cell, look, column in zip(row, right, part.columns, strict=True):
            text = BREAKS.sub("<wbr>", _text(text_of(cell)))
            said = f'<span class="{cell.style}">{text}</span>' if isinstance(cell, Styled) and cell.style else text
            cells.append(f'<td{look} data-label="{_text(column)}">{said}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>"


def _lines(texts: tuple[str, ...]) -> str:
    return "\n".join(map(_text, texts))


def _text(text: str) -> str:
    return escape(printable(text))
