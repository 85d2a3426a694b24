"""LEB89: numbers as printable text that needs no quoting in JSON, YAML or XML (docs/rules/scheduling.md N-5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

ALPHABET: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"&<>\\')
"""Characters 0 to 63 end a number, 64 to 88 continue it."""
_ENDS: Final = 64
_BASE: Final = len(ALPHABET) - _ENDS
_VALUE: Final = {character: value for value, character in enumerate(ALPHABET)}


class Leb89Error(ValueError):
    """A text is no LEB89."""


def encode(values: Iterable[int]) -> str:
    """Write whole numbers from 0 on, one after the other, without a separator."""
    return "".join([_one(value) for value in values])


def _one(value: int) -> str:
    if value < _ENDS:
        return ALPHABET[value]
    rest, last = divmod(value - _ENDS, _ENDS)
    digits = [last]
    while True:
        rest, digit = divmod(rest, _BASE)
        digits.append(_ENDS + digit)
        if not rest:
            return "".join(ALPHABET[digit] for digit in reversed(digits))


def decode(text: str) -> tuple[int, ...]:
    """Read all numbers of a text.

    Raises:
        Leb89Error: a character is outside the alphabet, or the text ends inside a number.
    """
    values = []
    head, within = 0, False
    for character in text:
        digit = _VALUE.get(character)
        if digit is None:
            raise Leb89Error(f"{character!r} is no character of LEB89")
        if digit >= _ENDS:
            head, within = head * _BASE + digit - _ENDS, True
        else:
            values.append(head * _ENDS + _ENDS + digit if within else digit)
            head, within = 0, False
    if within:
        raise Leb89Error("the text ends inside a number")
    return tuple(values)
