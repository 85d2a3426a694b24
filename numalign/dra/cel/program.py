"""An expression as closures that run on one device after the other, with the cost that cel-go would count.

Costs: a variable, field or index 1, a written list 10, a written map 30, a call as its library says; logic nothing.
"""

from __future__ import annotations

from typing import Final

from numalign.dra.cel import syntax
from numalign.dra.cel.checker import Checker
from numalign.dra.cel.errors import NO_OVERLOAD, EvaluationError
from numalign.dra.cel.library_standard import TYPES
from numalign.dra.cel.loops import loop
from numalign.dra.cel.operators import call, equality, item_of, logic, optional_field
from numalign.dra.cel.values import NOTHING, Evaluate, Frame, Optional, Value, equal, map_key, type_name

LIST_COST: Final = 10
MAP_COST: Final = 30


class Compiler:
    """Turns a checked tree into closures."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker

    def compile(self, node: syntax.Node) -> Evaluate:
        """Give the closure of a node."""
        match node:
            case syntax.Constant():
                value = node.value
                return lambda _: value
            case syntax.Name():
                return self._name(node.name)
            case syntax.Select():
                return self._select(node)
            case syntax.Has():
                return self._has(node)
            case syntax.Index():
                return self._index(node)
            case syntax.Call():
                return self._call(node)
            case syntax.Logic():
                return logic([self.compile(operand) for operand in node.operands], node.operator == "||")
            case syntax.Choice():
                return self._choice(node)
            case syntax.ListNode():
                return self._list(node)
            case syntax.MapNode():
                return self._map(node)
            case syntax.Bind():
                return self._bind(node)
            case syntax.OptionalMap():
                return self._optional_map(node)
            case syntax.Loop():
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

    def _select(self, node: syntax.Select) -> Evaluate:
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

    def _has(self, node: syntax.Has) -> Evaluate:
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

    def _index(self, node: syntax.Index) -> Evaluate:
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

    def _call(self, node: syntax.Call) -> Evaluate:
        target = () if node.target is None or id(node) in self.checker.qualified else (node.target,)
        nodes = (*target, *node.arguments)
        if node.function in ("==", "!="):
            return equality(self.compile(nodes[0]), self.compile(nodes[1]), node.function == "==")
        if node.function == "in":
            return self._in(node)
        return call(node.function, self.checker.forms[id(node)], [self.compile(part) for part in nodes])

    def _in(self, node: syntax.Call) -> Evaluate:
        item, container = (self.compile(part) for part in node.arguments)
        written = isinstance(node.arguments[1], syntax.ListNode)
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

    def _choice(self, node: syntax.Choice) -> Evaluate:
        condition, yes, no = (self.compile(part) for part in (node.condition, node.yes, node.no))

        def run(frame: Frame) -> Value:
            value = condition(frame)
            if value is True:
                return yes(frame)
            if value is False:
                return no(frame)
            raise EvaluationError(NO_OVERLOAD)

        return run

    def _list(self, node: syntax.ListNode) -> Evaluate:
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

    def _map(self, node: syntax.MapNode) -> Evaluate:
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

    def _bind(self, node: syntax.Bind) -> Evaluate:
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

    def _optional_map(self, node: syntax.OptionalMap) -> Evaluate:
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


def _extra_cost(operand: syntax.Node) -> int:
    """Cost of beginning a chain of fields and indexes behind something that is no name."""
    return 0 if isinstance(operand, syntax.Name | syntax.Select | syntax.Index) else 1


def _is_constant(node: syntax.Node) -> bool:
    """Tell whether a list or map is written out in full, so that it is made once."""
    match node:
        case syntax.Constant():
            return True
        case syntax.ListNode():
            return not node.optional and all(map(_is_constant, node.items))
        case syntax.MapNode():
            return not node.optional and all(_is_constant(key) and _is_constant(value) for key, value in node.entries)
    return False
