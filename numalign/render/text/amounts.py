"""Amounts and sets of nodes as people write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import takewhile

from numalign.model.cpuset import format_set
from numalign.model.quantity import NANO, Quantity, canonical, with_decimals
from numalign.model.resources import is_bytes
from numalign.values import NamedTuple

_UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def bytes_text(amount: int) -> str:
    """Write bytes with the largest binary suffix that keeps them exact, or rounded to a tenth above 1024 units."""
    size, unit = amount, 0
    while size and size % 1024 == 0 and unit < len(_UNITS) - 1:
        size //= 1024
        unit += 1
    if abs(size) < _LONG:
        return f"{size}{_UNITS[unit]}"
    larger = unit + _unit(size, len(_UNITS) - 1 - unit)
    return f"{_with_point(amount, larger, 1)}{_UNITS[larger]}"


def amount_text(resource: str, amount: int) -> str:
    """Write an amount of a resource: bytes for memory, storage and huge pages, a count for the rest."""
    if is_bytes(resource):
        return bytes_text(amount)
    return str(amount)


Written = Callable[[int], str]
"""How the amounts of one sentence are written."""

_LONG = 10240
"""From how many units on an amount is written in the next larger one."""

_HUNDRED = 100
"""Below so many units an amount has a decimal."""

_SMALL = 4
"""An amount of less than one part in so many of a unit has a smaller one."""

_CLOSE = 10
"""A written amount is off by no more than one part in so many."""


def written(
    resource: str, amounts: Iterable[int], parts: Sequence[int] = (), pairs: Collection[tuple[int, int]] | None = None
) -> Written:
    """Choose how to write amounts that stand beside each other, so that they can be compared.

    Bytes have one unit, but those that are less than a quarter of it. They are exact if that is short; otherwise they
    have as few decimals as keep different amounts different.

    Args:
        resource: what they are of.
        amounts: all that stand there.
        parts: amounts whose sum stands there, too: what is written of them adds up.
        pairs: which of them are compared; None: each with each.
    """
    if not is_bytes(resource):
        return str
    every = {*amounts, *parts, *([sum(parts)] if parts else ())}
    most = max(map(abs, every), default=0)
    unit = _unit(most, len(_UNITS) - 1)
    smaller, least = max(unit - 1, 0), max(unit - 2, 0)
    exact = [_Form(unit, 1)] + [_Form(smaller, 0)] * (most < _LONG << 10 * smaller)
    for form in reversed(exact) if any(0 < amount < 1 << 10 * unit for amount in every) else exact:
        if all(form.exact(amount) for amount in every):
            return form.text
    for form in (
        *(_Form(unit, 1), _Form(unit, 2), _Form(smaller, 0), _Form(unit, 3)),
        *(_Form(smaller, 1), _Form(smaller, 2), _Form(smaller, 3), _Form(least, 1)),
    ):
        if form.tells_apart(every, pairs) and form.adds_up(parts):
            return form.text
    return lambda amount: f"{amount} bytes"


class _Form(NamedTuple):
    """One way to write bytes."""

    unit: int
    """The power of 1024, for all amounts but those that are less than a quarter of it."""
    decimals: int

    def text(self, amount: int) -> str:
        """Write an amount; one that is exact has no zeros behind the point."""
        if not amount:
            return "0"
        unit = self._unit_of(amount)
        text = _with_point(amount, unit, self.decimals)
        return f"{text.rstrip('0').rstrip('.') if self.decimals and self.exact(amount) else text}{_UNITS[unit]}"

    def exact(self, amount: int) -> bool:
        """Tell whether nothing is lost."""
        return self._shown(amount) == amount * self._scale

    def tells_apart(self, amounts: Collection[int], pairs: Collection[tuple[int, int]] | None) -> bool:
        """Tell whether different amounts that are compared look different, and each is near to what it is."""
        shown = {amount: self._shown(amount) for amount in amounts}
        near = all(abs(to - amount * self._scale) * _CLOSE <= abs(amount) * self._scale for amount, to in shown.items())
        if pairs is None:
            return near and len(set(shown.values())) == len(shown)
        return near and all(shown[one] != shown[other] for one, other in pairs if one != other)

    def adds_up(self, parts: Sequence[int]) -> bool:
        """Tell whether amounts as they are written add up to their sum as it is written."""
        total = sum(parts)
        return 2 * abs(sum(map(self._shown, parts)) - self._shown(total)) <= 1 << 10 * self._unit_of(total)

    @property
    def _scale(self) -> int:
        return int(10**self.decimals)

    def _unit_of(self, amount: int) -> int:
        return self.unit if _SMALL * abs(amount) >= 1 << 10 * self.unit else _unit(amount, self.unit)

    def _shown(self, amount: int) -> int:
        """Return what is written of an amount, in bytes times the power of ten that the decimals are."""
        unit = self._unit_of(amount)
        return _divided(amount * self._scale, unit) << 10 * unit


def _unit(amount: int, most: int) -> int:
    """Return the largest power of 1024, up to `most`, of which an amount has one."""
    return sum(1 for _ in takewhile(lambda power: abs(amount) >= 1 << 10 * power, range(1, most + 1)))


def _divided(amount: int, unit: int) -> int:
    """Divide by a power of 1024; what lies in the middle becomes even."""
    whole, rest = divmod(amount, 1 << 10 * unit)
    return whole + (2 * rest + (whole & 1) > 1 << 10 * unit)


def _with_point(amount: int, unit: int, decimals: int) -> str:
    """Write an amount in a unit, rounded."""
    whole, rest = divmod(_divided(abs(amount) * 10**decimals, unit), 10**decimals)
    return f"{'-' * (amount < 0)}{whole}{f'.{rest:0{decimals}d}' * bool(decimals)}"


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


def like_asked(resource: str, nano: int, asked: int) -> tuple[str, str]:
    """Write an amount and what it is instead of, both in one unit; empty: each is written as it is best read.

    That is the smaller unit of what is asked: `1024Mi` instead of `1026Mi`; or that of the amount, where what is asked
    would look the same as the amount, rounded, or is no binary number: `11251Mi` instead of `11264Mi (11Gi)`.
    """
    unit, own = (re.fullmatch(r"(\d+)([KMG]i|[kMG]?)", quantity_text(one)) for one in (asked, nano))
    if not is_bytes(resource) or unit is None or own is None or own[2] not in _UNITS:
        return "", ""
    if unit[2] in _UNITS and _UNITS.index(own[2]) > _UNITS.index(unit[2]):
        size = nano // NANO >> 10 * _UNITS.index(unit[2])
        return (f"{size}{unit[2]}", readable_text(resource, asked)) if size < _LONG else ("", "")
    alike = unit[0] in re.findall(r"[^ ()]+", readable_text(resource, nano))
    if not alike and unit[2] not in ("k", "M", "G"):
        return "", ""
    same = _with_point(asked // NANO, _UNITS.index(own[2]), 0) + own[2]
    return own[0], f"{same} ({unit[0]})" if alike else f"{unit[0]} ({same})"


def readable_text(resource: str, nano: int) -> str:
    """Write what a manifest asks for; beside a long number of bytes the same in a unit that can be taken in."""
    text = as_asked_text(resource, nano)
    amount = nano // NANO
    if not is_bytes(resource) or nano % NANO or amount < _LONG:
        return text
    if text[-1] in "kMGTPE":
        unit = _unit(amount, len(_UNITS) - 1)
        decimals = int(amount >> 10 * unit < _HUNDRED)
        return f"{text} ({_with_point(amount, unit, decimals)}{_UNITS[unit]})"
    digits = re.match(r"\d+", text)
    return text if digits is None or int(digits[0]) < _LONG else f"{text} ({bytes_text(amount).replace('.0', '')})"
