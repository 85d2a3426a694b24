"""The XML that hwloc writes, as objects: parsed within bounds, with nothing expanded."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from numalign.errors import InputError
from numalign.values import NamedTuple

MAX_BYTES: Final = 16 << 20
"""Largest document; that of a machine with 1792 CPUs has 2 MiB."""
MAX_DEPTH: Final = 256
"""Objects inside each other."""
MAX_OBJECTS: Final = 1 << 14
"""Most objects of one type: twice as many as Linux has CPUs."""
MAX_OF_KIND: Final = {"NUMANode": 1024, "Package": 1024}
"""Most objects of these types; Linux has 1024 nodes at most."""
MAX_NUMBER: Final = 2**63 - 1


class Object(NamedTuple):
    """One `<object>` with what stands inside it."""

    attributes: dict[str, str]
    children: list[Object]
    pages: dict[int, int]
    """Page size in bytes -> count."""
    infos: dict[str, str]
    line: int

    @property
    def kind(self) -> str:
        """Its type."""
        return self.attributes.get("type", "")


class Document:
    """The XML as objects. Nothing is expanded: a document that declares anything of its own is refused."""

    def __init__(self, where: str) -> None:
        self.root: Object | None = None
        self.distances: dict[int, tuple[int, ...]] = {}
        self._where = where
        self._stack: list[Object] = []
        self._open = 0
        self._counts: dict[str, int] = {}
        self._matrix: tuple[list[str], list[str]] | None = None
        self._text: list[str] | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    def parse(self, data: bytes) -> None:
        """Read the whole document.

        Raises:
            InputError: it is no XML, or not within the bounds.
        """
        try:
            self._parser.Parse(data, True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            if isinstance(error, expat.ExpatError):
                text = f"is not XML: {expat.ErrorString(error.code)}"
                raise InputError(text, f"{self._where}:{error.lineno}") from None
            raise InputError(f"is not hwloc XML: {error}", self._here()) from None

    def _doctype(self, _name: str, _system: str | None, _public: str | None, declares: int) -> None:
        """Refuse declarations: entities and default attributes expand a small document to gigabytes."""
        if declares:
            raise InputError("declares entities or attributes, which hwloc XML never does", self._here())

    def _here(self) -> str:
        return f"{self._where}:{self._parser.CurrentLineNumber}"

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open += 1
        if self._open > MAX_DEPTH:
            raise InputError(f"is nested more than {MAX_DEPTH} deep", self._where)
        if self._open == 1:
            self._check_version(tag, attributes)
        elif tag == "object":
            self._object(Object(attributes, [], {}, {}, self._parser.CurrentLineNumber))
        elif tag == "page_type" and self._stack:
            size = read_number(attributes["size"], "size of a page", self._here())
            self._stack[-1].pages[size] = read_number(attributes.get("count", "0"), "count of pages", self._here())
        elif tag == "info" and self._stack:
            self._stack[-1].infos[attributes.get("name", "")] = attributes.get("value", "")
        elif tag == "distances2" and attributes.get("name") == "NUMALatency" and attributes.get("indexing") == "os":
            self._matrix = ([], [])
        elif self._matrix and tag in ("indexes", "u64values"):
            self._text = self._matrix[tag == "u64values"]

    def _object(self, item: Object) -> None:
        if self._stack:
            self._stack[-1].children.append(item)
        elif self.root is None:
            self.root = item
        self._stack.append(item)
        self._counts[item.kind] = self._counts.get(item.kind, 0) + 1
        most = MAX_OF_KIND.get(item.kind, MAX_OBJECTS)
        if self._counts[item.kind] > most:
            raise InputError(f"has more than {most} objects of type {item.kind[:40]!r}", self._here())

    def _end(self, tag: str) -> None:
        self._open -= 1
        if tag == "object":
            self._stack.pop()
        elif tag in ("indexes", "u64values"):
            self._text = None
        elif tag == "distances2" and self._matrix:
            self._distances("".join(self._matrix[0]).split(), "".join(self._matrix[1]).split())
            self._matrix = None

    def _distances(self, nodes: list[str], values: list[str]) -> None:
        if len(nodes) > MAX_OF_KIND["NUMANode"] or len(values) != len(nodes) ** 2:
            raise ValueError(f"{len(values)} distances for {len(nodes)} nodes")
        indexes = [read_number(word, "index of a node", self._here()) for word in nodes]
        if len(set(indexes)) != len(indexes):
            raise ValueError("distances with a node twice")
        told = [read_number(word, "distance", self._here()) for word in values]
        rank = sorted(range(len(indexes)), key=indexes.__getitem__)
        rows = {indexes[i]: tuple(told[i * len(indexes) + j] for j in rank) for i in rank}
        self.distances = self.distances or rows

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text + " " if text.endswith("\n") else text)

    def _check_version(self, tag: str, attributes: dict[str, str]) -> None:
        version = attributes.get("version", "1")
        if tag != "topology":
            raise InputError(f"expected hwloc XML with <topology>, got <{tag}>", self._where)
        if not version.startswith(("2", "3")):
            text = f"is hwloc XML of version {version}, not 2; fix: export it with hwloc 2 (lstopo --of xml)"
            raise InputError(text, self._where)


def read_number(text: str, what: str, where: str) -> int:
    """Read a number that is not negative and fits into 64 bits.

    Raises:
        InputError: it is none; `what` says which.
    """
    if text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= MAX_NUMBER:
        return int(text)
    raise InputError(f"{what}: expected a number up to 2^63 - 1, got {text[:40]!r}", where)
