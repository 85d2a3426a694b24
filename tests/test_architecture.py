"""The house stands as numalign/layers.toml says: who imports whom, what stays pure, how long things may be."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from numalign.cli.root import COMMANDS
from numalign.cli.root import MODULES as MODULES_OF
from tests import source_code as code
from tests.source_code import MODULES

ROOT = Path(__file__).parent.parent
HOUSE = tomllib.loads((ROOT / "numalign" / "layers.toml").read_text(encoding="utf-8"))
HEIGHT = {name: height for height, names in enumerate(reversed(HOUSE["levels"])) for name in names}
KNOWN = HOUSE["known"]
IMPURE = {"os", "io", "pathlib", "time", "random", "subprocess", "socket", "tempfile", "datetime", "logging", "sys"}
"""Standard modules that touch files, the clock, chance or the process."""


def may_import(layer: str, other: str) -> bool:
    return layer == other or HEIGHT[other] < HEIGHT[layer] or other in HOUSE["also"].get(layer, ())


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_stands_lower(module: str) -> None:
    layer = code.layer(module)
    for name in code.imports(module):
        if name.startswith("numalign."):
            assert may_import(layer, code.layer(name)), f"{layer} may not import {name}"
        library = name.split(".")[0]
        assert layer in HOUSE["libraries"].get(library, [layer]), f"{layer} may not import {name}"


def test_every_layer_is_in_the_file() -> None:
    assert {code.layer(module) for module in MODULES} <= set(HEIGHT)


def test_modules_do_not_import_each_other_in_circles() -> None:
    assert [circle for circle in code.circles() if circle not in KNOWN["circles"]] == []


@pytest.mark.parametrize("layer", HOUSE["pure"])
def test_the_core_touches_neither_files_nor_clock_nor_chance(layer: str) -> None:
    for module in MODULES:
        if code.layer(module) == layer:
            assert not {name.split(".")[0] for name in code.imports(module, with_types=False)} & IMPURE, module
            calls = {ast.unparse(node.func) for node in code.nodes(module) if isinstance(node, ast.Call)}
            assert not calls & {"open", "print", "input"}, module


def faces() -> set[str]:
    """Name what people and programs start: scripts, the library, the commands that the command line imports by name."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    commands = {f"numalign.cli.commands.{MODULES_OF.get(name, name)}" for name in COMMANDS}
    return {"numalign", "numalign.api", *(script.partition(":")[0] for script in scripts.values()), *commands}


def test_every_module_is_reached_from_a_face() -> None:
    """What only tests would reach is not what people run."""
    found: set[str] = set()
    ahead = faces()
    while ahead:
        module = ahead.pop()
        found.add(module)
        packages = {".".join(module.split(".")[:depth]) for depth in range(1, module.count(".") + 1)}
        ahead |= ({*code.neighbours(module, with_types=False), *packages} & MODULES.keys()) - found
    assert set(MODULES) - found == set()


def test_what_shows_decisions_makes_none() -> None:
    admission = set(HOUSE["admission"]["modules"])
    assert admission <= set(MODULES)
    shows = [module for module in MODULES if code.layer(module) in HOUSE["admission"]["never_reached_from"]]
    assert {module for module in shows if code.reached(module) & admission} <= set(KNOWN["reaches_admission"])


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_what_it_is_for(module: str) -> None:
    assert ast.get_docstring(code.tree(module))


def test_every_public_name_has_a_docstring() -> None:
    assert [name for module in MODULES for name in code.undocumented(module)] == []


def test_functions_are_short() -> None:
    most = HOUSE["limits"]["function"]
    long = [name for module in MODULES for name, each in code.functions(module) if code.length(each) > most]
    assert set(long) <= set(KNOWN["long_functions"])


def test_modules_are_short() -> None:
    lines = {module: path.read_text(encoding="utf-8").count("\n") for module, path in MODULES.items()}
    assert {module: count for module, count in lines.items() if count > HOUSE["limits"]["module"]} == {}


def test_the_code_says_any_seldom() -> None:
    assert code.times_named("Any", MODULES) <= HOUSE["limits"]["any"]


def test_values_are_those_that_are_quick_to_import() -> None:
    assert {module for module in MODULES if "typing.NamedTuple" in code.imports(module)} == {"numalign.values"}


def test_values_of_many_fields_are_made_with_keywords() -> None:
    most, classes = HOUSE["limits"]["positional"], set(code.values())
    calls = [call for module in MODULES for call in code.positional(module, classes)]
    assert [where for where, number in calls if number > most] == []


def test_an_ignored_type_error_has_a_reason() -> None:
    """`# type: ignore[code]  # why`: the next reader must not have to guess."""
    bare = re.compile(r"#\s*type:\s*ignore(?!\[[a-z-]+(, [a-z-]+)*\]  # \w)")
    folders = ("numalign", "tests", "benchmarks")
    found = [
        str(path.relative_to(ROOT))
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if bare.search(line) and path != Path(__file__)
    ]
    assert set(found) <= set(KNOWN["unexplained_ignores"])


def test_what_a_module_exports_says_of_what() -> None:
    """`check_node_fit` is found by its name; only the form of a document is read by one function, whatever it is of."""
    bare = {"check", "read", "one", "found", "told", "place"}
    exported = {
        f"{module}.{node.name}"
        for module in MODULES
        for node in code.tree(module).body
        if isinstance(node, ast.FunctionDef) and node.name in bare
    }
    assert exported == {"numalign.model.document.read"}
