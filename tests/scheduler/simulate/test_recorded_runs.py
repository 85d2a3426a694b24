"""Whole runs, told as they were: who ran where and when, all figures, and what was said of whom.

A run is drawn by its number: three nodes that differ, a scheduler and its settings, exporters that lose and delay, and
workloads of every kind. What a run must be like is held by `test_run`; this holds that no figure of it changes unseen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numalign.scheduler.config import Timing
from numalign.scheduler.node import Fleet
from numalign.scheduler.simulate.engine import simulate
from numalign.scheduler.simulate.generator import Arrivals, PodShape, generate
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload
from tests import recorded
from tests.dice import Dice
from tests.scheduler import drawn

FILE = Path(__file__).parent / "recorded_runs.jsonl.gz"
RUNS = 110


def test_runs_are_told_as_they_were() -> None:
    recorded.compare(FILE, map(told, range(RUNS)))


def told(number: int) -> dict[str, Any]:
    """Run a drawn simulation and give its report; of its moments some."""
    one = drawn.dice(number, "run")
    kind = drawn.KINDS[number % len(drawn.KINDS)]
    nodes = []
    for name in "abc"[: one.between(1, 3)]:
        node = drawn.occupied(one, drawn.bare(one, name), [drawn.pod(one, f"there-{name}")] if one.flag() else [])
        nodes.append(node._replace(nrt=drawn.object_of(one, node) if drawn.seldom(one) else None))
    timing = Timing(
        sched_time_s=one.pick((0.01, 0.5)),
        bind_to_admit_s=one.pick((0.4, 1)),
        controller_delay_s=one.pick((0.1, 2)),
        horizon_s=one.pick((None, 200)),
        max_failed_pods=one.pick((20, 60)),
        pod_gc_threshold=one.pick((3, 12_500)),
    )
    settings = Simulation(
        Fleet(tuple(nodes), drawn.scheduler(one, kind), timing),
        seed=one.below(1 << 16),
        retry_on_resync=one.flag(),
        replicaset_backoff=one.pick(("none", "per_minute")),
        runaway_threshold=one.pick((2, 10)),
        audit=one.pick((0, 3)),
    )
    report = simulate(settings, arriving(one) if drawn.seldom(one) else workloads(one))
    return report._replace(moments=report.moments[::20])._asdict()


def workloads(one: Dice) -> list[Workload]:
    """Make a trace of workloads that differ in all that a line of it can say."""
    result = []
    for number in range(one.between(3, 8)):
        at = one.below(90) * SECOND
        foreign = one.below(8) == 7
        result.append(
            Workload(
                at=at,
                name=f"w{number}",
                pod=drawn.pod(one, f"w{number}"),
                kind="pod" if foreign else one.pick(("pod", "replicaset", "replicaset", "job")),
                replicas=one.between(1, 4),
                duration=one.pick((None, 20 * SECOND, 7 * SECOND)),
                delete_at=at + 45 * SECOND if drawn.seldom(one) else None,
                machine="a" if foreign else None,
            )
        )
    return sorted(result, key=lambda workload: workload.at)


def arriving(one: Dice) -> list[Workload]:
    """Generate a trace."""
    shapes = [PodShape(f"s{place}", drawn.pod(one), one.between(1, 3), one.between(1, 2)) for place in range(3)]
    return list(
        generate(
            Arrivals(
                tuple(shapes),
                workloads=8,
                per_second=0.2,
                duration_s=one.pick((None, 15)),
                fixed_duration=one.flag(),
                seed=one.below(1 << 16),
            )
        )
    )
