"""JSON as the kubelet's language reads it: what it accepts, and the texts of its syntax errors.

Python's reader does the work; only where it gives up is the text walked again, to say what the kubelet would say.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from numalign.model.gotext import quote

_LONGEST_INTEGER: Final = 20
"""A whole number with more digits fits no integer of the kubelet; it is kept as text."""
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DIGITS: Final = re.compile(r"[0-9]*")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_END: Final = "unexpected end of JSON input"


class GoJSONError(ValueError):
    """A text is no JSON; the message is the kubelet's."""


class NumberText(str):
    """A number that is no whole number of ordinary size, as written."""

    __slots__ = ()


def loads(text: str) -> object:
    """Read a text that holds one JSON value.

    Objects become dicts (of a key that is there twice the last counts), whole numbers ints, other numbers
    `NumberText`.

    Raises:
        GoJSONError: with the kubelet's text.
    """
    try:
        value: object = json.loads(text, parse_float=NumberText, parse_int=_integer, parse_constant=_refuse)
    except RecursionError:
        raise GoJSONError("exceeded max depth") from None
    except ValueError:
        raise GoJSONError(_Scanner(text).problem()) from None
    return value


def _integer(digits: str) -> int | NumberText:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else NumberText(digits)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


class _Stop(Exception):  # noqa: N818 - it ends the walk, and is what the walk is for
    """The first place at which the kubelet's scanner gives up."""


class _Scanner:
    """Walk over a text that is no JSON until the place where the kubelet stops."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def problem(self) -> str:
        """Return the kubelet's text."""
        try:
            self._document()
        except _Stop as stop:
            return str(stop)
        raise AssertionError(f"Python rejects this JSON and the kubelet would not: {self._text[:60]!r}")

    def _document(self) -> None:
        """Walk one value; open lists and objects are kept on a stack, so that depth costs nothing."""
        closers: list[str] = []
        expects_value = True
        while True:
            if expects_value:
                opened = self._value()
                if opened:
                    closer = "}" if opened == "{" else "]"
                    if self._peek() != closer:
                        closers.append(closer)
                        if opened == "{":
                            self._key()
                        continue
                    self._at += 1
            if not closers:
                if self._peek(may_end=True):
                    self._invalid("after top-level value")
                return
            char = self._peek()
            expects_value = char == ","
            if char == ",":
                self._at += 1
                if closers[-1] == "}":
                    self._key()
            elif char == closers[-1]:
                self._at += 1
                closers.pop()
            else:
                self._invalid("after object key:value pair" if closers[-1] == "}" else "after array element")

    def _key(self) -> None:
        if self._peek() != '"':
            self._invalid("looking for beginning of object key string")
        self._string()
        if self._peek() != ":":
            self._invalid("after object key")
        self._at += 1

    def _value(self) -> str:
        """Walk a value; of a list or an object only its opening bracket, which is returned."""
        char = self._peek()
        if char in "{[":
            self._at += 1
            return char
        if char == '"':
            self._string()
        elif char == "-" or (char.isascii() and char.isdecimal()):
            self._number()
        elif char in "tfn":
            self._word({"t": "true", "f": "false", "n": "null"}[char])
        else:
            self._invalid("looking for beginning of value")
        return ""

    def _word(self, word: str) -> None:
        for expected in word:
            if self._here() != expected:
                self._invalid(f"in literal {word} (expecting '{expected}')")
            self._at += 1

    def _string(self) -> None:
        self._at += 1
        while True:
            self._at = _end(_PLAIN, self._text, self._at)
            char = self._here()
            self._at += 1
            if char == '"':
                return
            if char != "\\":
                self._at -= 1
                self._invalid("in string literal")
            escape = self._here()
            if escape not in 'bfnrt\\/"u':
                self._invalid("in string escape code")
            self._at += 1
            if escape == "u":
                for _ in range(4):
                    if self._here() not in _HEX:
                        self._invalid("in \\u hexadecimal character escape")
                    self._at += 1

    def _number(self) -> None:
        if self._text[self._at] == "-":
            self._at += 1
            self._digit("in numeric literal")
        if self._text[self._at] == "0":
            self._at += 1
        else:
            self._at = _end(_DIGITS, self._text, self._at)
        if self._text.startswith(".", self._at):
            self._at += 1
            self._digit("after decimal point in numeric literal")
            self._at = _end(_DIGITS, self._text, self._at)
        if self._text[self._at : self._at + 1] in ("e", "E"):
            self._at += 1
            if self._here() in "+-":
                self._at += 1
            self._digit("in exponent of numeric literal")
            self._at = _end(_DIGITS, self._text, self._at)

    def _digit(self, context: str) -> None:
        char = self._here()
        if not (char.isascii() and char.isdecimal()):
            self._invalid(context)

    def _peek(self, *, may_end: bool = False) -> str:
        """Return the next character that is no space."""
        self._at = _end(_SPACE, self._text, self._at)
        return "" if may_end and self._at == len(self._text) else self._here()

    def _here(self) -> str:
        if self._at == len(self._text):
            raise _Stop(_END)
        return self._text[self._at]

    def _invalid(self, context: str) -> NoReturn:
        # The kubelet names the first byte of a character, as if it were one of Latin-1.
        char = chr(self._text[self._at].encode("utf-8", "replace")[0])
        shown = {"'": "\\'", '"': '"'}.get(char) or quote(char)[1:-1]
        raise _Stop(f"invalid character '{shown}' {context}")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
