"""The fields of a tar archive's headers: numbers, texts, checksums and pax records, each with a bound."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

MAX_DIGITS: Final = 20
"""Most digits of a number in a pax header."""

_DIGITS: Final = 8
"""Most digits of a pax record's length."""
_SPACES: Final = 8 * ord(" ")
_ADLER: Final = 65521


class TarError(Exception):
    """The archive cannot be read on; the text says why."""


def sum_is_right(block: bytes) -> bool:
    """Compare a header with its checksum, in which the field of the sum counts as spaces.

    The sum of the bytes is the lower half of their Adler-32 less one, in which zlib is ten times as quick as `sum`.
    Both sides are taken modulo what that takes sums by. Some old writers took bytes for signed numbers.
    """
    field = block[148:156]
    total = (zlib.adler32(block) & 0xFFFF) - 1 - sum(field) + _SPACES
    told = number(field)
    if (told - total) % _ADLER == 0:
        return True
    signed = 256 * sum(byte > 127 for byte in block[:148] + block[156:])
    return (told - total + signed) % _ADLER == 0


@lru_cache(maxsize=1024)  # the files of a machine have few sizes, and their headers few sums
def number(field: bytes) -> int:
    """Read a number of a header: octal digits, or binary if the first bit says so."""
    if field[0] & 0x80:
        if field[0] & 0x40:
            raise TarError("a header has a negative number")
        return int.from_bytes(field, "big") & ((1 << (8 * len(field) - 1)) - 1)
    digits = field.partition(b"\0")[0].strip()
    if not digits:
        return 0
    try:
        return int(digits, 8) if digits.isdigit() else int("")
    except ValueError:
        raise TarError("a header is damaged") from None


def decimal(digits: bytes) -> int:
    """Read a number of a pax header."""
    if not digits.isdigit() or len(digits) > MAX_DIGITS:
        raise TarError("a pax header is damaged")
    return int(digits)


def pax_records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the records `LENGTH KEY=VALUE` of a pax header."""
    at = 0
    while at < len(data) and data[at]:
        space = data.find(b" ", at, at + _DIGITS + 1)
        digits = data[at:space]
        if space < 0 or not digits.isdigit():
            raise TarError("a pax header is damaged")
        end = at + int(digits)
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if end <= space + 2 or end > len(data) or data[end - 1] != 0x0A or not equals or not key:
            raise TarError("a pax header is damaged")
        yield key, value
        at = end


def text(field: bytes) -> bytes:
    """Return a text field up to its NUL."""
    return field.partition(b"\0")[0]


def decoded(name: bytes) -> str:
    """Return a name as text; bytes that are no UTF-8 become surrogates, as in every name from the system."""
    return name.decode("utf-8", "surrogateescape")
