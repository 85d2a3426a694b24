"""What DESIGN.md and CONTRIBUTING.md say of the tree: every path is there, every name is where it is looked for."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "numalign"
PAGES = ("DESIGN.md", "CONTRIBUTING.md")
MAX_COLUMNS = 125
STANDING_FOR_ANY = ("COMMAND", "NAME")
"""Words that stand for any name in a path."""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def paths(name: str) -> set[str]:
    """What stands between backticks and reads like a path: from the root, from the package, or beside another one.

    A path of the machine, as where Debian puts a program, is none of the tree.
    """
    prose = re.sub(r"^```.*?^```$", "", page(name), flags=re.M | re.S)
    path = re.compile(r"(?!/)[\w./-]*(/|\.(py|md|toml))[\w./-]*")
    words = {word for word in re.findall(r"`([^`\n]+)`", prose) if path.fullmatch(word)}
    return {word for word in words if not any(part in word for part in STANDING_FOR_ANY)}


def stands(path: str, folders: set[str]) -> bool:
    """Whether there is such a file or folder; `module.name` stands where the module defines the name."""
    module, _, name = path.rpartition(".")
    for place in (ROOT, PACKAGE, *(base / folder for base in (ROOT, PACKAGE) for folder in folders)):
        if (place / path).exists() or ((place / f"{module}.py").exists() and name in defined(place / f"{module}.py")):
            return True
    return False


@cache
def defined(file: Path) -> frozenset[str]:
    """The names that a module defines at its top."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            found.add(ast.unparse(node.target))
    return frozenset(found)


@pytest.mark.parametrize("name", PAGES)
def test_every_path_on_the_page_is_in_the_tree(name: str) -> None:
    named = paths(name)
    folders = {path if path.endswith("/") else f"{path.rpartition('/')[0]}/" for path in named if "/" in path}

    assert {path for path in named if not stands(path, folders)} == set()


def decisions() -> list[tuple[str, list[str], list[str]]]:
    """The rows of the table of where what is decided: (question, files, names)."""
    table = page("DESIGN.md").partition("## Where is decided that")[2]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][2:]
    return [(row[0].strip(), re.findall(r"`([^`]+)`", row[1]), re.findall(r"`([^`]+)`", row[2])) for row in rows]


@pytest.mark.parametrize(("question", "files", "names"), decisions(), ids=[row[0] for row in decisions()])
def test_what_decides_is_where_the_page_says(question: str, files: list[str], names: list[str]) -> None:
    assert names
    for file in files:
        assert set(names) & defined(PACKAGE / file), f"{file} decides nothing about: {question}"
    assert set(names) <= {name for file in files for name in defined(PACKAGE / file)}


@pytest.mark.parametrize("name", PAGES)
def test_lines_are_not_too_long(name: str) -> None:
    assert [line for line in page(name).splitlines() if len(line) > MAX_COLUMNS] == []
