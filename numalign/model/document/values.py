"""What stands in documents: numbers, texts, amounts, sets of CPUs, and lists and mappings of such."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from operator import length_hint
from typing import Final, TypeVar

from numalign.model import cpuset, quantity
from numalign.model.document import LATER, NAME, NOTHING, Form, Schema, as_mapping, read
from numalign.model.path import FieldError, unfit

T = TypeVar("T")
Other = TypeVar("Other")

_LISTS: Final = (list, tuple)

MAX_CPU: Final = 16383
"""Largest CPU id in a machine: twice what Linux can be built for."""
MAX_NODE_ID: Final = cpuset.MAX_ID
"""Largest NUMA node, socket and cache id."""
MAX_BYTES: Final = 2**63 - 1
"""The kubelet counts bytes in 64 bits with a sign."""


def integer(low: int, high: int, wanted: str = "a whole number") -> Form[int]:
    """Describe a whole number within bounds."""

    def take(value: object) -> int:
        if type(value) is not int:
            raise unfit(wanted, value)
        if not low <= value <= high:
            raise unfit(f"{wanted} from {low} to {high}", value)
        return value

    return Form(take, _same, {"type": "integer", "minimum": low, "maximum": high})


def number(wanted: str, low: float = -inf, high: float = inf, above: float = -inf) -> Form[float]:
    """Describe a number from one bound, or from above one, to another."""

    def take(value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not (low <= value <= high and value > above)
        ):
            raise unfit(wanted, value)
        return value

    bounds = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    return Form(take, _same, {"type": "number", **{key: one for key, one in bounds.items() if abs(one) != inf}})


def text(wanted: str = "text", *, empty: bool = False) -> Form[str]:
    """Describe printable text."""

    def take(value: object) -> str:
        if not isinstance(value, str) or not (value or empty):
            raise unfit(wanted, value)
        if not value.isprintable():
            raise unfit(f"{wanted} of printable characters", value)
        return value

    return Form(take, _same, {"type": "string"} if empty else {"type": "string", "minLength": 1})


def name(wanted: str) -> Form[str]:
    """Describe a name; YAML reads `0` as a number, which is fine as a name."""
    known = text(wanted)

    def take(value: object) -> str:
        return str(value) if type(value) is int and value.bit_length() < 64 else known.read(value)

    return Form(take, _same, {NAME: "name", "type": ["string", "integer"], "minLength": 1})


def amount_of(what: str) -> Form[int]:
    """Describe a whole amount that is not negative: a number, or a Kubernetes quantity (`256Gi`) that is exact."""

    def take(value: object) -> int:
        if type(value) is int:
            found = value
        elif isinstance(value, float) and value.is_integer():
            found = int(value)
        elif isinstance(value, str):
            try:
                parsed = quantity.parse(value)
            except quantity.QuantityError:
                raise unfit(f'{what} or a quantity like "256Gi"', value) from None
            found, rest = divmod(parsed.nano, quantity.NANO)
            if rest:
                raise unfit(f"a whole number of {what}", value)
        else:
            raise unfit(f'{what} or a quantity like "256Gi"', value)
        if not 0 <= found <= MAX_BYTES:
            raise unfit(f"{what} from 0 to 2^63-1", value)
        return found

    return Form(take, _same, _AMOUNT)


def _same(value: T) -> T:
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise unfit("true or false", value)
    return value


def _cpus(value: object) -> int:
    """Read a Linux list, or a plain list of CPU ids (a single id may be a number)."""
    members = 0
    if isinstance(value, str):
        try:
            members = cpuset.parse(value.strip())
        except cpuset.CPUSetError as error:
            if "too large" in str(error):
                raise FieldError((), str(error)) from None
            raise unfit('a CPU list like "0-3,8"', value) from None
        if members >> (MAX_CPU + 1):
            raise FieldError((), f"CPU ids may go up to {MAX_CPU}, got {members.bit_length() - 1}")
        return members
    if type(value) is int:
        return 1 << _CPU.read(value)
    if not isinstance(value, _LISTS):
        raise unfit('a CPU list like "0-3,8"', value)
    for index, cpu in enumerate(value):
        if type(cpu) is not int or not 0 <= cpu <= MAX_CPU:
            read(_CPU, cpu, (index,))
        bit = 1 << cpu
        if members & bit:
            raise FieldError((index,), f"CPU {cpu} is in the list twice")
        members |= bit
    return members


_AMOUNT: Final = {
    NAME: "amount",
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": MAX_BYTES},
        {"type": "string", "pattern": "^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"},
    ],
}
_CPU: Final = integer(0, MAX_CPU, "a CPU id")
_LIST: Final = "^\\s*([+]?[0-9]+(-[+]?[0-9]+)?(,[+]?[0-9]+(-[+]?[0-9]+)?)*)?\\s*$"
boolean: Final = Form(_boolean, _same, {"type": "boolean"})
"""True or false."""
amount: Final = amount_of("bytes")
"""A whole number of bytes."""
cpu_list: Final = Form(
    _cpus,
    cpuset.format_set,
    {
        NAME: "cpus",
        "anyOf": [
            {"type": "string", "pattern": _LIST},
            _CPU.schema,
            {"type": "array", "items": _CPU.schema, "uniqueItems": True},
        ],
    },
)
"""A set of CPUs."""


# What holds other values, beside records


def list_of(form: Form[T], wanted: str = "a list", also: Schema = NOTHING) -> Form[tuple[T, ...]]:
    """Describe a list."""
    inner = form.read

    def take(value: object) -> tuple[T, ...]:
        if not isinstance(value, _LISTS):
            raise unfit(wanted, value)
        rest = iter(value)
        try:
            return tuple(map(inner, rest))
        except FieldError as error:
            error.path = (len(value) - length_hint(rest) - 1, *error.path)
            raise

    def plain(values: Sequence[T]) -> list[object]:
        return [form.write(one) for one in values]

    return Form(take, plain, {"type": "array", "items": form.schema, **also})


def map_of(
    form: Form[T],
    wanted: str = "a mapping",
    check: Callable[[str], object] | None = None,
    also: Schema = NOTHING,
    *,
    kept: bool = False,
) -> Form[Mapping[str, T]]:
    """Describe a mapping with free keys, which `check` may refuse; it is written by name, or in the order it has."""
    inner = form.read

    def take(value: object) -> Mapping[str, T]:
        result = {}
        data = as_mapping(value, wanted)
        key = ""
        try:
            for key, one in data.items():
                if check:
                    check(key)
                result[key] = inner(one)
        except FieldError as error:
            error.path = (key, *error.path)
            raise
        return result

    def plain(values: Mapping[str, T]) -> dict[str, object]:
        return {key: form.write(one) for key, one in (values.items() if kept else sorted(values.items()))}

    return Form(take, plain, {"type": "object", "additionalProperties": form.schema, **also})


def turned(form: Form[T], there: Callable[[T], Other], back: Callable[[Other], T]) -> Form[Other]:
    """Describe a value that is made of what another form reads; `there` may raise a `FieldError`."""
    return Form(lambda value: there(form.read(value)), lambda value: form.write(back(value)), form.schema)


def either(mapping: Form[T], other: Form[T]) -> Form[T]:
    """Describe what may be a mapping, as which it is written, or something else."""
    of_mapping, of_other = mapping.read, other.read
    return Form(
        lambda value: of_mapping(value) if isinstance(value, dict) else of_other(value),
        mapping.write,
        {"anyOf": [other.schema, mapping.schema]},
    )


def later(load: Callable[[], Form[T]]) -> Form[T]:
    """Describe what few documents have: its form is made when it is met."""
    return Form(lambda value: load().read(value), lambda value: load().write(value), {LATER: load})
