"""The tree of an expression. Macros (`has`, `exists`, `cel.bind`, …) are nodes of their own."""

from __future__ import annotations

from typing import Final, Union
from typing import Literal as OneOf

from numalign.values import NamedTuple

LoopKind = OneOf["all", "exists", "exists_one", "map", "filter", "transform_list", "transform_map", "transform_entry"]


class Constant(NamedTuple):
    """A value that was written out."""

    value: object
    position: int


class Name(NamedTuple):
    """A variable, or a type."""

    name: str
    position: int


class Select(NamedTuple):
    """`operand.field`, or with `optional` `operand.?field`."""

    operand: Node
    field: str
    optional: bool
    position: int


class Has(NamedTuple):
    """`has(operand.field)`."""

    operand: Node
    field: str
    position: int


class Index(NamedTuple):
    """`operand[index]`, or with `optional` `operand[?index]`."""

    operand: Node
    key: Node
    optional: bool
    position: int


class Call(NamedTuple):
    """A function, a method (with a target) or an operator (named by its sign)."""

    function: str
    target: Node | None
    arguments: tuple[Node, ...]
    position: int


class Logic(NamedTuple):
    """`a && b && c`, or the same with `||`."""

    operator: str
    operands: tuple[Node, ...]
    position: int


class Choice(NamedTuple):
    """`condition ? yes : no`."""

    condition: Node
    yes: Node
    no: Node
    position: int


class ListNode(NamedTuple):
    """`[a, ?b]`."""

    items: tuple[Node, ...]
    optional: frozenset[int]
    position: int


class MapNode(NamedTuple):
    """`{a: b, ?c: d}`."""

    entries: tuple[tuple[Node, Node], ...]
    optional: frozenset[int]
    position: int


class Loop(NamedTuple):
    """A macro that goes over a list or the keys of a map."""

    kind: LoopKind
    range: Node
    variables: tuple[str, ...]
    """One name, or an index (or key) and a value."""
    condition: Node | None
    """What is asked of each, or which are taken."""
    result: Node | None
    """What each becomes."""
    position: int


class Bind(NamedTuple):
    """`cel.bind(name, value, body)`."""

    name: str
    value: Node
    body: Node
    position: int


class OptionalMap(NamedTuple):
    """`operand.optMap(name, body)`; `flat` for `optFlatMap`."""

    operand: Node
    name: str
    body: Node
    flat: bool
    position: int


Node = Union[  # noqa: UP007  # the classes are not yet there when an annotation with | would be evaluated
    Constant, Name, Select, Has, Index, Call, Logic, Choice, ListNode, MapNode, Loop, Bind, OptionalMap
]

MAX_NESTING: Final = 60
"""Deepest nesting that is followed. Chains of `&&` and `||` do not nest."""


def qualified_name(node: Call) -> str:
    """Write a call's name with what stands before it, if that is plain names."""
    parts = [node.function]
    target = node.target
    while isinstance(target, Select) and not target.optional:
        parts.append(target.field)
        target = target.operand
    if isinstance(target, Name):
        parts.append(target.name)
    elif target is not None:
        return ""
    return ".".join(reversed(parts))
