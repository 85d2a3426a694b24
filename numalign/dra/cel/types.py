"""The types of the language, as far as an expression can be judged before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.values import NamedTuple


class Type(NamedTuple):
    """A type; a name of one capital letter stands for any type, the same one wherever it occurs."""

    name: str
    args: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if not self.args:
            return self.name
        return f"{self.name}({', '.join(map(str, self.args))})"


DYN: Final = Type("dyn")
ANY: Final = Type("any")
"""An attribute as Kubernetes declares it: like `dyn`, but nothing to loop over."""
ATTRIBUTE: Final = Type("attribute")
"""What a function of attributes stands behind: any value but a list that is written out, or made of others (D-52)."""
BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
NULL: Final = Type("null_type")
TYPE: Final = Type("type")
QUANTITY: Final = Type("kubernetes.Quantity")
SEMVER: Final = Type("kubernetes.Semver")
IP: Final = Type("net.IP")
CIDR: Final = Type("net.CIDR")
URL: Final = Type("kubernetes.URL")
DURATION: Final = Type("google.protobuf.Duration")
TIMESTAMP: Final = Type("google.protobuf.Timestamp")
DEVICE: Final = Type("kubernetes.DRADevice")
A: Final = Type("A")
B: Final = Type("B")

Bindings = Mapping[str, Type]
"""What the letters stand for so far."""


def list_of(item: Type) -> Type:
    """Give the type of a list."""
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Give the type of a map."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """Give the type of a value that may be missing."""
    return Type("optional_type", (value,))


def is_dynamic(kind: Type) -> bool:
    """Tell whether the type is only known while running."""
    return kind.name in ("dyn", "any", "attribute")


def is_letter(kind: Type) -> bool:
    """Tell whether the type stands for any type."""
    return len(kind.name) == 1


def accepts(wanted: Type, given: Type, bound: Bindings) -> Bindings | None:
    """Tell whether a value of a type may stand where another is wanted: what the letters stand for then, or None."""
    if is_letter(wanted):
        known = bound.get(wanted.name)
        if known is None or is_dynamic(known):
            # The first concrete type after an unknown one narrows nothing: an unknown one accepts all.
            return {**bound, wanted.name: given} if known is None else bound
        result = accepts(known, given, bound)
        return {**bound, wanted.name: given} if is_dynamic(given) else result
    if wanted == ATTRIBUTE and given.name == "list":
        return None
    if is_dynamic(wanted) or is_dynamic(given):
        return bound
    if given == NULL and wanted.name not in _NEVER_NULL:
        return bound
    if wanted.name != given.name or len(wanted.args) != len(given.args):
        return None
    for left, right in zip(wanted.args, given.args, strict=True):
        inner = accepts(left, right, bound)
        if inner is None:
            return None
        bound = inner
    return bound


_NEVER_NULL: Final = frozenset({"bool", "int", "uint", "double", "string", "bytes", "list", "map", "type"})


def resolved(kind: Type, bound: Bindings) -> Type:
    """Put in what the letters stand for."""
    if is_letter(kind):
        return bound.get(kind.name, DYN)
    return Type(kind.name, tuple(resolved(inner, bound) for inner in kind.args)) if kind.args else kind
