"""Which tests mirror a module: those in the folder of tests/ that stands where the module does in numalign/.

Its own are the file of its name there and those that import it, in any folder of its part of the house.
`mirrors.toml` names the modules whose tests are elsewhere, and those that need none, each with the reason.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tests.source_code import MODULES, PACKAGE, tree

TESTS = Path(__file__).parent
TABLE = tomllib.loads((TESTS / "mirrors.toml").read_text(encoding="utf-8"))


def folder(module: str) -> Path:
    """Give the folder of tests that mirrors the folder a module is in."""
    return TESTS / MODULES[module].parent.relative_to(PACKAGE)


def own(module: str) -> list[Path]:
    """List the test files that are about a module, that of its name first."""
    path = MODULES[module]
    name = f"test_{path.parent.name if path.stem == '__init__' else path.stem}.py"
    here = folder(module)
    found = [file for file in files(here) if file.name == name]
    part = TESTS / short(module).split(".")[0]
    found += [file for place in (here, *folders(part)) for file in files(place) if module in imported(file)]
    return list(dict.fromkeys([*found, *told(module)]))


@cache
def elsewhere() -> Mapping[str, Sequence[Path]]:
    """Give the tests that only the table tells, by a module or, as `analysis.reasons.*`, by all of a folder."""
    found: dict[str, list[Path]] = {}
    for row in TABLE["elsewhere"]:
        for pattern in row["modules"]:
            found.setdefault(pattern, []).extend(TESTS / file for file in row["tests"])
    for file, modules in TABLE["commands"].items():
        for module in modules:
            found.setdefault(module, []).append(TESTS / file)
    return found


def told(module: str) -> list[Path]:
    """List the tests that the table tells of a module."""
    return [file for pattern, named in elsewhere().items() if fnmatchcase(short(module), pattern) for file in named]


def holds_values(module: str) -> bool:
    """Tell whether a module has nothing to try: no function, but properties and methods of values."""
    return not any(isinstance(node, ast.FunctionDef) for node in tree(module).body)


def mirrored(module: str) -> list[Path]:
    """List the test files that stand where a module does: its own, then the others of the folder."""
    first = own(module)
    return [*first, *(file for file in files(folder(module)) if file not in first)]


def families(module: str) -> list[str]:
    """Name the families of recorded decisions that judge the part of the house a module is in: the closest part."""
    parts = [part for part in TABLE["families"] if f"{short(module)}.".startswith(f"{part}.")]
    return list(TABLE["families"][max(parts, key=len)]) if parts else []


def short(module: str) -> str:
    """Name a module as the table does, without the package."""
    return module.removeprefix("numalign.")


@cache
def files(place: Path) -> Sequence[Path]:
    """List the test files of a folder, without those of folders below it."""
    return sorted(place.glob("test_*.py"))


@cache
def folders(part: Path) -> Sequence[Path]:
    """List a folder of tests and those below it."""
    return [part, *sorted(path for path in part.rglob("*") if path.is_dir())]


@cache
def imported(file: Path) -> frozenset[str]:
    """Name what a test file imports, modules and names of modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)
