"""The run itself: one event after the other (docs/rules/scheduling.md 3.5, 4.3).

A `Run` is the only thing here that changes in place; what it is told and what it reports are values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from numalign.errors import InputError
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome
from numalign.scheduler.simulate import truth
from numalign.scheduler.simulate.counting import Counts
from numalign.scheduler.simulate.exporters import Exporters
from numalign.scheduler.simulate.machines import SimulatedMachine, machines_of
from numalign.scheduler.simulate.queues import Agenda, Event, Kind
from numalign.scheduler.simulate.report import Report
from numalign.scheduler.simulate.scheduling import Scheduling
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload, microseconds
from numalign.scheduler.simulate.shapes import Shapes
from numalign.scheduler.simulate.workloads import PodRecord, Slot, State, WorkloadRun

AFTER_TRACE = 600 * SECOND
"""A run goes on so long after the last arrival, unless the cluster says otherwise."""
MAX_MOMENTS = 200
"""How many moments of a run are written down for plots."""


def simulate(settings: Simulation, trace: Iterable[Workload]) -> Report:
    """Run a trace to its end.

    Raises:
        InputError: what a node is made of is not known, or a workload names a node that is not there.
    """
    run = Run(settings, trace)
    while run.step():
        pass
    return run.report()


class Run:
    """A simulation under way: `step` until it says False, then `report`. A report before that is one so far."""

    def __init__(self, settings: Simulation, trace: Iterable[Workload]) -> None:
        """Start the kubelets and put the trace on the agenda."""
        self.settings = settings
        timing = settings.fleet.timing
        self._most_failed = timing.max_failed_pods
        self._bind_time = microseconds(timing.bind_to_admit_s)
        self._controller_delay = microseconds(timing.controller_delay_s)
        self.now = 0
        self.ended_by = ""
        self._agenda = Agenda()
        self.pods: list[PodRecord] = []
        self.machines = machines_of(settings.fleet.nodes)
        self._by_name = {machine.name: machine for machine in self.machines}
        self._workloads = self._read(trace)
        self._counts = Counts(settings, self.machines, self._workloads)
        placement = settings.fleet.scheduler.preemption_mode == "Enabled"
        self._exporters = Exporters(self._agenda, self.machines, self.pods, settings.seed, placement=placement)
        self._scheduling = Scheduling(
            settings, self.machines, self.pods, self._agenda, self._exporters, self._counts, self._preempt
        )
        self._finished: deque[PodRecord] = deque()
        times = [time for one in self._workloads for time in (one.workload.at, one.workload.delete_at)]
        last = [time for time in times if time is not None]
        horizon = timing.horizon_s
        self._horizon = max(last, default=0) + AFTER_TRACE if horizon is None else microseconds(horizon)
        self._moment = 0
        self._handlers: dict[Kind, Callable[[Event], None]] = {
            Kind.POD_END: self._on_end,
            Kind.REMOVAL: self._on_removal,
            Kind.ADMISSION: self._on_admission,
            Kind.SAMPLE: lambda event: self._exporters.sample(self.machines[event[2]], self.now),
            Kind.VISIBLE: lambda event: self._scheduling.visible(self.machines[event[2]], self.now),
            Kind.RESYNC: lambda _: self._scheduling.resync(self.now),
            Kind.CONTROLLER: lambda event: self._sync(self._workloads[event[3]]),
            Kind.ARRIVAL: self._on_arrival,
            Kind.WAKE: lambda event: self._scheduling.due(event[3], self.now),
            Kind.ATTEMPT: lambda _: self._scheduling.attempt(self.now),
        }

    def _read(self, trace: Iterable[Workload]) -> list[WorkloadRun]:
        shapes = Shapes(len(self.machines))
        runs = []
        for number, workload in enumerate(trace):
            if workload.machine is not None and workload.machine not in self._by_name:
                raise InputError(f"unknown node {workload.machine}", f"workload {workload.name}")
            runs.append(WorkloadRun(number, workload, shapes.of(workload.pod)))
            self._agenda.add(workload.at, Kind.ARRIVAL, subject=number)
            if workload.delete_at is not None:
                self._agenda.add(workload.delete_at, Kind.REMOVAL, subject=number)
        return runs

    def step(self) -> bool:
        """Handle the next event; False: the run is over."""
        if self.ended_by:
            return False
        event = self._agenda.next()
        if event is None or event[0] > self._horizon:
            self.ended_by = "trace" if event is None else "horizon"
            self._pass_time(self._horizon)
            return False
        self._pass_time(event[0])
        self._handlers[event[1]](event)
        if self._counts.rejections >= self._most_failed:
            self.ended_by = "failed pods"
        return not self.ended_by

    def _pass_time(self, now: int) -> None:
        """Go on to a time, and write down how things stand at the moments on the way."""
        while self._moment <= MAX_MOMENTS and now >= self._moment * self._horizon // MAX_MOMENTS:
            self._counts.moment(self._moment * self._horizon // MAX_MOMENTS, len(self.pods))
            self._moment += 1
        self.now = now

    def interrupt(self) -> None:
        """End here; the report is the one so far."""
        self.ended_by = self.ended_by or "interrupted"

    @property
    def progress(self) -> float:
        """Tell how far the run is, from 0 to 1."""
        return self.now / self._horizon if self._horizon else 1.0

    def report(self) -> Report:
        """Sum up what happened until now."""
        return self._counts.report(self.now, self.ended_by, self._workloads, self.pods)

    # Workloads

    def _on_arrival(self, event: Event) -> None:
        workload = self._workloads[event[3]]
        workload.arrive(self.now)
        self._sync(workload)

    def _sync(self, workload: WorkloadRun) -> None:
        """Let the controller make the pods that are missing."""
        if workload.gone:
            return
        for slot in workload.take():
            self._create(workload, slot)
        if workload.vacant and workload.workload.kind == "replicaset":
            self._agenda.add(self.now + self._controller_delay, Kind.CONTROLLER, subject=workload.number)

    def _create(self, workload: WorkloadRun, slot: Slot) -> None:
        pod = PodRecord(len(self.pods), workload, slot, workload.next_pod(), self.now)
        self.pods.append(pod)
        workload.pods.append(pod.number)
        if workload.workload.machine is None:
            self._scheduling.add(pod, self.now)
            return
        machine = self._by_name[workload.workload.machine]
        pod.state, pod.machine = "bound", machine.number
        self._scheduling.foreign(machine, pod, self.now)
        self._agenda.add(self.now + self._bind_time, Kind.ADMISSION, machine.number, pod.number)

    def _on_removal(self, event: Event) -> None:
        workload = self._workloads[event[3]]
        workload.gone = True
        for number in workload.pods:
            pod = self.pods[number]
            if pod.state == "waiting":
                self._scheduling.drop(pod)
                pod.state, pod.ended_at = "deleted", self.now
                self._counts.gone()
            elif pod.state == "running":
                self._end(pod, "deleted")
            if pod.machine is not None and pod.state != "bound":
                self._forget(pod)

    # Kubelets

    def _on_admission(self, event: Event) -> None:
        machine, pod = self.machines[event[2]], self.pods[event[3]]
        own = pod.workload.workload.machine is None
        if pod.workload.gone:
            self._scheduling.release(machine, pod, self.now)
            pod.state, pod.ended_at = "deleted", self.now
            self._scheduling.settled(machine, self.now, own=own)
            self._counts.gone()
            return
        outcome = admission.admit(machine.session, pod.pod)
        self._counts.decided(machine, pod, outcome)
        pod.seen = None  # of a hundred thousand pods it would be most of the memory
        for victim in outcome.fit.preempted if outcome.fit is not None else ():
            self._evict(machine, victim.uid)
        machine.session = outcome.then
        machine.listed |= {pod.number}
        machine.counted |= {pod.number}
        if outcome.admit:
            self._admitted(machine, pod, outcome)
        else:
            self._rejected(machine, pod, outcome)
        self._scheduling.settled(machine, self.now, own=own)
        self._exporters.changed(machine, self.now)

    def _admitted(self, machine: SimulatedMachine, pod: PodRecord, outcome: Outcome) -> None:
        pod.state, pod.admitted_at = "running", self.now
        before = machine.free
        self._moved(machine)
        pod.taken = tuple(
            [
                tuple([old - new for old, new in zip(a, b, strict=True)])
                for a, b in zip(before, machine.free, strict=True)
            ]
        )
        self._counts.admitted(pod, outcome, self.now)
        duration = pod.workload.workload.duration
        if duration is not None:
            self._agenda.add(self.now + duration, Kind.POD_END, machine.number, pod.number)

    def _rejected(self, machine: SimulatedMachine, pod: PodRecord, outcome: Outcome) -> None:
        pod.state, pod.ended_at = "failed", self.now
        pod.reason = outcome.reason or outcome.stage
        self._scheduling.release(machine, pod, self.now)
        self._counts.rejected(pod, self.now)
        self._failed(pod)

    def _failed(self, pod: PodRecord) -> None:
        """Keep a failed pod, and let the controller replace it."""
        self._terminal(pod)
        self._replace(pod)

    def _preempt(self, pod: PodRecord) -> None:
        """A pod is deleted by the scheduler, so that another one fits."""
        self._end(pod, "deleted")
        self._forget(pod)
        self._replace(pod)

    def _replace(self, pod: PodRecord) -> None:
        """Let the controller make another pod."""
        backoff = self.settings.replicaset_backoff
        due = pod.workload.after_rejection(pod.slot, self.now, self._controller_delay, backoff)
        if due is not None:
            self._agenda.add(due, Kind.CONTROLLER, subject=pod.workload.number)

    def _evict(self, machine: SimulatedMachine, uid: str) -> None:
        """A pod was evicted by the kubelet to admit a critical one."""
        of_the_run = (self.pods[number] for number in machine.listed)
        pod = next((one for one in of_the_run if one.pod.uid == uid), None)
        if pod is not None:
            pod.reason = "Preempting"
            self._leave(pod, "failed")
            self._failed(pod)

    def _on_end(self, event: Event) -> None:
        pod = self.pods[event[3]]
        if pod.state == "running":
            self._end(pod, "finished")
            self._terminal(pod)

    def _end(self, pod: PodRecord, state: State) -> None:
        """A running pod ends: everything it held is free."""
        machine = self._machine_of(pod)
        machine.session = admission.end(machine.session, pod.pod.uid)
        self._moved(machine)
        self._leave(pod, state)
        self._exporters.changed(machine, self.now)

    def _leave(self, pod: PodRecord, state: State) -> None:
        machine = self._machine_of(pod)
        pod.state = state
        pod.ended_at = self.now
        self._counts.left(pod, self.now)
        self._scheduling.release(machine, pod, self.now)

    def _moved(self, machine: SimulatedMachine) -> None:
        """The machine's pinned amounts may have changed."""
        now_free = truth.free(machine.kind.layout, machine.session)
        if now_free != machine.free:
            self._counts.moved(machine, now_free, self.now)
            machine.free = now_free

    # Finished pods that are still objects

    def _terminal(self, pod: PodRecord) -> None:
        """Keep a finished pod until there are too many (4.1)."""
        self._finished.append(pod)
        while len(self._finished) > self.settings.fleet.timing.pod_gc_threshold:
            self._forget(self._finished.popleft())

    def _forget(self, pod: PodRecord) -> None:
        machine = self._machine_of(pod)
        machine.listed -= {pod.number}
        machine.counted -= {pod.number}
        self._exporters.changed(machine, self.now)

    def _machine_of(self, pod: PodRecord) -> SimulatedMachine:
        assert pod.machine is not None  # noqa: S101 (only a pod that is bound ends)
        return self.machines[pod.machine]
