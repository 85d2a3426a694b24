"""JSON as `sources.text.yaml` reads it: strictly, with duplicate keys refused or told, and nesting bounded."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from numalign.errors import InputError
from numalign.sources.text import EMPTY, MAX_DEPTH, MAX_DOCUMENTS, MAX_VALUES, Found

TOO_MANY_DIGITS: Final = "a number has too many digits"
"""What is wrong where Python's decoder gives up on a text that is JSON."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
"""A string, or the rest of one that does not end: no place of it is looked at twice, and nothing is remembered."""
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class _DuplicateKeyError(Exception):
    pass


class NumberError(ValueError):
    """A number that nothing can be made of; the message quotes it."""


def finite(text: str) -> float:
    """Read a number that is not whole: a decoder's `parse_float`, for Python makes infinity of what is too large.

    Raises:
        NumberError: it is too large.
    """
    number = float(text)
    if math.isinf(number):
        raise NumberError(f"{text:.40} is too large for a number: the largest is 1.8e308")
    return number


def refuse_constant(text: str) -> NoReturn:
    """Refuse what Python takes for a number and JSON does not know: a decoder's `parse_constant`.

    Raises:
        NumberError: always.
    """
    raise NumberError(f"not JSON: {text} is not a number")


def loads(text: str | bytes) -> object:
    """Read one value whose numbers are all finite, so that it can be written again.

    Raises:
        ValueError: it is no JSON, or no UTF-8, or has a number that is too large.
        RecursionError: it is nested too deep.
    """
    value: object = json.loads(text, parse_float=finite, parse_constant=refuse_constant)
    return value


def read_json(text: str, name: str, *, last: bool = False) -> list[Found]:
    """Read one or more JSON documents; `last` takes the last of duplicate keys, as kubectl and the kubelet do.

    Raises:
        InputError: not JSON, a duplicate key (without `last`), nested too deep, too many values.
    """
    check_values(text, name)
    twice: list[bool] = []
    hook = (lambda pairs: _object(pairs, twice)) if last else _object
    decoder = json.JSONDecoder(object_pairs_hook=hook, parse_float=finite, parse_constant=refuse_constant)
    found: list[Found] = []
    position = _skip(text, 0)
    line, counted = 1, 0
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        try:
            data, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            place = f"{name}:{error.lineno}"
            raise InputError(f"not JSON: {error.msg} (column {error.colno})", place) from None
        except _DuplicateKeyError:
            raise _duplicate(text[position:], name, line) from None
        except RecursionError:
            raise InputError(f"nested deeper than {MAX_DEPTH} levels", f"{name}:{line}") from None
        except NumberError as error:
            raise InputError(str(error), f"{name}:{line}") from None
        except ValueError:
            raise InputError(TOO_MANY_DIGITS, f"{name}:{line}") from None
        if not _is_flat_enough(data):
            raise InputError(f"nested deeper than {MAX_DEPTH} levels", f"{name}:{line}")
        _check_surrogates(data, text, position, end, f"{name}:{line}")
        found.append(Found(data, line, text[position:end], line, bool(twice)))
        twice.clear()
        if len(found) > MAX_DOCUMENTS:
            raise InputError(f"has more than {MAX_DOCUMENTS:,} documents", name)
        position = _skip(text, end)
    return found


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def check_values(text: str, name: str) -> None:
    """Refuse a text with too many values before anything is made of them: each takes far more room than its text.

    Raises:
        InputError: it has too many.
    """
    if _values(text) > MAX_VALUES and _values(_STRING.sub("", text)) > MAX_VALUES:
        raise InputError(f"holds more than {MAX_VALUES:,} values", name)


def _values(text: str) -> int:
    """Count what separates or opens values and keys."""
    return sum(text.count(sign) for sign in ",:[{")


def _object(pairs: list[tuple[str, Any]], twice: list[bool] | None = None) -> dict[str, Any]:
    if not pairs:
        return EMPTY
    result = dict(pairs)
    if len(result) != len(pairs):
        if twice is None:
            raise _DuplicateKeyError
        twice.append(True)
    return result


def _is_flat_enough(data: object) -> bool:
    level = [data]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for node in level
            if isinstance(node, dict | list)
            for inner in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return True
    return False


def _check_surrogates(data: object, text: str, start: int, end: int, place: str) -> None:
    """Refuse half a surrogate pair: it is no character, and could not be printed."""
    if _SURROGATE.search(text, start, end):
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputError("not JSON: half a surrogate pair is not a character", place) from None


def _duplicate(text: str, name: str, first: int) -> InputError:
    from numalign.sources.text.places import json_places

    seen = set()
    for path, line in json_places(text, first):
        if path in seen:
            return InputError("duplicate key", f"{name}:{line}: {path}")
        seen.add(path)
    return InputError("duplicate key", name)
