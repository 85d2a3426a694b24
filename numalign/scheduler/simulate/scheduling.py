"""The scheduler under way: its queue, its cache, its attempts (docs/rules/scheduling.md 2.5, 3.3, 4.3)."""

from __future__ import annotations

from collections.abc import Iterable

from numalign.kubelet import admission
from numalign.scheduler.cache import counts_as_foreign
from numalign.scheduler.kai import evaluate as kai
from numalign.scheduler.simulate import draws
from numalign.scheduler.simulate.counting import Counts, Table
from numalign.scheduler.simulate.exporters import Exporters
from numalign.scheduler.simulate.judge import Judge, kai_view
from numalign.scheduler.simulate.machines import SimulatedMachine
from numalign.scheduler.simulate.queues import Agenda, Kind, WaitingPods
from numalign.scheduler.simulate.settings import Simulation, microseconds
from numalign.scheduler.simulate.shapes import Shape
from numalign.scheduler.simulate.truth import Free
from numalign.scheduler.simulate.workloads import PodRecord


class Scheduling:
    """One scheduler in front of all machines."""

    def __init__(
        self,
        settings: Simulation,
        machines: list[SimulatedMachine],
        pods: list[PodRecord],
        agenda: Agenda,
        exporters: Exporters,
        counts: Counts,
    ) -> None:
        """Start with an empty queue and a cache that has read every object (O-1)."""
        self._settings = settings
        self._config = settings.fleet.scheduler
        self._attempt_time = microseconds(settings.fleet.timing.sched_time_s)
        self._bind_time = microseconds(settings.fleet.timing.bind_to_admit_s)
        self._machines = machines
        self._pods = pods
        self._agenda = agenda
        self._exporters = exporters
        self._counts = counts
        classes = {machine.kind.number: machine.kind for machine in machines}
        self._judge = Judge(self._config, tuple(classes.values()))
        self._waiting = WaitingPods()
        self._busy = False
        self._attempts = 0
        self._start = 0
        self._log: list[int] = []
        """Machines that changed, in order."""
        self._over_reserves = self._config.kind == "nrt" and self._config.cache.mode == "over_reserve"
        self._doubted: set[int] = set()
        """Machines that are maybe over-reserved, or have foreign pods (O-5, O-6)."""
        if self._over_reserves:
            agenda.add(microseconds(self._config.cache.resync_s), Kind.RESYNC)

    # The queue

    def add(self, pod: PodRecord, now: int) -> None:
        """Take in a pod that has no machine."""
        self._waiting.active.append(pod.number)
        self._go_on(now)

    def drop(self, pod: PodRecord) -> None:
        """Forget a pod that was deleted while it waited."""
        self._waiting.drop(pod.number)

    def due(self, pod: int, now: int) -> None:
        """Learn that a pod's backoff or sweep is over."""
        self._waiting.due(pod, now)
        self._go_on(now)

    def _wake(self, now: int) -> None:
        for time, pod in self._waiting.wake(now):
            self._agenda.add(time, Kind.WAKE, 0, pod)
        self._go_on(now)

    def _go_on(self, now: int) -> None:
        if not self._busy and self._waiting.active:
            self._busy = True
            self._agenda.add(now + self._attempt_time, Kind.ATTEMPT)

    # Attempts

    def attempt(self, now: int) -> None:
        """End the attempt under way: choose a machine for the first pod of the queue."""
        self._busy = False
        if not self._waiting.active:
            return  # it was deleted meanwhile
        pod = self._pods[self._waiting.active.popleft()]
        pod.attempts += 1
        self._attempts += 1
        pod.slot.attempts += 1
        self._refresh(pod.shape)
        audited = self._counts.audits(self._attempts)
        if audited is not None:
            self._audit(pod, audited)
        chosen = self._choose(pod.shape)
        if chosen is None:
            self._no_machine(pod, now)
        else:
            self._bind(pod, self._machines[chosen], now)
        self._go_on(now)

    def _choose(self, shape: Shape) -> int | None:
        config = self._config
        if config.node_sampling == "all":
            self._mark(shape.fresh_failures)
            shape.fresh_failures = []
            return shape.best(config.tie_break, config.seed, self._attempts)
        chosen, looked = shape.sampled(self._start, config.tie_break, config.seed, self._attempts)
        count = len(self._machines)
        seen = [(self._start + offset) % count for offset in range(looked)]
        self._mark([machine for machine in seen if (judged := shape.judged[machine]) is not None and judged.marks])
        self._start = (self._start + looked) % count
        return chosen

    def _mark(self, machines: list[int]) -> None:
        """Doubt the machines on which the topology test failed (O-5)."""
        if self._over_reserves:
            self._doubted.update(machines)

    def _refresh(self, shape: Shape) -> None:
        """Judge the machines that changed since the shape's last attempt."""
        if shape.judged[0] is None or len(self._log) - shape.read > len(self._machines):
            changed: Iterable[int] = range(len(self._machines))
        else:
            changed = dict.fromkeys(self._log[shape.read :])
        shape.read = len(self._log)
        for number in changed:
            shape.put(number, self._judge.judge(self._machines[number], shape))

    def _no_machine(self, pod: PodRecord, now: int) -> None:
        self._agenda.add(self._waiting.failed(pod.number, now, pod.attempts), Kind.WAKE, 0, pod.number)
        shape = pod.shape
        shape.failed_attempts += 1
        if not shape.fitting:
            self._counts.blocked(pod, None, None)
            return
        place = draws.below(shape.fitting, self._settings.seed, "audit", self._attempts)
        machine = self._machines[shape.nth_fitting(place)]
        self._counts.blocked(pod, machine, self._would_admit(machine, pod))

    def _would_admit(self, machine: SimulatedMachine, pod: PodRecord) -> bool:
        """Ask a machine's kubelet what it would say now; the answer holds until the machine changes."""
        answer = machine.answers.get(pod.shape.number)
        if answer is None:
            answer = machine.answers[pod.shape.number] = admission.admits(machine.session, pod.pod)
        return answer

    def _audit(self, pod: PodRecord, table: Table) -> None:
        """Hold every machine's filter against its kubelet, for one attempt (1.5)."""
        for machine, judgement in zip(self._machines, pod.shape.judged, strict=True):
            if judgement is not None and judgement.fits:
                self._counts.audited(table, pod, machine, judgement.passed, self._would_admit(machine, pod))

    def _bind(self, pod: PodRecord, machine: SimulatedMachine, now: int) -> None:
        """Reserve and bind (O-2); the kubelet answers a while later."""
        pod.state, pod.machine = "bound", machine.number
        pod.sight = self._judge.sight(machine)
        machine.charge(pod.shape.asked, 1)
        machine.unbound += 1
        if self._over_reserves and machine.kind.empty is not None:
            for name, amount in pod.shape.reserved.items():
                machine.reserved[name] = machine.reserved.get(name, 0) + amount
        if self._config.kind == "kai":
            machine.placements[pod.number] = self._predict(pod, machine)
        self._counts.bound(machine, self._seen_at(machine), now)
        self._changed(machine)
        self._agenda.add(now + self._bind_time, Kind.ADMISSION, machine.number, pod.number)

    def _seen_at(self, machine: SimulatedMachine) -> int:
        """Tell when what the scheduler reads of a machine was sampled."""
        return machine.accepted.at if self._over_reserves else machine.published.at

    def _predict(self, pod: PodRecord, machine: SimulatedMachine) -> Free:
        """Predict where a pod will be, as KAI records it at the bind (K-11)."""
        known = kai_view(machine.kind, machine.view("kai", self._config.cache)[0])
        layout = machine.kind.layout
        if known is None:
            return ()
        placed = kai.evaluate(pod.shape.request, known).placement
        by_name = {known.zones[number].name: amounts for number, amounts in placed.items()}
        rows = [by_name.get(zone.name, {}) for zone in layout.empty.zones]
        return tuple(
            [tuple([row.get(name, 0) for name in names]) for names, row in zip(layout.names, rows, strict=True)]
        )

    # What changes

    def _changed(self, machine: SimulatedMachine) -> None:
        machine.seen = None
        self._log.append(machine.number)

    def settled(self, machine: SimulatedMachine, now: int) -> None:
        """Learn that a kubelet has answered: the pod is bound."""
        machine.answers.clear()
        if self._config.cache.mode == "discard_reserved":
            self._changed(machine)
        self._go_on(now)

    def release(self, machine: SimulatedMachine, pod: PodRecord, now: int) -> None:
        """Learn that a pod ended or was refused: its node-level use is free, what the cache reserved is not (O-4)."""
        machine.charge(pod.shape.asked, -1)
        machine.placements.pop(pod.number, None)
        machine.answers.clear()
        self._changed(machine)
        if pod.workload.workload.machine is not None:
            self._see_foreign(machine, pod)
        self._wake(now)

    def foreign(self, machine: SimulatedMachine, pod: PodRecord, now: int) -> None:
        """See a pod that somebody else bound (O-6)."""
        machine.charge(pod.shape.asked, 1)
        self._see_foreign(machine, pod)
        self._changed(machine)
        self._go_on(now)

    def _see_foreign(self, machine: SimulatedMachine, pod: PodRecord) -> None:
        listed = machine.kind.layout.listed
        if self._over_reserves and counts_as_foreign(self._config.cache, pod.shape.request, listed):
            machine.foreign = True
            self._doubted.add(machine.number)

    def visible(self, machine: SimulatedMachine, now: int) -> None:
        """Learn of an object that was published."""
        machine.published = self._exporters.arrived(machine)
        if self._config.kind == "kai":
            for number in machine.published.pods & machine.placements.keys():
                machine.placements[number] = self._pods[number].taken
        if not self._over_reserves:
            self._changed(machine)
        self._wake(now)

    def resync(self, now: int) -> None:
        """Let one resync period of the cache end (O-7)."""
        for number in sorted(self._doubted):
            machine = self._machines[number]
            if not machine.counted or machine.kind.exporter.fingerprint == "none":
                continue
            counted = machine.counted
            if self._config.cache.informer == "Shared":
                counted = frozenset(one for one in counted if self._pods[one].state == "running")
            method = self._config.cache.method
            if method == "OnlyExclusiveResources" or (
                method == "Autodetect" and machine.kind.exporter.fingerprint == "exclusive"
            ):
                counted = self._exporters.exclusive(machine, counted)
            if counted == machine.published.pods:
                machine.accepted, machine.reserved = machine.published, {}
                machine.foreign = False
                self._doubted.discard(number)
                self._changed(machine)
        self._agenda.add(now + microseconds(self._config.cache.resync_s), Kind.RESYNC)
        if self._settings.retry_on_resync:
            self._wake(now)
