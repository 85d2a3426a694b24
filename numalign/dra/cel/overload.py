"""What a function is: the types it takes, what it does, what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from numalign.dra.cel.errors import CompileError
from numalign.dra.cel.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NULL,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    URL,
    Bindings,
    Type,
    accepts,
    is_dynamic,
    is_letter,
    resolved,
)
from numalign.dra.cel.values import Domains, Duration, Optional, Semver, Timestamp, TypeName, Uint, Value
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

Run = Callable[..., Value]
Cost = Callable[..., int]
"""What a call costs, from its arguments."""

TEXT_FACTOR: Final = 0.1
"""Cost of going over one character."""
REGEX_FACTOR: Final = 0.25


class Overload(NamedTuple):
    """One form of a function; a method's first parameter is what it stands behind."""

    params: tuple[Type, ...]
    result: Type
    run: Run
    cost: Cost | None = None
    """None: 1."""
    needs: str = ""
    """A feature without which the function is not there."""

    def takes(self, arguments: Iterable[object]) -> bool:
        """Tell whether the values fit, which decides where types are known only while running."""
        return all(fits(kind, value) for kind, value in zip(self.params, arguments, strict=True))


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    BOOL.name: (bool,),
    INT.name: (int,),
    UINT.name: (Uint,),
    DOUBLE.name: (float,),
    STRING.name: (str,),
    BYTES.name: (bytes,),
    NULL.name: (type(None),),
    TYPE.name: (TypeName,),
    QUANTITY.name: (Quantity,),
    SEMVER.name: (Semver,),
    DURATION.name: (Duration,),
    TIMESTAMP.name: (Timestamp,),
    "list": (list,),
    "map": (dict, Domains),
    "optional_type": (Optional,),
}


def fits(kind: Type, value: object) -> bool:
    """Tell whether a value is of a type."""
    if is_letter(kind) or is_dynamic(kind):
        return True
    wanted = _KINDS.get(kind.name)
    if wanted is not None:
        return type(value) in wanted
    return kind.name in (IP.name, CIDR.name, URL.name) and type(value).__name__ in _NETWORK[kind.name]


_NETWORK: Final[Mapping[str, tuple[str, ...]]] = {
    IP.name: ("IPv4Address", "IPv6Address"),
    CIDR.name: ("IPv4Interface", "IPv6Interface"),
    URL.name: ("SplitResult",),
}
"""By name, so that the modules behind them are imported only where an expression uses them."""

Table = Mapping[str, tuple[Overload, ...]]
"""Name -> forms of a function or method."""


def resolve(
    function: str, overloads: tuple[Overload, ...], arguments: list[Type], position: int
) -> tuple[tuple[Overload, ...], Type]:
    """Find the forms of a function that the arguments fit, and what they give.

    Raises:
        CompileError: they fit none.
    """
    found: list[Overload] = []
    kinds: list[Type] = []
    for overload in overloads:
        bound = _bind(overload.params, arguments)
        if bound is not None:
            found.append(overload)
            kinds.append(resolved(overload.result, bound))
    if not found:
        given = ", ".join(map(str, arguments))
        raise CompileError(f"found no matching overload for '{function}' applied to '({given})'", position)
    return tuple(found), kinds[0] if len(set(kinds)) == 1 else DYN


def _bind(params: tuple[Type, ...], arguments: list[Type]) -> Bindings | None:
    if len(params) != len(arguments):
        return None
    bound: Bindings = {}
    for wanted, given in zip(params, arguments, strict=True):
        following = accepts(wanted, given, bound)
        if following is None:
            return None
        bound = following
    return bound


def text_cost(text: str) -> int:
    """Give what going over a text once costs."""
    return math.ceil(len(text) * TEXT_FACTOR)


def traversal_cost(value: object) -> int:
    """Give what going over a value, and all in it, costs."""
    if isinstance(value, str | bytes):
        return int(len(value) * TEXT_FACTOR)
    if isinstance(value, list):
        return sum(map(traversal_cost, value))
    return 1


def size_of(value: object) -> int:
    """Give the size that costs are counted by: of what has no size, 1."""
    return len(value) if isinstance(value, str | bytes | list | dict) else 1
