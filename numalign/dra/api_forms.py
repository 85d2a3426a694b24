"""The words that objects of `resource.k8s.io` are described in: parts, their fields, and readers made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

from numalign.dra.values import Attribute, AttributeKind
from numalign.errors import InputError
from numalign.model.document import AnyForm, Field, Form, anything, as_mapping, maybe, needed, read, record
from numalign.model.document.values import boolean, list_of, map_of
from numalign.model.path import FieldError, child, unfit
from numalign.model.quantity import Quantity, QuantityError, parse

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Object = Mapping[str, Any]


class Reader(Protocol[T_co]):
    """Reads an object of the API that stands at a path of its document.

    Raises:
        InputError: a field is missing or has the wrong type; `where` is its path.
    """

    def __call__(self, data: Object, path: str = "") -> T_co:
        """Read it."""


_ATTRIBUTE_TYPES: Final[Mapping[AttributeKind, type]] = {"int": int, "bool": bool, "string": str, "version": str}
_INT64: Final = 2**63


def reader(form: Form[T], v1beta1: Form[T] | None = None) -> Reader[T]:
    """Make the reader of an object, whose errors are in the words of an API: what is wanted, not what is there."""

    def take(data: Object, path: str = "") -> T:
        old = v1beta1 is not None and isinstance(data, Mapping) and str(data.get("apiVersion")).endswith("/v1beta1")
        try:
            return (v1beta1 if old and v1beta1 else form).read(data)
        except FieldError as error:
            where = path
            for step in error.path:
                where = child(where, step)
            lacks = error.wanted and error.got is None and error.path and isinstance(error.path[-1], str)
            words = f"expected {error.wanted}" if error.wanted else error.message
            raise InputError("is missing" if lacks else words, where) from None

    return take


# Single values


def text(value: object) -> str:
    """Take a text that can be printed."""
    if not isinstance(value, str) or not value.isprintable():
        raise unfit("text", value)
    return value


def expression(value: object) -> str:
    """Take any text."""
    if not isinstance(value, str):
        raise unfit("text", value)
    return value


def _number(value: object) -> int:
    if type(value) is not int or not -_INT64 <= value < _INT64:
        raise unfit("a whole number", value)
    return value


def _quantity(value: object) -> Quantity:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if value.bit_length() < 200 else "too long"
    if not isinstance(value, str):
        raise unfit("a quantity", value)
    try:
        return parse(value)
    except QuantityError as error:
        raise FieldError((), f"not a quantity: {error}") from None


def attribute(value: object) -> Attribute:
    """Take the value of an attribute, of the one kind it is of."""
    data = as_mapping(value)
    for kind, wanted in _ATTRIBUTE_TYPES.items():
        several: AttributeKind = f"{kind}s"  # type: ignore[assignment]  # the four list kinds are spelled so
        one = data.get(kind)
        if one is not None:
            if wanted is int:
                return Attribute(kind, read(NUMBER, one, (kind,)))
            if type(one) is not wanted:
                raise FieldError((kind,), f"expected {kind}")
            return Attribute(kind, one)
        if data.get(several) is not None:
            items = read(list_of(anything), data[several], (several,))
            for index, item in enumerate(items):
                if type(item) is not wanted:
                    raise FieldError((several, index), f"expected {kind}")
            return Attribute(several, items)
    return Attribute("unknown", None)


def read_by(take: Callable[[object], T]) -> Form[T]:
    """Describe what a function takes; it is only read."""
    return Form(take, anything.write, {})


TEXT: Final = read_by(text)
SOME_TEXT: Final = read_by(lambda value: text(value) or None)
"""A text; an empty one is none."""
NUMBER: Final = read_by(_number)
QUANTITY: Final = read_by(_quantity)
TEXTS: Final = list_of(TEXT)
QUANTITIES: Final = map_of(QUANTITY)


# Parts and fields


def part(make: Callable[..., T], *fields: Field) -> Form[T]:
    """Describe an object or a part of one; what a later API adds is passed over."""
    return record(make, *fields, others=True)


def needed_text(key: str, to: str = "") -> Field:
    """Describe a text that has to be there."""
    return needed(key, TEXT, "", to=to)


def text_at(key: str, to: str = "") -> Field:
    """Describe a text that may be missing."""
    return maybe(key, TEXT, "", to=to)


def list_at(key: str, form: AnyForm, to: str = "") -> Field:
    """Describe a list that may be missing."""
    return maybe(key, list_of(form), (), to=to)


def flag(key: str, to: str = "") -> Field:
    """Describe a flag that is off where it is missing."""
    return maybe(key, boolean, False, to=to)
