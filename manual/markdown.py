"""Writes the site's page of all commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from manual.pages import Page, kubectl, numalign, walk
from numalign.cli.help import broken_example


def reference() -> str:
    """Write the page: a heading a command, with its flags in tables and its examples."""
    return "".join(f"{line}\n" for line in _reference())


def _reference() -> Iterator[str]:
    yield from ("# Commands", "")
    yield "Every command with every option, as `--help-all` shows them. `man numalign` has the same on a terminal."
    for root in (numalign(), kubectl()):
        for page in walk(root):
            yield from ("", f"## `{_command(page)}`", "")
            yield from (f"```sh\n{_command(page)} {page.usage}\n```", "")
            for paragraph in page.prose:
                yield from (_prose(paragraph), "")
            if page.examples:
                yield from ("```sh", *_broken(page.examples), "```", "")
            for heading, rows in page.flags.items():
                yield from (f"| {heading} | |", "| --- | --- |")
                yield from (f"| `{_cell(flag)}` | {_cell(_prose(text))} |" for flag, text in rows)
                yield ""
            if page.status:
                yield _prose(page.status)


def _broken(examples: str) -> Iterator[str]:
    """Break command lines at the width of a block."""
    for line in examples.splitlines():
        yield from (part.removeprefix("  ") for part in broken_example(f"  {line}", 76))


def _command(page: Page) -> str:
    return " ".join(page.words).replace("kubectl-", "kubectl ")


def _prose(text: str) -> str:
    """Keep signs that Markdown or HTML would take for theirs."""
    return "".join(
        part if at % 2 else re.sub(r"([\\*_<>\[\]])", r"\\\1", part)
        for at, part in enumerate(re.split(r"(`[^`]*`)", text))
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
