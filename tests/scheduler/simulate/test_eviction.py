"""Pods that are evicted for more important ones (docs/rules/scheduling.md 4.3, 8)."""

from __future__ import annotations

import pytest

from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.simulate.engine import simulate
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload
from tests.scheduler.simulate.test_worked_examples import fleet, pod


def ranked(name: str, cpus: str, rank: int, at: int = 0, **more: object) -> Workload:
    return Workload(at * SECOND, name, pod(cpus)._replace(spec={"priority": rank}))._replace(**more)


@pytest.mark.parametrize("machine", [None, "a"], ids=["its own pods", "pods of somebody else"])
def test_a_pod_is_evicted_though_another_one_of_its_rank_has_ended(machine: str | None) -> None:
    settings = Simulation(fleet("a", SchedulerConfig("unaware"), ExporterConfig(), Timing(horizon_s=60)))
    short = ranked("short", "2500m", 1, duration=2 * SECOND, machine=machine)
    long, top = ranked("long", "7500m", 1, machine=machine), ranked("top", "1", 9)

    report = simulate(settings, [short, long, top, ranked("high", "12500m", 2, at=10)])

    assert {row.name: row.outcome for row in report.pods} == {
        "short": "finished",
        "long": "deleted",
        "top": "running",
        "high": "running",
    }
