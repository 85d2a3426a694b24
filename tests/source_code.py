"""numalign's own source code, read for what it promises of itself: imports, circles, lengths, docstrings."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "numalign"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name(path: Path) -> str:
    parts = ("numalign", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


MODULES: Mapping[str, Path] = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
"""Dotted name -> file, of every module."""


def layer(module: str) -> str:
    """Name the folder or module directly below numalign/ that a module belongs to."""
    return (*module.split("."), "__init__")[1]


@cache
def tree(module: str) -> ast.Module:
    gc.disable()  # it would look through the hundred thousands of nodes of all trees for garbage, again and again
    try:
        return ast.parse(MODULES[module].read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


@cache
def nodes(module: str) -> Sequence[ast.AST]:
    """List all that a module is made of."""
    return tuple(ast.walk(tree(module)))


@cache
def imports(module: str, *, with_types: bool = True) -> frozenset[str]:
    """Name everything that a module imports anywhere in its text, `package.module.name` where it takes a name.

    Without types, what only a type checker sees is left out.
    """
    unseen = (
        set() if with_types else {below for node in nodes(module) if _is_of_types(node) for below in ast.walk(node)}
    )
    found = [node for node in nodes(module) if isinstance(node, ast.Import | ast.ImportFrom)]
    return frozenset(name for node in found if node not in unseen for name in _imported(node))


def _is_of_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def neighbours(module: str, *, with_types: bool = True) -> set[str]:
    """Name the modules of numalign that a module imports. The package itself counts only where its API is taken."""
    found = set()
    for name in imports(module, with_types=with_types):
        owner = name if name in MODULES else name.rpartition(".")[0]
        if owner in MODULES and owner != module:
            found.add(owner)
    return found


def circles() -> list[list[str]]:
    """Find the groups of modules that import each other in a circle (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for other in sorted(neighbours(module)):
            if other not in order:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], order[other])
        if lowest[module] == order[module]:
            group = stack[stack.index(module) :]
            del stack[-len(group) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in MODULES:
        if module not in order:
            visit(module)
    return sorted(found)


def reached(module: str) -> set[str]:
    """Name every module that importing this one may import in turn, types aside."""
    found: set[str] = set()
    ahead = [module]
    while ahead:
        new = neighbours(ahead.pop(), with_types=False) - found
        found |= new
        ahead += new
    return found


def functions(module: str) -> Iterator[tuple[str, Function]]:
    """Give every function of a module with its dotted name, inner ones and methods too."""
    yield from _functions(tree(module), module)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # holds no function with a name
            continue
        named = isinstance(child, Function | ast.ClassDef)
        name = f"{prefix}.{child.name}" if isinstance(child, Function | ast.ClassDef) else prefix
        if isinstance(child, Function):
            yield name, child
        yield from _functions(child, name if named else prefix)


def length(function: Function) -> int:
    """Count the lines of a function from its `def` to its end, the docstring aside."""
    assert function.end_lineno
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None and first.end_lineno
    said = first.end_lineno - first.lineno + 1 if documented and first.end_lineno else 0
    return function.end_lineno - function.lineno + 1 - said


def undocumented(module: str) -> Iterator[str]:
    """Name the public classes and functions of a module that have no docstring; dunder methods say it by their name."""
    yield from _undocumented(tree(module), module)


def _undocumented(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for child in node.body:
        if isinstance(child, Function | ast.ClassDef) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield f"{prefix}.{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from _undocumented(child, f"{prefix}.{child.name}")


def times_named(name: str, modules: Iterable[str]) -> int:
    """Count how often the code of modules uses a name; importing it does not count."""
    return sum(isinstance(node, ast.Name) and node.id == name for module in modules for node in nodes(module))


def values() -> dict[str, list[list[str]]]:
    """Give the fields of all named tuples, by the name of the class; some classes have one name."""
    found: dict[str, list[list[str]]] = {}
    for module in MODULES:
        for node in nodes(module):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases):
                fields = [ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)]
                found.setdefault(node.name, []).append(fields)
    return found


def positional(module: str, classes: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Say where a module constructs some classes, and with how many values that are not named."""
    for node in nodes(module):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in classes and not any(isinstance(each, ast.Starred) for each in node.args):
                yield f"{module}:{node.lineno} {name}", len(node.args)
