"""The two kinds of limits that merging searches under: a mask in all sets, and a mask that sets can be ANDed to.

Of preferred hints only one common mask can win, so the first kind decides among them: "the smallest integer m with
|m| = s, ∪R_i ⊆ m ⊆ ∩N_i and Σ_{m} f_i ≥ r_i for all i" (docs/rules/topology-manager.md 12.5).

Example: nodes 0 to 3 have 2, 0, 3 and 4 free GPUs and 8, 8, 2 and 8 free CPUs; a container asks for 4 GPUs and 10 CPUs,
and masks of two nodes are preferred. The search goes from the highest node down and leaves a node out while that is
hopeful. Node 3 is left out: the two best of nodes 0 to 2 still have 5 GPUs and 16 CPUs. Node 2 is taken, since nodes 0
and 1 have 2 GPUs; 1 GPU and 8 CPUs are lacking then. Node 1 is left out, node 0 taken, nothing is lacking: 0b0101.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import accumulate
from operator import ge, mul

from numalign.kubelet.topology.hints import AtLeast, MaskSet, SocketAlignment
from numalign.model.cpuset import NUMAMask
from numalign.values import NamedTuple

Missing = tuple[tuple[int, ...], int]
"""What each condition still lacks, and which marks are touched."""

WHOLE_NEED = 1 << 60
"""A whole need, in `InEverySet.shares`."""


class InEverySet(NamedTuple):
    """The mask lies in every set and, where asked, touches so many sockets."""

    weights: Sequence[Sequence[int]]
    """For each condition what each node has."""
    needs: tuple[int, ...]
    reach: Sequence[Sequence[Sequence[int]]]
    """`reach[d][i][k]`: the most that k of the first i nodes can add to condition d, every span counted at each."""
    shares: tuple[int, ...]
    """What one unit of each condition counts in `reach_shares`: the more, the less is needed of it."""
    reach_shares: Sequence[Sequence[int]]
    """`reach` of all conditions together: each alone may be within reach while all at once are not."""
    required: Sequence[bool]
    required_below: Sequence[int]
    marks: Sequence[int]
    """For each node the marks it touches. A mark is a span, a set to be touched, or a socket."""
    below: Sequence[int]
    """`below[i]`: the marks that the first i nodes can touch."""
    spans: Sequence[int]
    """For each condition the marks that add one."""
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


def in_every_set(
    sets: Sequence[MaskSet], order: Sequence[int], width: int, sockets: Sequence[SocketAlignment] = ()
) -> InEverySet:
    """Prepare the search for masks of `width` of the nodes `order` that lie in all sets."""
    required = 0
    for mask_set in sets:
        required |= mask_set.required
    conditions = list(dict.fromkeys(condition for mask_set in sets for condition in mask_set.conditions))
    marks: list[int] = []
    spans = []
    for condition in conditions:
        spans.append(((1 << len(condition.spans)) - 1) << len(marks))
        marks += condition.spans
    must_touch = [other for mask_set in sets for other in mask_set.touched]
    touched = ((1 << len(must_touch)) - 1) << len(marks)
    marks += must_touch
    counted = []
    for alignment in sockets:
        counted.append((((1 << len(alignment.sockets)) - 1) << len(marks), alignment.width))
        marks += alignment.sockets
    of_node = [sum(1 << index for index, mark in enumerate(marks) if mark >> node & 1) for node in order]
    weights = [[_weight(condition, node) for node in order] for condition in conditions]
    most = [
        [weight + (here & of_condition).bit_count() for weight, here in zip(row, of_node, strict=True)]
        for row, of_condition in zip(weights, spans, strict=True)
    ]
    shares = tuple([WHOLE_NEED // condition.need if condition.need > 0 else 0 for condition in conditions])
    together = [sum(map(mul, of_one, shares)) for of_one in zip(*most, strict=True)] if conditions else [0] * len(order)
    is_required = [bool(required >> node & 1) for node in order]
    return InEverySet(
        weights=weights,
        needs=tuple([max(0, condition.need) for condition in conditions]),
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


def _weight(condition: AtLeast, node: int) -> int:
    return condition.weights[node] if node < len(condition.weights) else 0


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

MAX_WAYS_COMPARED = 100
"""Up to this number ways are compared each with each."""


class AndOfSets(NamedTuple):
    """The mask is the AND of one mask of each set.

    Every common node outside it must be left out of one of the sets: a state is the set of ways in which that was
    done so far. A way is what each condition has left over; where that does not tell all (spans, nodes to be touched),
    it is the mask of each set.
    """

    sets: Sequence[MaskSet]
    order: Sequence[int]
    plain: bool
    """A way is what is left over: one entry a condition, set by set."""
    costs: Sequence[Sequence[Sequence[int] | None]]
    """For each node and set what leaving the node out costs each condition; None: the set requires the node."""
    starts: Sequence[int]
    """For each set where its entries in a way begin."""
    cheapest: Sequence[Sequence[Sequence[Sequence[int]]]]
    """`cheapest[p][d][i][k]`: what it costs condition d of set p at least to leave k of the first i nodes out."""

    def start(self) -> Ways:
        """Return the state before any decision: every set has all of its nodes."""
        if not self.plain:
            return frozenset([tuple([mask_set.nodes for mask_set in self.sets])])
        spare = [
            sum(weight for node, weight in enumerate(condition.weights) if mask_set.nodes >> node & 1) - condition.need
            for mask_set in self.sets
            for condition in mask_set.conditions
        ]
        return frozenset([tuple(spare)])

    def take(self, index: int, state: Ways) -> Ways:  # noqa: ARG002
        """Put a node into the mask: no set leaves it out."""
        return state

    def leave(self, index: int, state: Ways) -> Ways | None:
        """Let one of the sets leave the node out, in every way that keeps its mask a member."""
        ways: set[tuple[int, ...]] = set()
        bit = 1 << self.order[index]
        for position, costs in enumerate(self.costs[index]):
            if costs is None:
                continue
            if not self.plain:
                mask_set = self.sets[position]
                for way in state:
                    if mask_set.has(way[position] & ~bit):
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
        """Tell whether the sets may leave out all but `wanted` of the first `index` nodes."""
        out = index - wanted
        if out <= 0:
            return out == 0
        if not self.plain:
            return True
        for way in state:
            possible = 0
            for first, of_set in zip(self.starts, self.cheapest, strict=True):
                possible += min(bisect_right(sums[index], way[first + d]) - 1 for d, sums in enumerate(of_set))
                if possible >= out:
                    return True
        return False


def and_of_sets(sets: Sequence[MaskSet], order: Sequence[int]) -> AndOfSets:
    """Prepare the search for masks to which one member of each set can be ANDed; `order`: the common nodes."""
    # A set without conditions can leave out what it does not require, at no cost.
    sets = [mask_set if mask_set.conditions else mask_set._replace(conditions=(AtLeast((), 0),)) for mask_set in sets]
    kept = [[bool(mask_set.required >> node & 1) for node in order] for mask_set in sets]
    weights = [[[_weight(condition, node) for node in order] for condition in mask_set.conditions] for mask_set in sets]
    return AndOfSets(
        sets=sets,
        order=order,
        plain=not any(
            mask_set.touched or any(condition.spans for condition in mask_set.conditions) for mask_set in sets
        ),
        costs=[
            [
                None if of_set[index] else tuple([row[index] for row in rows])
                for of_set, rows in zip(kept, weights, strict=True)
            ]
            for index in range(len(order))
        ],
        starts=list(accumulate([len(mask_set.conditions) for mask_set in sets[:-1]], initial=0)),
        cheapest=[[_cheapest(row, of_set) for row in rows] for of_set, rows in zip(kept, weights, strict=True)],
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
    """Drop ways that another one beats: who has more left over in every condition can leave more out later."""
    if len(ways) < 2:
        return frozenset(ways)
    dimensions = range(len(next(iter(ways))))
    pivot = max(dimensions, key=lambda d: len({way[d] for way in ways}))
    most: dict[tuple[int, ...], int] = {}
    for way in ways:
        rest = way[:pivot] + way[pivot + 1 :]
        most[rest] = max(most.get(rest, 0), way[pivot])
    found = [(*rest[:pivot], value, *rest[pivot:]) for rest, value in most.items()]
    if len(found) > MAX_WAYS_COMPARED:
        return frozenset(found)
    return frozenset(way for way in found if not any(other != way and all(map(ge, other, way)) for other in found))


def leaves_out(sets: Sequence[MaskSet], common: NUMAMask, mask: NUMAMask) -> bool:
    """Tell whether the common nodes outside a mask can be left out in one of a few simple ways.

    In each, one set after the other leaves out as many as it can, its cheapest first. False does not mean that it
    cannot be done.
    """
    out = [1 << node for node in range(common.bit_length()) if (common & ~mask) >> node & 1]
    return any(_one_after_the_other((*sets[first:], *sets[:first]), out) for first in range(len(sets)))


def _one_after_the_other(sets: Sequence[MaskSet], out: list[int]) -> bool:
    for mask_set in sets:
        members = mask_set.nodes
        everything = members & ~sum(out)
        if mask_set.has(everything):
            return True
        still = []
        for bit in sorted(
            out, key=lambda bit: [_weight(condition, bit.bit_length() - 1) for condition in mask_set.conditions]
        ):
            if mask_set.has(members & ~bit):
                members &= ~bit
            else:
                still.append(bit)
        out = still
    return not out
