"""One bounded loader for every file people write: YAML or JSON, with the line of every field.

Values are read as Kubernetes' own tools read them: `010` is 8, `1:30` is text, `no` is false. Size, nesting and what
aliases expand to are bounded before anything is composed, duplicate keys are errors, and whatever the bytes are, the
only error is `InputError`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from numalign.errors import InputError
from numalign.model.path import child

MAX_DOCUMENT: Final = 64 << 20
"""Largest document in bytes."""
MAX_INPUT: Final = 256 << 20
"""Largest file in bytes, all its documents together."""
STDIN: Final = "standard input"

FilePath = str | os.PathLike[str]
"""`-` is standard input. (pathlib itself would cost every start some milliseconds.)"""
FieldPath = str | tuple[str | int, ...]
"""A place in a document, as text (`spec.containers[0]`) or as keys and indexes."""


class Document:
    """One document: plain data (dicts with text keys, lists, texts, numbers, booleans, None) and where it stands."""

    __slots__ = ("_is_json", "_lines", "_number", "_text", "data", "first_line", "name")

    def __init__(self, data: Any, name: str, first_line: int, text: str, number: int, is_json: bool) -> None:
        self.data = data
        """Nodes that the file shares through aliases are shared here too: never change them."""
        self.name = name
        """The file's name, or `STDIN`."""
        self.first_line = first_line
        self._text = text
        self._number = number
        self._is_json = is_json
        self._lines: dict[str, int] | None = None

    def line(self, path: FieldPath = "") -> int:
        """Return the line of a field, or of the nearest thing around it that the file has."""
        if self._lines is None:
            from numalign.sources.text.places import json_places, yaml_places

            places = json_places if self._is_json else yaml_places
            self._lines = dict(places(self._text, self._number))
        line = self.first_line
        keys = () if isinstance(path, str) else path
        text = ""
        for key in keys:
            text = child(text, key)
            line = self._lines.get(text, line)
        if isinstance(path, str):
            for text in _prefixes(path):
                line = self._lines.get(text, line)
        return line

    def where(self, path: FieldPath = "") -> str:
        """Return `file:line`, and the path if there is one."""
        text = path
        if not isinstance(text, str):
            text = ""
            for key in path:
                text = child(text, key)
        place = f"{self.name}:{self.line(path)}"
        return f"{place}: {text}" if text else place

    def error(self, message: str, path: FieldPath = "") -> InputError:
        """Make the error that says what is wrong with a field."""
        return InputError(message, self.where(path))


def _prefixes(path: str) -> Iterator[str]:
    """Yield a path's beginnings, shortest first, cut before each key or index."""
    for match in re.finditer(r'\["[^"]*"\]|\[[0-9]+\]|\.?[^.\[]+', path):
        yield path[: match.end()]


def load_file(path: FilePath) -> list[Document]:
    """Read a file, or standard input for `-`.

    Raises:
        InputError: it cannot be read, or is not YAML or JSON within the bounds.
    """
    if str(path) == "-":
        return load_documents(sys.stdin.buffer.read(MAX_INPUT + 1), STDIN)
    try:
        with open(path, "rb") as file:
            return load_documents(file.read(MAX_INPUT + 1), str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", str(path)) from None
    except ValueError:
        raise InputError("no file can have this name", repr(str(path))) from None


def load_one(path: FilePath) -> Any:
    """Read a file of exactly one document and return its data.

    Raises:
        InputError: as `load_file`, or there is none or more than one document.
    """
    documents = load_file(path)
    if not documents:
        raise InputError("has no document in it", STDIN if str(path) == "-" else str(path))
    if len(documents) > 1:
        raise documents[1].error("a second document; expected one")
    return documents[0].data


def load_documents(source: bytes | str, name: str) -> list[Document]:
    """Read the documents of a text; empty documents are left out.

    Args:
        source: bytes in UTF-8, or text.
        name: what errors call it, usually the file's name.

    Raises:
        InputError: not YAML or JSON, too large, nested too deep, a duplicate key, an alias that expands to too much.
    """
    _check_size(source, name)
    text = source if isinstance(source, str) else _decoded(source, name)
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] not in ("{", "["):
        return _from_yaml(text, name)
    from numalign.sources.text.json import read_json

    try:
        found = read_json(text, name)
    except InputError:
        # A flow mapping of YAML looks like JSON, too; if it is neither, JSON's complaint is the better one.
        if name.endswith(".json"):
            raise
        try:
            return _from_yaml(text, name)
        except InputError:
            pass
        raise
    return _documents(found, name, text, True)


def _from_yaml(text: str, name: str) -> list[Document]:
    from numalign.sources.text.yaml_events import read_yaml

    return _documents(read_yaml(text, name), name, text, False)


def _documents(found: list[tuple[Any, int]], name: str, text: str, is_json: bool) -> list[Document]:
    return [
        Document(data, name, line, text, number, is_json)
        for number, (data, line) in enumerate(found)
        if data is not None
    ]


def _check_size(source: bytes | str, name: str) -> None:
    if len(source) <= MAX_DOCUMENT:
        return
    if len(source) > MAX_INPUT:
        raise InputError(f"larger than {MAX_INPUT >> 20} MiB", name)
    separator: re.Pattern[Any] = re.compile(r"^---\s", re.M) if isinstance(source, str) else re.compile(rb"(?m)^---\s")
    edges = [0, *(match.start() for match in separator.finditer(source)), len(source)]
    for start, end in pairwise(edges):
        if end - start > MAX_DOCUMENT:
            raise InputError(f"a document larger than {MAX_DOCUMENT >> 20} MiB", name)


def _decoded(source: bytes, name: str) -> str:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"not UTF-8 text (byte 0x{source[error.start]:02x} at offset {error.start})", f"{name}:{line}"
        ) from None
