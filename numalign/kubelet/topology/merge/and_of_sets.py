"""Limits of the search for a mask that one member of each set can be ANDed to (docs/rules/topology-manager.md 12.5)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import accumulate
from operator import ge

from numalign.kubelet.topology.hints import AtLeast, MaskSet
from numalign.model.cpuset import NUMAMask
from numalign.values import NamedTuple

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
                    left_over = way[position] & ~bit
                    if mask_set.has(left_over):
                        ways.add(tuple([left_over if at == position else one for at, one in enumerate(way)]))
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
    weights = [[[condition.weight(node) for node in order] for condition in mask_set.conditions] for mask_set in sets]
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
            out, key=lambda bit: [condition.weight(bit.bit_length() - 1) for condition in mask_set.conditions]
        ):
            if mask_set.has(members & ~bit):
                members &= ~bit
            else:
                still.append(bit)
        out = still
    return not out
