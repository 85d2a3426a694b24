"""The values an expression works on, when two of them are equal, and the frame of one evaluation.

bool, int, float, str, bytes, None, list and dict stand for themselves; `Uint`, `Quantity`, `Semver`, `Optional` and
`TypeName` for what Python has no type of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from numalign.dra.cel.errors import NO_OVERLOAD, CostError, EvaluationError
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

INT_MAX: Final = 2**63 - 1
INT_MIN: Final = -(2**63)
UINT_MAX: Final = 2**64 - 1


Value = Any
"""A value of the language: one of the types named above, which one is only known while running."""


class Uint(int):
    """An unsigned 64-bit number."""

    __slots__ = ()


class Semver(NamedTuple):
    """A semantic version; build metadata counts for nothing."""

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...] = ()


class Duration(NamedTuple):
    """A span of time."""

    nanos: int


class Timestamp(NamedTuple):
    """A point in time, by the nanoseconds since 1970."""

    nanos: int


class Optional(NamedTuple):
    """A value that may be missing."""

    present: bool
    value: object = None


class TypeName(NamedTuple):
    """The type of a value, as a value."""

    name: str


class Domains(dict[str, object]):
    """A mapping that answers with an empty map for a key it lacks; `in` and `size` do not see such keys (D-20)."""

    __slots__ = ()

    def __missing__(self, key: str) -> object:
        return {}


NOTHING: Final = Optional(False)
_NUMBERS: Final = frozenset({int, float, Uint})
_NAMES: Final[Mapping[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    Domains: "map",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeName: "type",
}


def type_name(value: object) -> str:
    """Name the type of a value as messages do."""
    return _NAMES.get(type(value), type(value).__name__)


def equal(one: object, other: Value) -> bool:
    """Tell whether two values are equal (docs/rules/dra.md D-20a).

    Numbers of different types are compared by value, other values of different types are not equal.

    Raises:
        EvaluationError: a quantity or version on the left, something else on the right.
    """
    kind, other_kind = type(one), type(other)
    if kind in _NUMBERS:
        return other_kind in _NUMBERS and one == other
    if kind in (Quantity, Semver) and kind is not other_kind:
        raise EvaluationError(NO_OVERLOAD)
    if isinstance(one, Quantity):
        return bool(one.nano == other.nano)
    if isinstance(one, list):
        if not isinstance(other, list) or len(one) != len(other):
            return False
        return all(equal(left, right) for left, right in zip(one, other, strict=True))
    if isinstance(one, dict):
        if not isinstance(other, dict) or len(one) != len(other):
            return False
        return all(key in other and equal(value, other[key]) for key, value in one.items())
    if isinstance(one, Optional) and isinstance(other, Optional):
        return one.present == other.present and (not one.present or equal(one.value, other.value))
    return kind is other_kind and one == other


def map_key(key: object) -> object:
    """Give the form under which a key is kept: numbers of equal value are one key, true is not 1.

    Raises:
        EvaluationError: a value that cannot be a key.
    """
    if type(key) is bool:
        return TypeName("true" if key else "false")
    if isinstance(key, str):
        return key
    if type(key) in _NUMBERS:
        return key
    raise EvaluationError(f"unsupported key type: {type_name(key)}")


def plain_key(key: object) -> object:
    """Give the value a kept key stands for (the reverse of `map_key`)."""
    return key.name == "true" if isinstance(key, TypeName) else key


_PART: Final = r"0|[1-9][0-9]*"
_SEMVER: Final = re.compile(
    rf"({_PART})\.({_PART})\.({_PART})"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_LONGEST_VERSION: Final = 256


def parse_semver(text: str, *, normalize: bool = False) -> Semver | None:
    """Read a semantic version; None if it is none. `normalize` allows `v1.02`: a prefix, missing parts, zeros."""
    if len(text) > _LONGEST_VERSION or not text.isascii():
        return None
    if normalize:
        text = _normalized(text)
    match = _SEMVER.fullmatch(text)
    if match is None:
        return None
    numbers = [int(part) for part in match.groups()[:3]]
    identifiers: list[int | str] = []
    for part in match[4].split(".") if match[4] else ():
        if part.isdecimal() and len(part) > 1 and part[0] == "0":
            return None
        identifiers.append(int(part) if part.isdecimal() else part)
        if part.isdecimal() and int(part) > UINT_MAX:
            return None
    return None if max(numbers) > UINT_MAX else Semver(numbers[0], numbers[1], numbers[2], tuple(identifiers))


def _normalized(text: str) -> str:
    """Drop a `v`, drop leading zeros, add missing parts."""
    text = text.strip().removeprefix("v")
    core, sign, rest = re.fullmatch(r"([^+-]*)([+-]?)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]  # always matches
    parts = core.split(".")
    if len(parts) < 3 and sign:
        return text
    parts = [part.lstrip("0") or "0" if part.isdecimal() else part for part in parts]
    return ".".join(parts + ["0"] * (3 - len(parts))) + sign + rest


def compare_semver(one: Semver, other: Semver) -> int:
    """Order two versions: -1, 0 or 1. A version with a pre-release part comes before the one without."""
    if one[:3] != other[:3]:
        return 1 if one[:3] > other[:3] else -1
    if not one.pre or not other.pre:
        return (not one.pre) - (not other.pre)
    for left, right in zip(one.pre, other.pre, strict=False):
        if left != right:
            return _compare_identifiers(left, right)
    return (len(one.pre) > len(other.pre)) - (len(one.pre) < len(other.pre))


def _compare_identifiers(one: int | str, other: int | str) -> int:
    """Order two parts of a pre-release: numbers come before texts."""
    if isinstance(one, int):
        return -1 if isinstance(other, str) or one < other else 1
    if isinstance(other, int):
        return 1
    return 1 if one > other else -1


COST_LIMIT: Final = 1_000_000
"""What one evaluation may cost (docs/rules/dra.md 1)."""


class Frame:
    """The variables of an evaluation, and its cost."""

    __slots__ = ("cost", "names")

    def __init__(self, names: dict[str, Value]) -> None:
        self.names = names
        self.cost = 0

    def spend(self, cost: int) -> None:
        """Count a cost.

        Raises:
            CostError: it is too much now.
        """
        self.cost += cost
        if self.cost > COST_LIMIT:
            raise CostError("operation cancelled: actual cost limit exceeded")


Evaluate = Callable[[Frame], Value]
"""A part of an expression, ready to run."""
