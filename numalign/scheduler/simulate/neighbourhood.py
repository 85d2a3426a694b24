"""Where the pods of a run are, for those whose host ports, affinity or spreading ask for it (2.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from numalign.model.pod import Pod
from numalign.scheduler import neighbours
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.simulate.machines import SimulatedMachine
from numalign.scheduler.simulate.workloads import PodRecord
from numalign.scheduler.verdict import Verdict


class Neighbourhood:
    """The pods that are bound, by machine; most pods ask nothing of them."""

    def __init__(self, machines: Sequence[SimulatedMachine]) -> None:
        """Start with the pods that are on the nodes."""
        self._machines = machines
        self._bound: list[dict[int, Pod]] = [{} for _ in machines]
        self._avoiding: dict[object, tuple[Pod, ClusterNode]] = {
            one.full_name: (one, machine.bare)
            for machine in machines
            for one in machine.bare.pods
            if neighbours.required(one, "podAntiAffinity")
        }
        """The pods that keep others away, and their nodes."""
        self._waiting: set[int] = set()
        """Pods that found no machine because of others."""

    def kept_away(self, pod: Pod) -> Mapping[int, Verdict]:
        """Say of which machines the pods there keep a pod away, and why."""
        asks = neighbours.concerns(pod)
        if not asks and not self._avoiding:
            return {}
        there = [
            (machine.bare, (*machine.bare.pods, *bound.values()))
            for machine, bound in zip(self._machines if asks else (), self._bound, strict=False)
        ]
        checks = neighbours.checks(pod, there, list(self._avoiding.values()))
        verdicts = ((one.number, checks.verdict(one.bare)) for one in self._machines) if checks else ()
        return {number: verdict for number, verdict in verdicts if not verdict.passed}

    def waits(self, pod: PodRecord) -> None:
        """Remember a pod that found no machine because of others."""
        self._waiting.add(pod.number)

    def bound(self, machine: SimulatedMachine, pod: PodRecord) -> AbstractSet[int]:
        """Count a pod that is bound; gives the pods that it may help."""
        self._bound[machine.number][pod.number] = pod.pod
        if neighbours.required(pod.pod, "podAntiAffinity"):
            self._avoiding[pod.number] = pod.pod, machine.bare
        self._waiting.discard(pod.number)
        return self._waiting

    def left(self, machine: SimulatedMachine, pod: PodRecord) -> None:
        """Count a pod no longer."""
        self._bound[machine.number].pop(pod.number, None)
        self._avoiding.pop(pod.number, None)
