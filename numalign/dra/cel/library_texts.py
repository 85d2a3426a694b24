"""Methods on texts: those of CEL's string extension, version 2, and Kubernetes' `find`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from numalign.dra.cel.errors import EvaluationError
from numalign.dra.cel.library_standard import matches_cost
from numalign.dra.cel.overload import TEXT_FACTOR, Overload, Table, text_cost
from numalign.dra.cel.regex import find_all, search
from numalign.dra.cel.types import INT, STRING, Type, list_of
from numalign.dra.cel.values import Value

_BLANKS: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if not 0 <= offset <= len(text):
        raise EvaluationError(f"index out of range: {offset}")
    return text.find(part, offset)


def _last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if offset is None:
        return text.rfind(part)
    if not part:
        return offset
    if not 0 <= offset <= len(text):
        raise EvaluationError(f"index out of range: {offset}")
    return text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if not separator:
        letters = list(text)
        return letters if count < 0 or len(letters) <= count else [*letters[: count - 1], text[count - 1 :]]
    return text.split(separator, -1 if count < 0 else count - 1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    if not 0 <= stop <= len(text):
        raise EvaluationError(f"index out of range: {stop}")
    if start > stop:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {stop}")
    return text[start:stop]


def _join(parts: list[Value], separator: str = "") -> str:
    if not all(isinstance(part, str) for part in parts):
        raise EvaluationError("join: invalid input: not a string")
    return separator.join(parts)


def _join_cost(parts: list[Value], separator: str = "") -> int:
    size = sum(len(part) for part in parts if isinstance(part, str)) + len(separator) * max(0, len(parts) - 1)
    return math.ceil(size * 2 * TEXT_FACTOR)


def _find(text: str, pattern: str) -> str:
    found = search(pattern, text)
    return text[found[0] : found[1]] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return [text[start:end] for start, end in find_all(pattern, text, limit)]


def _text_method(run: Callable[..., Value], *params: Type, result: Type = STRING) -> Overload:
    return Overload((STRING, *params), result, run, lambda text, *_: text_cost(text))


def _replace_cost(text: str, old: str, new: str, *_: int) -> int:
    """Cost of the longest text this can become: a one-letter part replaced everywhere."""
    return text_cost(text) + (math.ceil(text.count(old) * len(new) * TEXT_FACTOR) if len(new) > len(old) else 0)


FUNCTIONS: Final[Table] = {}

METHODS: Final[Table] = {
    "charAt": (Overload((STRING, INT), STRING, _char_at),),
    "indexOf": (
        _text_method(_index_of, STRING, result=INT),
        _text_method(_index_of, STRING, INT, result=INT),
    ),
    "lastIndexOf": (
        _text_method(_last_index_of, STRING, result=INT),
        _text_method(_last_index_of, STRING, INT, result=INT),
    ),
    "lowerAscii": (_text_method(lambda text: text.translate(_LOWER)),),
    "upperAscii": (_text_method(lambda text: text.translate(_UPPER)),),
    "trim": (_text_method(lambda text: text.strip(_BLANKS)),),
    "replace": (
        Overload((STRING, STRING, STRING), STRING, _replace, _replace_cost),
        Overload((STRING, STRING, STRING, INT), STRING, _replace, _replace_cost),
    ),
    "split": (
        _text_method(_split, STRING, result=list_of(STRING)),
        _text_method(_split, STRING, INT, result=list_of(STRING)),
    ),
    "substring": (_text_method(_substring, INT), _text_method(_substring, INT, INT)),
    "join": (
        Overload((list_of(STRING),), STRING, _join, _join_cost),
        Overload((list_of(STRING), STRING), STRING, _join, _join_cost),
    ),
    "find": (Overload((STRING, STRING), STRING, _find, matches_cost),),
    "findAll": (
        Overload((STRING, STRING), list_of(STRING), _find_all, matches_cost),
        Overload((STRING, STRING, INT), list_of(STRING), _find_all, matches_cost),
    ),
}
