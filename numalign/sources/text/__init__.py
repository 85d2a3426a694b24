"""YAML and JSON with bounds and line numbers, and typed getters over what they hold.

Here is what their readers share: how much a file that people write may ask of them, and what they make of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from numalign.values import NamedTuple

MAX_DEPTH: Final = 200
"""Deepest nesting of lists and mappings."""
MAX_EXPANDED: Final = 200_000
"""Most nodes that the aliases of one document may stand for."""
MAX_VALUES: Final = 5_000_000
"""Most values and keys of one document; a dump of 64 MiB has three to four million."""
MAX_DOCUMENTS: Final = 1_000_000
"""Most documents of one file."""
MAX_YAML_VALUES: Final = 1_000_000
"""Most values and keys of one document in YAML, twenty times as slow to read as JSON: some three seconds."""

Data = Mapping[str, Any]
"""A mapping as it was read."""
EMPTY: Final[dict[str, Any]] = {}
"""Every empty mapping of every document: nobody changes what was read, and there may be millions."""


class Found(NamedTuple):
    """One document of a text."""

    data: Any
    line: int
    """On which its content begins."""
    text: str
    """The document itself."""
    text_line: int
    """On which `text` begins."""
    twice: bool = False
    """Whether a mapping has a key twice; the last one counts."""


class _Late:
    """A pattern that is compiled when it is used."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> object:
        return getattr(_compile(*self._given), name)


_compile = re.compile


@contextmanager
def late_patterns() -> Iterator[None]:
    """Let PyYAML compile its patterns when it uses them; libyaml needs none, and they take a sixth of a start.

    Where other threads run, which could meet what stands for `re.compile` meanwhile, nothing is put off.
    """
    threading = sys.modules.get("threading")
    if threading is None or threading.active_count() == 1:
        re.compile = _Late  # type: ignore[assignment]  # has what a pattern has
    try:
        yield
    finally:
        re.compile = _compile


# Parts of what was read, where nobody promised its shape


def inside(data: object, *keys: str) -> Any:
    """Return what stands at a place in nested mappings; None: nothing."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def mapping(data: object, *keys: str) -> Data:
    """Return the mapping at a place; an empty one where there is none."""
    value = inside(data, *keys)
    return value if isinstance(value, Mapping) else {}


def listed(data: object, *keys: str) -> list[object]:
    """Return the list at a place; an empty one where there is none."""
    value = inside(data, *keys)
    return value if isinstance(value, list) else []


def elements(data: object, *keys: str) -> list[Data]:
    """Return the mappings of a list at a place."""
    return [one for one in listed(data, *keys) if isinstance(one, Mapping)]
