"""Amounts as they are written beside each other, and why nodes that lie apart were chosen, in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, product
from operator import or_
from typing import TYPE_CHECKING

from numalign.model.resources import is_bytes
from numalign.model.words import few_of
from numalign.render.text.amounts import (
    LONG,
    MAX_IDS_NAMED,
    UNITS,
    amount_text,
    divided,
    listed,
    nodes_text,
    unit_of,
    with_point,
)
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.apart import Apart, Chosen, Tied, Wanted
    from numalign.results.admit import ContainerResult


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


def apart_text(container: ContainerResult, newcomers: Sequence[str]) -> str:
    """Go on about a container that is spread: which nodes were chosen for it, and why; empty: that is not known."""
    found = container.apart
    if found is None:
        return ""
    if found.nodes is None:
        return ", as policy none chooses no nodes" if found.policy == "none" else ", as no nodes were chosen"
    several = found.nodes & (found.nodes - 1)
    whom = " for the whole pod" * found.whole_pod
    large = f", which asks for {_amounts(found.why.large)}," if found.why.large else ""
    why = "; ".join(_why_chosen(found.why, container.alignment.least))
    text = f", as {nodes_text(found.nodes)} {'were' if several else 'was'} chosen{whom}{large}{f' ({why})' * bool(why)}"
    if found.outside and found.never == found.outside:
        text += f" and never {'have' if several else 'has'} enough {listed(found.outside)}"
    elif found.outside:
        text += f" and {'have' if several else 'has'} too little {listed(found.outside)} free"
        text += f" once {few_of(newcomers, MAX_IDS_NAMED)} {_are(len(newcomers))} there" * bool(newcomers)
    if found.outside:
        places = reduce(or_, (container.alignment.places[name] for name in found.outside))
        what = "the rest" if places & found.nodes else "it"
        rest = f", so {what} comes from {nodes_text(places & ~found.nodes)}"
        text += f"{rest}{f' (and {listed(found.along)} with it)' if found.along else ''}" * bool(places & ~found.nodes)
    elif found.first:
        text = f"{text.removesuffix(',')}, and {'; '.join(_first(found.first))}"
    if found.by_socket:
        return f"{text.removesuffix(',')}, and option align-by-socket takes CPUs of the whole socket"
    inside = several and container.alignment.remote and not (found.outside or found.first)
    return f"{text} and each resource may come from any of them" if inside else text.removesuffix(",")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _first(every: Sequence[Tied]) -> Iterator[str]:
    """Say what comes from elsewhere, as init containers left it there."""
    there: dict[tuple[str, ...], dict[str, int]] = {}
    for one in every:
        nodes = there.setdefault(one.containers, {})
        nodes[one.resource] = nodes.get(one.resource, 0) | one.nodes
    for containers, places in there.items():
        what = listed([f"{name} on {nodes_text(nodes)}" for name, nodes in places.items()])
        yield f"what {listed(containers)} left of {what} is handed out first"


def unused_text(found: Apart) -> Iterator[str]:
    """Say of what init containers left, and the container has none of, why it need not have it."""
    for (nodes, containers), names in _by_place(found.unused).items():
        among = not nodes & ~(found.nodes or 0)
        these = "these nodes were not all" if nodes & (nodes - 1) else "that node was not"
        why = ": it may lie on any of the chosen nodes" if among else f", as {these} chosen"
        yield f"what {listed(containers)} left of {listed(names)} on {nodes_text(nodes)} is not used{why}"


def _by_place(every: Sequence[Tied]) -> dict[tuple[int, tuple[str, ...]], list[str]]:
    """Put resources together that the same init containers left on the same nodes."""
    there: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for one in every:
        there.setdefault((one.nodes, one.containers), []).append(one.resource)
    return there


def _why_chosen(why: Chosen, least: int) -> Iterator[str]:
    """Say why no fewer nodes were chosen."""
    few = "no node alone" if least == 1 else f"no {least} nodes"
    left = _by_place(why.tied).items()
    taken = [f"{nodes_text(nodes)}, as {listed(by)} left {listed(names)} there" for (nodes, by), names in left]
    if taken:
        yield f"its nodes must include {listed(taken)}"
    if why.scarce:
        yield f"{few} had {_amounts(why.scarce)} free"
    held = f"memory is held already on {listed(list(map(_held, why.groups)))}"
    if why.groups and all(mask & (mask - 1) for mask in why.groups):
        only = "these are used only together" if len(why.groups) == 1 else "each of these is used only as a whole"
        yield f"{held}, so {only}"
    elif why.held or why.clash:
        what = f"{_amounts(why.held)} free" if why.held else "all of it free"
        yield f"{few} that may be combined had {what}: {held}" if why.groups else f"{few} had {what}"


def _held(group: int) -> str:
    """Name nodes whose memory is held: `node 0 alone`, `nodes 1-2 together`."""
    return f"{nodes_text(group)} {'together' if group & (group - 1) else 'alone'}"


def _amounts(every: Sequence[Wanted]) -> str:
    return listed([f"{amount_text(one.resource, one.requested)} {one.resource}" for one in every])
