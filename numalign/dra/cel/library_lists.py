"""Functions on lists, sets and values that may be missing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

from numalign.dra.cel.errors import NO_OVERLOAD, EvaluationError
from numalign.dra.cel.overload import Overload, Table, fits, size_of, traversal_cost
from numalign.dra.cel.types import ATTRIBUTE, BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, A, Type, list_of, optional_of
from numalign.dra.cel.values import INT_MAX, INT_MIN, NOTHING, Optional, Semver, Uint, Value, equal
from numalign.model.quantity import Quantity

MAX_INCLUDES: Final = 48
"""Longest list `includes` looks into."""
_ORDERED: Final = (INT, UINT, DOUBLE, BOOL, STRING, BYTES)


def _least(items: list[Value]) -> Value:
    if not items:
        raise EvaluationError("min called on empty list")
    return min(items)


def _greatest(items: list[Value]) -> Value:
    if not items:
        raise EvaluationError("max called on empty list")
    return max(items)


def _sum(kind: Callable[[Value], Value]) -> Callable[[list[Value]], Value]:
    def run(items: list[Value]) -> Value:
        total = kind(sum(items))
        if not isinstance(total, float) and not (INT_MIN <= total <= INT_MAX or isinstance(total, Uint)):
            raise EvaluationError("integer overflow")
        return total

    return run


def _index_of(items: list[Value], value: object) -> int:
    return next((index for index, item in enumerate(items) if equal(item, value)), -1)


def _last_index_of(items: list[Value], value: object) -> int:
    return next((index for index in reversed(range(len(items))) if equal(items[index], value)), -1)


def _going_over(items: list[Value], *_: object) -> int:
    return traversal_cost(items)


def _over_ordered(run: Callable[[list[Value]], Value], result: Type | None) -> tuple[Overload, ...]:
    return tuple(Overload((list_of(kind),), result or kind, _checked(kind, run), _going_over) for kind in _ORDERED)


def _checked(kind: Type, run: Callable[[list[Value]], Value]) -> Callable[[list[Value]], Value]:
    """Refuse a list whose values turn out to be of another type."""

    def checked(items: list[Value]) -> Value:
        if not all(fits(kind, item) for item in items):
            raise EvaluationError(NO_OVERLOAD)
        return run(items)

    return checked


def _includes(value: object, wanted: object) -> bool:
    """Tell whether an attribute is, or has in its list, a value; another type is simply not in it."""
    if not isinstance(value, list):
        return _same(value, wanted)
    if len(value) > MAX_INCLUDES:
        raise EvaluationError(f"'includes' function cannot be applied to lists longer than {MAX_INCLUDES} values")
    return any(_same(item, wanted) for item in value)


def _same(one: object, other: object) -> bool:
    if type(one) is not type(other) and isinstance(one, Semver | Quantity):
        return False
    return equal(one, other)


def _contains_all(items: list[Value], wanted: list[Value]) -> bool:
    return all(any(equal(item, one) for item in items) for one in wanted)


def _product_cost(one: object, other: object) -> int:
    return size_of(one) * size_of(other)


def _value(given: Optional) -> object:
    if not given.present:
        raise EvaluationError("optional.none() dereference")
    return given.value


def _non_zero(value: object) -> Optional:
    return Optional(True, value) if value else NOTHING


_LISTS: Final = (list_of(A), list_of(A))

FUNCTIONS: Final[Table] = {
    "sets.contains": (Overload(_LISTS, BOOL, _contains_all, _product_cost),),
    "sets.equivalent": (
        Overload(
            _LISTS, BOOL, lambda one, other: _contains_all(one, other) and _contains_all(other, one), _product_cost
        ),
    ),
    "sets.intersects": (
        Overload(_LISTS, BOOL, lambda one, other: any(_contains_all(one, [item]) for item in other), _product_cost),
    ),
    "optional.of": (Overload((A,), optional_of(A), lambda value: Optional(True, value)),),
    "optional.none": (Overload((), optional_of(DYN), lambda: NOTHING),),
    "optional.ofNonZeroValue": (Overload((A,), optional_of(A), _non_zero),),
}

METHODS: Final[Table] = {
    "isSorted": _over_ordered(lambda items: all(one <= other for one, other in itertools.pairwise(items)), BOOL),
    "min": _over_ordered(_least, None),
    "max": _over_ordered(_greatest, None),
    "sum": (
        Overload((list_of(INT),), INT, _checked(INT, _sum(int)), _going_over),
        Overload((list_of(UINT),), UINT, _checked(UINT, _sum(Uint)), _going_over),
        Overload((list_of(DOUBLE),), DOUBLE, _checked(DOUBLE, _sum(float)), _going_over),
    ),
    "indexOf": (Overload((list_of(A), A), INT, _index_of, _going_over),),
    "lastIndexOf": (Overload((list_of(A), A), INT, _last_index_of, _going_over),),
    "includes": (Overload((ATTRIBUTE, DYN), BOOL, _includes, None, "includes"),),
    "hasValue": (Overload((optional_of(A),), BOOL, lambda given: given.present),),
    "value": (Overload((optional_of(A),), A, _value),),
    "orValue": (
        Overload((optional_of(A), A), A, lambda given, other: given.value if given.present else other, lambda *_: 0),
    ),
    "or": (
        Overload(
            (optional_of(A), optional_of(A)),
            optional_of(A),
            lambda given, other: given if given.present else other,
            lambda *_: 0,
        ),
    ),
}
