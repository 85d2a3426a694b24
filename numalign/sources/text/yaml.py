"""One bounded loader for every file people write: YAML or JSON, with the line of every field.

Values are read as Kubernetes' own tools read them: `010` is 8, `1:30` is text, `no` is false. Size, nesting and what
aliases expand to are bounded before anything is composed, duplicate keys are errors unless the last is to count, and
whatever the bytes are, the only error is `InputError`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, TypeVar

from numalign.errors import InputError, Notice
from numalign.model.path import blaming, child, dotted
from numalign.sources.text import MAX_DEPTH, Found
from numalign.store.reading import reading

if TYPE_CHECKING:
    from numalign.model.document import Form

T = TypeVar("T")
MAX_DOCUMENT: Final = 64 << 20
"""Largest document in bytes."""
MAX_REMEMBERED: Final = 1 << 20
"""Up to how many characters a document's lines are remembered once a second one was asked for."""
MAX_INPUT: Final = 256 << 20
"""Largest file in bytes, all its documents together."""
STDIN: Final = "standard input"

FilePath = str | os.PathLike[str]
"""`-` is standard input. (pathlib itself would cost every start some milliseconds.)"""
FieldPath = str | tuple[str | int, ...]
"""A place in a document, as text (`spec.containers[0]`) or as keys and indexes."""


class Place:
    """Where a document stands, and on which line each of its fields: enough to say what is wrong with it."""

    __slots__ = ("_asked", "_is_json", "_lines", "_text", "_text_line", "_twice", "first_line", "name")

    def __init__(self, name: str, found: Found, is_json: bool) -> None:
        self.name = name
        """The file's name, or `STDIN`."""
        self.first_line = found.line
        self._text = found.text
        self._text_line = found.text_line
        self._is_json = is_json
        self._twice = found.twice
        self._asked = False
        self._lines: dict[str, int] | None = None

    def line(self, path: FieldPath = "") -> int:
        """Return the line of a field, or of the nearest thing around it that the document has."""
        if not path:
            return self.first_line
        if self._lines is None and self._asked and len(self._text) <= MAX_REMEMBERED:
            self._lines = dict(self._places(None))
        self._asked = True
        (line,) = self.lines([path]) if self._lines is None else [self._nearest(path, self._lines)]
        return line

    def lines(self, paths: Iterable[FieldPath]) -> list[int]:
        """Return the lines of many fields: a large document is read once for all of them, and none is remembered."""
        paths = list(paths)
        wanted = {part for path in paths for part in _parts(path)}
        if not wanted:
            return [self.first_line] * len(paths)
        known: dict[str, int] = {}
        for part, line in self._places(wanted):
            known[part] = line
            if len(known) == len(wanted) and not self._twice:
                break
        return [self._nearest(path, known) for path in paths]

    def where(self, path: FieldPath = "") -> str:
        """Return `file:line`, and the path if there is one."""
        text = path if isinstance(path, str) else dotted(path)
        place = f"{self.name}:{self.line(path)}"
        return f"{place}: {text}" if text else place

    def error(self, message: str, path: FieldPath = "") -> InputError:
        """Make the error that says what is wrong with a field."""
        return InputError(message, self.where(path))

    def duplicates(self) -> Iterator[Notice]:
        """Say which keys are there twice, with the lines of both; the last one counts."""
        seen: dict[str, int] = {}
        above = ""
        for path, line in self._places(None) if self._twice else ():
            if path in seen and not (above and path.startswith((f"{above}.", f"{above}["))):
                above = path  # what is inside it is there twice, too
                yield Notice("duplicate-key", f"line {line} overrides line {seen[path]}", f"{self.name}:{line}: {path}")
            seen[path] = line

    def _places(self, wanted: Collection[str] | None) -> Iterator[tuple[str, int]]:
        from numalign.sources.text.places import json_places, yaml_places

        return (json_places if self._is_json else yaml_places)(self._text, self._text_line, wanted)

    def _nearest(self, path: FieldPath, known: Mapping[str, int]) -> int:
        line = self.first_line
        for part in _parts(path):
            line = known.get(part, line)
        return line


class Document(Place):
    """One document: plain data (dicts with text keys, lists, texts, numbers, booleans, None) and where it stands."""

    __slots__ = ("data",)

    def __init__(self, name: str, found: Found, is_json: bool) -> None:
        super().__init__(name, found, is_json)
        self.data = found.data
        """Nodes that the file shares through aliases are shared here too: never change them."""

    def read(self, form: Form[T]) -> T:
        """Read it by its description.

        Raises:
            InputError: a field is wrong; with its line.
        """
        with blaming(self.where):
            return form.read(self.data)

    @property
    def place(self) -> Place:
        """Where it stands, without the data: what is kept of very many documents."""
        found = Found(None, self.first_line, self._text, self._text_line, self._twice)
        return Place(self.name, found, self._is_json)


def _parts(path: FieldPath) -> Iterator[str]:
    """Yield a path's beginnings, shortest first; a text is cut before each key or index.

    A path made of a hostile key may be as long as its document: no more is cut than a real path has.
    """
    if isinstance(path, str):
        cuts = islice(re.finditer(r'\["[^"]*"\]|\[[0-9]+\]|\.?[^.\[]+', path), MAX_DEPTH)
        yield from (path[: match.end()] for match in cuts)
        return
    text = ""
    for key in path:
        text = child(text, key)
        yield text


def load_file(path: FilePath, *, last: bool = False) -> list[Document]:
    """Read a file, or standard input for `-`; `last` takes the last of duplicate keys (`Place.duplicates`).

    Raises:
        InputError: it cannot be read, or is not YAML or JSON within the bounds.
    """
    name = shown_name(path)
    with reading(path, name) as file:
        return load_documents(file.read(MAX_INPUT + 1), name, last=last)


def shown_name(path: FilePath) -> str:
    """Name an input for people."""
    return STDIN if str(path) == "-" else str(path)


def read_one(path: FilePath, form: Form[T]) -> T:
    """Read a file of exactly one document by its description.

    Raises:
        InputError: as `load_file`, there is none or more than one document, or a field is wrong.
    """
    documents = load_file(path)
    if not documents:
        raise InputError("no document found", shown_name(path))
    if len(documents) > 1:
        raise documents[1].error("a second document; expected one")
    return documents[0].read(form)


def load_documents(source: bytes | str, name: str, *, last: bool = False) -> list[Document]:
    """Read the documents of a text; empty documents are left out.

    Args:
        source: bytes in UTF-8, or text.
        name: what errors call it, usually the file's name.
        last: take the last of duplicate keys.

    Raises:
        InputError: not YAML or JSON, too large, nested too deep, a duplicate key, an alias that expands to too much.
    """
    return list(iter_documents(source, name, last=last))


def iter_documents(source: bytes | str, name: str, *, last: bool = False) -> Iterator[Document]:
    """Read the documents of a text one by one, as `load_documents`; of YAML each is made when it is asked for."""
    _check_size(source, name)
    text = source if isinstance(source, str) else _decoded(source, name)
    del source
    text = text.removeprefix("\ufeff")
    if not text.lstrip().startswith(("{", "[")):
        return _from_yaml(text, name, last)
    from numalign.sources.text.json import read_json

    try:
        found = read_json(text, name, last=last)
    except InputError:
        # A flow mapping of YAML looks like JSON, too; if it is neither, JSON's complaint is the better one.
        if name.endswith(".json"):
            raise
        try:
            return iter(list(_from_yaml(text, name, last)))
        except InputError:
            pass
        raise
    return (Document(name, one, True) for one in found if one.data is not None)


def _from_yaml(text: str, name: str, last: bool) -> Iterator[Document]:
    from numalign.sources.text.yaml_events import read_yaml

    return (Document(name, one, False) for one in read_yaml(text, name, last=last) if one.data is not None)


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
        text = f"not UTF-8 text (byte 0x{source[error.start]:02x} at offset {error.start})"
        raise InputError(text, f"{name}:{line}") from None
