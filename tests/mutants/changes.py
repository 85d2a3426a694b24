"""What one mutant changes: every small wrong turn that a module could have taken, one at a time.

A change is put into a tree and taken back out; the tree is the only thing that is touched. Left alone is what no test
of behaviour can see: texts, annotations, `assert`, `zip(strict=…)`, and what only a type checker reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from itertools import takewhile
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef
Spot = tuple[ast.AST, str, int | None]
"""Where a node hangs: its parent, the field, the place in it where it is a list."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
RECKONED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
UNORDERED = {"min", "max", "gcd", "lcm"}
"""What answers alike in whatever order it is asked."""
UNSEEN = {"strict", "maxsize"}
"""Keywords that check or speed up, and change no answer."""
SHOWN, BESIDE = 200, 60
"""Up to how many characters a statement is shown whole, and else how many on each side of the change."""
DROPPED = (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


class Change(NamedTuple):
    """One thing of a module that is otherwise: the node that comes to a spot."""

    function: str
    """The dotted name of the function or class inside the module; empty at its top."""
    statement: ast.stmt
    """The statement it is in."""
    spot: Spot
    new: ast.AST

    @property
    def line(self) -> int:
        """The line of what is changed."""
        old = held(self.spot)
        return int(getattr(old, "lineno", self.statement.lineno))

    @contextmanager
    def made(self) -> Iterator[None]:
        """Have the tree otherwise for a while."""
        old = held(self.spot)
        _hang(self.spot, self.new)
        try:
            yield
        finally:
            _hang(self.spot, old)

    def told(self) -> str:
        """Say it as the statement before and after; what stands below the statement is left out."""
        whole = held(self.spot) is self.statement
        before = header(self.statement)
        with self.made():
            after = header(self.new if whole and isinstance(self.new, ast.stmt) else self.statement)
        return " → ".join(_shortened(before, after))


def _shortened(one: str, other: str) -> tuple[str, str]:
    """Leave out what long statements have in common far from the place where they differ."""
    if max(len(one), len(other)) <= SHOWN:
        return one, other
    start = _alike(one, other)
    end = min(_alike(one[::-1], other[::-1]), len(one) - start, len(other) - start)
    first, last = max(0, start - BESIDE), max(0, end - BESIDE)
    one, other = (
        ("…" if first else "") + text[first : len(text) - last] + ("…" if last else "") for text in (one, other)
    )
    return one, other


def _alike(one: str, other: str) -> int:
    """Count the characters in which two texts begin alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def held(spot: Spot) -> ast.AST:
    """Give the node that hangs at a spot."""
    parent, field, place = spot
    node = getattr(parent, field)
    found: ast.AST = node if place is None else node[place]
    return found


def _hang(spot: Spot, node: ast.AST) -> None:
    parent, field, place = spot
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def header(statement: ast.stmt) -> str:
    """Write a statement without the statements below it."""
    bare = copy(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        if isinstance(getattr(bare, field, None), list):
            setattr(bare, field, [])
    if isinstance(bare, Function | ast.ClassDef):
        bare.decorator_list = []
    return " ".join(ast.unparse(ast.fix_missing_locations(bare)).split())


def changes(tree: ast.Module) -> Iterator[Change]:
    """Yield every change of a module, in the order of its text."""
    yield from _block(tree, "body", "", None)


def _block(owner: ast.AST, field: str, name: str, function: Function | None) -> Iterator[Change]:
    statements: list[ast.stmt] = getattr(owner, field)
    for place, statement in enumerate(statements):
        if _is_unseen(statement):
            continue
        last = function is owner and place == len(statements) - 1
        if _may_go(statement) or (isinstance(statement, ast.Return) and function is not None and not last):
            yield Change(name, statement, (owner, field, place), ast.copy_location(ast.Pass(), statement))
        yield from _statement(statement, name, function)
        if isinstance(statement, Function | ast.ClassDef):
            inner = f"{name}.{statement.name}" if name else statement.name
            yield from _block(statement, "body", inner, statement if isinstance(statement, Function) else None)
            continue
        for below in ("body", "orelse", "finalbody"):
            if hasattr(statement, below):
                yield from _block(statement, below, name, function)
        for handler in getattr(statement, "handlers", ()):
            yield from _block(handler, "body", name, function)
        for case in getattr(statement, "cases", ()):
            yield from _block(case, "body", name, function)


def _is_unseen(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
        return True
    if not isinstance(statement, ast.Assign) or statement.col_offset > 0:
        return False
    joined = isinstance(statement.value, ast.BinOp) and isinstance(statement.value.op, ast.BitOr)
    return joined or isinstance(statement.value, ast.Subscript)  # an alias of types, mostly


def _may_go(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Subscript | ast.Attribute) for target in statement.targets)
    return isinstance(statement, DROPPED)


def _statement(statement: ast.stmt, name: str, function: Function | None) -> Iterator[Change]:
    """Yield the changes of what a statement itself reckons, not of the statements below it."""
    if isinstance(statement, ast.AugAssign) and type(statement.op) in RECKONED:
        yield Change(name, statement, (statement, "op", None), RECKONED[type(statement.op)]())
    if isinstance(statement, ast.Return) and statement.value is not None:
        for new in _returned(statement.value, function):
            yield Change(name, statement, (statement, "value", None), ast.copy_location(new, statement.value))
    if isinstance(statement, Function):
        owner: ast.AST = statement.args
    elif isinstance(statement, ast.ClassDef):
        return
    else:
        owner = statement
    for field in owner._fields:
        for spot in _below(owner, field) if field != "annotation" else ():
            yield from _expression(spot, name, statement)


def _returned(value: ast.expr, function: Function | None) -> Iterator[ast.expr]:
    told = ast.unparse(function.returns) if function is not None and function.returns is not None else ""
    if told == "bool" and not isinstance(value, ast.Constant):
        yield ast.UnaryOp(ast.Not(), value)
    elif not (isinstance(value, ast.Constant) and (value.value is None or told == "bool")):
        yield ast.Constant(None)
    if told == "int" and not isinstance(value, ast.Constant):
        yield ast.BinOp(value, ast.Add(), ast.Constant(1))


def _below(parent: ast.AST, field: str) -> Iterator[Spot]:
    node = getattr(parent, field, None)
    if isinstance(node, list):
        yield from ((parent, field, place) for place, each in enumerate(node) if _reckons(each))
    elif _reckons(node):
        yield parent, field, None


def _reckons(node: object) -> bool:
    return isinstance(node, ast.expr | ast.comprehension | ast.keyword | ast.withitem)


def _expression(spot: Spot, name: str, statement: ast.stmt) -> Iterator[Change]:
    node = held(spot)
    if isinstance(node, ast.expr):
        for new in _otherwise(node):
            yield Change(name, statement, spot, ast.copy_location(new, node))
        if spot[1] in ("test", "ifs") and not _turns(node):
            inverted = ast.copy_location(ast.UnaryOp(ast.Not(), node), node)
            yield Change(name, statement, spot, inverted)
        if spot[1] == "ifs":
            yield Change(name, statement, spot, ast.copy_location(ast.Constant(True), node))
    if isinstance(node, ast.keyword) and node.arg in UNSEEN:
        return
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    for field in node._fields:
        if field in ("annotation", "format_spec") or called in ("cast", "TypeVar"):
            continue
        if called in ("isinstance", "issubclass") and field == "args":
            continue
        for inner in _below(node, field):
            yield from _expression(inner, name, statement)


def _turns(node: ast.expr) -> bool:
    """Whether another comparison is the inverted one."""
    turned = ast.Eq | ast.NotEq | ast.In | ast.NotIn | ast.Is | ast.IsNot
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], turned)


def _otherwise(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what could stand in a node's place."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            ops = [COMPARED[type(op)]() if index == place else each for index, each in enumerate(node.ops)]
            yield ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for place in range(len(node.values)):
            rest = [*node.values[:place], *node.values[place + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in RECKONED and not _is_text(node):
        yield ast.BinOp(node.left, RECKONED[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.Call):
        yield from _calls(node)


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )


def _constants(value: object) -> Iterator[ast.expr]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)


def _calls(node: ast.Call) -> Iterator[ast.expr]:
    if isinstance(node.func, ast.Name) and node.func.id in CALLED:
        keywords = [] if node.func.id == "sorted" else node.keywords
        yield ast.Call(ast.Name(CALLED[node.func.id], ast.Load()), node.args, keywords)
    ordered = not (isinstance(node.func, ast.Name) and node.func.id in UNORDERED)
    for place, (one, other) in enumerate(zip(node.args, node.args[1:], strict=False) if ordered else ()):
        if ast.Starred not in (type(one), type(other)) and ast.dump(one) != ast.dump(other):
            swapped = [*node.args[:place], other, one, *node.args[place + 2 :]]
            yield ast.Call(node.func, swapped, node.keywords)
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in UNSEEN and ast.unparse(node.func) != "TypeVar":
            yield ast.Call(node.func, node.args, [*node.keywords[:place], *node.keywords[place + 1 :]])
