"""The largest cost that an API server expects of an expression before it runs (docs/rules/dra.md D-51).

It knows how long what `device` has may be; of what comes out of other calls it knows no bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from numalign.dra.cel import syntax
from numalign.dra.cel.checker import Checker
from numalign.dra.cel.overload import REGEX_FACTOR, TEXT_FACTOR
from numalign.dra.cel.program import LIST_COST, MAP_COST
from numalign.dra.cel.types import BYTES, STRING
from numalign.values import NamedTuple

UNBOUND: Final = math.inf
DRIVER_LENGTH: Final = 63
NAMES: Final = 32
"""Most domains of a device, and names in one."""
VALUE_LENGTH: Final = 64
"""Of an attribute; the same bound counts for a list."""
VALUES: Final = 48
"""Most values that `includes` looks at."""
STEP_COST: Final = 3
"""Of each round of a loop, beside what is asked there."""


class Part(NamedTuple):
    """What is known of a part of an expression."""

    size: float = 1
    """The longest its value may be: characters, items; of what has no size, 1."""
    items: Part | None = None
    """What an item, or a field, of it may be; None: nothing is known, or it has none."""
    cost: float = 0


_VALUE: Final = Part(VALUE_LENGTH, Part(VALUE_LENGTH))
_NAMES: Final = Part(NAMES, Part(NAMES, _VALUE))
_OF_DEVICE: Final[Mapping[str, Part]] = {
    "driver": Part(DRIVER_LENGTH),
    "allowMultipleAllocations": Part(),
    "attributes": _NAMES,
    "capacity": Part(NAMES, Part(NAMES, Part())),
}
_UNKNOWN: Final = Part(UNBOUND)


class Estimate:
    """Adds up the largest costs of a checked tree."""

    def __init__(self, checker: Checker) -> None:
        """Know the types."""
        self._checker = checker
        self._names: dict[str, Part] = {}

    def of(self, node: syntax.Node) -> Part:
        """Estimate a part."""
        match node:
            case syntax.Constant():
                return Part(len(node.value)) if isinstance(node.value, str | bytes) else Part()
            case syntax.Name():
                return self._names.get(node.name, _UNKNOWN)._replace(cost=1)
            case syntax.Select():
                return self._field(node)
            case syntax.Has():
                return Part(cost=self.of(node.operand).cost)
            case syntax.Index():
                parts = [self.of(node.operand), self.of(node.key)]
                found = parts[0].items if parts[0].items is not None and not node.optional else _UNKNOWN
                return found._replace(cost=1 + sum(part.cost for part in parts))
            case syntax.Call():
                return self._call(node)
            case syntax.Logic():
                return Part(cost=sum(self.of(one).cost for one in node.operands))
            case syntax.Choice():
                condition, yes, no = (self.of(one) for one in (node.condition, node.yes, node.no))
                return Part(max(yes.size, no.size), cost=condition.cost + max(yes.cost, no.cost))
            case syntax.ListNode():
                items = [self.of(one) for one in node.items]
                longest = Part(max((one.size for one in items), default=0))
                return Part(len(items), longest, LIST_COST + sum(one.cost for one in items))
            case syntax.MapNode():
                entries = [self.of(one) for pair in node.entries for one in pair]
                return Part(len(node.entries), _UNKNOWN, MAP_COST + sum(one.cost for one in entries))
            case syntax.Loop():
                return self._loop(node)
            case syntax.Bind():
                value = self.of(node.value)
                body = self._with({node.name: value}, node.body)
                return body._replace(cost=value.cost + body.cost)
            case syntax.OptionalMap():
                operand = self.of(node.operand)
                body = self._with({node.name: operand.items or _UNKNOWN}, node.body)
                return Part(UNBOUND, cost=operand.cost + body.cost + 2)

    def _field(self, node: syntax.Select) -> Part:
        operand = self.of(node.operand)
        if isinstance(node.operand, syntax.Name) and node.operand.name == "device" and "device" not in self._names:
            found = _OF_DEVICE.get(node.field, _UNKNOWN)
        else:
            found = operand.items if operand.items is not None and not node.optional else _UNKNOWN
        return found._replace(cost=operand.cost + 1)

    def _loop(self, node: syntax.Loop) -> Part:
        range_ = self.of(node.range)
        names = dict.fromkeys(node.variables, range_.items or _UNKNOWN)
        each = sum(self._with(names, part).cost for part in (node.condition, node.result) if part is not None)
        each += STEP_COST if node.kind in ("all", "exists", "exists_one") else STEP_COST + LIST_COST
        return range_._replace(cost=range_.cost + _times(range_.size, each) + 1)

    def _with(self, names: Mapping[str, Part], body: syntax.Node) -> Part:
        outer = self._names
        self._names = {**outer, **names}
        part = self.of(body)
        self._names = outer
        return part

    def _call(self, node: syntax.Call) -> Part:
        function = self._checker.qualified.get(id(node), node.function)
        target = () if node.target is None or id(node) in self._checker.qualified else (node.target,)
        parts = [self.of(one) for one in (*target, *node.arguments)]
        forms = self._checker.forms.get(id(node), ())
        of_texts = any(form.result in (STRING, BYTES) or form.result.name == "list" for form in forms)
        size = UNBOUND if of_texts else 1
        if function == "+":
            size = sum(part.size for part in parts)
        elif function in ("lowerAscii", "upperAscii", "trim", "charAt", "substring", "find"):
            size = parts[0].size
        elif function in ("value", "or", "orValue", "optional.of", "dyn"):
            size = UNBOUND
        spent = sum(part.cost for part in parts)
        return Part(size, cost=spent + _own_cost(function, [part.size for part in parts]))


def _own_cost(function: str, sizes: list[float]) -> float:
    """Give what a call costs beside its arguments."""
    first, last = sizes[0] if sizes else 1, sizes[-1] if sizes else 1
    if function in ("==", "!=", "<", "<=", ">", ">="):
        return _up(min(first, last) * TEXT_FACTOR)
    if function in ("matches", "find", "findAll"):
        return _times(_up((1 + first) * TEXT_FACTOR), _up(sizes[1] * REGEX_FACTOR))
    if function == "contains":
        return _times(_up(first * TEXT_FACTOR), _up(last * TEXT_FACTOR))
    if function == "in":
        return last
    if function == "includes":
        return VALUES
    if function in ("startsWith", "endsWith"):
        return _up(last * TEXT_FACTOR)
    if function in ("sets.contains", "sets.equivalent", "sets.intersects"):
        return _times(first, last)
    if function in _OVER_TEXT:
        return _up(sum(sizes) * TEXT_FACTOR)
    return 1


_OVER_TEXT: Final = frozenset(
    """
    + indexOf lastIndexOf lowerAscii upperAscii trim replace split substring join bytes format
    semver isSemver quantity isQuantity url isURL ip isIP cidr isCIDR
    """.split()  # noqa: SIM905  # one name a line would be a page
)


def _times(one: float, other: float) -> float:
    return 0 if not one or not other else one * other


def _up(amount: float) -> float:
    return amount if amount == UNBOUND else math.ceil(amount)
