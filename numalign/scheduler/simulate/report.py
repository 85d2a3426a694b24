"""What a run amounts to (docs/rules/scheduling.md 4.4 and 6.3). Values only; seconds are floats here, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numalign.values import NamedTuple


class Spread(NamedTuple):
    """How a figure is spread."""

    figures: int = 0
    mean: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    most: float = 0.0


def spread(values: Sequence[float]) -> Spread:
    """Sum figures up; percentiles are by the nearest rank."""
    if not values:
        return Spread()
    ordered = sorted(values)

    def rank(percent: int) -> float:
        return ordered[-(-len(ordered) * percent // 100) - 1]

    return Spread(
        figures=len(ordered),
        mean=sum(ordered) / len(ordered),
        p50=rank(50),
        p95=rank(95),
        p99=rank(99),
        most=ordered[-1],
    )


class Share(NamedTuple):
    """A share that changes over time."""

    mean: float
    """Weighted by time."""
    most: float


class Verdicts(NamedTuple):
    """Filter against kubelet, an attempt each (1.5)."""

    pass_admit: int = 0
    pass_reject: int = 0
    """False passes."""
    fail_admit: int = 0
    """False blocks."""
    fail_reject: int = 0
    causes: Mapping[str, int] = {}
    """Cause of a disagreement (`X-1` …) -> how often."""


class Moment(NamedTuple):
    """How things stood at one moment, for plots."""

    at_s: float
    running: int
    waiting: int
    """Pods without a machine, or whose kubelet has not answered."""
    rejected: int
    """Until then."""
    cpu: float
    """Share of the cluster's CPUs that admitted pods ask for."""
    fragmentation: float


class PodRow(NamedTuple):
    """One pod, for a table of all of them."""

    namespace: str
    name: str
    workload: str
    created_s: float
    attempts: int
    machine: str
    outcome: str
    """`running`, `finished`, `deleted`, `pending`, or the kubelet's reason of a refusal."""
    admitted_s: float | None
    ended_s: float | None


class Report(NamedTuple):
    """One run."""

    scheduler: str
    ended_s: float
    ended_by: str
    """`horizon`, `trace` (nothing more could happen), `failed pods`, or `interrupted`: then it is the report so far."""
    machines: int
    submitted: int
    admitted: int
    pending_at_end: int
    rejected: Mapping[str, int]
    attempts: Spread
    """Per slot."""
    attempts_total: int
    retries: int
    unschedulable: int
    """Attempts that found no machine."""
    messages: Mapping[str, int]
    """Message -> how many machines gave it in such attempts, added up."""
    machine_messages: Mapping[str, Mapping[str, int]]
    """Machine -> message -> count."""
    wait_s: Spread
    utilisation: Mapping[str, Share]
    """Resource -> share of the cluster's allocatable that admitted pods ask for."""
    zone_utilisation: Mapping[str, Mapping[str, Share]]
    """NUMA node (`node-0`, over all machines) -> resource -> share that pods hold of their own."""
    alignment_rate: float | None
    preferred_rate: float | None
    verdicts: Verdicts
    audited: Verdicts
    nrt_age_s: Spread
    fragmentation: Share
    topology_affinity_errors: int
    runaway_replicas: int
    peak_failed_rate: int
    """Most rejections in any 60 s."""
    binds: int
    wasted_binds: float
    """Share of binds that ended in a rejection."""
    api_objects_created: int
    time_to_all_running_s: Mapping[str, float | None]
    """Workload -> seconds from its arrival; None: never."""
    moments: tuple[Moment, ...] = ()
    """Evenly spread over the run."""
    pods: tuple[PodRow, ...] = ()
