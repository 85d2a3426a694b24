"""What a simulation is told: machines, exporters, scheduler, times. All times are whole microseconds.

docs/rules/scheduling.md 3.2, 4.2 and 6.1. Microseconds, because sums of tenths of seconds as floats would shift events
that belong to the same instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.scheduler.attempt import SchedulerConfig

SECOND: Final = 1_000_000
"""Microseconds of a second."""

ExporterMode = Literal["none", "periodic", "event", "both", "instant"]
FingerprintMethod = Literal["none", "all", "exclusive"]
WorkloadKind = Literal["pod", "replicaset", "job"]
ReplicaSetBackoff = Literal["none", "per_minute"]


def microseconds(seconds: float) -> int:
    """Turn seconds as people write them into whole microseconds."""
    return round(seconds * SECOND)


class Exporter(NamedTuple):
    """How a machine's free amounts reach the scheduler (3.2)."""

    mode: ExporterMode = "both"
    period: int = 60 * SECOND
    phase: int | None = None
    """Time of the first periodic sample; None: drawn with the seed."""
    event_delay: int = SECOND
    publish_delay: int = SECOND // 10
    jitter: int = 0
    """The most that is added to the publication, drawn evenly with the seed."""
    loss: float = 0.0
    """Probability that a publication is lost."""
    fingerprint: FingerprintMethod = "all"
    count_terminal_pods: bool = True
    """Finished pods stay in the fingerprint until they are cleaned up."""
    touch_on_period: bool = False
    """A periodic sample makes an event even if nothing changed."""


class MachineGroup(NamedTuple):
    """Equal machines."""

    names: tuple[str, ...]
    setup: Setup
    labels: Mapping[str, str] = {}
    allocatable: Mapping[str, int] = {}
    """Overrides of the node-level totals, in billionths."""
    exporter: Exporter = Exporter()


class Timing(NamedTuple):
    """How long things take, and when it ends (4.2)."""

    attempt: int = SECOND // 100
    """One scheduling attempt; attempts are serial."""
    bind_to_admit: int = SECOND * 4 // 10
    """From the choice of a machine to the kubelet's verdict."""
    controller_delay: int = SECOND // 10
    """From a failed pod to its replacement in the queue."""
    horizon: int | None = None
    """When to stop; None: 600 s after the last arrival or removal of the trace."""
    max_failed_pods: int = 100_000
    """Stop early at so many rejections."""
    pod_gc_threshold: int = 12_500
    """Finished pods above this number are removed, the oldest first."""


class Simulation(NamedTuple):
    """Everything a run depends on, beside its trace."""

    groups: tuple[MachineGroup, ...]
    """In the order of the cluster."""
    scheduler: SchedulerConfig = SchedulerConfig()
    timing: Timing = Timing()
    seed: int = 0
    retry_on_resync: bool = False
    """A resync wakes waiting pods; in kube-scheduler it does not (3.3)."""
    replicaset_backoff: ReplicaSetBackoff = "none"
    runaway_threshold: int = 10
    """Rejections in a row that make a replica slot a run-away (4.4)."""
    audit: int = 0
    """For so many attempts, spread evenly, every machine's filter is held against its kubelet (1.5)."""


class Workload(NamedTuple):
    """One line of a trace (6.2)."""

    at: int
    name: str
    pod: Pod
    """The template; each pod gets a name and a UID of its own."""
    kind: WorkloadKind = "pod"
    replicas: int = 1
    duration: int | None = None
    """From admission to the end; None: for ever."""
    delete_at: int | None = None
    """When the workload is removed; None: never."""
    machine: str | None = None
    """Bound there by somebody else: a foreign pod (3.3 O-6). None: this scheduler's."""
