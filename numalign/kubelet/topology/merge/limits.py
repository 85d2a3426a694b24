"""The two kinds of limits that merging searches under: a mask in all pieces, and a mask that pieces can be ANDed to."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import accumulate
from operator import ge, mul

from numalign.kubelet.topology.hints import Demand, Piece, SocketAlignment
from numalign.values import NamedTuple

Missing = tuple[tuple[int, ...], int]
"""What each demand still lacks, and which marks are touched."""

SCALE = 1 << 60
"""A whole need, in `Member.shares`."""


class Member(NamedTuple):
    """The mask lies in every piece and, where asked, touches so many sockets."""

    weights: Sequence[Sequence[int]]
    """For each demand what each node has."""
    needs: tuple[int, ...]
    reach: Sequence[Sequence[Sequence[int]]]
    """`reach[d][i][k]`: the most that k of the first i nodes can add to demand d, every span counted at each node."""
    shares: tuple[int, ...]
    """What one unit of each demand counts in `reach_shares`: the more, the less is needed of it."""
    reach_shares: Sequence[Sequence[int]]
    """`reach` of all demands together: each alone may be within reach while all at once are not."""
    required: Sequence[bool]
    required_below: Sequence[int]
    marks: Sequence[int]
    """For each node the marks it touches. A mark is a span, a set to be touched, or a socket."""
    below: Sequence[int]
    """`below[i]`: the marks that the first i nodes can touch."""
    spans: Sequence[int]
    """For each demand the marks that add one."""
    touched: int
    """The marks that must be touched."""
    sockets: tuple[tuple[int, int], ...]
    """(marks, how many of them must be touched)."""

    def start(self) -> Missing:
        """Return the state before any decision."""
        return self.needs, 0

    def take(self, index: int, state: Missing) -> Missing:
        """Put a node into the mask."""
        missing, hit = state
        new = self.marks[index] & ~hit
        lacks = [lack - weights[index] for lack, weights in zip(missing, self.weights, strict=True)]
        if new:
            lacks = [lack - (new & spans).bit_count() for lack, spans in zip(lacks, self.spans, strict=True)]
        return tuple([lack if lack > 0 else 0 for lack in lacks]), hit | new

    def leave(self, index: int, state: Missing) -> Missing | None:
        """Leave a node out."""
        return None if self.required[index] else state

    def hopeful(self, index: int, wanted: int, state: Missing) -> bool:
        """Tell whether `wanted` of the first `index` nodes may give what is missing."""
        missing, hit = state
        if wanted > index or self.required_below[index] > wanted:
            return False
        for lack, reach in zip(missing, self.reach, strict=True):
            if reach[index][wanted] < lack:
                return False
        if len(missing) > 1 and self.reach_shares[index][wanted] < sum(map(mul, missing, self.shares)):
            return False
        untouched = self.touched & ~hit
        if untouched and (not wanted or untouched & ~self.below[index]):
            return False
        for marks, number in self.sockets:
            now = (marks & hit).bit_count()
            possible = (marks & ~hit & self.below[index]).bit_count() if wanted else 0
            if not now <= number <= now + possible:
                return False
        return True


def member(
    pieces: Sequence[Piece], order: Sequence[int], width: int, sockets: Sequence[SocketAlignment] = ()
) -> Member:
    """Prepare the search for masks of `width` of the nodes `order` that lie in all pieces."""
    required = 0
    for piece in pieces:
        required |= piece.required
    demands = list(dict.fromkeys(demand for piece in pieces for demand in piece.demands))
    marks: list[int] = []
    spans = []
    for demand in demands:
        spans.append(((1 << len(demand.spans)) - 1) << len(marks))
        marks += demand.spans
    must_touch = [other for piece in pieces for other in piece.touched]
    touched = ((1 << len(must_touch)) - 1) << len(marks)
    marks += must_touch
    counted = []
    for alignment in sockets:
        counted.append((((1 << len(alignment.sockets)) - 1) << len(marks), alignment.width))
        marks += alignment.sockets
    of_node = [sum(1 << index for index, mark in enumerate(marks) if mark >> node & 1) for node in order]
    weights = [[_weight(demand, node) for node in order] for demand in demands]
    most = [
        [weight + (here & of_demand).bit_count() for weight, here in zip(row, of_node, strict=True)]
        for row, of_demand in zip(weights, spans, strict=True)
    ]
    shares = tuple([SCALE // demand.need if demand.need > 0 else 0 for demand in demands])
    together = [sum(map(mul, of_one, shares)) for of_one in zip(*most, strict=True)] if demands else [0] * len(order)
    is_required = [bool(required >> node & 1) for node in order]
    return Member(
        weights=weights,
        needs=tuple([max(0, demand.need) for demand in demands]),
        reach=[_reach(row, width) for row in most],
        shares=shares,
        reach_shares=_reach(together, width),
        required=is_required,
        required_below=list(accumulate(is_required, initial=0)),
        marks=of_node,
        below=list(accumulate(of_node, lambda one, other: one | other, initial=0)),
        spans=spans,
        touched=touched,
        sockets=tuple(counted),
    )


def _weight(demand: Demand, node: int) -> int:
    return demand.weights[node] if node < len(demand.weights) else 0


def _reach(weights: Sequence[int], width: int) -> list[list[int]]:
    """`reach[i][k]`: the most that k of the first i nodes can have."""
    largest: list[int] = []  # negated, ascending
    rows = [[0] * (width + 1)]
    for weight in weights:
        insort(largest, -weight)
        del largest[width:]
        sums = [-total for total in accumulate(largest, initial=0)]
        rows.append(sums + [sums[-1]] * (width + 1 - len(sums)))
    return rows


Ways = frozenset[tuple[int, ...]]

FEW = 100
"""So many ways are compared each with each."""


class Meet(NamedTuple):
    """The mask is the AND of one mask of each piece.

    Every common node outside it must be left out of one of the pieces: a state is the set of ways in which that was
    done so far. A way is what each demand has left over; where that does not tell all (spans, sets to be touched), it
    is the mask of each piece.
    """

    pieces: Sequence[Piece]
    order: Sequence[int]
    plain: bool
    """A way is what is left over: one entry a demand, piece by piece."""
    costs: Sequence[Sequence[Sequence[int] | None]]
    """For each node and piece what leaving the node out costs each demand; None: the piece requires the node."""
    starts: Sequence[int]
    """For each piece where its entries in a way begin."""
    cheapest: Sequence[Sequence[Sequence[Sequence[int]]]]
    """`cheapest[p][d][i][k]`: what it costs demand d of piece p at least to leave k of the first i nodes out."""

    def start(self) -> Ways:
        """Return the state before any decision: every piece has all of its nodes."""
        if not self.plain:
            return frozenset([tuple([piece.nodes for piece in self.pieces])])
        spare = [
            sum(weight for node, weight in enumerate(demand.weights) if piece.nodes >> node & 1) - demand.need
            for piece in self.pieces
            for demand in piece.demands
        ]
        return frozenset([tuple(spare)])

    def take(self, index: int, state: Ways) -> Ways:  # noqa: ARG002
        """Put a node into the mask: no piece leaves it out."""
        return state

    def leave(self, index: int, state: Ways) -> Ways | None:
        """Let one of the pieces leave the node out, in every way that keeps its mask a member."""
        ways: set[tuple[int, ...]] = set()
        bit = 1 << self.order[index]
        for position, costs in enumerate(self.costs[index]):
            if costs is None:
                continue
            if not self.plain:
                piece = self.pieces[position]
                for way in state:
                    if piece.has(way[position] & ~bit):
                        ways.add((*way[:position], way[position] & ~bit, *way[position + 1 :]))
                continue
            if not any(costs):
                return state
            first = self.starts[position]
            last = first + len(costs)
            for way in state:
                left = tuple([one - cost for one, cost in zip(way[first:last], costs, strict=True)])
                if min(left) >= 0:
                    ways.add((*way[:first], *left, *way[last:]))
        if not ways:
            return None
        return _best_ways(ways) if self.plain else frozenset(ways)

    def hopeful(self, index: int, wanted: int, state: Ways) -> bool:
        """Tell whether the pieces may leave out all but `wanted` of the first `index` nodes."""
        out = index - wanted
        if out <= 0:
            return out == 0
        if not self.plain:
            return True
        for way in state:
            possible = 0
            for first, of_piece in zip(self.starts, self.cheapest, strict=True):
                possible += min(bisect_right(sums[index], way[first + d]) - 1 for d, sums in enumerate(of_piece))
                if possible >= out:
                    return True
        return False


def meet(pieces: Sequence[Piece], order: Sequence[int]) -> Meet:
    """Prepare the search for masks to which one member of each piece can be ANDed; `order`: the common nodes."""
    # A piece without demands can leave out what it does not require, at no cost.
    pieces = [piece if piece.demands else piece._replace(demands=(Demand((), 0),)) for piece in pieces]
    kept = [[bool(piece.required >> node & 1) for node in order] for piece in pieces]
    weights = [[[_weight(demand, node) for node in order] for demand in piece.demands] for piece in pieces]
    return Meet(
        pieces=pieces,
        order=order,
        plain=not any(piece.touched or any(demand.spans for demand in piece.demands) for piece in pieces),
        costs=[
            [
                None if of_piece[index] else tuple([row[index] for row in rows])
                for of_piece, rows in zip(kept, weights, strict=True)
            ]
            for index in range(len(order))
        ],
        starts=list(accumulate([len(piece.demands) for piece in pieces[:-1]], initial=0)),
        cheapest=[[_cheapest(row, of_piece) for row in rows] for of_piece, rows in zip(kept, weights, strict=True)],
    )


def _cheapest(costs: Sequence[int], kept: Sequence[bool]) -> list[list[int]]:
    """`[i][k]`: the least that leaving out k of the first i nodes costs."""
    ascending: list[int] = []
    rows = [[0]]
    for cost, keep in zip(costs, kept, strict=True):
        if not keep:
            insort(ascending, cost)
        rows.append(list(accumulate(ascending, initial=0)))
    return rows


def _best_ways(ways: set[tuple[int, ...]]) -> Ways:
    """Drop ways that another one beats: who has more left over in every demand can leave more out later."""
    if len(ways) < 2:
        return frozenset(ways)
    dimensions = range(len(next(iter(ways))))
    pivot = max(dimensions, key=lambda d: len({way[d] for way in ways}))
    most: dict[tuple[int, ...], int] = {}
    for way in ways:
        rest = way[:pivot] + way[pivot + 1 :]
        most[rest] = max(most.get(rest, 0), way[pivot])
    found = [(*rest[:pivot], value, *rest[pivot:]) for rest, value in most.items()]
    if len(found) > FEW:
        return frozenset(found)
    return frozenset(way for way in found if not any(other != way and all(map(ge, other, way)) for other in found))


def leaves_out(pieces: Sequence[Piece], common: int, mask: int) -> bool:
    """Tell whether the common nodes outside a mask can be left out in one of a few simple ways.

    In each, one piece after the other leaves out as many as it can, its cheapest first. False does not mean that it
    cannot be done.
    """
    out = [1 << node for node in range(common.bit_length()) if (common & ~mask) >> node & 1]
    return any(_one_after_the_other((*pieces[first:], *pieces[:first]), out) for first in range(len(pieces)))


def _one_after_the_other(pieces: Sequence[Piece], out: list[int]) -> bool:
    for piece in pieces:
        members = piece.nodes
        everything = members & ~sum(out)
        if piece.has(everything):
            return True
        still = []
        for bit in sorted(out, key=lambda bit: [_weight(demand, bit.bit_length() - 1) for demand in piece.demands]):
            if piece.has(members & ~bit):
                members &= ~bit
            else:
                still.append(bit)
        out = still
    return not out
