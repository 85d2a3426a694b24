"""On which line each field of a document stands. Only asked when there is something to say about a field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from numalign.model.path import child

Place = tuple[str, int]
"""A field's path and the line of its key (or, in a list, of its beginning)."""


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
    from yaml.events import (
        AliasEvent,
        CollectionEndEvent,
        CollectionStartEvent,
        NodeEvent,
        ScalarEvent,
        SequenceStartEvent,
    )

    from numalign.sources.text.yaml_events import events, line_of

    stack: list[_Level] = []
    for event in events(text, ""):
        if isinstance(event, CollectionEndEvent):
            stack.pop()
            _advance(stack)
        elif isinstance(event, NodeEvent):
            line = line_of(event) + first - 1
            top = stack[-1] if stack else None
            if top is not None and top.key is None and isinstance(event, ScalarEvent | AliasEvent):
                top.key = event.value if isinstance(event, ScalarEvent) else f"*{event.anchor}"
                path = _inner(top, wanted)
                if path is not None:
                    yield path, line
                continue
            path = _inner(top, wanted)
            if top is not None and top.is_list and path is not None:
                yield path, line
            if isinstance(event, CollectionStartEvent):
                stack.append(_Level(path, isinstance(event, SequenceStartEvent)))
            else:
                _advance(stack)


def _advance(stack: list[_Level]) -> None:
    """A value is complete: go on to the next key or index."""
    if stack:
        top = stack[-1]
        top.key = top.key + 1 if isinstance(top.key, int) else None


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s"{}\[\],:]+')


def json_places(text: str, first: int, wanted: Collection[str] | None = None) -> Iterator[Place]:
    """Yield the fields of the JSON document that a text begins with, in its order, duplicate ones too.

    With `wanted` only these fields, of which each has what is around it in `wanted`, too.
    """
    import json

    stack: list[_Level] = []
    line, counted = first, 0
    for match in _TOKEN.finditer(text):
        part = match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if part in ("}", "]"):
            stack.pop()
            _advance(stack)
            if not stack:
                return
            continue
        top: Any = stack[-1] if stack else None
        if top is not None and top.key is None:
            top.key = part if top.path is None else json.loads(part)
            path = _inner(top, wanted)
            if path is not None:
                yield path, line
            continue
        path = _inner(top, wanted)
        if top is not None and top.is_list and path is not None:
            yield path, line
        if part in ("{", "["):
            stack.append(_Level(path, part != "{"))
        else:
            _advance(stack)
