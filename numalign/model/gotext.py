"""How the kubelet's language prints and reads texts: quoting, booleans, integers, numbers of a document."""

from __future__ import annotations

import re

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_INTEGER = r"[+-]?[0-9]+"


class ConversionError(ValueError):
    """A text is no boolean or no integer; the message is the kubelet's."""


def quote(text: str) -> str:
    r"""Quote a text as the kubelet's messages do: control characters, `"` and `\` as backslash escapes."""
    return '"' + "".join(_escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def parse_bool(text: str) -> bool:
    """Read a boolean text (docs/rules/cpu-manager.md 3.2).

    Raises:
        ConversionError: anything but the twelve accepted spellings.
    """
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ConversionError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")


def parse_int(text: str) -> int:
    """Read a signed 64-bit decimal integer (docs/rules/cpu-manager.md 4.10).

    Raises:
        ConversionError: no integer, or one that does not fit.
    """
    if not re.fullmatch(_INTEGER, text):
        raise ConversionError(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("+-").lstrip("0")
    # The length is looked at first: int() refuses very long texts.
    value = int(digits or "0") if len(digits) < 20 else 2**64
    value = -value if text.startswith("-") else value
    if not -(2**63) <= value < 2**63:
        raise ConversionError(f"strconv.Atoi: parsing {quote(text)}: value out of range")
    return value


def number_text(number: object) -> str:
    """Write a number of a YAML or JSON document the way Kubernetes' tools hand it on.

    Raises:
        TypeError: it is no number.
    """
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise TypeError(number)
    text = str(number)
    if "e" not in text or not 1e-6 <= abs(number) < 1e21:
        return text.removesuffix(".0")
    from decimal import Decimal

    return format(Decimal(text), "f")
