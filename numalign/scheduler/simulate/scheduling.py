"""The scheduler under way: its queue, its beliefs, its attempts (docs/rules/scheduling.md 2.5, 3.3, 4.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial

from numalign.scheduler import neighbours
from numalign.scheduler.attempt import Judgement, attempt
from numalign.scheduler.record import Belief, KnownNode, PodEntry
from numalign.scheduler.schedulers import SCHEDULERS, surroundings
from numalign.scheduler.simulate import draws
from numalign.scheduler.simulate.counting import Counts, Table
from numalign.scheduler.simulate.exporters import Exporters
from numalign.scheduler.simulate.judge import Judge
from numalign.scheduler.simulate.machines import SimulatedMachine
from numalign.scheduler.simulate.neighbourhood import Neighbourhood
from numalign.scheduler.simulate.queues import Agenda, Kind, WaitingPods
from numalign.scheduler.simulate.settings import Simulation, microseconds
from numalign.scheduler.simulate.shapes import Shape
from numalign.scheduler.simulate.workloads import PodRecord
from numalign.scheduler.verdict import Verdict


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
        evict: Callable[[PodRecord], None],
    ) -> None:
        """Start with an empty queue and a cache that has read every object (O-1)."""
        self._settings = settings
        self._config = config = settings.fleet.scheduler
        self._scheduler = SCHEDULERS[config.kind]
        self._evict = evict
        self._attempt_time = microseconds(settings.fleet.timing.sched_time_s)
        self._bind_time = microseconds(settings.fleet.timing.bind_to_admit_s)
        self._machines = machines
        self._pods = pods
        self._agenda = agenda
        self._exporters = exporters
        self._counts = counts
        self._judge = Judge(config)
        self._waiting = WaitingPods()
        self._busy = False
        self._attempts = self._start = 0
        self._log: list[int] = []
        """Machines that changed, in order."""
        self._doubted: set[int] = set()
        """Machines that a resync looks at (O-5, O-6, O-8)."""
        self._ranks: Counter[int] = Counter()
        """Priority -> pods that hold a machine."""
        self._neighbourhood = Neighbourhood(machines)
        self._open()
        self._resync_time = microseconds(self._scheduler.resync_s(config) or 0)
        """Between two resyncs of its cache; 0: it has none, so it reads objects at once."""
        if self._resync_time:
            agenda.add(self._resync_time, Kind.RESYNC)

    def _open(self) -> None:
        """Read every object, and the records of the pods that are there (O-1)."""
        options = self._config.kai._replace(reconstruct=self._config.kai.reconstruct is not False)  # pods get records
        starts = [(machine, machine.node, machine.start) for machine in self._machines]
        around = surroundings(options, [(node.totals, copy and copy.nrt, node.placed) for _, node, copy in starts])
        for machine, node, copy in starts:
            machine.belief = self._scheduler.opened(self._config, around, copy, node.placed)

    def _believe(self, machine: SimulatedMachine, belief: Belief) -> None:
        """Replace what is believed of a machine."""
        machine.belief = belief
        if belief.doubted:
            self._doubted.add(machine.number)

    # The queue

    def add(self, pod: PodRecord, now: int) -> None:
        """Take in a pod that has no machine; one with scheduling gates waits for good."""
        if neighbours.gates(pod.pod):
            return
        self._waiting.active.append(pod.number)
        self._go_on(now)

    def drop(self, pod: PodRecord) -> None:
        """Forget a pod that was deleted while it waited."""
        self._nominate(pod, None)
        self._waiting.drop(pod.number)

    def due(self, pod: int, now: int) -> None:
        """Learn that a pod's backoff or sweep is over."""
        self._waiting.due(pod, now)
        self._go_on(now)

    def _wake(self, now: int, among: Container[int] | None = None) -> None:
        for time, pod in self._waiting.wake(now, among):
            self._agenda.add(time, Kind.WAKE, subject=pod)
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
        self._nominate(pod, None)
        self._refresh(pod.shape)
        kept_away = self._neighbourhood.kept_away(pod.pod)
        if (audited := self._counts.audits(self._attempts)) is not None:
            self._audit(pod, audited, kept_away)
        chosen = self._choose(pod.shape, kept_away)
        if chosen is None:
            self._no_machine(pod, now, kept_away)
        else:
            self._bind(pod, self._machines[chosen], now)
        self._go_on(now)

    def _choose(self, shape: Shape, kept_away: Mapping[int, Verdict]) -> int | None:
        config = self._config
        if config.node_sampling == "all" and not kept_away:
            self._mark(shape.fresh_failures)
            shape.fresh_failures = []
            return shape.best(config.tie_break, config.seed, self._attempts)

        def ask(number: int) -> Judgement:
            verdict = kept_away.get(number)
            return shape.judged[number] if verdict is None else Judgement(verdict)

        tried = attempt(config, range(len(self._machines)), ask, start=self._start, number=self._attempts)
        self._start = tried.next_start
        self._mark(number for number, one in tried.judgements.items() if one.marks)
        return tried.chosen

    def _mark(self, machines: Iterable[int]) -> None:
        """Let the scheduler know on which machines its filter failed for the sake of NUMA nodes (O-5)."""
        for number in machines:
            machine = self._machines[number]
            if not machine.belief.over_reserved:
                self._believe(machine, self._scheduler.failed(self._config, machine.belief))

    def _refresh(self, shape: Shape) -> None:
        """Judge the machines that changed since the shape's last attempt."""
        everything = range(len(self._machines))
        changed = everything if shape.read is None else dict.fromkeys(self._log[shape.read :])
        shape.read = len(self._log)
        for number in changed:
            shape.put(number, self._judge.judge(self._machines[number], shape))

    def _no_machine(self, pod: PodRecord, now: int, kept_away: Mapping[int, Verdict]) -> None:
        self._agenda.add(self._waiting.failed(pod.number, now, pod.attempts), Kind.WAKE, subject=pod.number)
        shape = pod.shape
        shape.failed_attempts += 1
        self._preempt(pod, kept_away)
        if kept_away:
            self._neighbourhood.waits(pod)
        without = {number for number in kept_away if shape.judged[number].fits}
        for number in without:
            shape.missed(number, kept_away[number].message)
        self._counts.blocked()
        if shape.fitting == len(without):
            return
        place = draws.below(shape.fitting - len(without), self._settings.seed, "audit", self._attempts)
        self._counts.passed_over(pod, self._machines[shape.nth_fitting(place, without)])

    def _preempt(self, pod: PodRecord, kept_away: Container[int]) -> None:
        """Evict whom the scheduler evicts for a pod that no machine takes; it is tried again after its backoff."""
        if not self._config.kai.deserved and not any(rank < pod.shape.entry.priority for rank in +self._ranks):
            return
        running: dict[str, PodRecord] = {}
        nodes = []
        for machine in self._machines:
            if machine.number in kept_away:
                continue
            here = [one for one in map(self._pods.__getitem__, sorted(machine.listed)) if one.state == "running"]
            running |= {one.pod.full_name: one for one in here}
            nodes.append(KnownNode(machine.node, machine.belief, {one.pod.full_name: one.entry for one in here}))
        found = self._scheduler.preempt(self._scheduler, self._config, nodes, pod.entry)
        if found is not None:
            for key in found.victims:
                self._evict(running[key])
            self._nominate(pod, next(one for one in self._machines if one.name == found.node))

    def _nominate(self, pod: PodRecord, machine: SimulatedMachine | None) -> None:
        """Keep room as a bag for a pod that waits for its victims to go; None: no longer."""
        before = None if pod.nominated is None else self._machines[pod.nominated]
        for one, sign in ((before, -1), (machine, 1)):
            if one is not None:
                one.charge(pod.shape, sign)
                self._changed(one)
        pod.nominated = None if machine is None else machine.number

    def _audit(self, pod: PodRecord, table: Table, without: Container[int]) -> None:
        """Hold every machine's filter against its kubelet, for one attempt (1.5)."""
        for machine in self._machines:
            judgement = pod.shape.judged[machine.number]
            if judgement.fits and machine.number not in without:
                self._counts.note(table, pod, machine, judgement.passed, machine.would_admit(pod))

    def _bind(self, pod: PodRecord, machine: SimulatedMachine, now: int) -> None:
        """Reserve and bind (O-2); the kubelet answers a while later."""
        pod.state, pod.machine = "bound", machine.number
        pod.seen = self._judge.sight(machine).seen
        machine.charge(pod.shape, 1)
        self._ranks[pod.shape.entry.priority] += 1
        self._settle(machine, pod, now)
        self._believe(machine, self._scheduler.bound(self._config, machine.belief, pod.entry))
        sampled = machine.accepted_at if self._resync_time else machine.published.at
        self._counts.bound(machine, sampled, now)
        self._changed(machine)
        self._agenda.add(now + self._bind_time, Kind.ADMISSION, machine.number, pod.number)

    def _settle(self, machine: SimulatedMachine, pod: PodRecord, now: int) -> None:
        """Count a pod where it is bound, and try those again that it may help."""
        helped = self._neighbourhood.bound(machine, pod)
        if helped:
            self._wake(now, helped)

    # What changes

    def _changed(self, machine: SimulatedMachine) -> None:
        machine.sight = None
        self._log.append(machine.number)

    def settled(self, machine: SimulatedMachine, now: int, *, own: bool) -> None:
        """Learn that a kubelet has answered; `own`: for a pod that this scheduler bound."""
        machine.answers.clear()
        belief = self._scheduler.settled(self._config, machine.belief) if own else machine.belief
        if belief is not machine.belief:
            self._believe(machine, belief)
            self._changed(machine)
        self._go_on(now)

    def release(self, machine: SimulatedMachine, pod: PodRecord, now: int) -> None:
        """Learn that a pod ended or was refused: its node-level use is free, what the cache reserved is not (O-4)."""
        machine.charge(pod.shape, -1)
        self._ranks[pod.shape.entry.priority] -= 1
        self._neighbourhood.left(machine, pod)
        machine.answers.clear()
        if pod.workload.workload.machine is not None:
            self._believe(machine, self._scheduler.foreign(self._config, machine.belief, pod.entry))
        else:
            self._believe(machine, self._scheduler.released(self._config, machine.belief, pod.entry))
        self._changed(machine)
        self._wake(now)

    def foreign(self, machine: SimulatedMachine, pod: PodRecord, now: int) -> None:
        """See a pod that somebody else bound (O-6)."""
        machine.charge(pod.shape, 1)
        self._ranks[pod.shape.entry.priority] += 1
        self._settle(machine, pod, now)
        self._believe(machine, self._scheduler.foreign(self._config, machine.belief, pod.entry))
        self._changed(machine)
        self._go_on(now)

    def visible(self, machine: SimulatedMachine, now: int) -> None:
        """Learn of an object that was published."""
        sample = machine.published = self._exporters.arrived(machine)
        observed = partial(self._exporters.observed, machine, sample.pods)
        self._believe(machine, self._scheduler.published(self._config, machine.belief, sample.copy, observed))
        if not self._resync_time:
            self._changed(machine)
        self._wake(now)

    def resync(self, now: int) -> None:
        """Let one resync period of the cache end (O-7)."""
        for number in sorted(self._doubted):
            machine = self._machines[number]
            belief = self._scheduler.resynced(
                self._config,
                machine.belief,
                partial(self._exporters.describes, self._config.cache, machine),
                partial(self._entries, machine),
            )
            if belief is not machine.belief:
                machine.belief, machine.accepted_at = belief, machine.published.at
                self._doubted.discard(number)
                self._changed(machine)
        self._agenda.add(now + self._resync_time, Kind.RESYNC)
        if self._settings.retry_on_resync:
            self._wake(now)

    def _entries(self, machine: SimulatedMachine) -> list[PodEntry]:
        """Give the pods that the scheduler sees on a machine."""
        return [self._pods[one].entry for one in sorted(machine.counted)]
