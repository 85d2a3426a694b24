"""Writes pages for man(1): numalign(1), numalign-COMMAND(1), kubectl-numalign(1).

click-man was tried and left: it lists no command of a group that imports its commands when they are asked for, cuts the
line that apropos shows, and knows neither the groups of the flags nor the exit statuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from manual.pages import Page, kubectl, numalign, walk
from numalign import __version__
from numalign.cli.commands.help import TOPICS
from numalign.cli.root import INTRODUCTION, SECTIONS

HEADINGS = {"machines": "MACHINES", "formats": "FORMATS", "environment": "ENVIRONMENT", "exit-status": "EXIT STATUS"}
"""Topic of `numalign help` -> heading in numalign(1), in this order."""

FILES = (
    (".numalign.toml, pyproject.toml", "Defaults of flags, in the project's folder; in the latter as [tool.numalign]."),
)
"""What numalign reads unasked."""

WIDTH = 68
"""Of a command line, so that it stands in a terminal of 80 columns with its indentation and a backslash."""

_BREAK = r"\:"
"""Where a long word may go on in the next line."""


def pages() -> Iterator[tuple[str, str]]:
    """Write all pages: file name, text."""
    for root in (numalign(), kubectl()):
        for page in walk(root):
            yield f"{'-'.join(page.words)}.1", "".join(f"{line}\n" for line in _page(page, root))


def _page(page: Page, root: Page) -> Iterator[str]:
    name = "-".join(page.words)
    yield from (".nr HY 0", ".ds AD l")  # the two below, for newer macros, which forget them at each paragraph
    yield f'.TH "{name.upper()}" 1 "" "numalign {__version__}" "numalign"'
    yield from (".nh", ".ad l")  # names are never broken, and no gaps in a line
    yield from (".SH NAME", f"{_text(name)} \\- {_text(_lower(page.summary))}")
    yield from (".SH SYNOPSIS", f".B {_text(' '.join(page.words).replace('kubectl-', 'kubectl '))}", _text(page.usage))
    yield ".SH DESCRIPTION"
    for paragraph in page.prose:
        yield from (".PP", _text(paragraph))
    yield from _below(page)
    for at, (heading, rows) in enumerate(page.flags.items()):
        yield from (".SH OPTIONS",) if not at else ()
        yield from (f".SS {_text(heading)}",) if len(page.flags) > 1 else ()
        yield from _rows(rows)
    if page.status:
        yield from (".SH EXIT STATUS", _text(page.status.partition(": ")[2]))
    if page is root:
        yield from _everything() if page.words == ("numalign",) else ()
    if page.examples:
        yield from (".SH EXAMPLES", *_literal(page.examples))
    yield from (".SH SEE ALSO", *_see(page, root))


def _below(page: Page) -> Iterator[str]:
    """List the commands of a group; numalign's own under their headings."""
    if not page.below:
        return
    yield ".SH COMMANDS"
    by_name = {one.words[-1]: one for one in page.below}
    placed = [name for names in SECTIONS.values() for name in names]
    sections = {**SECTIONS, "Others": tuple(name for name in by_name if name not in placed)}
    for heading, names in sections.items() if placed[0] in by_name else [("", tuple(by_name))]:
        yield from (f".SS {_text(heading)}",) if heading else ()
        for name in names:
            yield from (".TP", f".BR {_text('-'.join(by_name[name].words))} (1)", _text(by_name[name].summary))


def _everything() -> Iterator[str]:
    """Tell what holds for all commands."""
    begin = [line for line in INTRODUCTION.splitlines() if line.startswith("  ")]
    yield ".SH EXAMPLES"
    for line in begin:
        command, _, text = line.strip().partition("   ")
        yield from (".TP", f".B {_text(command)}", _text(text.strip()))
    for topic, heading in HEADINGS.items():
        yield f".SH {heading}"
        for block in TOPICS[topic].strip("\n").split("\n\n"):
            yield from _block(block)
    yield ".SH FILES"
    yield from _rows(FILES)


def _block(block: str) -> Iterator[str]:
    """Write a paragraph of a topic: prose, a list of names with a text each, or command lines."""
    lines = block.splitlines()
    if not block.startswith("    "):
        yield from (".PP", _text(" ".join(lines)))
    elif any(re.search(r"\S {2,}\S", line) for line in lines):
        pairs = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines]
        yield from _rows([(pair[0], pair[1] if len(pair) > 1 else "the same, said on the line") for pair in pairs])
    else:
        yield from _literal("\n".join(line.strip() for line in lines))


def _rows(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, text in rows:
        yield from (".TP", _flag(term), _text(text))


def _literal(text: str) -> Iterator[str]:
    """Write command lines as they are typed; a wide one goes on in the next line, as a shell reads it."""
    yield from (".PP", ".in +2n", ".nf")
    for line in text.splitlines():
        command, _, remark = line.partition("   ")
        if remark:
            yield _text(remark.strip())
        yield from (_text(part) for part in _continued(command))
    yield from (".fi", ".in")


def _continued(command: str) -> Iterator[str]:
    line = ""
    for word in re.findall(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""", command):
        if line and len(line) + 1 + len(word) > WIDTH:
            yield f"{line} \\"
            line = f"    {word}"
        else:
            line = f"{line} {word}" if line else word
    yield line


def _see(page: Page, root: Page) -> Iterator[str]:
    others = ["-".join(root.words)] if page is not root else []
    if len(page.words) > 2:
        others.append("-".join(page.words[:-1]))
    others += ["numalign"] * (root.words != ("numalign",)) or ["kubectl-numalign"] * (page is root)
    yield (
        ".BR " + " (1), ".join(_text(name) for name in dict.fromkeys(others)).replace(" (1), ", " (1),\n.BR ") + " (1)"
    )
    yield from (".PP", _text("The site and the folder docs of the source have guides, recipes and the rules."))


def _flag(term: str) -> str:
    """Set a flag bold and what it takes in italics."""
    parts = re.split(r"((?<![\w-])--?[a-z][\w-]*)", term)
    marked = [rf"\fB{_text(part)}\fR" if at % 2 else _value(part) for at, part in enumerate(parts)]
    return rf"\&{''.join(marked)}"


def _value(text: str) -> str:
    plain = re.fullmatch(r"(\s*)(.*?)([\s,]*)", text)
    if plain is None or not plain[2]:
        return _text(text)
    return rf"{plain[1]}\fI{_text(plain[2]).replace('|', _BREAK + '|')}\fR{plain[3]}"


def _lower(sentence: str) -> str:
    """Write a sentence as apropos shows it."""
    first = sentence.partition(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _text(text: str) -> str:
    """Escape what roff would read as its own."""
    for sign, name in (("\\", r"\e"), ("-", r"\-"), ("'", r"\(aq"), ("`", r"\(ga"), ("^", r"\(ha"), ("~", r"\(ti")):
        text = text.replace(sign, name)
    text = re.sub(r"\S{40,}", lambda word: word[0].replace(",", "," + _BREAK), text)
    return rf"\&{text}" if text.startswith((".", "\\(aq")) else text
