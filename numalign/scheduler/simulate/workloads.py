"""Workloads under way: their slots and pods, and the controllers that replace pods (docs/rules/scheduling.md 4.1)."""

from __future__ import annotations

from collections import deque
from typing import Final, Literal

from numalign.model.pod import Pod
from numalign.scheduler.record import Seen
from numalign.scheduler.simulate.settings import SECOND, ReplicaSetBackoff, Workload
from numalign.scheduler.simulate.shapes import Shape

MAX_BURST: Final = 500
"""Most pods that a ReplicaSet makes in one sync."""
JOB_LIMIT: Final = 6
"""Failures after which a Job gives up."""
JOB_DELAY: Final = 10 * SECOND
"""How long a Job waits after its first failure; it doubles each time, and never comes to the most, 360 s."""
PER_MINUTE: Final = 33
"""Replacements a minute of one ReplicaSet with the proposed brake: 30 to 36 were told of it."""

State = Literal["waiting", "bound", "running", "finished", "failed", "deleted"]


class Slot:
    """One replica that a workload wants."""

    __slots__ = ("admitted", "attempts", "in_a_row", "opened", "runaway", "running")

    def __init__(self, opened: int) -> None:
        """Open it when the workload arrives."""
        self.opened = opened
        self.attempts = 0
        self.admitted = False
        self.running = False
        """Whether its pod runs, or has finished."""
        self.in_a_row = 0
        self.runaway = False


class PodRecord:
    """One pod."""

    __slots__ = (
        "admitted_at",
        "attempts",
        "created",
        "ended_at",
        "entry",
        "machine",
        "nominated",
        "number",
        "pod",
        "reason",
        "seen",
        "shape",
        "slot",
        "state",
        "taken",
        "workload",
    )

    def __init__(self, number: int, workload: WorkloadRun, slot: Slot, pod: Pod, created: int) -> None:
        """Create it; it waits."""
        self.number = number
        self.workload = workload
        self.slot = slot
        self.pod = pod
        self.shape = workload.shape
        self.entry = workload.shape.entry._replace(pod=pod)
        """The pod as a scheduler knows it."""
        self.created = created
        self.attempts = 0
        self.state: State = "waiting"
        self.machine: int | None = None
        self.nominated: int | None = None
        """The machine on which others were evicted for it; nobody else gets its room while it waits."""
        self.reason = ""
        self.seen: Seen | None = None
        """What the scheduler saw of the machine that it chose."""
        self.admitted_at: int | None = None
        self.ended_at: int | None = None
        self.taken: tuple[tuple[int, ...], ...] = ()
        """What it took of each NUMA node."""


class WorkloadRun:
    """A workload and its controller."""

    def __init__(self, number: int, workload: Workload, shape: Shape) -> None:
        """Know what to run; nothing exists yet."""
        self.number = number
        self.workload = workload
        self.shape = shape
        self.slots: list[Slot] = []
        self.vacant: deque[Slot] = deque()
        """Slots without a pod, in the order in which they became so."""
        self.made = 0
        self.failures = 0
        self.gone = False
        self.running = 0
        """Slots whose pod runs, or has finished."""
        self.all_running_at: int | None = None
        self.pods: list[int] = []
        self._replaced: deque[int] = deque()

    def arrive(self, now: int) -> None:
        """Open the slots."""
        self.slots = [Slot(now) for _ in range(self.workload.replicas)]
        self.vacant.extend(self.slots)

    def take(self) -> list[Slot]:
        """Let the controller sync: the vacant slots that get a pod now."""
        most = MAX_BURST if self.workload.kind == "replicaset" else len(self.vacant)
        return [self.vacant.popleft() for _ in range(min(most, len(self.vacant)))]

    def next_pod(self) -> Pod:
        """Make the next pod out of the template."""
        one = self.workload
        name = one.name if one.kind == "pod" and one.replicas == 1 else f"{one.name}-{self.made}"
        self.made += 1
        return one.pod._replace(name=name, uid=f"{one.pod.namespace}/{name}/{self.number}")

    def after_rejection(self, slot: Slot, now: int, delay: int, backoff: ReplicaSetBackoff) -> int | None:
        """Tell when the controller syncs because a pod failed; None: nobody replaces it."""
        self.failures += 1
        if self.workload.kind == "pod" or self.workload.machine is not None:
            return None
        if self.workload.kind == "job":
            if self.failures > JOB_LIMIT:
                return None
            self.vacant.append(slot)
            return now + (JOB_DELAY << self.failures - 1)
        self.vacant.append(slot)
        due = now + delay
        if backoff == "per_minute":
            if len(self._replaced) >= PER_MINUTE:
                due = max(due, self._replaced.popleft() + 60 * SECOND)
            self._replaced.append(due)
        return due
