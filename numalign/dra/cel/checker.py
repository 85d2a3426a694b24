"""Types an expression before it runs: what it gives, and what can never work.

The result is the set of forms that each call can have; the rest of it is errors (docs/rules/dra.md D-20a).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.dra.cel import syntax
from numalign.dra.cel.errors import CompileError, UnsupportedError
from numalign.dra.cel.functions import FUNCTIONS, METHODS, UNSUPPORTED
from numalign.dra.cel.library_standard import TYPES
from numalign.dra.cel.overload import Overload, resolve
from numalign.dra.cel.regex import program
from numalign.dra.cel.regex_syntax import RegexError
from numalign.dra.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    TYPE,
    UINT,
    A,
    B,
    Type,
    accepts,
    is_dynamic,
    list_of,
    map_of,
    optional_of,
)
from numalign.dra.cel.values import Uint
from numalign.values import NamedTuple

_CONSTANTS: Final = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}

_EQUAL: Final = Overload((A, A), BOOL, bool)
_IN: Final = (Overload((A, list_of(A)), BOOL, bool), Overload((A, map_of(A, B)), BOOL, bool))
_CHOICE: Final = Overload((BOOL, A, A), A, bool)


class Environment(NamedTuple):
    """What an expression may name."""

    variables: Mapping[str, Type]
    fields: Mapping[str, Mapping[str, Type]]
    """Type -> its fields."""
    features: frozenset[str]
    """What functions may need."""


class Checker:
    """Walks a tree once; `forms` then has the overloads of every call, by the identity of its node."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.forms: dict[int, tuple[Overload, ...]] = {}
        self.qualified: dict[int, str] = {}
        """Calls whose target is part of the function's name, as in `sets.contains`."""
        self.scope: dict[str, Type] = dict(environment.variables)
        self.depth = 0
        self._mixed = False
        """Whether a list may have items of several types: only what `format` writes."""

    def check(self, node: syntax.Node) -> Type:
        """Give the type of a node.

        Raises:
            CompileError: nothing that this node may be given makes it work.
        """
        self.depth += 1
        if self.depth > 2 * syntax.MAX_NESTING:
            raise UnsupportedError(f"nested deeper than {2 * syntax.MAX_NESTING} levels", node.position)
        kind = self._check(node)
        self.depth -= 1
        return kind

    def _check(self, node: syntax.Node) -> Type:  # one arm a class of node
        match node:
            case syntax.Constant():
                return _CONSTANTS[type(node.value)]
            case syntax.Name():
                return self._name(node)
            case syntax.Select() | syntax.Has():
                return self._field(node)
            case syntax.Index():
                return self._index(node)
            case syntax.Call():
                return self._call(node)
            case syntax.Logic():
                for operand in node.operands:
                    self._expect(operand, BOOL, node.operator)
                return BOOL
            case syntax.Choice():
                parts = [self.check(part) for part in (node.condition, node.yes, node.no)]
                return resolve("_?_:_", (_CHOICE,), parts, node.position)[1]
            case syntax.ListNode():
                return list_of(self._elements([*node.items], node.optional))
            case syntax.MapNode():
                keys = self._elements([key for key, _ in node.entries], frozenset())
                return map_of(keys, self._elements([value for _, value in node.entries], node.optional))
            case syntax.Loop():
                return self._loop(node)
            case syntax.Bind():
                return self._with({node.name: self.check(node.value)}, node.body)
            case syntax.OptionalMap():
                return self._optional_map(node)

    def _name(self, node: syntax.Name) -> Type:
        if node.name in self.scope:
            return self.scope[node.name]
        if node.name in TYPES:
            return TYPE
        raise CompileError(f"undeclared reference to '{node.name}' (in container '')", node.position)

    def _field(self, node: syntax.Select | syntax.Has) -> Type:
        operand = self.check(node.operand)
        optional = operand.name == "optional_type"
        inner = operand.args[0] if optional else operand
        if is_dynamic(inner):
            kind = DYN
        elif inner.name == "map":
            kind = inner.args[1]
        else:
            fields = self.environment.fields.get(inner.name)
            if fields is None:
                raise CompileError(f"type '{inner}' does not support field selection", node.position)
            if node.field not in fields:
                raise CompileError(f"undefined field '{node.field}'", node.position)
            kind = fields[node.field]
        if isinstance(node, syntax.Has):
            return BOOL
        return optional_of(kind) if node.optional or optional else kind

    def _index(self, node: syntax.Index) -> Type:
        operand = self.check(node.operand)
        index = self.check(node.key)
        optional = operand.name == "optional_type"
        inner = operand.args[0] if optional else operand
        if is_dynamic(inner):
            kind = DYN
        elif inner.name == "list" and (is_dynamic(index) or index in (INT, UINT, DOUBLE)):
            kind = inner.args[0]
        elif inner.name == "map" and accepts(inner.args[0], index, {}) is not None:
            kind = inner.args[1]
        else:
            raise CompileError(
                f"found no matching overload for '_[_]' applied to '({operand}, {index})'", node.position
            )
        return optional_of(kind) if node.optional or optional else kind

    def _call(self, node: syntax.Call) -> Type:
        function = node.function
        name = syntax.qualified_name(node)
        if name in FUNCTIONS and not (isinstance(node.target, syntax.Name) and node.target.name in self.scope):
            self.qualified[id(node)] = function = name
            table, given = FUNCTIONS, node.arguments
        elif name in UNSUPPORTED:
            self._refuse_name(name, node.position)
        else:
            table = METHODS if node.target is not None else FUNCTIONS
            given = node.arguments if node.target is None else (node.target, *node.arguments)
        self._mixed, outer = function == "format", self._mixed
        arguments = [self.check(argument) for argument in given]
        self._mixed = outer
        if function in ("==", "!="):
            return resolve(f"_{function}_", (_EQUAL,), arguments, node.position)[1]
        if function == "in":
            return resolve("@in", _IN, arguments, node.position)[1]
        overloads = tuple(
            one for one in table.get(function, ()) if not one.needs or one.needs in self.environment.features
        )
        if not overloads:
            self._refuse_name(function, node.position)
        self._check_pattern(function, given, node.position)
        found, kind = resolve(function, overloads, arguments, node.position)
        self.forms[id(node)] = found
        return kind

    def _refuse_name(self, function: str, position: int) -> None:
        if function in UNSUPPORTED:
            raise UnsupportedError(f"selector uses {function}, which numalign does not know", position)
        if function in METHODS or function in FUNCTIONS:
            raise CompileError(f"found no matching overload for '{function}'", position)
        raise CompileError(f"undeclared reference to '{function}' (in container '')", position)

    def _check_pattern(self, function: str, arguments: tuple[syntax.Node, ...], position: int) -> None:
        """Refuse a written pattern that is none, as Kubernetes does before anything runs."""
        if function == "matches" and len(arguments) == 2:
            pattern = arguments[1]
            if isinstance(pattern, syntax.Constant) and isinstance(pattern.value, str):
                try:
                    program(pattern.value)
                except RegexError as error:
                    raise CompileError(f"invalid matches argument: {error}", position) from None

    def _elements(self, items: list[syntax.Node], optional: frozenset[int]) -> Type:
        """Give the one type of all elements of a list or map; Kubernetes wants them alike."""
        joined: Type | None = None
        for index, item in enumerate(items):
            kind = self.check(item)
            if index in optional and kind.name == "optional_type":
                kind = kind.args[0]
            if joined is None or is_dynamic(kind):
                joined = joined if joined is not None else kind
            elif is_dynamic(joined):
                joined = kind
            elif accepts(joined, kind, {}) is None:
                if not self._mixed:
                    raise CompileError(f"expected type '{joined}' but found '{kind}'", item.position)
                joined = DYN
        return joined or DYN

    def _loop(self, node: syntax.Loop) -> Type:
        range_ = self.check(node.range)
        two = len(node.variables) == 2
        if range_ == DYN:
            kinds: tuple[Type, ...] = (DYN, DYN) if two else (DYN,)
        elif range_.name == "list":
            kinds = (INT, range_.args[0]) if two else (range_.args[0],)
        elif range_.name == "map":
            kinds = range_.args if two else range_.args[:1]
        else:
            raise CompileError(
                f"expression of type '{range_}' cannot be range of a comprehension (must be list, map, or dynamic)",
                node.position,
            )
        scope = dict(zip(node.variables, kinds, strict=True))
        if node.condition is not None:
            condition = self._with(scope, node.condition)
            if condition != BOOL and not is_dynamic(condition):
                raise CompileError(f"expected type 'bool' but found '{condition}'", node.condition.position)
        if node.kind in ("all", "exists", "exists_one"):
            return BOOL
        if node.result is None:
            return list_of(*kinds)
        result = self._with(scope, node.result)
        if node.kind == "transform_entry":
            return result
        return map_of(kinds[0], result) if node.kind == "transform_map" else list_of(result)

    def _optional_map(self, node: syntax.OptionalMap) -> Type:
        operand = self.check(node.operand)
        if operand.name != "optional_type" and not is_dynamic(operand):
            raise CompileError(f"expected type 'optional_type' but found '{operand}'", node.position)
        inner = self._with({node.name: operand.args[0] if operand.args else DYN}, node.body)
        return inner if node.flat else optional_of(inner)

    def _with(self, names: Mapping[str, Type], body: syntax.Node) -> Type:
        """Check a part in which more names are known."""
        outer = self.scope
        self.scope = {**outer, **names}
        kind = self.check(body)
        self.scope = outer
        return kind

    def _expect(self, node: syntax.Node, wanted: Type, operator: str) -> None:
        kind = self.check(node)
        if kind != wanted and not is_dynamic(kind):
            raise CompileError(f"found no matching overload for '_{operator}_' applied to '({kind})'", node.position)
