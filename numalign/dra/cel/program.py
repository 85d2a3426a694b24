"""An expression as closures that run on one device after the other, with the cost that cel-go would count.

Costs: a variable, field or index 1, a written list 10, a written map 30, a call as its library says; logic nothing.
"""

from __future__ import annotations

from typing import Final

from numalign.dra.cel.checker import Checker
from numalign.dra.cel.errors import NO_OVERLOAD, EvaluationError
from numalign.dra.cel.library_standard import TYPES
from numalign.dra.cel.loops import loop
from numalign.dra.cel.operators import call, equality, item_of, logic, optional_field
from numalign.dra.cel.syntax import (
    Bind,
    Call,
    Choice,
    Constant,
    Has,
    Index,
    ListNode,
    Logic,
    Loop,
    MapNode,
    Name,
    Node,
    OptionalMap,
    Select,
)
from numalign.dra.cel.values import NOTHING, Evaluate, Frame, Optional, Value, equal, map_key, type_name

LIST_COST: Final = 10
MAP_COST: Final = 30


class Compiler:
    """Turns a checked tree into closures."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker

    def compile(self, node: Node) -> Evaluate:
        """Give the closure of a node."""
        match node:
            case Constant():
                value = node.value
                return lambda _: value
            case Name():
                return self._name(node.name)
            case Select():
                return self._select(node)
            case Has():
                return self._has(node)
            case Index():
                return self._index(node)
            case Call():
                return self._call(node)
            case Logic():
                return logic([self.compile(operand) for operand in node.operands], node.operator == "||")
            case Choice():
                return self._choice(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Bind():
                return self._bind(node)
            case OptionalMap():
                return self._optional_map(node)
            case Loop():
                inner = [self.compile(part) if part is not None else None for part in (node.condition, node.result)]
                return loop(node.kind, node.variables, self.compile(node.range), inner[0], inner[1])

    def _name(self, name: str) -> Evaluate:
        kind = TYPES.get(name)

        def run(frame: Frame) -> Value:
            names = frame.names
            if name not in names:
                return kind
            frame.cost += 1
            return names[name]

        return run

    def _select(self, node: Select) -> Evaluate:
        operand, field, optional = self.compile(node.operand), node.field, node.optional
        extra = _extra_cost(node.operand)

        def run(frame: Frame) -> Value:
            value = operand(frame)
            if type(value) is Optional or optional:
                return optional_field(frame, value, field)
            frame.cost += 1 + extra
            if isinstance(value, dict):
                try:
                    return value[field]
                except KeyError:
                    raise EvaluationError(f"no such key: {field}") from None
            raise EvaluationError(f"{NO_OVERLOAD}: type '{type_name(value)}' does not support field selection")

        return run

    def _has(self, node: Has) -> Evaluate:
        operand, field = self.compile(node.operand), node.field

        def run(frame: Frame) -> bool:
            value = operand(frame)
            if type(value) is Optional:
                if not value.present:
                    return False
                value = value.value
            if not isinstance(value, dict):
                raise EvaluationError(f"{NO_OVERLOAD}: type '{type_name(value)}' does not support field selection")
            return field in value or hasattr(type(value), "__missing__")

        return run

    def _index(self, node: Index) -> Evaluate:
        operand, index, optional = self.compile(node.operand), self.compile(node.key), node.optional
        extra = _extra_cost(node.operand)

        def run(frame: Frame) -> Value:
            value = operand(frame)
            key = index(frame)
            if type(value) is Optional or optional:
                return optional_field(frame, value, key)
            frame.cost += 1 + extra
            return item_of(value, key)

        return run

    def _call(self, node: Call) -> Evaluate:
        target = () if node.target is None or id(node) in self.checker.qualified else (node.target,)
        nodes = (*target, *node.arguments)
        if node.function in ("==", "!="):
            return equality(self.compile(nodes[0]), self.compile(nodes[1]), node.function == "==")
        if node.function == "in":
            return self._in(node)
        return call(node.function, self.checker.forms[id(node)], [self.compile(part) for part in nodes])

    def _in(self, node: Call) -> Evaluate:
        item, container = (self.compile(part) for part in node.arguments)
        written = isinstance(node.arguments[1], ListNode)
        constant = written and _is_constant(node.arguments[1])

        def run(frame: Frame) -> bool:
            value = item(frame)
            spent = frame.cost
            values = container(frame)
            if constant:
                frame.cost = spent
            elif written:
                frame.spend(len(values))
            else:
                frame.cost += 1
            if isinstance(values, dict):
                return map_key(value) in values
            if not isinstance(values, list):
                raise EvaluationError(NO_OVERLOAD)
            return any(equal(value, one) for one in values)

        return run

    def _choice(self, node: Choice) -> Evaluate:
        condition, yes, no = (self.compile(part) for part in (node.condition, node.yes, node.no))

        def run(frame: Frame) -> Value:
            value = condition(frame)
            if value is True:
                return yes(frame)
            if value is False:
                return no(frame)
            raise EvaluationError(NO_OVERLOAD)

        return run

    def _list(self, node: ListNode) -> Evaluate:
        items, optional = [self.compile(item) for item in node.items], node.optional
        if _is_constant(node):
            return lambda frame: [item(frame) for item in items]

        def run(frame: Frame) -> list[Value]:
            found = []
            for index, item in enumerate(items):
                value = item(frame)
                if index not in optional:
                    found.append(value)
                elif not isinstance(value, Optional):
                    raise EvaluationError(NO_OVERLOAD)
                elif value.present:
                    found.append(value.value)
            frame.spend(LIST_COST)
            return found

        return run

    def _map(self, node: MapNode) -> Evaluate:
        entries = [(self.compile(key), self.compile(value)) for key, value in node.entries]
        optional = node.optional
        constant = _is_constant(node)

        def run(frame: Frame) -> dict[Value, Value]:
            found: dict[Value, Value] = {}
            for index, (key, value) in enumerate(entries):
                name, content = map_key(key(frame)), value(frame)
                if index in optional:
                    if not isinstance(content, Optional):
                        raise EvaluationError(NO_OVERLOAD)
                    if not content.present:
                        continue
                    content = content.value
                if name in found:
                    raise EvaluationError("Failed with repeated key")
                found[name] = content
            frame.spend(0 if constant else MAP_COST)
            return found

        return run

    def _bind(self, node: Bind) -> Evaluate:
        value, body, name = self.compile(node.value), self.compile(node.body), node.name

        def run(frame: Frame) -> Value:
            given = value(frame)
            outer = frame.names
            frame.names = {**outer, name: given}
            try:
                return body(frame)
            finally:
                frame.names = outer

        return run

    def _optional_map(self, node: OptionalMap) -> Evaluate:
        operand, body, name, flat = self.compile(node.operand), self.compile(node.body), node.name, node.flat

        def run(frame: Frame) -> Value:
            given = operand(frame)
            if not isinstance(given, Optional):
                raise EvaluationError(NO_OVERLOAD)
            if not given.present:
                return NOTHING
            outer = frame.names
            frame.names = {**outer, name: given.value}
            try:
                value = body(frame)
            finally:
                frame.names = outer
            return value if flat else Optional(True, value)

        return run


def _extra_cost(operand: Node) -> int:
    """Cost of beginning a chain of fields and indexes behind something that is no name."""
    return 0 if isinstance(operand, Name | Select | Index) else 1


def _is_constant(node: Node) -> bool:
    """Tell whether a list or map is written out in full, so that it is made once."""
    match node:
        case Constant():
            return True
        case ListNode():
            return not node.optional and all(map(_is_constant, node.items))
        case MapNode():
            return not node.optional and all(_is_constant(key) and _is_constant(value) for key, value in node.entries)
    return False
