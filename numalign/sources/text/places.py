"""On which line each field of a document stands. Only asked when there is something to say about a field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from numalign.model.path import child

Place = tuple[str, int]
"""A field's path and the line of its key (or, in a list, of its beginning)."""


class _Level:
    """An open list or mapping: its path, and the key or index that comes next."""

    __slots__ = ("is_list", "key", "path")

    def __init__(self, path: str, is_list: bool) -> None:
        self.path = path
        self.is_list = is_list
        self.key: str | int | None = 0 if is_list else None


def yaml_places(text: str, first: int) -> Iterator[Place]:
    """Yield the fields of the one YAML document of a text that could be read; `first` is the line it begins on."""
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
                yield child(top.path, top.key), line
                continue
            path = child(top.path, top.key) if top is not None and top.key is not None else ""
            if top is not None and top.is_list:
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


def json_places(text: str, first: int) -> Iterator[Place]:
    """Yield the fields of the JSON document that a text begins with, in its order, duplicate ones too."""
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
            top.key = json.loads(part)
            yield child(top.path, top.key), line
            continue
        path = child(top.path, top.key) if top is not None else ""
        if top is not None and top.is_list:
            yield path, line
        if part in ("{", "["):
            stack.append(_Level(path, part != "{"))
        else:
            _advance(stack)
