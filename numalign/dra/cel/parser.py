"""The tree of an expression from its words, by precedence climbing."""

from __future__ import annotations

from typing import Final

from numalign.dra.cel import syntax
from numalign.dra.cel.errors import CompileError, UnsupportedError
from numalign.dra.cel.tokens import END, Token, tokens
from numalign.dra.cel.values import INT_MAX

MAX_TEXT: Final = 10 * 1024
"""Longest expression, in bytes: what the API allows (docs/rules/dra.md 1)."""

_BINARY: Final = {
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 1),
    **dict.fromkeys(("+", "-"), 2),
    **dict.fromkeys(("*", "/", "%"), 3),
}
_CONSTANTS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}
_RESERVED: Final = frozenset(
    """
    as break const continue else for function if import let loop package namespace return var void while
    """.split()  # noqa: SIM905  # one name a line would be a page
)


def parse(text: str) -> syntax.Node:
    """Read an expression.

    Raises:
        CompileError: it is no expression, is too long or nested too deep.
    """
    if len(text.encode("utf-8", "replace")) > MAX_TEXT:
        raise CompileError(f"an expression may have {MAX_TEXT} bytes", 0)
    reader = _Reader(tokens(text))
    node = reader.expression()
    reader.take(END)
    return node


class _Reader:
    """The words, and how far we are."""

    __slots__ = ("at", "nesting", "words")

    def __init__(self, words: list[Token]) -> None:
        self.words = words
        self.at = 0
        self.nesting = 0

    def take(self, text: str) -> Token:
        """Go past an operator (or the end), or refuse what is there."""
        token = self.words[self.at]
        if token.text != text:
            wanted = "the end" if text == END else f"'{text}'"
            raise CompileError(f"Syntax error: expected {wanted}, got '{token.text}'", token.position)
        self.at += 1
        return token

    def next_is(self, text: str) -> bool:
        """Go past an operator if it is the next word."""
        if self.words[self.at].text == text:
            self.at += 1
            return True
        return False

    def expression(self) -> syntax.Node:
        """Read `a ? b : c` and everything that binds tighter."""
        self.nesting += 1
        if self.nesting > syntax.MAX_NESTING:
            raise UnsupportedError(f"nested deeper than {syntax.MAX_NESTING} levels", self.words[self.at].position)
        node = self.logic("||")
        token = self.words[self.at]
        if self.next_is("?"):
            yes = self.logic("||")
            self.take(":")
            node = syntax.Choice(node, yes, self.expression(), token.position)
        self.nesting -= 1
        return node

    def logic(self, operator: str) -> syntax.Node:
        """Read a chain of `||`, of which each part is a chain of `&&`."""
        position = self.words[self.at].position
        parts = [self.logic("&&") if operator == "||" else self.binary(1)]
        while self.next_is(operator):
            parts.append(self.logic("&&") if operator == "||" else self.binary(1))
        return syntax.Logic(operator, tuple(parts), position) if len(parts) > 1 else parts[0]

    def binary(self, level: int) -> syntax.Node:
        """Read comparisons, sums and products."""
        node = self.unary()
        while True:
            token = self.words[self.at]
            binds = _BINARY.get(token.text)
            if binds is None or binds < level:
                return node
            self.at += 1
            node = syntax.Call(token.text, None, (node, self.binary(binds + 1)), token.position)

    def unary(self) -> syntax.Node:
        """Read `!x` and `-x`; two of a kind cancel each other."""
        token = self.words[self.at]
        if token.text not in ("!", "-"):
            return self.member()
        count = 0
        while self.next_is(token.text):
            count += 1
        number = self.words[self.at]
        if token.text == "-" and number.kind == "value" and type(number.value) in (int, float):
            self.words[self.at] = number._replace(value=-number.value)  # type: ignore[operator]  # an int or float
            count -= 1
        node = self.member()
        return syntax.Call(f"{token.text}_", None, (node,), token.position) if count % 2 else node

    def member(self) -> syntax.Node:
        """Read what stands alone, and the fields, indexes and methods behind it."""
        node = self.primary()
        while True:
            token = self.words[self.at]
            if self.next_is("."):
                node = self.field(node, token.position)
            elif self.next_is("["):
                optional = self.next_is("?")
                node = syntax.Index(node, self.expression(), optional, token.position)
                self.take("]")
            else:
                return node

    def field(self, operand: syntax.Node, position: int) -> syntax.Node:
        """Read a field, an optional field or a method."""
        optional = self.next_is("?")
        name = self.name()
        if optional or not self.next_is("("):
            return syntax.Select(operand, name.text, optional, position)
        arguments = self.list_until(")")
        return expand(name.text, operand, arguments, position) or syntax.Call(name.text, operand, arguments, position)

    def name(self) -> Token:
        """Take an identifier."""
        token = self.words[self.at]
        if token.kind != "name" or token.text in _CONSTANTS or token.text == "in":
            raise CompileError(f"Syntax error: expected a name, got '{token.text}'", token.position)
        self.at += 1
        return token

    def primary(self) -> syntax.Node:
        """Read a literal, a name, a call, or something in brackets."""
        token = self.words[self.at]
        if token.kind == "value":
            self.at += 1
            if type(token.value) is int and token.value > INT_MAX:
                raise CompileError("Syntax error: invalid int literal", token.position)
            return syntax.Constant(token.value, token.position)
        if token.kind == "name" and token.text in _CONSTANTS:
            self.at += 1
            return syntax.Constant(_CONSTANTS[token.text], token.position)
        if self.next_is("("):
            node = self.expression()
            self.take(")")
            return node
        if self.next_is("["):
            return self.list_literal(token.position)
        if self.next_is("{"):
            return self.map_literal(token.position)
        self.next_is(".")
        name = self.name()
        if self.next_is("("):
            arguments = self.list_until(")")
            return expand(name.text, None, arguments, name.position) or syntax.Call(
                name.text, None, arguments, name.position
            )
        if name.text in _RESERVED:
            raise CompileError(f"reserved identifier: {name.text}", name.position)
        return syntax.Name(name.text, name.position)

    def list_until(self, end: str) -> tuple[syntax.Node, ...]:
        """Read expressions up to a closing bracket."""
        if self.next_is(end):
            return ()
        found = [self.expression()]
        while self.next_is(","):
            found.append(self.expression())
        self.take(end)
        return tuple(found)

    def list_literal(self, position: int) -> syntax.Node:
        """Read the rest of `[a, ?b]`."""
        items: list[syntax.Node] = []
        optional: set[int] = set()
        while not self.next_is("]"):
            if self.next_is("?"):
                optional.add(len(items))
            items.append(self.expression())
            if not self.next_is(","):
                self.take("]")
                break
        return syntax.ListNode(tuple(items), frozenset(optional), position)

    def map_literal(self, position: int) -> syntax.Node:
        """Read the rest of `{a: b}`."""
        entries: list[tuple[syntax.Node, syntax.Node]] = []
        optional: set[int] = set()
        while not self.next_is("}"):
            if self.next_is("?"):
                optional.add(len(entries))
            key = self.expression()
            self.take(":")
            entries.append((key, self.expression()))
            if not self.next_is(","):
                self.take("}")
                break
        return syntax.MapNode(tuple(entries), frozenset(optional), position)


_ONE_VARIABLE: Final[dict[str, syntax.LoopKind]] = {"all": "all", "exists": "exists", "exists_one": "exists_one"}
_TWO_VARIABLES: Final[dict[str, syntax.LoopKind]] = {**_ONE_VARIABLE, "existsOne": "exists_one"}
_TRANSFORMS: Final[dict[str, syntax.LoopKind]] = {
    "transformList": "transform_list",
    "transformMap": "transform_map",
    "transformMapEntry": "transform_entry",
}


def expand(
    function: str, target: syntax.Node | None, arguments: tuple[syntax.Node, ...], position: int
) -> syntax.Node | None:
    """Give the node that a macro stands for, or None: then it is a call.

    Raises:
        CompileError: the argument of `has` is no field, or a variable of a loop is no name.
    """
    count = len(arguments)
    if target is None:
        if function == "has" and count == 1:
            return _has(arguments[0])
        return None
    if function in _ONE_VARIABLE and count == 2:
        return _loop(_ONE_VARIABLE[function], target, arguments[:1], arguments[1], None, position)
    if function in _TWO_VARIABLES and count == 3:
        return _loop(_TWO_VARIABLES[function], target, arguments[:2], arguments[2], None, position)
    if function == "map" and count in (2, 3):
        condition = arguments[1] if count == 3 else None
        return _loop("map", target, arguments[:1], condition, arguments[-1], position)
    if function == "filter" and count == 2:
        return _loop("filter", target, arguments[:1], arguments[1], None, position)
    if function in _TRANSFORMS and count in (3, 4):
        condition = arguments[2] if count == 4 else None
        return _loop(_TRANSFORMS[function], target, arguments[:2], condition, arguments[-1], position)
    if function == "bind" and count == 3 and isinstance(target, syntax.Name) and target.name == "cel":
        return syntax.Bind(_variable(arguments[0]), arguments[1], arguments[2], position)
    if function in ("optMap", "optFlatMap") and count == 2:
        return syntax.OptionalMap(target, _variable(arguments[0]), arguments[1], function == "optFlatMap", position)
    return None


def _has(argument: syntax.Node) -> syntax.Has:
    if isinstance(argument, syntax.Select) and not argument.optional:
        return syntax.Has(argument.operand, argument.field, argument.position)
    raise CompileError(
        "invalid argument to has() macro: expected a field, as in has(device.attributes['x'].y)", argument.position
    )


def _loop(
    kind: syntax.LoopKind,
    target: syntax.Node,
    variables: tuple[syntax.Node, ...],
    condition: syntax.Node | None,
    result: syntax.Node | None,
    position: int,
) -> syntax.Loop:
    names = tuple(_variable(one) for one in variables)
    if len(set(names)) < len(names):
        raise CompileError("the two variables of a loop need different names", position)
    return syntax.Loop(kind=kind, range=target, variables=names, condition=condition, result=result, position=position)


def _variable(node: syntax.Node) -> str:
    if isinstance(node, syntax.Name):
        return node.name
    raise CompileError("argument must be a simple name", node.position)
