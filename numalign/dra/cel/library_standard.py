"""The operators, conversions and methods of the language itself."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Final

from numalign.dra.cel.errors import EvaluationError
from numalign.dra.cel.overload import REGEX_FACTOR, TEXT_FACTOR, Overload, Table, size_of, text_cost
from numalign.dra.cel.regex import search
from numalign.dra.cel.types import BOOL, BYTES, DOUBLE, DYN, INT, STRING, TYPE, UINT, A, B, Type, list_of, map_of
from numalign.dra.cel.values import INT_MAX, INT_MIN, UINT_MAX, TypeName, Uint, Value, type_name

_NUMBERS: Final = (INT, UINT, DOUBLE)


def _int(number: int) -> int:
    if not INT_MIN <= number <= INT_MAX:
        raise EvaluationError("integer overflow")
    return number


def _uint(number: int) -> Uint:
    if not 0 <= number <= UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _divide(one: int, other: int) -> int:
    if not other:
        raise EvaluationError("division by zero")
    return (one - _modulo(one, other)) // other


def _modulo(one: int, other: int) -> int:
    if not other:
        raise EvaluationError("modulus by zero")
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _divide_double(one: float, other: float) -> float:
    if other:
        return one / other
    if not one or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(math.inf, other)


def _arithmetic(operation: Callable[[Value, Value], Value]) -> tuple[Overload, ...]:
    return (
        Overload((INT, INT), INT, lambda one, other: _int(operation(one, other))),
        Overload((UINT, UINT), UINT, lambda one, other: _uint(operation(int(one), int(other)))),
    )


def _ordering(operation: Callable[[Value, Value], bool]) -> tuple[Overload, ...]:
    numbers = [Overload((one, other), BOOL, operation) for one in _NUMBERS for other in _NUMBERS]
    texts = [Overload((kind, kind), BOOL, operation, _smaller_cost) for kind in (STRING, BYTES)]
    return (*numbers, *texts, Overload((BOOL, BOOL), BOOL, operation))


def _smaller_cost(one: object, other: object) -> int:
    return math.ceil(min(size_of(one), size_of(other)) * TEXT_FACTOR)


def _joined_cost(one: str, other: str) -> int:
    return math.ceil((len(one) + len(other)) * TEXT_FACTOR)


def matches_cost(text: str, pattern: str, *_: int) -> int:
    """Say what it costs to look for a pattern in a text."""
    return math.ceil((1 + len(text)) * TEXT_FACTOR) * math.ceil(len(pattern) * REGEX_FACTOR)


def _to_int(value: Value) -> int:
    if isinstance(value, float):
        if not -(2.0**63) < value < 2.0**63:
            raise EvaluationError("integer overflow")
        return int(value)
    return _int(int(value))


def _to_uint(value: Value) -> Uint:
    if not 0 <= value < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return Uint(int(value))


def _text_to_int(text: str) -> int:
    digits = text.lstrip("+-")
    if len(text) > 30 or not (digits.isascii() and digits.isdecimal()) or len(text) - len(digits) > 1:
        raise EvaluationError(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _text_to_double(text: str) -> float:
    try:
        if len(text) > 400 or text.strip() != text or "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise EvaluationError(f'strconv.ParseFloat: parsing "{text}": invalid syntax') from None


def _text_to_bool(text: str) -> bool:
    if text in ("1", "t", "T", "TRUE", "true", "True"):
        return True
    if text in ("0", "f", "F", "FALSE", "false", "False"):
        return False
    raise EvaluationError(f'strconv.ParseBool: parsing "{text}": invalid syntax')


def _double_text(number: float) -> str:
    """Write a double in its shortest form, as Go's `%g` does."""
    if math.isinf(number) or math.isnan(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    shortest = next(text for text in (f"{number:.{places}e}" for places in range(17)) if float(text) == number)
    digits, _, exponent = shortest.partition("e")
    if -4 <= int(exponent) < 21:
        return f"{number:.{max(0, len(digits.lstrip('-').replace('.', '')) - 1 - int(exponent))}f}"
    return f"{digits}e{exponent}"


def _from_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


_SIZED: Final = (STRING, BYTES, list_of(A), map_of(A, B))
_SIZE: Final = tuple(Overload((kind,), INT, len) for kind in _SIZED)

FUNCTIONS: Final[Table] = {
    "+": (
        *_arithmetic(lambda one, other: one + other),
        Overload((DOUBLE, DOUBLE), DOUBLE, operator.add),
        Overload((STRING, STRING), STRING, lambda one, other: one + other, _joined_cost),
        Overload((BYTES, BYTES), BYTES, lambda one, other: one + other, _joined_cost),
        Overload((list_of(A), list_of(A)), list_of(A), lambda one, other: one + other),
    ),
    "-": (
        *_arithmetic(lambda one, other: one - other),
        Overload((DOUBLE, DOUBLE), DOUBLE, lambda one, other: one - other),
    ),
    "*": (
        *_arithmetic(lambda one, other: one * other),
        Overload((DOUBLE, DOUBLE), DOUBLE, operator.mul),
    ),
    "/": (*_arithmetic(_divide), Overload((DOUBLE, DOUBLE), DOUBLE, _divide_double)),
    "%": _arithmetic(_modulo),
    "-_": (Overload((INT,), INT, lambda one: _int(-one)), Overload((DOUBLE,), DOUBLE, lambda one: -one)),
    "!_": (Overload((BOOL,), BOOL, lambda one: not one),),
    "<": _ordering(lambda one, other: one < other),
    "<=": _ordering(lambda one, other: one <= other),
    ">": _ordering(lambda one, other: one > other),
    ">=": _ordering(lambda one, other: one >= other),
    "size": _SIZE,
    "int": (
        *(Overload((kind,), INT, _to_int) for kind in _NUMBERS),
        Overload((STRING,), INT, lambda text: _int(_text_to_int(text))),
    ),
    "uint": (
        *(Overload((kind,), UINT, _to_uint) for kind in _NUMBERS),
        Overload((STRING,), UINT, lambda text: _uint(_text_to_int(text))),
    ),
    "double": (
        *(Overload((kind,), DOUBLE, float) for kind in _NUMBERS),
        Overload((STRING,), DOUBLE, _text_to_double),
    ),
    "string": (
        Overload((STRING,), STRING, str),
        Overload((INT,), STRING, str),
        Overload((UINT,), STRING, lambda number: str(int(number))),
        Overload((DOUBLE,), STRING, _double_text),
        Overload((BOOL,), STRING, lambda value: "true" if value else "false"),
        Overload((BYTES,), STRING, _from_bytes, text_cost),
    ),
    "bytes": (
        Overload((BYTES,), BYTES, bytes),
        Overload((STRING,), BYTES, lambda text: text.encode("utf-8", "replace"), text_cost),
    ),
    "bool": (Overload((BOOL,), BOOL, bool), Overload((STRING,), BOOL, _text_to_bool)),
    "dyn": (Overload((A,), DYN, lambda value: value),),
    "type": (Overload((A,), Type("type", ()), lambda value: TypeName(type_name(value))),),
    "matches": (
        Overload((STRING, STRING), BOOL, lambda text, pattern: search(pattern, text) is not None, matches_cost),
    ),
}

METHODS: Final[Table] = {
    "size": _SIZE,
    "matches": FUNCTIONS["matches"],
    "startsWith": (Overload((STRING, STRING), BOOL, str.startswith, lambda text, _: text_cost(text)),),
    "endsWith": (Overload((STRING, STRING), BOOL, str.endswith, lambda text, _: text_cost(text)),),
    "contains": (
        Overload(
            (STRING, STRING),
            BOOL,
            lambda text, part: part in text,
            lambda text, part: text_cost(text) * text_cost(part),
        ),
    ),
}

TYPES: Final = {kind.name: TypeName(kind.name) for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TYPE)} | {
    "list": TypeName("list"),
    "map": TypeName("map"),
    "null_type": TypeName("null_type"),
}
"""Names that stand for a type."""
