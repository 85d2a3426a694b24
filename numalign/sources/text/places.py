"""On which line each field of a document stands. Only asked when there is something to say about a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, Literal

from numalign.model.path import child

Place = tuple[str, int]
"""A field's path and the line of its key (or, in a list, of its beginning)."""
_Kind = Literal["scalar", "map", "list", "end"]
_Step = tuple[_Kind, str, int]
"""What begins or ends there, a scalar's text (of JSON: as it is written), and the line."""


class _Level:
    """An open list or mapping: its path, and the key or index that comes next."""

    __slots__ = ("is_list", "key", "path")

    def __init__(self, path: str | None, is_list: bool) -> None:
        self.path = path
        """None: nothing in it is asked for."""
        self.is_list = is_list
        self.key: str | int | None = 0 if is_list else None


def _inner(top: _Level | None, wanted: Collection[str] | None) -> str | None:
    """Return the path of what comes next; None: neither it nor anything in it is asked for."""
    if top is None:
        return ""
    if top.path is None or top.key is None:
        return None
    path = child(top.path, top.key)
    return path if wanted is None or path in wanted else None


def yaml_places(text: str, first: int, wanted: Collection[str] | None = None) -> Iterator[Place]:
    """Yield the fields of the one YAML document of a text that could be read; `first` is the line it begins on.

    With `wanted` only these fields, of which each has what is around it in `wanted`, too.
    """
    return _places(_yaml_steps(text, first), wanted, str)


def json_places(text: str, first: int, wanted: Collection[str] | None = None) -> Iterator[Place]:
    """Yield the fields of the JSON document that a text begins with, in its order, duplicate ones too.

    With `wanted` only these fields, of which each has what is around it in `wanted`, too.
    """
    import json

    return _places(_json_steps(text, first), wanted, json.loads)


def _places(steps: Iterable[_Step], wanted: Collection[str] | None, decode: Callable[[str], str]) -> Iterator[Place]:
    """Walk a document; `decode` reads a key, and only where something in its mapping is asked for."""
    stack: list[_Level] = []
    for kind, part, line in steps:
        if kind == "end":
            stack.pop()
            _advance(stack)
            if not stack:
                return
            continue
        top = stack[-1] if stack else None
        is_key = top is not None and top.key is None and kind == "scalar"
        if top is not None and is_key:
            top.key = part if top.path is None else decode(part)
        path = _inner(top, wanted)
        if path is not None and top is not None and (is_key or top.is_list):
            yield path, line
        if is_key:
            continue
        if kind == "scalar":
            _advance(stack)
        else:
            stack.append(_Level(path, kind == "list"))


def _advance(stack: list[_Level]) -> None:
    """A value is complete: go on to the next key or index."""
    if stack:
        top = stack[-1]
        top.key = top.key + 1 if isinstance(top.key, int) else None


def _yaml_steps(text: str, first: int) -> Iterator[_Step]:
    from yaml.events import AliasEvent, CollectionEndEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent

    from numalign.sources.text.yaml_events import events, line_of

    for event in events(text, ""):
        if isinstance(event, ScalarEvent):
            yield "scalar", event.value, line_of(event) + first - 1
        elif isinstance(event, MappingStartEvent):
            yield "map", "", line_of(event) + first - 1
        elif isinstance(event, SequenceStartEvent):
            yield "list", "", line_of(event) + first - 1
        elif isinstance(event, CollectionEndEvent):
            yield "end", "", 0
        elif isinstance(event, AliasEvent):
            yield "scalar", f"*{event.anchor}", line_of(event) + first - 1


_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]]|[^\s"{}\[\],:]+')
_BRACKETS: Final[Mapping[str, _Kind]] = {"{": "map", "[": "list", "}": "end", "]": "end"}


def _json_steps(text: str, first: int) -> Iterator[_Step]:
    line, counted = first, 0
    for match in _TOKEN.finditer(text):
        part = match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield _BRACKETS.get(part, "scalar"), part, line
