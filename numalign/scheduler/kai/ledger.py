"""KAI's account of one machine within a scheduling session: what it charges, gives back and takes back."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.scheduler.kai.demands import filter_acts
from numalign.scheduler.kai.evaluate import ZoneAmounts, evaluate
from numalign.scheduler.kai.records import shifted
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.request import PodRequest
from numalign.values import NamedTuple


class Ledger(NamedTuple):
    """A machine, and where the pods of this session are on it. To roll back is to go on with an earlier ledger."""

    machine: KaiTopology
    placements: Mapping[str, ZoneAmounts] = {}
    """Pod -> what it takes from which zone."""

    def place(self, pod: str, request: PodRequest) -> Ledger | None:
        """Evaluate a pod against what is free now and charge it; None: it cannot be aligned.

        A pod that the filter does not handle is let in, and charged nothing (K-2).
        """
        if not filter_acts(request, self.machine):
            return self
        answer = evaluate(request, self.machine)
        return self.charge(pod, answer.placement) if answer.admit else None

    def charge(self, pod: str, placement: ZoneAmounts) -> Ledger:
        """Take a known placement."""
        machine = self.machine.with_available(shifted(self.machine.available, placement, -1))
        return Ledger(machine, {**self.placements, pod: placement})

    def free(self, pod: str) -> Ledger:
        """Give back what a pod took; nothing where that is not known."""
        placement = self.placements.get(pod)
        if placement is None:
            return self
        machine = self.machine.with_available(shifted(self.machine.available, placement, 1))
        return Ledger(machine, {name: other for name, other in self.placements.items() if name != pod})
