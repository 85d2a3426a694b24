"""The layers hold: every module imports only from its right, and the pure core imports nothing from outside.

cli > render, sources > analysis > kubelet > model; `errors` may be imported by all; `sources` and `render` do not know
each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "numalign"
MAY_IMPORT = {
    "model": {"model"},
    "kubelet": {"model", "kubelet"},
    "analysis": {"model", "kubelet", "analysis"},
    "sources": {"model", "kubelet", "analysis", "store", "sources"},
    "store": {"store"},
    "render": {"model", "kubelet", "analysis", "render"},
    "cli": {"model", "kubelet", "analysis", "sources", "store", "render", "cli"},
}
OUTSIDE = {"click": {"cli"}, "rich": {"render"}, "yaml": {"sources", "cli"}, "psutil": {"sources"}}
"""Library -> the layers that may import it."""
PURE = ("model", "kubelet", "analysis")
IMPURE = {"os", "io", "pathlib", "time", "random", "subprocess", "socket", "tempfile", "datetime"}
"""Standard modules that touch files, the clock or chance."""

MODULES = sorted(path for layer in MAY_IMPORT for path in (PACKAGE / layer).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_right(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0]
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "numalign" and len(parts) > 1 and parts[1] in MAY_IMPORT:
            assert parts[1] in MAY_IMPORT[layer], f"{path.name} imports {name}"
        if parts[0] in OUTSIDE:
            assert layer in OUTSIDE[parts[0]], f"{path.name} imports {name}"


@pytest.mark.parametrize("layer", PURE)
def test_the_core_touches_neither_files_nor_clock_nor_chance(layer: str) -> None:
    for path in (PACKAGE / layer).rglob("*.py"):
        assert not {name.split(".")[0] for name in imported(path)} & IMPURE, path.name
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"open", "print", "input"}, path.name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
