"""Finding the best set of k nodes under limits: the closest one, then the smallest integer.

Both searches go through the nodes from the highest down and try to leave a node out before they take it, so that of
equally close masks the first one found is the smallest integer. Nodes that look alike lead to equal states, and a state
is solved once: that keeps machines of 64 nodes with few kinds of nodes and few different distances quick.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate
from typing import Final, Generic, Protocol, TypeVar

from numalign.kubelet.errors import KubeletHangError
from numalign.kubelet.topology.merge.lists import NUMAInfo
from numalign.model.cpuset import NUMAMask
from numalign.values import NamedTuple

MAX_STEPS: Final = 150_000
"""How many states a search solves at most, some seconds' worth. Machines that were built stay far below, also those of
64 nodes; it takes dozens of nodes without any order in their distances to get there. The kubelet, which looks at every
set of nodes, does not come back on those."""

BEYOND_ANY_DISTANCE: Final = 1 << 62
"""More than any sum of distances."""

State = TypeVar("State", bound=Hashable)


class Limits(Protocol[State]):
    """What makes a mask acceptable, asked node by node. `index` counts the nodes not decided yet, from the lowest."""

    def start(self) -> State:
        """Return the state before any decision."""

    def take(self, index: int, state: State) -> State | None:
        """Put node `index` into the mask; None: that is not acceptable."""

    def leave(self, index: int, state: State) -> State | None:
        """Leave node `index` out; None: that is not acceptable."""

    def hopeful(self, index: int, wanted: int, state: State) -> bool:
        """Tell whether taking `wanted` of the first `index` nodes, no more, may do. Exact when `index` is 0."""


class Anything(NamedTuple):
    """No limits: every mask is acceptable."""

    def start(self) -> tuple[()]:
        """Nothing is to be remembered."""
        return ()

    def take(self, index: int, state: tuple[()]) -> tuple[()]:  # noqa: ARG002
        """Any node may be in."""
        return state

    def leave(self, index: int, state: tuple[()]) -> tuple[()]:  # noqa: ARG002
        """Any node may be out."""
        return state

    def hopeful(self, index: int, wanted: int, state: tuple[()]) -> bool:  # noqa: ARG002
        """Any nodes may do."""
        return True


def lowest(order: Sequence[int], width: int, limits: Limits[State]) -> NUMAMask | None:
    """Return the smallest integer that is an acceptable mask of `width` of the nodes, or None.

    Args:
        order: the nodes, ascending.
        width: how many of them to take.
        limits: what is acceptable.

    Raises:
        KubeletHangError: see `MAX_STEPS`.
    """
    dead: set[tuple[int, int, State]] = set()
    steps = _steps(len(order))

    def descend(index: int, wanted: int, state: State) -> int | None:
        if not limits.hopeful(index, wanted, state):
            return None
        if index == 0:
            return 0
        key = (index, wanted, state)
        if key in dead:
            return None
        next(steps)
        if wanted < index:
            left = limits.leave(index - 1, state)
            found = None if left is None else descend(index - 1, wanted, left)
            if found is not None:
                return found
        if wanted:
            taken = limits.take(index - 1, state)
            found = None if taken is None else descend(index - 1, wanted - 1, taken)
            if found is not None:
                return found | 1 << order[index - 1]
        dead.add(key)
        return None

    return descend(len(order), width, limits.start())


def closest(
    order: Sequence[int], width: int, limits: Limits[State], numa: NUMAInfo, holds: Callable[[NUMAMask], bool]
) -> NUMAMask | None:
    """Return the acceptable mask of `width` nodes with the least sum of distances, of several the smallest integer.

    Args:
        order: the nodes, ascending.
        width: how many of them to take.
        limits: what is acceptable.
        numa: with distances.
        holds: tells of a whole mask that it is acceptable; it may miss some.

    Raises:
        KubeletHangError: see `MAX_STEPS`.
    """
    rows = numa.distances or {}
    pairs = [[rows[i][j] + rows[j][i] for j in order] for i in order]
    alone = tuple([row[index] // 2 for index, row in enumerate(pairs)])
    masks = _grown(order, width, pairs)
    reached = min((numa.distance(mask) for mask in masks if holds(mask)), default=BEYOND_ANY_DISTANCE)
    search = _Closest(order, pairs, limits)
    found = search.solve(len(order), width, limits.start(), alone, reached + 1)
    return None if found is None else found[1]


class _Closest(Generic[State]):
    """One search for the closest mask, and what it has found out so far."""

    def __init__(self, order: Sequence[int], pairs: Sequence[Sequence[int]], limits: Limits[State]) -> None:
        """Begin.

        Args:
            order: the nodes, ascending.
            pairs: the distance of two nodes, there and back, by their places in `order`.
            limits: what is acceptable.
        """
        self._order = order
        self._pairs = pairs
        self._limits = limits
        self._solved: dict[Hashable, tuple[int, int]] = {}
        self._hopeless: dict[Hashable, int] = {}
        self._companions: dict[int, list[list[int]]] = {}
        self._steps = _steps(len(order))

    def solve(
        self, index: int, wanted: int, state: State, cost: tuple[int, ...], budget: int
    ) -> tuple[int, int] | None:
        """Return (what is added to the distance, nodes) of the best way to go on that adds less than `budget`.

        `cost[j]` is what node j would add with the nodes taken so far.
        """
        if not self._limits.hopeful(index, wanted, state):
            return None
        if index == 0:
            return 0, 0
        if wanted == 0:
            cost = ()
        elif self._at_least(index, wanted, cost) >= 2 * budget:
            return None
        key = (index, wanted, state, cost)
        known = self._solved.get(key)
        if known is not None:
            return known if known[0] < budget else None
        if self._hopeless.get(key, 0) >= budget:
            return None
        next(self._steps)
        best = self._branch(index - 1, wanted, state, cost, budget)
        if best is None:
            self._hopeless[key] = budget
        else:
            self._solved[key] = best
        return best

    def _branch(
        self, last: int, wanted: int, state: State, cost: tuple[int, ...], budget: int
    ) -> tuple[int, int] | None:
        """Leave node `last` out, then take it: the first of two equally good ways is the smaller integer."""
        best = None
        if wanted <= last:
            left = self._limits.leave(last, state)
            best = None if left is None else self.solve(last, wanted, left, cost[:last], budget)
            budget = budget if best is None else best[0]
        if not wanted:
            return best
        row = self._pairs[last]
        dearer = tuple([cost[j] + row[j] for j in range(last)])
        taken = self._limits.take(last, state)
        found = None if taken is None else self.solve(last, wanted - 1, taken, dearer, budget - cost[last])
        return best if found is None else (found[0] + cost[last], found[1] | 1 << self._order[last])

    def _at_least(self, index: int, wanted: int, cost: Sequence[int]) -> int:
        """Return twice the least that `wanted` nodes can add: a pair is shared by two nodes."""
        sums = self._companions.get(index)
        if sums is None:
            sums = self._companions[index] = self._sums(index)
        return sum(sorted([2 * own + near[wanted - 1] for own, near in zip(cost, sums, strict=True)])[:wanted])

    def _sums(self, index: int) -> list[list[int]]:
        """For each of the first `index` nodes the sums over its nearest ones among them."""
        return [
            list(accumulate(sorted(row[j] for j in range(index) if j != i), initial=0))
            for i, row in enumerate(self._pairs[:index])
        ]


def _steps(nodes: int) -> Iterator[int]:
    yield from range(MAX_STEPS)
    raise KubeletHangError(f"the Topology Manager looks at every set of {nodes} NUMA nodes")


def _grown(order: Sequence[int], width: int, pairs: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield the masks that grow from each node by adding the nearest one: good ones, early."""
    for seed in range(len(order)):
        mask = 1 << order[seed]
        cost = {j: pairs[seed][j] for j in range(len(order)) if j != seed}
        for _ in range(width - 1):
            nearest = min(cost, key=lambda j: (cost[j], j))
            del cost[nearest]
            mask |= 1 << order[nearest]
            row = pairs[nearest]
            for j in cost:
                cost[j] += row[j]
        yield mask
