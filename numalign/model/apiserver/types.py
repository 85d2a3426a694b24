"""Fields of a manifest that have the wrong type or a wrong name, judged by a table of the fields numalign looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from numalign.model.apiserver import amount
from numalign.model.apiserver.fields import POD, Fields, ListOf, MapOf, Schema
from numalign.model.path import child
from numalign.model.quantity import QuantityError
from numalign.values import NamedTuple


class Problem(NamedTuple):
    """One thing the API server would refuse."""

    path: str
    message: str


def misfits(value: object, schema: Schema = POD, path: str = "") -> Iterator[Problem]:
    """Yield the fields of the wrong type, in the manifest's order."""
    if isinstance(schema, str):
        wrong = _MISFITS[schema](value)
        if wrong:
            yield Problem(path, wrong)
    elif isinstance(schema, ListOf):
        if not isinstance(value, list):
            yield Problem(path, f"expected a list, got {shown(value)}")
            return
        for index, item in enumerate(value):
            yield from misfits(item, schema.item, child(path, index))
    elif not isinstance(value, Mapping):
        yield Problem(path, f"expected a mapping, got {shown(value)}")
    elif isinstance(schema, MapOf):
        for key, item in value.items():
            yield from misfits(item, schema.value, child(path, key))
    else:
        yield from _fields(value, schema, path)


def _fields(value: Mapping[str, object], schema: Fields, path: str) -> Iterator[Problem]:
    for key, item in value.items():
        known = schema.fields.get(key)
        if known is None:
            yield from _unknown(key, schema, path)
        elif item is not None:
            yield from misfits(item, known, child(path, key))
    for key in schema.required:
        if value.get(key) is None:
            yield Problem(child(path, key), "missing; it is required")


def _unknown(key: str, schema: Fields, path: str) -> Iterator[Problem]:
    """Refuse an unknown field that is all but a known one; others belong to a part numalign does not look at."""
    if key in schema.ignored or not (schema.ignored or schema.closed):
        return
    from numalign.model.words import nearest

    near = nearest(str(key), [*schema.fields, *schema.ignored], 0.0 if schema.closed else 0.85)
    if near or schema.closed:
        hint = f'; did you mean "{near}"?' if near else ""
        yield Problem(child(path, key), f'unknown field "{key}"{hint}')


def _no_text(value: object) -> str:
    return "" if isinstance(value, str) else f"expected a text, got {shown(value)}"


def _no_flag(value: object) -> str:
    return "" if isinstance(value, bool) else f"expected true or false, got {shown(value)}"


def _no_whole_number(value: object) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return "" if whole else f"expected a whole number, got {shown(value)}"


def _no_quantity(value: object) -> str:
    try:
        amount(value)
    except QuantityError:
        return f"expected a quantity such as 2, 500m or 4Gi, got {shown(value)}"
    except (TypeError, ValueError):
        return f"expected a quantity, got {shown(value)}"
    return ""


_MISFITS: Final[Mapping[str, Callable[[object], str]]] = {
    "text": _no_text,
    "flag": _no_flag,
    "number": _no_whole_number,
    "quantity": _no_quantity,
}


def shown(value: object) -> str:
    """Name a value of a YAML or JSON document in a message."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:60]}…"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return "a huge number" if isinstance(value, int) and abs(value) >= 10**60 else str(value)
