"""The documents stay true: their examples run, and every command has help and stands in the README.

A fenced block marked `console` is run: each line `$ numalign …` in the repository's root, and what follows it must be
exactly what it prints on standard output. `NUMALIGN_UPDATE_GOLDEN=1` writes the outputs anew; read what changed before
you commit it.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Iterator

import pytest

from numalign.cli import COMMANDS
from numalign.kubelet import admission as session
from tests.cli.running import ROOT, Done, in_process

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ENVIRONMENT = {"COLUMNS": "120", "NO_COLOR": "1"}


def examples() -> Iterator[tuple[str, str, str]]:
    for document in DOCUMENTS:
        for block in re.findall(r"^```console\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S):
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
                yield document.name, command, output


def run(words: list[str]) -> Done:
    assert words[0] == "numalign"
    return in_process(*words[1:], env=ENVIRONMENT)


@pytest.mark.parametrize(
    ("document", "command", "output"),
    [pytest.param(*example, id=f"{example[0]}: {example[1]}") for example in examples()],
)
def test_an_example_prints_what_the_document_shows(document: str, command: str, output: str) -> None:
    words = shlex.split(command)
    done = run(words)
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN") and done.out != output:
        path = next(path for path in DOCUMENTS if path.name == document)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"$ {command}\n{output}", f"$ {command}\n{done.out}"), encoding="utf-8")
        output = done.out
    assert done.out == output, done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_help_with_an_example_and_stands_in_the_readme(command: str) -> None:
    done = run(["numalign", command, "--help"])
    assert done.status == 0, done.err
    assert "numalign " in done.out.split("\n", 2)[2], "the help has no example"
    assert f"`{command}" in (ROOT / "README.md").read_text(encoding="utf-8")


def codes() -> Iterator[str]:
    """Read from the source the codes of all warnings, and of the findings of `config check`."""
    for path in sorted((ROOT / "numalign").rglob("*.py")):
        if not path.match("analysis/lint/*"):  # the rules of `lint` have a page of their own
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Notice", "Finding", "self._guess"):
                    first = node.args[0]
                    if isinstance(first, ast.Constant) and first.value:
                        yield str(first.value)
    yield from (code for code, _ in session._FATAL.values())
    yield from session._ADVICE


def test_every_code_of_a_warning_is_documented() -> None:
    section = (ROOT / "docs" / "json.md").read_text(encoding="utf-8").split("## Codes of warnings")[1]
    documented = set(re.findall(r"`([a-z0-9-]+)`", "".join(re.findall(r"^\| (.*?) \|", section, re.M))))

    assert documented - {"none"} == set(codes())
