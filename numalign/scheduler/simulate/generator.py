"""A synthetic trace: Poisson arrivals of weighted shapes (docs/rules/scheduling.md 6.2); the seed decides all of it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from math import log

from numalign.model.pod import Pod
from numalign.scheduler.simulate import draws
from numalign.scheduler.simulate.settings import Workload, microseconds
from numalign.values import NamedTuple


class PodShape(NamedTuple):
    """One kind of workload that arrives."""

    name: str
    pod: Pod
    weight: float
    replicas: int


class Arrivals(NamedTuple):
    """What arrives, and how fast."""

    shapes: tuple[PodShape, ...]
    workloads: int
    per_second: float
    """Arrivals a second, in the mean."""
    duration_s: float | None = None
    """How long a pod runs, in the mean; None: for ever."""
    fixed_duration: bool = False
    """Every pod runs exactly so long; else the durations are exponential."""
    seed: int = 0


def generate(arrivals: Arrivals) -> Iterator[Workload]:
    """Make the workloads of a trace, in the order of their arrival."""
    seed, time = arrivals.seed, 0.0
    weights = list(accumulate(shape.weight for shape in arrivals.shapes))
    for number in range(arrivals.workloads):
        time += _exponential(1 / arrivals.per_second, seed, "arrival", number)
        shape = arrivals.shapes[bisect(weights[:-1], draws.fraction(seed, "shape", number) * weights[-1])]
        duration = arrivals.duration_s
        if duration is not None and not arrivals.fixed_duration:
            duration = _exponential(duration, seed, "duration", number)
        yield Workload(
            at=microseconds(time),
            name=f"{shape.name}-{number}",
            pod=shape.pod,
            kind="replicaset" if shape.replicas > 1 else "pod",
            replicas=shape.replicas,
            duration=None if duration is None else microseconds(duration),
        )


def _exponential(mean: float, seed: int, *what: str | int) -> float:
    return -mean * log(1 - draws.fraction(seed, *what))
