"""What a simulation is told: a cluster, a trace, a seed. While it runs, all times are whole microseconds.

docs/rules/scheduling.md 3.2, 4.2 and 6.1. Microseconds, because sums of tenths of seconds as floats would shift events
that belong to the same instant.
"""

from __future__ import annotations

from typing import Final, Literal

from numalign.model.pod import Pod
from numalign.scheduler.node import Fleet
from numalign.values import NamedTuple

SECOND: Final = 1_000_000
"""Microseconds of a second."""

WorkloadKind = Literal["pod", "replicaset", "job"]
ReplicaSetBackoff = Literal["none", "per_minute"]


def microseconds(seconds: float) -> int:
    """Turn seconds as people write them into whole microseconds."""
    return round(seconds * SECOND)


class Simulation(NamedTuple):
    """Everything a run depends on, beside its trace."""

    fleet: Fleet
    """The machines, what is on them at the start, their exporters, the scheduler, and how long things take."""
    seed: int = 0
    retry_on_resync: bool = False
    """A resync wakes waiting pods; in kube-scheduler it does not (3.3)."""
    replicaset_backoff: ReplicaSetBackoff = "none"
    runaway_threshold: int = 10
    """Rejections in a row that make a replica slot a run-away (4.4)."""
    audit: int = 0
    """For so many attempts, drawn from all of them, every machine's filter is held against its kubelet (1.5)."""


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
