"""The strategy LeastNUMANodes: the fewer and the closer the NUMA nodes, the better (docs/rules/scheduling.md 2.4).

The public plugin walks through every combination of zones. Here a combination is left as soon as its first zones show
that it cannot win, so machines with 16 zones and more stay quick; the winner is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numalign.scheduler.nrt.value import UNKNOWN_COST, NUMAZone, TopologyManagerConfig
from numalign.scheduler.request import Items, PodRequest, effective
from numalign.scheduler.resources import is_affine
from numalign.scheduler.verdict import MAX_SCORE
from numalign.values import NamedTuple


class SmallestSet(NamedTuple):
    """The fewest zones that hold a set of requests."""

    positions: tuple[int, ...]
    """Positions in the list of zones, ascending."""
    optimal: bool
    """Whether no other combination of as many zones is closer together."""


def score(zones: Sequence[NUMAZone], config: TopologyManagerConfig, pod: PodRequest) -> int:
    """Score a machine for a Guaranteed pod (L-1, L-2, L-3, L-8)."""
    if config.scope == "pod":
        parts: list[Items] = [tuple(sorted(effective(pod).items()))]
    else:
        parts = [container.items for container in pod.containers]
    widest, optimal = 0, True
    for items in parts:
        if in_no_zone(zones, items):
            continue
        found = smallest_set(zones, items, guaranteed=pod.guaranteed)
        if found is None:
            return 0
        widest = max(widest, len(found.positions))
        optimal = optimal and found.optimal
        if config.scope != "pod":
            zones = take(zones, items, found.positions)
    return normalize(widest, config.max_numa_nodes, optimal=optimal) if widest else MAX_SCORE


def normalize(size: int, max_numa_nodes: int, *, optimal: bool) -> int:
    """Turn the size of a set into a score (L-8)."""
    unit = MAX_SCORE // max_numa_nodes
    return MAX_SCORE - size * unit + (unit // 2 if optimal else 0)


def in_no_zone(zones: Sequence[NUMAZone], items: Items) -> bool:
    """Tell whether no zone lists any of the names (L-1, L-2)."""
    return not any(name in zone.available for zone in zones for name, _ in items)


def smallest_set(zones: Sequence[NUMAZone], items: Items, *, guaranteed: bool) -> SmallestSet | None:
    """Find the smallest set of zones that holds the requests, and of these the closest together (L-4 to L-6)."""
    costs = [[zone.costs.get(other.id, UNKNOWN_COST) for other in zones] for zone in zones]
    candidates = [place for place, zone in enumerate(zones) if all(name in zone.available for name, _ in items)]
    wanted = [(name, amount) for name, amount in items if guaranteed or not is_affine(name)]
    for size in range(1, len(candidates) + 1):
        if not _can_fit(zones, candidates, wanted, size):
            continue
        found = _closest(costs, candidates, size, _holds(zones, candidates, wanted))
        if found is not None:
            distance, places = found
            return SmallestSet(tuple(candidates[place] for place in places), distance == least_distance(costs, size))
    return None


def _can_fit(
    zones: Sequence[NUMAZone], candidates: Sequence[int], wanted: Sequence[tuple[str, int]], size: int
) -> bool:
    """Tell whether the `size` fullest zones of each resource would do: if not, no set of that size does."""
    return all(
        sum(sorted((zones[place].available[name] for place in candidates), reverse=True)[:size]) >= amount
        for name, amount in wanted
    )


def _holds(
    zones: Sequence[NUMAZone], candidates: Sequence[int], wanted: Sequence[tuple[str, int]]
) -> Callable[[Sequence[int]], bool]:
    """Return the question whether a set of candidates holds together what is wanted (L-5)."""
    frees = [([zones[place].available[name] for place in candidates], amount) for name, amount in wanted]
    return lambda picked: all(sum([free[place] for place in picked]) >= amount for free, amount in frees)


def least_distance(costs: Sequence[Sequence[int]], size: int) -> int:
    """Return the smallest distance of any set of that size: the sum of all costs within it."""
    found = _closest(costs, range(len(costs)), size, lambda _: True)
    return found[0] if found else 0


def _closest(
    costs: Sequence[Sequence[int]], candidates: Sequence[int], size: int, fits: Callable[[Sequence[int]], bool]
) -> tuple[int, tuple[int, ...]] | None:
    """Find the fitting set with the smallest distance, the first in lexicographic order on ties (L-6).

    Sets grow member by member. One is given up where its distance so far, and the least that its missing members can
    add, reach the best that was found: a later set must be strictly closer to win.

    Returns:
        The distance and the positions in `candidates`.
    """
    own = min(costs[node][node] for node in candidates)
    other = min((costs[node][peer] for node in candidates for peer in candidates if node != peer), default=0)
    best: tuple[int, tuple[int, ...]] | None = None
    stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while stack:
        distance, picked = stack.pop()
        missing = size - len(picked)
        least = distance + missing * own + (size * size - len(picked) ** 2 - missing) * other
        if best is not None and least >= best[0]:
            continue
        if not missing:
            if fits(picked):
                best = distance, picked
            continue
        first = picked[-1] + 1 if picked else 0
        for place in range(len(candidates) - missing, first - 1, -1):
            row = costs[candidates[place]]
            more = row[candidates[place]]
            for peer in picked:
                more += row[candidates[peer]] + costs[candidates[peer]][candidates[place]]
            stack.append((distance + more, (*picked, place)))
    return best


def take(zones: Sequence[NUMAZone], items: Items, positions: Sequence[int]) -> tuple[NUMAZone, ...]:
    """Take requests out of a set of zones in ascending id, each resource spilling over to the next (L-7)."""
    left = [dict(zone.available) for zone in zones]
    for name, amount in items:
        for place in sorted(positions, key=lambda one: zones[one].id):
            if amount and name in left[place]:
                taken = min(amount, left[place][name])
                left[place][name] -= taken
                amount -= taken
    return tuple([zone._replace(available=available) for zone, available in zip(zones, left, strict=True)])
