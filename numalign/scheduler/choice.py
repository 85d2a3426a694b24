"""Which machines kube-scheduler looks at, and which of the best it takes (docs/rules/scheduling.md 2.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, TypeVar

from numalign.scheduler.xxh64 import xxh64

Place = TypeVar("Place")
"""What machines are known by."""
TieBreak = Literal["first", "random"]
"""`first`: the machine that comes first in the cluster. `random`: as kube-scheduler, by a seed."""
Sampling = Literal["all", "kube"]

FEW_NODES: Final = 100
"""So few machines, and so few feasible ones, are always looked at."""
MIN_SHARE: Final = 5
"""The least share of machines in per cent."""


def enough_feasible(nodes: int) -> int:
    """Tell after how many feasible machines kube-scheduler stops looking."""
    share = max(50 - nodes // 125, MIN_SHARE)
    return max(nodes * share // 100, min(nodes, FEW_NODES))


def best(scores: Mapping[Place, float | Fraction]) -> tuple[Place, ...]:
    """List the machines with the highest score, in order."""
    most = max(scores.values(), default=None)
    return tuple([name for name, score in scores.items() if score == most])


def pick(places: Sequence[Place], tie_break: TieBreak, seed: int, attempt: int) -> Place | None:
    """Take one of equally good machines; None: there is none.

    Args:
        places: the machines, in the cluster's order.
        tie_break: how to choose.
        seed: the run's seed; the same seed and attempt give the same machine.
        attempt: a number that differs from one scheduling attempt to the next.
    """
    if not places:
        return None
    if tie_break == "first":
        return places[0]
    return places[xxh64(attempt.to_bytes(8, "little"), seed) % len(places)]
