"""The figures of a run, kept while it goes on and summed up in the end."""

from __future__ import annotations

from collections import Counter

from numalign.kubelet.admission import Outcome
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.nrt.copy import Free
from numalign.scheduler.request import effective
from numalign.scheduler.resources import Amounts
from numalign.scheduler.schedulers import SCHEDULERS
from numalign.scheduler.simulate import draws, truth
from numalign.scheduler.simulate.judge import Causes
from numalign.scheduler.simulate.ledger import FragmentationOverTime, PeakRate, Utilisation
from numalign.scheduler.simulate.machines import SimulatedMachine
from numalign.scheduler.simulate.report import Moment, PodRow, Report, Verdicts, spread
from numalign.scheduler.simulate.settings import SECOND, Simulation
from numalign.scheduler.simulate.shapes import Shape
from numalign.scheduler.simulate.workloads import PodRecord, WorkloadRun


class Table:
    """Filter against kubelet, counted."""

    def __init__(self) -> None:
        """Start at zero."""
        self.verdicts: Counter[tuple[bool, bool]] = Counter()
        """(filter passes, kubelet admits) -> how often."""
        self.causes: Counter[str] = Counter()

    @property
    def rejected(self) -> int:
        """How many pods that the filter passed were refused by a kubelet."""
        return self.verdicts[True, False]

    def summary(self) -> Verdicts:
        """Sum up."""
        count = self.verdicts
        return Verdicts(
            pass_admit=count[True, True],
            pass_reject=count[True, False],
            fail_admit=count[False, True],
            fail_reject=count[False, False],
            causes=dict(sorted(self.causes.items())),
        )


class Counts:
    """Everything that a report needs."""

    def __init__(self, settings: Simulation, machines: list[SimulatedMachine], workloads: list[WorkloadRun]) -> None:
        """Start at zero, and know what will be asked."""
        self._settings = settings
        self._machines = machines
        self._utilisation = Utilisation(machines)
        self._fragmentation = FragmentationOverTime(machines, _probes(workloads))
        self._peak = PeakRate()
        self._reasons: Counter[str] = Counter()
        self.rejections = 0
        """How many pods the kubelets refused."""
        self._waits: list[float] = []
        self._ages: list[float] = []
        self._binds = 0
        self._failed_attempts = 0
        self._why = Causes(settings.fleet.scheduler)
        self._chosen = Table()
        self._audits: list[Table] = []
        """One an audited attempt; no more than the settings ask for."""
        self._running = 0
        self._ended = 0
        """Pods that ran and ended, or were deleted."""
        self._moments: list[Moment] = []
        self._containers = self._aligned = self._hinted = self._preferred = 0

    @property
    def config(self) -> SchedulerConfig:
        """The scheduler's settings."""
        return self._settings.fleet.scheduler

    def audits(self, attempt: int) -> Table | None:
        """Give the table of an attempt in which every machine is looked at; None: this is no such attempt.

        Nobody knows beforehand how many attempts there will be. So each one takes the place of an earlier one as
        often as leaves all of them the same chance to be in the sample at the end.
        """
        table, size = Table(), self._settings.audit
        if len(self._audits) < size:
            self._audits.append(table)
            return table
        place = draws.below(attempt, self._settings.seed, "sample", attempt)
        if place >= size:
            return None
        self._audits[place] = table
        return table

    def note(self, table: Table, pod: PodRecord, machine: SimulatedMachine, passed: bool, admits: bool) -> None:
        """Scheduler and kubelet were both asked about a machine."""
        table.verdicts[passed, admits] += 1
        if passed != admits:
            table.causes[self._why.find(pod, machine, passed=passed)] += 1

    def bound(self, machine: SimulatedMachine, seen_at: int, now: int) -> None:
        """A pod got a machine."""
        self._binds += 1
        if machine.start is not None and SCHEDULERS[self.config.kind].reads_objects:
            self._ages.append((now - seen_at) / SECOND)

    def blocked(self) -> None:
        """A pod got no machine."""
        self._failed_attempts += 1

    def passed_over(self, pod: PodRecord, machine: SimulatedMachine) -> None:
        """Of a machine that has room in sum, the kubelet is asked what it would have said to a pod that got none."""
        self.note(self._chosen, pod, machine, False, machine.would_admit(pod))

    def decided(self, machine: SimulatedMachine, pod: PodRecord, outcome: Outcome) -> None:
        """A kubelet has answered for a pod that the scheduler let through."""
        if pod.workload.workload.machine is None:
            self.note(self._chosen, pod, machine, True, outcome.admit)

    def moved(self, machine: SimulatedMachine, free: Free, now: int) -> None:
        """A machine's pinned amounts changed."""
        self._utilisation.moved(machine, free, now)
        self._fragmentation.moved(machine, free, now)

    def admitted(self, pod: PodRecord, outcome: Outcome, now: int) -> None:
        """A pod runs."""
        slot, workload = pod.slot, pod.workload
        if not slot.admitted:
            self._waits.append((now - slot.opened) / SECOND)
        slot.admitted = slot.running = True
        slot.in_a_row = 0
        self._running += 1
        workload.running += 1
        if workload.running == len(workload.slots) and workload.all_running_at is None:
            workload.all_running_at = now
        self._utilisation.pod(pod.shape.asked, 1, now)
        for held in truth.held(outcome):
            self._containers += 1
            self._aligned += held.nodes.bit_count() <= 1
            if held.preferred is not None:
                self._hinted += 1
                self._preferred += held.preferred

    def rejected(self, pod: PodRecord, now: int) -> None:
        """A kubelet refused a pod."""
        self.rejections += 1
        self._reasons[pod.reason] += 1
        self._peak.add(now)
        pod.slot.in_a_row += 1
        if pod.slot.in_a_row > self._settings.runaway_threshold:
            pod.slot.runaway = True

    def left(self, pod: PodRecord, now: int) -> None:
        """A running pod ended."""
        self._utilisation.pod(pod.shape.asked, -1, now)
        self._running -= 1
        self._ended += 1
        if pod.state != "finished":
            pod.slot.running = False
            pod.workload.running -= 1

    def moment(self, time: int, pods: int) -> None:
        """Write down how things stand; `pods` is how many were made so far."""
        gone = self.rejections + self._ended
        self._moments.append(
            Moment(
                at_s=time / SECOND,
                running=self._running,
                waiting=pods - gone - self._running,
                rejected=self.rejections,
                cpu=self._utilisation.now("cpu"),
                fragmentation=self._fragmentation.now,
            )
        )

    def gone(self) -> None:
        """A pod was deleted before it ran."""
        self._ended += 1

    def report(self, now: int, ended_by: str, workloads: list[WorkloadRun], pods: list[PodRecord]) -> Report:
        """Sum up."""
        slots = [slot for one in workloads for slot in one.slots]
        wanted = [slot for one in workloads if not one.gone for slot in one.slots]
        names = [machine.name for machine in self._machines]
        messages, by_machine = self._messages(workloads)
        return Report(
            scheduler=self.config.kind,
            ended_s=now / SECOND,
            ended_by=ended_by,
            machines=len(self._machines),
            submitted=len(slots),
            admitted=sum(slot.admitted for slot in slots),
            pending_at_end=sum(not slot.running for slot in wanted),
            rejected=dict(sorted(self._reasons.items())),
            attempts=spread([slot.attempts for slot in slots]),
            attempts_total=sum(slot.attempts for slot in slots),
            retries=sum(max(slot.attempts - 1, 0) for slot in slots),
            unschedulable=self._failed_attempts,
            messages=messages,
            machine_messages=by_machine,
            wait_s=spread(self._waits),
            utilisation=self._utilisation.cluster(now),
            zone_utilisation=self._utilisation.zones(now),
            alignment_rate=self._aligned / self._containers if self._containers else None,
            preferred_rate=self._preferred / self._hinted if self._hinted else None,
            verdicts=self._chosen.summary(),
            audited=self._audited(),
            nrt_age_s=spread(self._ages),
            fragmentation=self._fragmentation.share(now),
            topology_affinity_errors=self._reasons["TopologyAffinityError"],
            runaway_replicas=sum(slot.runaway for slot in slots),
            peak_failed_rate=self._peak.most,
            binds=self._binds,
            wasted_binds=self._chosen.rejected / self._binds if self._binds else 0.0,
            api_objects_created=len(pods),
            time_to_all_running_s={one.workload.name: _since_arrival(one) for one in workloads},
            moments=tuple(self._moments),
            pods=tuple([_row(pod, names) for pod in pods]),
        )

    def _audited(self) -> Verdicts:
        """Sum the audited attempts up."""
        total = Table()
        for table in self._audits:
            total.verdicts += table.verdicts
            total.causes += table.causes
        return total.summary()

    def _messages(self, workloads: list[WorkloadRun]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        by_machine: dict[str, dict[str, int]] = {}
        total: Counter[str] = Counter()
        shapes = {one.shape.number: one.shape for one in workloads}
        for shape in shapes.values():
            for (number, message), count in shape.tally().items():
                said = by_machine.setdefault(self._machines[number].name, {})
                said[message] = said.get(message, 0) + count
                total[message] += count
        return dict(sorted(total.items())), dict(sorted(by_machine.items()))


def _probes(workloads: list[WorkloadRun]) -> list[tuple[Amounts, int]]:
    """List what the pods of each shape ask, and how many there are."""
    weights: Counter[int] = Counter()
    shapes: dict[int, Shape] = {}
    for one in workloads:
        weights[one.shape.number] += one.workload.replicas
        shapes[one.shape.number] = one.shape
    return [(effective(shape.request), weights[number]) for number, shape in sorted(shapes.items())]


def _since_arrival(one: WorkloadRun) -> float | None:
    return None if one.all_running_at is None else (one.all_running_at - one.workload.at) / SECOND


def _seconds(time: int | None) -> float | None:
    return None if time is None else time / SECOND


def _row(pod: PodRecord, names: list[str]) -> PodRow:
    outcome = {"waiting": "pending", "bound": "pending", "failed": pod.reason}.get(pod.state, pod.state)
    return PodRow(
        namespace=pod.pod.namespace,
        name=pod.pod.name,
        workload=pod.workload.workload.name,
        created_s=pod.created / SECOND,
        attempts=pod.attempts,
        machine="" if pod.machine is None else names[pod.machine],
        outcome=outcome,
        admitted_s=_seconds(pod.admitted_at),
        ended_s=_seconds(pod.ended_at),
    )
