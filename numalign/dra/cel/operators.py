"""Closures of operators and calls, and what fields and indexes find in a value."""

from __future__ import annotations

import math

from numalign.dra.cel.errors import NO_OVERLOAD, CostError, EvaluationError
from numalign.dra.cel.overload import TEXT_FACTOR, Overload, size_of
from numalign.dra.cel.values import NOTHING, Evaluate, Frame, Optional, Value, equal, map_key, type_name


def item_of(value: Value, key: Value) -> Value:
    """Follow a field or index that must be there."""
    if isinstance(value, dict):
        try:
            return value[map_key(key)]
        except KeyError:
            raise EvaluationError(f"no such key: {key}") from None
    if isinstance(value, list):
        if type(key) is bool or not isinstance(key, int | float) or key != int(key):
            raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
        if not 0 <= key < len(value):
            raise EvaluationError(f"index out of bounds: {key}")
        return value[int(key)]
    raise EvaluationError(NO_OVERLOAD)


def optional_field(frame: Frame, value: Value, key: Value) -> Optional:
    """Follow a field or index that may be missing."""
    if isinstance(value, Optional):
        if not value.present:
            return NOTHING
        value = value.value
    if isinstance(value, dict):
        name = map_key(key)
        if name not in value and not hasattr(type(value), "__missing__"):
            return NOTHING
    elif isinstance(value, list):
        if type(key) is not int or not 0 <= key < len(value):
            return NOTHING
    else:
        raise EvaluationError(NO_OVERLOAD)
    frame.cost += 1
    return Optional(True, item_of(value, key))


def logic(operands: list[Evaluate], decides: bool) -> Evaluate:
    """Make `||` (true decides) or `&&` (false decides); the deciding value outweighs an error on either side."""

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for operand in operands:
            try:
                value = operand(frame)
            except CostError:
                raise
            except EvaluationError as error:
                failure = failure or error
                continue
            if value is decides:
                return bool(value)
            if value is not (not decides):
                failure = failure or EvaluationError(NO_OVERLOAD)
        if failure is not None:
            raise failure
        return not decides

    return run


def equality(one: Evaluate, other: Evaluate, wanted: bool) -> Evaluate:
    """Make `==` (wanted: true) or `!=`; it costs what going over the shorter side does."""

    def run(frame: Frame) -> bool:
        left, right = one(frame), other(frame)
        frame.spend(math.ceil(min(size_of(left), size_of(right)) * TEXT_FACTOR))
        return equal(left, right) is wanted

    return run


def call(function: str, forms: tuple[Overload, ...], arguments: list[Evaluate]) -> Evaluate:
    """Make a call of the form that the values fit."""

    def run(frame: Frame) -> Value:
        values = [argument(frame) for argument in arguments]
        for form in forms:
            if form.takes(values):
                frame.spend(1 if form.cost is None else form.cost(*values))
                return form.run(*values)
        frame.cost += 1
        kinds = ", ".join(map(type_name, values))
        raise EvaluationError(f"{NO_OVERLOAD}: {function}({kinds})")

    return run
