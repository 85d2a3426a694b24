"""YAML as `sources.text.yaml` reads it: from the parser's events to plain data, without recursion.

The events come one by one, from libyaml where PyYAML has it, so nesting and aliases are bounded before anything grows.
Scalars mean what they mean to Kubernetes' own tools (YAML 1.1 as sigs.k8s.io/yaml reads it, without base-60 numbers).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, Final

from numalign.errors import InputError
from numalign.model.gotext import number_text
from numalign.sources.text import (
    EMPTY,
    MAX_DEPTH,
    MAX_DOCUMENTS,
    MAX_EXPANDED,
    MAX_VALUES,
    MAX_YAML_VALUES,
    Found,
    late_patterns,
)
from numalign.sources.text.yaml_aliases import Shared
from numalign.sources.text.yaml_scalars import TAGGED, resolve

with late_patterns():
    import yaml
    from yaml.events import (
        AliasEvent,
        DocumentEndEvent,
        DocumentStartEvent,
        Event,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        SequenceStartEvent,
    )

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What it is, not what it is not: all that is text would take a hundred times as long to compile.
_NOT_TEXT: Final = re.compile("[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_TAG: Final = "tag:yaml.org,2002:"


_PENDING: Final = object()
"""Stands for an anchored list or mapping that is not finished."""
_NO_KEY: Final = object()
"""A mapping waits for a key."""
_MERGE: Final = object()
"""The key was `<<`."""


def events(text: str, name: str) -> Iterator[Event]:
    """Yield the parser's events.

    Raises:
        InputError: the text is not YAML.
    """
    odd = _NOT_TEXT.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise InputError(f"binary data, not text (character U+{ord(odd[0]):04X})", f"{name}:{line}")
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.problem, error.context) if part)
        begins = f" that begins in line {error.context_mark.line + 1}" if error.context_mark and error.context else ""
        where = f"{name}:{mark.line + 1}" if mark else name
        raise InputError(f"not YAML: {problem}{begins}; fix: correct the YAML there", where) from None
    except yaml.YAMLError as error:
        raise InputError(f"not YAML: {str(error).splitlines()[0]}", name) from None


def line_of(event: Any) -> int:
    """Return the line on which an event begins."""
    return int(event.start_mark.line) + 1


def index_of(event: Any) -> int:
    """Return the character at which an event begins."""
    return int(event.start_mark.index)


def read_yaml(text: str, name: str, *, last: bool) -> Iterator[Found]:
    """Read the documents of a text one by one; an empty one is None. `last` takes the last of duplicate keys.

    Raises:
        InputError: not YAML, a duplicate key, nested too deep, an alias that expands to too much, too many values.
    """
    builder = _Builder(name)
    shared: Shared | None = None  # one document alone has little to share
    ready: _Builder | None = None
    start = line = documents = 0
    for event in events(text, name):
        if isinstance(event, DocumentStartEvent):
            begin = index_of(event)
            if ready is not None:
                yield Found(ready.root, ready.first_line, text[start:begin], line + 1, ready.twice)
            builder, ready = _Builder(name, shared, last=last), None
            shared = shared or Shared()
            start, line = begin, line_of(event) - 1
            documents += 1
            if documents > MAX_DOCUMENTS:
                raise InputError(f"has more than {MAX_DOCUMENTS:,} documents", name)
        elif isinstance(event, DocumentEndEvent):
            ready = builder
        else:
            builder.take(event)
    if ready is not None:
        yield Found(ready.root, ready.first_line, text[start:] if start else text, line + 1, ready.twice)


class _Builder:
    """Builds one document. `stack` holds the open lists and mappings with what is known of each."""

    def __init__(self, name: str, shared: Shared | None = None, *, last: bool = False) -> None:
        self.name = name
        self.shared = shared
        self.last = last
        self.twice = False
        self.root: Any = None
        self.first_line = 0
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0
        self.expanded = 0

    def take(self, event: Any) -> None:
        """Take the next event of the document."""
        kind = type(event)
        if kind is ScalarEvent:
            value = self._scalar(event)
            if self.shared is not None:
                value = self.shared.scalar(value)
            self._count(event)
            if event.anchor:
                self.anchors[event.anchor] = (value, 1)
            self._put(value, event)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            self._open(event)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            self._close(event)
        elif kind is AliasEvent:
            self._put(self._alias(event), event)

    def _count(self, event: Any) -> None:
        self.nodes += 1
        if self.nodes > MAX_YAML_VALUES:
            more = f"; as JSON {MAX_VALUES:,} are read"
            raise self._error(f"the document holds more than {MAX_YAML_VALUES:,} values{more}", event)

    def _scalar(self, event: Any) -> Any:
        plain, quoted = event.implicit
        if plain:
            top = self.stack[-1] if self.stack else None
            if event.value == "<<" and top is not None and top.key is _NO_KEY and isinstance(top.value, dict):
                return _MERGE
            value = resolve(event.value)
        elif quoted or event.tag in ("!", f"{_TAG}str", f"{_TAG}timestamp"):
            return event.value
        else:
            value = self._tagged(event)
        if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
            raise self._error(f"{event.value} is not a JSON number", event)
        return value

    def _tagged(self, event: Any) -> Any:
        """Read a scalar with an explicit tag."""
        tag = event.tag.removeprefix(_TAG)
        wanted = TAGGED.get(tag)
        if wanted is None:
            raise self._error(f"the tag {event.tag[:60]} has no meaning here", event)
        value = resolve(event.value)
        if type(value) not in wanted:
            raise self._error(f'"{event.value[:60]}" is no {tag}', event)
        return value

    def _open(self, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", event)
        if event.tag not in (None, "!", f"{_TAG}map", f"{_TAG}seq"):
            raise self._error(f"the tag {event.tag[:60]} has no meaning here", event)
        if event.anchor:
            self.anchors[event.anchor] = (_PENDING, 0)
        self._count(event)
        value: Any = {} if type(event) is MappingStartEvent else []
        if not self.stack:
            self.first_line = line_of(event)
        self.stack.append(_Open(value, event, self.nodes + self.expanded))

    def _close(self, event: Any) -> None:
        closed = self.stack.pop()
        for merged in closed.merged:
            for key, value in merged.items():
                closed.value.setdefault(key, value)
        value = closed.value if self.shared is None else self.shared.collection(closed.value)
        if closed.event.anchor:
            size = self.nodes + self.expanded - closed.before + 1
            self.anchors[closed.event.anchor] = (value, size)
        self._put(value if value or isinstance(value, list) else EMPTY, event)

    def _alias(self, event: Any) -> Any:
        value, size = self.anchors.get(event.anchor, (None, -1))
        if size < 0:
            raise self._error(f"unknown alias *{event.anchor}", event)
        if value is _PENDING:
            raise self._error(f"the alias *{event.anchor} contains itself", event)
        self.expanded += size
        if self.expanded > MAX_EXPANDED:
            raise self._error(f"the aliases stand for more than {MAX_EXPANDED} values", event)
        return value

    def _put(self, value: Any, event: Event) -> None:
        """Put a finished value where it belongs."""
        if not self.stack:
            self.root = value
            self.first_line = self.first_line or line_of(event)
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is _NO_KEY:
            top.key = value if value is _MERGE else self._key(value, top, event)
        else:
            if top.key is _MERGE:
                top.merged += self._mergeable(value, event)
            else:
                top.value[top.key] = value
            top.key = _NO_KEY

    def _key(self, value: Any, top: _Open, event: Event) -> str:
        """Turn a key into text, as the way through JSON does (`on:` becomes "true")."""
        if isinstance(value, str):
            key = sys.intern(value)
        elif isinstance(value, bool):
            key = "true" if value else "false"
        elif isinstance(value, int | float):
            key = number_text(value)
        else:
            raise self._error("a key must be a text, a number or a boolean", event)
        if key in top.value:
            if not self.last:
                raise self._error(f'duplicate key "{key[:60]}"', event)
            self.twice = True
        return key

    def _mergeable(self, value: Any, event: Event) -> list[dict[str, object]]:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise self._error("<< merges mappings: expected a mapping or a list of mappings", event)
        return sources

    def _error(self, message: str, event: Event) -> InputError:
        return InputError(message, f"{self.name}:{line_of(event)}")


class _Open:
    """A list or mapping that is being read."""

    __slots__ = ("before", "event", "key", "merged", "value")

    def __init__(self, value: Any, event: Any, before: int) -> None:
        self.value = value
        self.event = event
        self.before = before
        self.key: Any = _NO_KEY
        self.merged: list[dict[str, object]] = []


# Plain scalars
