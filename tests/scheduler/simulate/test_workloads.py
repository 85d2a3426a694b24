"""Workloads and their controllers: names of pods, and when a failed one is replaced (docs/rules/scheduling.md 4.1)."""

from __future__ import annotations

import pytest

from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.simulate.engine import simulate
from numalign.scheduler.simulate.settings import SECOND, ReplicaSetBackoff, Simulation, Workload, WorkloadKind
from numalign.scheduler.simulate.shapes import Shapes
from numalign.scheduler.simulate.workloads import WorkloadRun
from tests.scheduler.simulate.test_worked_examples import fleet, pod


def arrived(kind: WorkloadKind, replicas: int = 1, machine: str | None = None) -> WorkloadRun:
    wanted = Workload(0, "w", pod("1"), kind, replicas, machine=machine)
    run = WorkloadRun(3, wanted, Shapes(0).of(wanted.pod))
    run.arrive(0)
    run.take()
    return run


@pytest.mark.parametrize(
    ("kind", "replicas", "names"),
    [("pod", 1, ["w", "w"]), ("pod", 2, ["w-0", "w-1"]), ("replicaset", 1, ["w-0", "w-1"]), ("job", 2, ["w-0", "w-1"])],
)
def test_a_single_pod_has_the_name_of_its_workload(kind: WorkloadKind, replicas: int, names: list[str]) -> None:
    run = arrived(kind, replicas)
    assert [run.next_pod().name for _ in range(2)] == names


def replaced(run: WorkloadRun, count: int, backoff: ReplicaSetBackoff = "none") -> list[int | None]:
    """Tell when so many pods are replaced that fail one after the other within a second, in seconds."""
    due = [run.after_rejection(run.slots[0], 5 * SECOND, SECOND, backoff) for _ in range(count)]
    return [time and time // SECOND for time in due]


def test_who_replaces_a_failed_pod() -> None:
    """Nobody a bare one, or one of somebody else; a ReplicaSet at once; a Job later each time, up to its limit."""
    assert replaced(arrived("pod"), 1) == replaced(arrived("replicaset", machine="a"), 1) == [None]
    assert replaced(arrived("replicaset"), 40) == [6] * 40
    assert replaced(arrived("job"), 8) == [15, 25, 45, 85, 165, 325, None, None]


def test_a_brake_lets_33_replacements_of_a_replicaset_pass_in_a_minute() -> None:
    assert replaced(arrived("replicaset"), 67, "per_minute") == [6] * 33 + [66] * 33 + [126]


def test_the_slot_of_a_failed_pod_is_vacant_again_where_it_is_replaced() -> None:
    kinds: dict[WorkloadKind, int] = {"pod": 0, "replicaset": 1, "job": 1}
    for kind, vacant in kinds.items():
        run = arrived(kind)
        run.after_rejection(run.slots[0], 0, 0, "none")
        assert len(run.vacant) == vacant


@pytest.mark.parametrize(("refused", "runaways"), [(1, 0), (2, 1)])
def test_a_replica_that_ran_begins_to_count_its_refusals_anew(refused: int, runaways: int) -> None:
    """One of 6 CPUs runs until the kubelet evicts it; others then leave 3 CPUs on each NUMA node."""
    timing = Timing(max_failed_pods=refused)
    settings = Simulation(fleet("a", SchedulerConfig(kind="unaware"), ExporterConfig(), timing), runaway_threshold=1)
    critical = pod("12500m")._replace(spec={"priority": 2_000_001_000})

    report = simulate(
        settings,
        [
            Workload(0, "mine", pod("6"), "replicaset"),
            Workload(5 * SECOND, "critical", critical, duration=5 * SECOND, machine="a"),
            *(Workload(10 * SECOND, name, pod("5"), machine="a") for name in ("one", "other")),
        ],
    )

    assert report.rejected == {"TopologyAffinityError": refused}
    assert report.runaway_replicas == runaways
