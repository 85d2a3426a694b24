"""Amounts that stand beside each other, so that they can be compared and added up as they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from numalign.model.resources import is_bytes
from numalign.render.text.amounts import LONG, UNITS, divided, unit_of, with_point
from numalign.values import NamedTuple

Written = Callable[[int], str]
"""How the amounts of one sentence are written."""

_SMALL = 4
"""An amount of less than one part in so many of a unit has a smaller one."""

_CLOSE = 10
"""A written amount is off by no more than one part in so many."""

_CLOSE_SUM = 500
"""A sum of written amounts is off by no more than one part in so many."""


def written(
    resource: str,
    there: Iterable[int],
    asked: Sequence[int] = (),
    *,
    parts: Sequence[int] = (),
    pairs: Collection[tuple[int, int]] | None = None,
    sums: Mapping[int, Sequence[int]] | None = None,
) -> Written:
    """Choose how to write amounts that stand beside each other.

    Bytes have one unit, but those that are less than a quarter of it. They are exact if that is short; otherwise they
    have as few decimals as keep different amounts different, and the larger one larger. What there is is rounded down:
    who asks for as much as is written gets it.

    Args:
        resource: what they are of.
        there: what is free, or there could be.
        asked: what is asked.
        parts: amounts whose sum is asked: what is written of them adds up.
        pairs: which amounts are compared; None: what is asked with what is there; without `asked` each with each.
        sums: amount -> those it is the sum of, a negative one taken away: what is written of them adds up.
    """
    if not is_bytes(resource):
        return str
    down, wanted = {*there}, {*asked, *parts, *([sum(parts)] if parts else ())}
    every = {*down, *wanted}
    if pairs is None:
        compared = product(wanted, down) if wanted else combinations(sorted(down), 2)
        pairs = [*compared, *combinations(sorted(wanted), 2)]
    found = next((form for form in _exact(every) if form.exact_for(every)), None)
    if found is None:
        totals = {key: terms for key, terms in (sums or {}).items() if key not in map(abs, terms)}
        sure = (form._replace(down=frozenset(down - wanted), totals=totals) for form in _rounded(every))
        found = next((form for form in sure if form.true(every, pairs, parts, sums or {})), None)
    if found is None:
        return lambda amount: f"{amount} bytes"
    return found._replace(alike=frozenset(found.alike_of(every))).text


def _exact(every: Collection[int]) -> Iterator[_Form]:
    """List the forms that may be exact, the best first."""
    most = max(map(abs, every), default=0)
    unit = unit_of(most)
    smaller = max(unit - 1, 0)
    exact = [_Form(unit, 1)] + [_Form(smaller, 0)] * (most < LONG << 10 * smaller)
    yield from reversed(exact) if any(0 < amount < 1 << 10 * unit for amount in every) else exact


def _rounded(every: Collection[int]) -> Iterator[_Form]:
    """List the forms that round, the shortest first."""
    unit = unit_of(max(map(abs, every), default=0))
    smaller, least = max(unit - 1, 0), max(unit - 2, 0)
    yield from (_Form(unit, 1), _Form(unit, 2), _Form(smaller, 0), _Form(unit, 3))
    yield from (_Form(smaller, 1), _Form(smaller, 2), _Form(smaller, 3), _Form(least, 1))


class _Form(NamedTuple):
    """One way to write bytes."""

    unit: int
    """The power of 1024, for all amounts but those that are less than a quarter of it."""
    decimals: int
    down: frozenset[int] = frozenset()
    """Amounts that are rounded down; the others are rounded to the nearest."""
    totals: Mapping[int, Sequence[int]] = {}
    """Amount -> those of which, as they are written, it is the sum."""
    alike: frozenset[int] = frozenset()
    """Exact amounts that look like others that are not: they have the same zeros."""

    def text(self, amount: int) -> str:
        """Write an amount; one that is exact has no zeros behind the point."""
        if not amount:
            return "0"
        unit = self._unit_of(amount)
        text = with_point(self._shown(amount) >> 10 * unit, self.decimals)
        strip = self.decimals and self.exact(amount) and amount not in self.alike
        return f"{text.rstrip('0').rstrip('.') if strip else text}{UNITS[unit]}"

    def exact(self, amount: int) -> bool:
        """Tell whether nothing is lost."""
        return self._shown(amount) == amount * self._scale

    def exact_for(self, amounts: Collection[int]) -> bool:
        """Tell whether nothing is lost of any of them."""
        return all(map(self.exact, amounts))

    def alike_of(self, amounts: Collection[int]) -> Iterator[int]:
        """List the exact ones that look like one that is not."""
        rounded = {self._shown(amount) for amount in amounts if not self.exact(amount)}
        return (amount for amount in amounts if self.exact(amount) and self._shown(amount) in rounded)

    def true(
        self,
        amounts: Collection[int],
        pairs: Collection[tuple[int, int]],
        parts: Sequence[int],
        sums: Mapping[int, Sequence[int]],
    ) -> bool:
        """Tell whether what is written is near to what it is, keeps the order of what is compared, and adds up."""
        shown = {amount: self._shown(amount) for amount in amounts}
        for amount, to in shown.items():
            if abs(to - amount * self._scale) * _CLOSE > abs(amount) * self._scale:
                return False
        if not all(self._in_order((one, shown[one]), (other, shown[other])) for one, other in pairs):
            return False
        if any(self._blurred(one, other) for one, other in pairs):
            return False
        total = sum(parts)
        if 2 * abs(sum(map(self._shown, parts)) - self._shown(total)) > 1 << 10 * self._unit_of(total):
            return False
        return all(self._adds_up(amount, terms) for amount, terms in sums.items())

    def _in_order(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Tell whether two (amount, what is written) look different as they are; of enough it may look just enough."""
        (less, less_shown), (more, more_shown) = sorted((one, other))
        enough = less not in self.down and more in self.down
        return less == more or less_shown < more_shown or (enough and less_shown == more_shown)

    def _blurred(self, one: int, other: int) -> bool:
        """Tell whether what is asked, rounded, differs from what there is by less than can be written."""
        asked = [amount for amount in (one, other) if amount not in self.down]
        if len(asked) != 1 or self.exact(asked[0]):
            return False
        return abs(one - other) * self._scale < 1 << 10 * self._unit_of(asked[0])

    def _adds_up(self, amount: int, terms: Sequence[int]) -> bool:
        """Tell whether a sum as it is written is that of its terms, and not far from what it is."""
        total, most = self._shown(amount), max(map(abs, (amount, *terms))) * self._scale
        if total & ((1 << 10 * self._unit_of(amount)) - 1):
            return False  # terms in a smaller unit: it would be cut off
        off = abs(total - amount * self._scale)
        return total == sum(map(self._shown, terms)) and (off < 1 << 10 * self.unit or off * _CLOSE_SUM <= most)

    @property
    def _scale(self) -> int:
        return int(10**self.decimals)

    def _unit_of(self, amount: int) -> int:
        return self.unit if _SMALL * abs(amount) >= 1 << 10 * self.unit else unit_of(amount, self.unit)

    def _shown(self, amount: int) -> int:
        """Return what is written of an amount, in bytes times the power of ten that the decimals are."""
        if amount in self.totals:
            return sum(map(self._shown, self.totals[amount]))
        if amount < 0:
            return -self._shown(-amount)
        unit = self._unit_of(amount)
        number = amount * self._scale
        return (number >> 10 * unit if amount in self.down else divided(number, unit)) << 10 * unit
