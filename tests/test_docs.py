"""The documents stay true: their examples run, and every command has help with an example.

A fenced block marked `console` is run: each line `$ numalign …` in the repository's root, in a terminal of 76 columns;
a backslash continues it. What follows is exactly what it prints on standard output. `NUMALIGN_UPDATE_GOLDEN=1` writes
the outputs anew; read what changed before you commit it.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Iterator

import pytest

from numalign.cli.root import COMMANDS
from numalign.notices import CODES
from tests.cli.running import ROOT, Done, in_process

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ENVIRONMENT = {"COLUMNS": "76", "NO_COLOR": "1", "TERM": "xterm"}


def examples() -> Iterator[tuple[str, str, str]]:
    for document in DOCUMENTS:
        for block in re.findall(r"^```console\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S):
            for command, output in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
                yield document.name, command, output


def run(command: str) -> Done:
    program, *words = shlex.split(command.replace("\\\n", " "))
    assert program == "numalign"
    done = in_process(*words, env=ENVIRONMENT, terminal=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.out)
    return done._replace(out="".join(f"{line.rstrip()}\n" for line in plain.splitlines()))


@pytest.mark.parametrize(
    ("document", "command", "output"),
    [pytest.param(*example, id=f"{example[0]}: {' '.join(example[1].split())}") for example in examples()],
)
def test_an_example_prints_what_the_document_shows(document: str, command: str, output: str) -> None:
    done = run(command)
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN") and done.out != output:
        path = next(path for path in DOCUMENTS if path.name == document)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"$ {command}\n{output}", f"$ {command}\n{done.out}"), encoding="utf-8")
        output = done.out
    assert done.out == output, done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_help_with_an_example(command: str) -> None:
    done = run(f"numalign {command} --help")
    assert done.status == 0, done.err
    assert "numalign " in done.out.split("\n", 2)[2], "the help has no example"


def test_the_readme_fits_two_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def codes(call: str, folder: str = "") -> set[str]:
    """Read from the source the codes with which something is made."""
    found = set()
    for path in sorted((ROOT / "numalign" / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if f"{call}(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == call and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value:
                    found.add(str(first.value))
    return found


def documented(heading: str) -> set[str]:
    """Read the codes in the first table below a heading of docs/json.md, or below a line."""
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8").split(heading)[1]
    table = text[text.index("| ---") :].split("\n\n")[0]
    return set(re.findall(r"`([a-z0-9-]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.M))))


def test_every_code_of_a_warning_is_in_the_table_and_documented() -> None:
    assert codes("Notice") <= set(CODES)
    assert documented("## Codes of warnings") == set(CODES)


def test_every_code_has_a_fix_or_says_why_none() -> None:
    table = (ROOT / "numalign/notices.py").read_text(encoding="utf-8")
    assert set(re.findall(r'^    "([a-z0-9-]+)": \("\w+", (?:"|_HOST)', table, re.M)) == {
        code for code, (_, fix) in CODES.items() if fix is not None
    }
    assert set(re.findall(r'^    "([a-z0-9-]+)": \("\w+", None\),  # \w', table, re.M)) == {
        code for code, (_, fix) in CODES.items() if fix is None
    }
    assert all(fix is None or fix.strip() for _, fix in CODES.values())


def test_pods_in_quick_succession_are_told_among_what_is_not_replayed() -> None:
    text = (ROOT / "docs/rules/earlier-kubelets.md").read_text(encoding="utf-8")
    _, _, rest = text.partition("### What is not replayed of earlier releases\n")
    assert "\n- Pods in quick succession: " in rest.partition("\n## ")[0]


def test_every_finding_of_config_check_is_documented() -> None:
    assert documented("## Findings of config check") == codes("ConfigFinding", "analysis/config")
