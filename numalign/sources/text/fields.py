"""Small typed getters over decoded data (JSON, YAML): what is read is valid or refused with its field path."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from numalign.model import cpuset, quantity
from numalign.model.path import child

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a document to a field."""

MAX_CPU = 16383
"""Largest CPU id in a machine: twice what Linux can be built for."""
MAX_NODE_ID = cpuset.MAX_ID
"""Largest NUMA node, socket and cache id."""
MAX_BYTES = 2**63 - 1
"""The kubelet counts bytes in 64 bits with a sign."""

_MAX_SHOWN = 60
"""Characters of a value that an error quotes."""


class FieldError(Exception):
    """A field is wrong; the reader of the file adds file and line."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


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


def only(data: Mapping[str, Any], known: Collection[str], path: Path) -> None:
    """Refuse keys that are not known, with the nearest known one."""
    for key in data:
        if key not in known:
            if not str(key).isprintable():
                raise FieldError(path, f"unknown key {shown(key)}; known are {', '.join(known)}")
            from numalign.model.words import nearest

            meant = nearest(str(key), known)
            hint = f"did you mean {meant}?" if meant else f"known are {', '.join(known)}"
            raise FieldError((*path, str(key)), f"unknown key; {hint}")


def mapping(value: object, path: Path, wanted: str = "a mapping") -> Mapping[str, Any]:
    """Take a mapping with keys that are text."""
    if not isinstance(value, Mapping):
        raise FieldError(path, f"expected {wanted}, got {shown(value)}")
    for key in value:
        if not isinstance(key, str) or not key.isprintable():
            raise FieldError(path, f"expected printable keys, got {shown(key)}")
    return value


def sequence(value: object, path: Path, wanted: str = "a list") -> Sequence[Any]:
    """Take a list."""
    if not isinstance(value, list | tuple):
        raise FieldError(path, f"expected {wanted}, got {shown(value)}")
    return value


def integer(value: object, path: Path, low: int, high: int, wanted: str = "a whole number") -> int:
    """Take a whole number within bounds."""
    if type(value) is not int:
        raise FieldError(path, f"expected {wanted}, got {shown(value)}")
    if not low <= value <= high:
        raise FieldError(path, f"expected {wanted} from {low} to {high}, got {shown(value)}")
    return value


def boolean(value: object, path: Path) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise FieldError(path, f"expected true or false, got {shown(value)}")
    return value


def text(value: object, path: Path, wanted: str = "text", *, empty: bool = False) -> str:
    """Take printable text."""
    if not isinstance(value, str) or not (value or empty):
        raise FieldError(path, f"expected {wanted}, got {shown(value)}")
    if not value.isprintable():
        raise FieldError(path, f"expected {wanted} of printable characters, got {shown(value)}")
    return value


def name(value: object, path: Path, wanted: str) -> str:
    """Take a name; YAML reads `0` as a number, which is fine as a name."""
    if type(value) is int and value.bit_length() < 64:
        return str(value)
    return text(value, path, wanted)


def amount(value: object, path: Path, what: str = "bytes") -> int:
    """Take a whole, non-negative amount: a number, or a Kubernetes quantity (`256Gi`) that is exact."""
    if type(value) is int:
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    elif isinstance(value, str):
        try:
            parsed = quantity.parse(value)
        except quantity.QuantityError:
            raise FieldError(path, f'expected {what} or a quantity like "256Gi", got {shown(value)}') from None
        number, rest = divmod(parsed.nano, quantity.NANO)
        if rest:
            raise FieldError(path, f"expected a whole number of {what}, got {shown(value)}")
    else:
        raise FieldError(path, f'expected {what} or a quantity like "256Gi", got {shown(value)}')
    if not 0 <= number <= MAX_BYTES:
        raise FieldError(path, f"expected {what} from 0 to 2^63-1, got {shown(value)}")
    return number


_LISTS: Final = (list, tuple)


def cpus(value: object, path: Path) -> int:
    """Take a CPU set: a Linux list, or a plain list of CPU ids (a single id may be a number)."""
    members = 0
    if isinstance(value, str):
        try:
            members = cpuset.parse(value.strip())
        except cpuset.CPUSetError as error:
            if "too large" in str(error):
                raise FieldError(path, str(error)) from None
            raise FieldError(path, f'expected a CPU list like "0-3,8", got {shown(value)}') from None
        if members >> (MAX_CPU + 1):
            raise FieldError(path, f"CPU ids may go up to {MAX_CPU}, got {members.bit_length() - 1}")
        return members
    if type(value) is int:
        return 1 << integer(value, path, 0, MAX_CPU, "a CPU id")
    if not isinstance(value, _LISTS):
        raise FieldError(path, f'expected a CPU list like "0-3,8", got {shown(value)}')
    for index, cpu in enumerate(value):
        if type(cpu) is not int or not 0 <= cpu <= MAX_CPU:
            integer(cpu, (*path, index), 0, MAX_CPU, "a CPU id")
        bit = 1 << cpu
        if members & bit:
            raise FieldError((*path, index), f"CPU {cpu} is in the list twice")
        members |= bit
    return members


def hugepages(value: object, path: Path) -> dict[str, int]:
    """Take huge pages: page size -> bytes, or `{pages: N}`. Sizes get the kubelet's own names.

    A number that is no multiple of the page is refused: it was probably meant as a count.
    """
    result: dict[str, int] = {}
    for key, given in mapping(value, path, "a mapping of page sizes like 2Mi to bytes").items():
        here = (*path, key)
        label, size = _page_size(key, here)
        if label in result:
            raise FieldError(here, f"the page size {label} is given twice")
        result[label] = _set_aside(given, here, label, size)
    return result


def _page_size(key: object, path: Path) -> tuple[str, int]:
    try:
        size = amount(key, path)
    except FieldError:
        size = 0
    if size < 1024 or size & (size - 1):
        raise FieldError(path, f'expected a page size like "2Mi" or "1Gi", got {shown(key)}')
    return quantity.canonical(quantity.from_int(size, "BinarySI")), size


def _set_aside(value: object, path: Path, label: str, size: int) -> int:
    if isinstance(value, Mapping):
        only(value, ("pages",), path)
        if "pages" not in value:
            raise FieldError(path, "expected bytes or {pages: N}")
        return integer(value["pages"], (*path, "pages"), 0, MAX_BYTES // size, "a number of pages") * size
    given = amount(value, path)
    if given % size:
        total = quantity.canonical(quantity.from_int(given * size, "BinarySI"))
        raise FieldError(
            path,
            f"{shown(value)} is {given} bytes, which is no multiple of the {label} page; "
            f'for {given} pages write {{pages: {given}}} or "{total}"',
        )
    return given
