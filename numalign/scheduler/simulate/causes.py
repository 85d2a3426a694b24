"""Why a scheduler and a kubelet disagreed in a run (docs/rules/scheduling.md 1.5): asked of `scheduler.causes`."""

from __future__ import annotations

from collections.abc import Hashable

from numalign.scheduler.attempt import SchedulerConfig
from numalign.scheduler.causes import cause
from numalign.scheduler.disagreement import Case, Distrust
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.simulate.judge import kai_view
from numalign.scheduler.simulate.machines import SimulatedMachine, nrt_of
from numalign.scheduler.simulate.workloads import PodRecord


class Causes:
    """Finds causes; a run-away pod asks the same again and again, so answers are remembered."""

    def __init__(self, config: SchedulerConfig) -> None:
        """Know the scheduler."""
        self._config = config
        self._known: dict[Hashable, str] = {}

    def find(self, pod: PodRecord, machine: SimulatedMachine, *, passed: bool) -> str:
        """Name the cause of a disagreement: the scheduler said `passed`, the machine's kubelet says the opposite."""
        if pod.sight is None:
            free, fresh = machine.view(self._config.kind, self._config.cache)
        else:
            free, fresh = pod.sight.free, pod.sight.fresh
        state = (machine.kind.number, machine.used, machine.pods, machine.free)
        key = (pod.shape.number, state, free, fresh, passed)
        found = self._known.get(key)
        if found is None:
            seen = nrt_of(machine.kind, free)
            waiting: Distrust = "reserved" if self._config.cache.mode == "discard_reserved" else "foreign"
            case = Case(
                node=ClusterNode(machine.name, machine.node_totals, machine.session, "exact", seen),
                pod=pod.pod,
                request=pod.shape.request,
                nrt=seen,
                kai=kai_view(machine.kind, free),
                passes=passed,
                admits=not passed,
                distrust="" if fresh else waiting,
            )
            found = self._known[key] = cause(self._config.kind, case).code
        return found
