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
from numalign.sources.text.bounds import MAX_DEPTH

PIECE_BYTES: Final = 4 << 20
"""How many bytes are read at once."""
MAX_ITEM: Final = 64 << 20
"""Largest item in characters."""
MAX_FILE: Final = 2 << 30
"""Largest file in bytes."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")


class Readable(Protocol):
    """What gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Give at most so many bytes; none at the end."""


def items(file: Readable, name: str) -> Iterator[object]:
    """Yield the items of every List of a file, and every other object as it is.

    Raises:
        InputError: not JSON, or larger than the bounds.
    """
    text = _Text(file, name)
    while text.peek():
        if text.peek() != "{":
            raise text.error("expected an object or a List of objects")
        yield from _document(text)


def _document(text: _Text) -> Iterator[object]:
    """Read one document: the items of its `items`, or itself where it has none."""
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
            yield from _items(text)
        else:
            fields[key] = text.value()
        if text.peek() != "}":
            text.take(",")
    text.take("}")
    if not is_list:
        yield fields


def _items(text: _Text) -> Iterator[object]:
    text.take("[")
    while text.peek() != "]":
        yield text.value()
        if text.peek() != "]":
            text.take(",")
    text.take("]")


class _Text:
    """A text of which only the part that is being read is held."""

    def __init__(self, file: Readable, name: str) -> None:
        self._file = file
        self._name = name
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._decoder = json.JSONDecoder(parse_constant=_refuse)
        self._text = ""
        self._at = 0
        self._line = 1
        self._bytes = 0
        self._ended = False
        self._more()
        self._text = self._text.removeprefix("\ufeff")

    def peek(self) -> str:
        """Give the next character that is no blank; empty at the end."""
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
            except ValueError as error:
                raise self.error(f"not JSON: {error}") from None
            else:
                if end < len(self._text) or self._ended:  # a number may go on in the next piece
                    self._at = end
                    return value
            self._more()

    def error(self, message: str) -> InputError:
        """Make the error that says where reading has come to."""
        line = self._line + self._text.count("\n", 0, self._at)
        return InputError(message, f"{self._name}:{line}")

    def _more(self) -> None:
        """Read the next piece, and let go of what was read."""
        self._line += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        self._at = 0
        if len(rest) > MAX_ITEM:
            raise self.error(f"an item larger than {MAX_ITEM >> 20} MiB, or text that never ends")
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


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no number")
