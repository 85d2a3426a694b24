"""Exporters: when a machine is sampled, and when the scheduler sees it (docs/rules/scheduling.md 3.2)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from numalign.scheduler.cache import describes_pods
from numalign.scheduler.config import CacheConfig
from numalign.scheduler.kai.records import Record
from numalign.scheduler.nrt.copy import Copy, copied
from numalign.scheduler.nrt.export import export
from numalign.scheduler.request import exclusive_containers
from numalign.scheduler.simulate import draws
from numalign.scheduler.simulate.machines import Sample, SimulatedMachine, written
from numalign.scheduler.simulate.queues import Agenda, Kind
from numalign.scheduler.simulate.settings import microseconds
from numalign.scheduler.simulate.workloads import PodRecord


class Exporters:
    """The exporters of all machines."""

    def __init__(
        self, agenda: Agenda, machines: list[SimulatedMachine], pods: list[PodRecord], seed: int, *, placement: bool
    ) -> None:
        """Know the machines, and where to put what comes later; `placement`: where containers are is published, too."""
        self._agenda = agenda
        self._pods = pods
        self._seed = seed
        self._placement = placement
        self._on_the_way: dict[int, list[Sample]] = {}
        self._published = 0
        for machine in machines:
            if machine.kind.exporter.touch_on_period and self._is_periodic(machine):
                self._next_period(machine, 0)

    @staticmethod
    def _is_periodic(machine: SimulatedMachine) -> bool:
        return machine.kind.exporter.mode in ("periodic", "both")

    def changed(self, machine: SimulatedMachine, now: int) -> None:
        """Learn that something changed on a machine."""
        exporter = machine.kind.exporter
        if exporter.mode == "instant":
            self._publish(machine, self._look(machine, now), now)
        if exporter.mode in ("event", "both") and machine.sample_due is None:
            machine.sample_due = now + microseconds(exporter.event_delay_s)
            self._agenda.add(machine.sample_due, Kind.SAMPLE, machine.number)
        if self._is_periodic(machine):
            self._next_period(machine, now)

    def _next_period(self, machine: SimulatedMachine, now: int) -> None:
        """Let the end of a period be sampled, if it is not planned yet."""
        if machine.period_due is not None:
            return
        exporter = machine.kind.exporter
        period = max(microseconds(exporter.period_s), 1)
        if exporter.phase_s is None:
            phase = draws.below(period, self._seed, "phase", machine.name)
        else:
            phase = microseconds(exporter.phase_s)
        machine.period_due = max(phase, now + period - (now - phase) % period)
        self._agenda.add(machine.period_due, Kind.SAMPLE, machine.number)

    def sample(self, machine: SimulatedMachine, now: int) -> None:
        """Sample a machine now."""
        periodic = machine.period_due == now
        if periodic:
            machine.period_due = None
        elif machine.sample_due != now:
            return
        machine.sample_due = None
        seen = self._look(machine, now)
        exporter = machine.kind.exporter
        touch = periodic and exporter.touch_on_period
        if touch or self._differs(machine, seen):
            self._published += 1
            if exporter.loss and draws.fraction(self._seed, "loss", machine.name, self._published) < exporter.loss:
                if self._is_periodic(machine):
                    self._next_period(machine, now)  # what was lost is sent again then
            else:
                delay = microseconds(exporter.publish_delay_s)
                if exporter.jitter_s:
                    delay += draws.below(
                        microseconds(exporter.jitter_s) + 1, self._seed, "jitter", machine.name, self._published
                    )
                self._publish(machine, seen, now + delay)
        if touch:
            self._next_period(machine, now)

    def _differs(self, machine: SimulatedMachine, seen: Sample) -> bool:
        """Tell whether a sample says something that neither is published nor on its way."""
        last = self._on_the_way.get(machine.number) or [machine.published]
        return (last[-1].copy, last[-1].pods) != (seen.copy, seen.pods)

    def _publish(self, machine: SimulatedMachine, seen: Sample, at: int) -> None:
        self._on_the_way.setdefault(machine.number, []).append(seen)
        self._agenda.add(at, Kind.VISIBLE, machine.number)

    def _look(self, machine: SimulatedMachine, now: int) -> Sample:
        exporter = machine.kind.exporter
        pods = machine.listed
        if not exporter.count_terminal_pods:
            pods = frozenset(filter(self._runs, pods))
        if exporter.fingerprint == "exclusive":
            pods = frozenset(filter(partial(self._holds_its_own, machine), pods))
        if self._placement:
            options = written(exporter)._replace(placement=True)
            return Sample(now, copied(export(machine.session, machine.name, options)), pods)
        return Sample(now, Copy(machine.kind.layout, machine.free), pods)

    def _runs(self, pod: int) -> bool:
        return self._pods[pod].state == "running"

    def _holds_its_own(self, machine: SimulatedMachine, pod: int) -> bool:
        """Tell whether a pod has something of its own (3.4)."""
        return bool(exclusive_containers(self._pods[pod].shape.request, machine.kind.layout.listed))

    def arrived(self, machine: SimulatedMachine) -> Sample:
        """Take the next publication that becomes visible. Later samples never overtake earlier ones."""
        return self._on_the_way[machine.number].pop(0)

    def observed(self, machine: SimulatedMachine, pods: Iterable[int]) -> dict[str, Record]:
        """Say what pods of this scheduler took of each zone."""
        layout = machine.kind.layout
        running = [one for one in map(self._pods.__getitem__, pods) if one.state == "running"]
        return {
            one.pod.full_name: tuple(
                [
                    (zone.name, dict(zip(names, row, strict=True)))
                    for zone, names, row in zip(layout.nrt.zones, layout.names, one.taken, strict=True)
                ]
            )
            for one in running
            if one.workload.workload.machine is None
        }

    def describes(self, config: CacheConfig, machine: SimulatedMachine, only_exclusive: bool) -> bool:
        """Tell whether what is published describes the pods that count: by their numbers, in place of a fingerprint."""
        return machine.kind.exporter.fingerprint != "none" and describes_pods(
            config,
            machine.counted,
            self._runs,
            partial(self._holds_its_own, machine),
            machine.published.pods.__eq__,
            only_exclusive,
        )
