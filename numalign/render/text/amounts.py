"""Amounts and sets of nodes as people write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile

from numalign.model.cpuset import format_set
from numalign.model.quantity import NANO, Quantity, canonical, with_decimals
from numalign.model.resources import is_bytes

_UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def bytes_text(amount: int) -> str:
    """Write bytes with the largest binary suffix that keeps them exact, or rounded to a tenth above 1024 units."""
    size, unit = amount, 0
    while size and size % 1024 == 0 and unit < len(_UNITS) - 1:
        size //= 1024
        unit += 1
    if abs(size) < 10240:
        return f"{size}{_UNITS[unit]}"
    larger = _unit(size, len(_UNITS) - 1 - unit)
    return f"{_divided(size, larger, 1)}{_UNITS[unit + larger]}"


def amount_text(resource: str, amount: int) -> str:
    """Write an amount of a resource: bytes for memory, storage and huge pages, a count for the rest."""
    if is_bytes(resource):
        return bytes_text(amount)
    return str(amount)


Written = Callable[[int], str]
"""How the amounts of one sentence are written."""

_DECIMALS = 3
"""Most decimals of an amount; where two amounts still look alike all are written in a smaller unit."""


FLOAT_BITS = 1000
"""An amount of more bits, as only a hostile file has, is written without decimals: no float holds it."""


def written(resource: str, amounts: Iterable[int]) -> Written:
    """Choose how to write amounts that stand beside each other, so that they can be compared.

    Bytes have the largest unit of which there is one, and as few decimals as keep different amounts different.
    """
    if not is_bytes(resource):
        return str
    every = set(amounts)
    for decimals in range(1, _DECIMALS + 1):
        if len({_rounded(amount, decimals) for amount in every}) == len(every):
            return lambda amount: _rounded(amount, decimals)
    for unit, decimals in ((2, 2), (1, 1)):
        if len({_rounded(amount, decimals, unit) for amount in every}) == len(every):
            return partial(_rounded, decimals=decimals, unit=unit)
    return lambda amount: f"{amount} bytes"


def _rounded(amount: int, decimals: int, unit: int | None = None) -> str:
    if not amount:
        return "0"
    if unit is None:
        unit = _unit(amount, len(_UNITS) - 1)
    return f"{_divided(amount, unit, decimals).rstrip('0').rstrip('.')}{_UNITS[unit]}"


def _unit(amount: int, most: int) -> int:
    """Return the largest power of 1024, up to `most`, of which an amount has one."""
    return sum(1 for _ in takewhile(lambda power: abs(amount) >= 1 << 10 * power, range(1, most + 1)))


def _divided(amount: int, unit: int, decimals: int) -> str:
    if amount.bit_length() > FLOAT_BITS:
        return f"{amount >> 10 * unit}.0"
    return f"{amount / (1 << 10 * unit):.{decimals}f}"


def nodes_text(mask: int | None) -> str:
    """Write a set of NUMA nodes: `node 0`, `nodes 0-1`, `any node`, `no node`."""
    if mask is None:
        return "any node"
    if not mask:
        return "no node"
    return f"{'node' if mask.bit_count() == 1 else 'nodes'} {format_set(mask)}"


def listed(names: Sequence[str]) -> str:
    """Write names behind each other: `a, b and c`."""
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])


def quantity_text(nano: int) -> str:
    """Write an amount as a manifest would."""
    whole = nano // NANO
    binary = nano % NANO == 0 and whole >= 1 << 20 and whole % 1024 == 0
    return canonical(Quantity(nano, "BinarySI" if binary else "DecimalSI", None))


def as_asked_text(resource: str, nano: int) -> str:
    """Write what a manifest asks for; a part of a byte as the `1.6Gi` that it comes from."""
    return with_decimals(nano) if is_bytes(resource) and nano % NANO else quantity_text(nano)
