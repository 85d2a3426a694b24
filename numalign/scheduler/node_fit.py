"""kube-scheduler's own view of a machine: one bag of resources (docs/rules/scheduling.md 2.5, 4.3).

This is all that a topology-unaware scheduler knows, and what every scheduler checks first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.model.quantity import NANO
from numalign.model.resources import CPU, MEMORY
from numalign.scheduler.request import NodeLoad
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import MAX_SCORE, PASS, Verdict
from numalign.values import NamedTuple

NodeStrategy = Literal["LeastAllocated", "MostAllocated"]

SCORED = (CPU, MEMORY)
"""The resources that the node-level score looks at."""


class NodeTotals(NamedTuple):
    """A machine as a bag."""

    allocatable: Amounts
    used: Amounts
    """What the pods bound to it and not finished ask together."""
    pods: int
    """How many they are."""
    unjudged: frozenset[str] = frozenset()
    """Resources of which nobody said how much there is; they are not judged."""
    beyond: Mapping[str, int] = {}
    """What the score counts for those pods beyond what they ask."""

    def with_pod(self, pod: NodeLoad, sign: int = 1) -> NodeTotals:
        """Add a pod (sign 1) or take one off (sign -1)."""
        used = dict(self.used)
        for name, amount in pod.asked:
            used[name] = used.get(name, 0) + sign * amount
        beyond = {**self.beyond, **{name: self.beyond.get(name, 0) + sign * more for name, more in pod.beyond}}
        return self._replace(used=used, pods=self.pods + sign, beyond=beyond)


def check_totals(totals: NodeTotals, pod: NodeLoad) -> Verdict:
    """Decide whether a machine's total has room for a pod. All shortages are named, in kube-scheduler's words."""
    messages = []
    most = totals.allocatable.get("pods")
    if most is not None and (totals.pods + 1) * NANO > most:
        messages.append("Too many pods")
    first: tuple[str, int, int] | None = None
    for name, amount in pod.asked:
        free = totals.allocatable.get(name, 0) - totals.used.get(name, 0)
        if amount > 0 and amount > free and name not in totals.unjudged:
            messages.append(f"Insufficient {name}")
            first = first or (name, amount, free)
    if not messages:
        return PASS
    resource, requested, best = first or ("pods", NANO, 0)
    return Verdict(False, ", ".join(messages), resource=resource, requested=requested, best=best)


def score(totals: NodeTotals, pod: NodeLoad, strategy: NodeStrategy = "LeastAllocated") -> int:
    """Score a machine from 0 to 100 by what would be left, or used, of its CPU and memory."""
    asked, beyond = dict(pod.asked), dict(pod.beyond)
    points = 0
    for name in SCORED:
        capacity = totals.allocatable.get(name)
        used = sum([each.get(name, 0) for each in (totals.used, totals.beyond, asked, beyond)])
        if capacity and capacity >= used:
            points += (capacity - used if strategy == "LeastAllocated" else used) * MAX_SCORE // capacity
    return points // len(SCORED)
