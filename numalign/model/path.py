"""What is wrong in a document, in words: a place, a value, an error.

A place is written `spec.containers[0].resources.limits["nvidia.com/gpu"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from numalign.errors import InputError

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a document to a field."""

MAX_KEY: Final = 200
"""Most characters of a key in a path: paths are made for each field, so a longer one would cost its square."""
_MAX_SHOWN: Final = 60
"""Characters of a value that an error quotes."""


class FieldError(Exception):
    """A field is wrong; the reader of the file adds file and line."""

    def __init__(self, path: Path, message: str, wanted: str = "", got: object = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.wanted = wanted
        """What would be right, and what is there instead: for those who say it in other words than ours."""
        self.got = got


def child(path: str, key: str | int) -> str:
    """Extend a path by a list index or by a key; a key that does not read as a name stands quoted in brackets."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if len(key) > MAX_KEY:
        key = f"{key[:MAX_KEY]}…"
    if not key.replace("-", "_").isidentifier():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def dotted(path: Path) -> str:
    """Write a path as people read it: `numaNodes[1].cpus`, `devices["nvidia.com/gpu"][0].id`."""
    text = ""
    for part in path:
        text = child(text, part)
    return text


def shown(value: object) -> str:
    """Quote a value for an error message, cut where it is long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int):
        # Turning a huge int into decimal text is refused by Python; nobody wants to read one either.
        return str(value) if value.bit_length() < 1000 else "a huge number"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    text = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + '…"'


def unfit(wanted: str, got: object) -> FieldError:
    """Say what would be right, and what is there."""
    return FieldError((), f"expected {wanted}, got {shown(got)}", wanted, got)


@contextmanager
def blaming(where: Callable[[Path], str] = dotted) -> Iterator[None]:
    """Make a wrong field an error of the input, at the place that `where` writes.

    Raises:
        InputError: a field is wrong.
    """
    try:
        yield
    except FieldError as error:
        raise InputError(error.message, where(error.path)) from None
