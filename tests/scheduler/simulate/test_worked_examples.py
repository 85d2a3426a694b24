"""The worked examples of docs/rules/scheduling.md 7.5: run-away pods, stale data, the pessimistic cache."""

from __future__ import annotations

import pytest

from numalign.kubelet.admission import open_session
from numalign.kubelet.config import IDEAL, MemoryReservation
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine, NUMANode, Unit
from numalign.model.pod import Container, Pod
from numalign.model.quantity import parse
from numalign.scheduler.config import CacheConfig, ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.simulate.engine import simulate
from numalign.scheduler.simulate.report import Report
from numalign.scheduler.simulate.settings import Simulation, Workload

EIGHT = (1 << 8) - 1
MACHINE = Machine(
    name="two",
    numa_nodes=(NUMANode(0, EIGHT, 64 << 30), NUMANode(1, EIGHT << 8, 64 << 30)),
    sockets=(Unit(0, EIGHT), Unit(1, EIGHT << 8)),
    cores=tuple(1 << cpu for cpu in range(16)),
)
KUBELET = IDEAL._replace(
    topology_manager_policy="single-numa-node",
    memory_manager_policy="Static",  # the plugin's filter refuses memory that no zone lists
    kube_reserved={"memory": "1Gi"},
    reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),),
)
SEPARATE = ExporterConfig(mode="event", event_delay_s=0, publish_delay_s=1)
"""A delay of 1 s, and no two samples join."""


def pod(cpus: str, memory: str = "1Gi") -> Pod:
    """Make a Guaranteed pod of one container."""
    amounts = {"cpu": parse(cpus), "memory": parse(memory)}
    return Pod("", "", "Guaranteed", (Container("c", "app", amounts, amounts),))


def fleet(names: str, scheduler: SchedulerConfig, exporter: ExporterConfig, timing: Timing) -> Fleet:
    """Make equal nodes, one a letter."""
    session = open_session(Setup(MACHINE, KUBELET, "ideal"))
    assert session.view is not None
    totals = NodeTotals({name: amount.nano for name, amount in session.view.allocatable.items()}, {}, 0)
    nodes = [ClusterNode(name, totals, session, "exact", exporter=exporter) for name in names]
    return Fleet(tuple(nodes), scheduler, timing)


def run(scheduler: SchedulerConfig, exporter: ExporterConfig = SEPARATE, **more: object) -> Report:
    """Run five replicas of 5 CPUs on two machines for 60 s."""
    settings = Simulation(fleet("ab", scheduler, exporter, Timing(horizon_s=60)))._replace(**more)
    return simulate(settings, [Workload(0, "dpdk", pod("5"), "replicaset", 5)])


def test_an_unaware_scheduler_sends_pods_to_a_sure_rejection_for_ever() -> None:
    report = run(SchedulerConfig(kind="unaware"))

    assert report.topology_affinity_errors == 117
    assert (report.admitted, report.pending_at_end, report.runaway_replicas) == (4, 1, 1)
    assert report.verdicts.causes == {"blind": 117}


def test_a_brake_on_failed_replicas_keeps_them_below_forty_a_minute() -> None:
    """docs/rules/scheduling.md 4.1, "Proposed brake"."""
    report = run(SchedulerConfig(kind="unaware"), replicaset_backoff="per_minute")

    assert report.admitted == 4
    assert 1 < report.topology_affinity_errors < 40


def test_a_scheduler_that_reads_what_is_published_errs_three_times() -> None:
    report = run(SchedulerConfig(kind="nrt"))

    assert report.topology_affinity_errors == 3
    assert (report.admitted, report.pending_at_end) == (4, 1)
    assert report.verdicts.causes == {"X-1": 3}


@pytest.mark.parametrize(
    ("retry", "admitted", "pending"),
    [
        pytest.param(True, 4, 1, id="a resync wakes waiting pods"),
        pytest.param(False, 2, 3, id="nothing wakes them before the sweep"),
    ],
)
def test_the_pessimistic_cache_never_errs_and_waits(retry: bool, admitted: int, pending: int) -> None:
    scheduler = SchedulerConfig(kind="nrt", cache=CacheConfig(mode="over_reserve", resync_s=5))

    report = run(scheduler, retry_on_resync=retry)

    assert report.topology_affinity_errors == 0
    assert (report.admitted, report.pending_at_end) == (admitted, pending)
    if retry:
        assert report.wait_s.most == pytest.approx(5.4, abs=0.05)


def test_instant_data_err_once_for_the_pod_that_is_chosen_before_the_first_is_admitted() -> None:
    report = run(SchedulerConfig(kind="nrt"), ExporterConfig(mode="instant"))

    assert (report.topology_affinity_errors, report.admitted, report.pending_at_end) == (1, 4, 1)


def test_kai_errs_never_with_its_own_predictions() -> None:
    report = run(SchedulerConfig(kind="kai"))

    assert (report.topology_affinity_errors, report.admitted, report.pending_at_end) == (0, 4, 1)
