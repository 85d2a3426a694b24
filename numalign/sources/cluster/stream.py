"""Very large JSON lists item by item: what `kubectl get … -o json` prints, without holding all of it.

A file is read in pieces; each item is decoded by Python's own decoder as soon as it is whole, and let go of before the
next one. Such files are written by programs, so doubled keys are not looked for.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Final, Protocol

from numalign.errors import InputError
from numalign.sources.text import MAX_DEPTH
from numalign.sources.text.json import TOO_MANY_DIGITS, NumberError, finite, refuse_constant
from numalign.values import NamedTuple

PIECE_BYTES: Final = 4 << 20
"""How many bytes are read at once."""
MAX_ITEM: Final = 64 << 20
"""Largest item in characters."""
MAX_FILE: Final = 2 << 30
"""Largest file in bytes."""

HEAD_BYTES: Final = 1 << 16
"""The bytes at the beginning that show whether a file is JSON."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")


class Readable(Protocol):
    """What gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


class Item(NamedTuple):
    """An object of a file."""

    data: object
    line: int
    """Where it begins."""
    list_kind: str = ""
    """The kind of the List it is in (`PodList`), where that is said before its items."""


class Rejoined:
    """A file whose first bytes were read already."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self._head = head
        self._file = file

    def read(self, size: int, /) -> bytes:
        """Give the first bytes, whatever is asked for, then what the file gives."""
        head, self._head = self._head, b""
        return head or self._file.read(size)


def is_json(head: bytes) -> bool:
    """Tell whether a file that begins so is JSON."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def items(file: Readable, name: str) -> Iterator[Item]:
    """Yield the items of every List of a file, and every other object as it is.

    Raises:
        InputError: not JSON, or larger than the bounds.
    """
    text = _Text(file, name)
    while text.peek():
        if text.peek() != "{":
            raise text.error("expected an object or a List of objects")
        yield from _document(text)


def _document(text: _Text) -> Iterator[Item]:
    """Read one document: the items of its `items`, or itself where it has none."""
    line = text.line
    text.take("{")
    fields: dict[str, object] = {}
    is_list = False
    while text.peek() != "}":
        key = text.value()
        if not isinstance(key, str):
            raise text.error("expected a key")
        text.take(":")
        if key == "items" and text.peek() == "[":
            is_list = True
            kind = fields.get("kind")
            yield from _items(text, kind if isinstance(kind, str) else "")
        else:
            fields[key] = text.value()
        if text.peek() != "}":
            text.take(",")
    text.take("}")
    if not is_list:
        yield Item(fields, line)


def _items(text: _Text, list_kind: str) -> Iterator[Item]:
    text.take("[")
    while text.peek() != "]":
        line = text.line
        yield Item(text.value(), line, list_kind)
        if text.peek() != "]":
            text.take(",")
    text.take("]")


class _Text:
    """A text of which only the part that is being read is held."""

    def __init__(self, file: Readable, name: str) -> None:
        self._file = file
        self._name = name
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._decoder = json.JSONDecoder(parse_float=finite, parse_constant=refuse_constant)
        self._text = ""
        self._at = 0
        self._line = 1
        self._counted = 0
        """Up to here of the text lines are counted."""
        self._bytes = 0
        self._ended = False
        self._more()
        self._text = self._text.removeprefix("\ufeff")

    def peek(self) -> str:
        """Return the next character that is no blank; empty at the end."""
        while True:
            match = _BLANK.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more()

    def take(self, sign: str) -> None:
        """Pass a character that must be there."""
        if self.peek() != sign:
            raise self.error(f"not JSON: expected {sign!r}")
        self._at += 1

    def value(self) -> object:
        """Decode the next value."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended:
                    self._at = error.pos
                    raise self.error(f"not JSON: {error.msg}") from None
            except RecursionError:
                raise self.error(f"nested deeper than {MAX_DEPTH} levels") from None
            except NumberError as error:
                raise self.error(str(error)) from None
            except ValueError:
                raise self.error(TOO_MANY_DIGITS) from None
            else:
                if end < len(self._text) or self._ended:  # a number may go on in the next piece
                    self._at = end
                    return value
            self._more()

    @property
    def line(self) -> int:
        """Where reading has come to."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def error(self, message: str) -> InputError:
        """Make the error that says where reading has come to."""
        return InputError(message, f"{self._name}:{self.line}")

    def _more(self) -> None:
        """Read the next piece, and let go of what was read."""
        self._line = self.line
        rest = self._text[self._at :]
        self._at = self._counted = 0
        if len(rest) > MAX_ITEM:
            raise self.error(f"an item is larger than {MAX_ITEM >> 20} MiB, or a text does not end")
        piece = self._file.read(max(PIECE_BYTES, len(rest)))
        self._bytes += len(piece)
        if self._bytes > MAX_FILE:
            raise InputError(f"larger than {MAX_FILE >> 30} GiB", self._name)
        self._ended = not piece
        try:
            self._text = rest + self._decode(piece, final=self._ended)
        except UnicodeDecodeError:
            self._text = rest
            raise self.error("not UTF-8 text") from None
