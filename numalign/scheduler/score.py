"""The plugin's scores: which machine suits a pod best (docs/rules/scheduling.md 2.1 to 2.3).

All figures are exact: where the public plugin adds floats in random order, fractions are used here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Final, Literal

from numalign.model.quantity import NANO
from numalign.scheduler import least_numa_nodes
from numalign.scheduler.nrt.value import NUMAZone, TopologyManagerConfig
from numalign.scheduler.request import Items, PodRequest, effective
from numalign.scheduler.resources import Amounts, units
from numalign.scheduler.verdict import MAX_SCORE

Strategy = Literal["LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"]
Weights = Mapping[str, int]
"""Resource -> weight; a name that is missing, or a weight below 1, means 1 (C-6)."""


def score_zones(
    config: TopologyManagerConfig, zones: Sequence[NUMAZone], pod: PodRequest, strategy: Strategy, weights: Weights
) -> int:
    """Score a Guaranteed pod on a machine whose object is read already."""
    if strategy == "LeastNUMANodes":  # C-3
        return least_numa_nodes.score(zones, config, pod)
    if config.policy != "single-numa-node":
        return 0
    rate = _STRATEGIES[strategy]
    frees = [zone.available for zone in zones]
    if config.scope == "pod":  # C-7
        return _least_zone(frees, tuple(effective(pod).items()), rate, weights)
    scores = [_least_zone(frees, container.items, rate, weights) for container in pod.containers]
    return sum(scores) // len(scores) if scores else 0  # C-8


def _least_zone(frees: Sequence[Amounts], items: Items, rate: _Rate, weights: Weights) -> int:
    """Return the smallest non-zero score of the zones; 0 if all are 0 (2.3)."""
    return min([value for free in frees if (value := rate(free, items, weights))], default=0)


_Rate = Callable[[Amounts, Items, Weights], int]


def _allocated(free: Amounts, items: Items, weights: Weights, *, most: bool) -> int:
    """Score a zone by how much of what is free now (C-4) the pod would take, or leave (2.2)."""
    total = all_weights = 0
    for name, amount in items:
        weight = weights.get(name, 1)
        if weight < 1:
            weight = 1
        all_weights += weight
        have = free.get(name)
        if not have or amount > have:
            continue
        asked, capacity = -(-amount // NANO), -(-have // NANO)  # `units`, in the innermost loop
        total += weight * ((asked if most else capacity - asked) * MAX_SCORE // capacity)
    return total // all_weights if all_weights else 0


def _balanced(free: Amounts, items: Items, weights: Weights) -> int:  # noqa: ARG001 (this strategy has no weights)
    """Score a zone by how evenly the pod would use it: by the variance of the used fractions (2.2)."""
    fractions = []
    for name, amount in items:
        have = units(free.get(name, 0))
        fractions.append(Fraction(units(amount), have) if have else Fraction(1))
    if any(fraction > 1 for fraction in fractions):
        return 0
    count = len(fractions)
    if count < 2:
        return MAX_SCORE  # The sample variance of one value is undefined; the public plugin gives garbage.
    mean = sum(fractions) / count
    variance = sum((fraction - mean) ** 2 for fraction in fractions) / (count - 1)
    return int((1 - variance) * MAX_SCORE)


_STRATEGIES: Final[Mapping[str, _Rate]] = {
    "LeastAllocated": partial(_allocated, most=False),
    "MostAllocated": partial(_allocated, most=True),
    "BalancedAllocation": _balanced,
}
