"""Names in backticks of a docstring exist: what is renamed or goes is renamed there, too, or goes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from tests import source_code as code

NOT_OURS = {"mlx5_0", "kubelet_", "numalign_"}
"""A device of a host, and beginnings of the names of metrics."""
FOREIGN = {"cpuset", "dra", "memory", "status", "json", "yaml", "podresources"}
"""Files, fields, drivers and libraries that are called as modules of ours are."""
BACKTICKED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\([^`\n]*\))?`")


def docstrings(module: str) -> Iterator[ast.Constant]:
    """Yield the texts that stand alone: docstrings, and what stands below a field or a constant."""
    for node in code.nodes(module):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield one.value


def words(module: str) -> Iterator[str]:
    """Yield all that the code of a module names, its own name, and the words of its texts."""
    told = {id(one) for one in docstrings(module)}
    yield from module.split(".")
    for node in code.nodes(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield from re.findall(r"\w+", node.value)
        for field in ("id", "attr", "arg", "name", "asname"):
            yield from re.findall(r"\w+", getattr(node, field, None) or "")


def defined(module: str) -> Iterator[str]:
    """Yield the names at the top of a module, what it imports, and those of its classes."""
    body = code.tree(module).body
    for node in chain(body, *(one.body for one in body if isinstance(one, ast.ClassDef))):
        yield from (alias.asname or alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias))
        targets = (*getattr(node, "targets", ()), getattr(node, "target", None))
        yield from (one.id for one in targets if isinstance(one, ast.Name))
        yield getattr(node, "name", "")


def test_names_in_backticks_exist() -> None:
    known = {word for module in code.MODULES for word in words(module)}
    inside: dict[str, set[str]] = {}
    for module, path in code.MODULES.items():
        if path.name != "__init__.py":
            inside.setdefault(path.stem, set()).update(defined(module))

    def exists(name: str) -> bool:
        *above, last = name.split(".")
        if above and above[-1] in inside and above[0] not in FOREIGN:
            return last in inside[above[-1]] or last in inside or last == "py"
        ours = "_" in name and (name.islower() or name.isupper())
        return not ours or set(name.split(".")) <= known

    gone = [
        f"{module}: `{name}`"
        for module in code.MODULES
        for one in docstrings(module)
        for name in BACKTICKED.findall(str(one.value))
        if name not in NOT_OURS and not exists(name)
    ]
    assert gone == [], "\n".join(gone)
