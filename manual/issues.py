"""The site's page of public issues: their numbers, the command, and the answer, which a test holds to the thread."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest import mock

import yaml

from numalign.cli import main

ROOT: Final = Path(__file__).parent.parent
TABLE: Final = ROOT / "tests/cli/public_issues.toml"
FOLDER: Final = "tests/cli/public_issues"
WIDTH: Final = 76
INTRODUCTION: Final = """# Public issues, answered

People posted these questions about NUMA alignment, with the numbers of their machines and pods. Below each command is
what numalign answers today. A test fails if an answer no longer has what the thread found. Where an author left
something out, such as reserved CPUs, it is chosen so that the finding shows.
"""


def issues() -> tuple[Mapping[str, Any], ...]:
    """Read the issues, as the test does."""
    return tuple(tomllib.loads(TABLE.read_text(encoding="utf-8"))["issue"])


def words(command: str) -> list[str]:
    """Give the words of an issue's command; its files are those of the issues' folder."""
    files = {path.name for path in (ROOT / FOLDER).iterdir()}
    return [f"{FOLDER}/{word}" if word in files else word for word in command.split()]


@cache
def page() -> str:
    """Write the page: a section an issue."""
    return INTRODUCTION + "".join(map(_section, issues()))


def _section(issue: Mapping[str, Any]) -> str:
    asked = words(issue["command"])
    about = issue["about"][0].upper() + issue["about"][1:]
    return (
        f"\n## {about}\n\n{', '.join(_links(issue['issues']))}\n\n{_numbers(_files(asked))}"
        f"```console\n{_wrapped(asked)}\n{_answer(asked)}```\n"
    )


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _answer(asked: Sequence[str]) -> str:
    """Give what a terminal of that width shows, in the repository's folder."""
    environment = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "xterm"}
    out = _Terminal()
    with (
        mock.patch.dict(os.environ, environment),
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        main(list(asked))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _links(text: str) -> Iterator[str]:
    """Link the threads of `owner/name 1, 2, other/name 3`."""
    repository = ""
    for one in text.split(", "):
        named, _, number = one.rpartition(" ")
        repository = named or repository
        yield f"[{repository} {number}](https://github.com/{repository}/issues/{number})"


def _files(asked: Sequence[str]) -> Sequence[Path]:
    return [ROOT / word for word in asked if word.startswith(FOLDER) and (ROOT / word).is_file()]


def _numbers(paths: Sequence[Path]) -> str:
    """Show the files of a command, folded away; a command may name a bundled machine and a node's folder alone."""
    if not paths:
        return ""
    blocks = "\n".join(f"**{path.name}**\n\n```yaml\n{_yaml(path)}```\n" for path in paths)
    return f'??? note "Numbers: {", ".join(path.name for path in paths)}"\n\n{textwrap.indent(blocks, "    ")}\n'


def _yaml(path: Path) -> str:
    documents = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    return yaml.safe_dump_all(documents, width=WIDTH, default_flow_style=None, sort_keys=False)


def _wrapped(asked: Sequence[str]) -> str:
    """Write the command in lines that end in a backslash, a flag beside its value."""
    parts = re.split(r" (?=--)", shlex.join(["numalign", *asked]))
    lines = ["$"]
    for part in parts:
        if len(lines[-1]) + len(part) > WIDTH - 3:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {part}"
    return "\n".join(lines)
