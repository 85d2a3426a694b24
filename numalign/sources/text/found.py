"""What the readers of YAML and JSON make of a text: documents, each with its data and its own piece of the text."""

from __future__ import annotations

from typing import Any, Final

from numalign.values import NamedTuple

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
