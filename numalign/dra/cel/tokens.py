"""The words of an expression: identifiers, numbers, texts, operators, each with its position."""

from __future__ import annotations

import re
from typing import Final, Literal

from numalign.dra.cel.errors import CompileError
from numalign.dra.cel.values import INT_MAX, UINT_MAX, Uint
from numalign.values import NamedTuple

TokenKind = Literal["name", "value", "operator", "end"]


END: Final = "<EOF>"
"""The text of the last word."""


class Token(NamedTuple):
    """One word."""

    kind: TokenKind
    text: str
    """An identifier, an operator, or what was written."""
    position: int
    value: object = None
    """What a literal stands for."""


_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t\r\n\f]+|//[^\n]*)
    |(?P<text>(?:[rR][bB]?|[bB][rR]?)?(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}
        |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU]?)
    |(?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
    |(?P<operator>==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_RAW: Final = re.compile(
    r"""(?P<open>(?:[rR][bB]?|[bB][rR]))(?P<quote>\"{3}|'{3}|"|')""",
)
_ESCAPE: Final = re.compile(
    r"\\(?:[abfnrtv\\?\"'`]|x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|(.?))",
    re.DOTALL,
)
_SIMPLE: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def tokens(text: str) -> list[Token]:
    """Split an expression; the last token is the end.

    Raises:
        CompileError: a character that begins no word, a text that does not end, a number out of range.
    """
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _raw_text(text, position) or _TOKEN.match(text, position)
        if match is None:
            raise CompileError(
                f"Syntax error: token recognition error at: '{text[position : position + 10]}'", position
            )
        if isinstance(match, Token):
            found.append(match)
            position += len(match.text)
            continue
        if match.lastgroup != "blank":
            found.append(_token(match, position))
        position = match.end()
    found.append(Token("end", END, len(text)))
    return found


def _raw_text(text: str, position: int) -> Token | None:
    """Take a raw text (`r'..'`): a backslash in it is a character like others."""
    match = _RAW.match(text, position)
    if match is None:
        return None
    quote = match["quote"]
    end = text.find(quote, match.end())
    if end < 0 or (len(quote) == 1 and "\n" in text[match.end() : end]):
        raise CompileError("Syntax error: the text does not end", position)
    body = text[match.end() : end]
    value: object = body.encode() if "b" in match["open"].lower() else body
    return Token("value", text[position : end + len(quote)], position, value)


def _token(match: re.Match[str], position: int) -> Token:
    text = match.group()
    if match["name"]:
        return Token("name", text, position)
    if match["operator"]:
        return Token("operator", text, position)
    if match["text"]:
        return Token("value", text, position, _unquoted(text, position))
    if match["float"]:
        return Token("value", text, position, float(text))
    digits = match["int"]
    number = int(digits, 16) if digits.startswith("0x") else _decimal(digits)
    if match["unsigned"]:
        if number > UINT_MAX:
            raise CompileError("Syntax error: invalid uint literal", position)
        return Token("value", text, position, Uint(number))
    # One more than the largest is read: it stands after a minus in the smallest number.
    if number > INT_MAX + 1:
        raise CompileError("Syntax error: invalid int literal", position)
    return Token("value", text, position, number)


def _decimal(digits: str) -> int:
    """Read a number; a long one is out of range anyhow, and int() is slow on it."""
    return int(digits) if len(digits) <= 40 else UINT_MAX + 1


def _unquoted(text: str, position: int) -> object:
    """Read a text or bytes with their escapes."""
    is_bytes = text[0] in "bB"
    text = text[1:] if is_bytes else text
    quote = 3 if text[:3] in ("'''", '"""') else 1
    body = text[quote:-quote]
    if not is_bytes:
        return _ESCAPE.sub(lambda match: _escaped(match, position), body) if "\\" in body else body
    out = bytearray()
    start = 0
    for match in _ESCAPE.finditer(body):
        out += body[start : match.start()].encode()
        char = _escaped(match, position)
        out += bytes([ord(char)]) if match.group()[1] in "xX0123" else char.encode()
        start = match.end()
    return bytes(out + body[start:].encode())


def _escaped(match: re.Match[str], position: int) -> str:
    text = match.group()
    letter = text[1:2]
    if match.group(1) is not None:
        raise CompileError("Syntax error: invalid escape in a text", position)
    if letter in "xXuU":
        code = int(text[2:], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise CompileError("Syntax error: invalid unicode code point in a text", position)
        return chr(code)
    if letter.isdigit():
        return chr(int(text[1:], 8))
    return _SIMPLE.get(letter, letter)
