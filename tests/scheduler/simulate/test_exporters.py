"""Exporters: what their modes, delays, jitter and losses let the scheduler see (docs/rules/scheduling.md 3.2).

The trace is that of 7.5, whose scheduler errs the more, the older what it sees is: five replicas, room for four.
"""

from __future__ import annotations

import pytest

from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.simulate.engine import Run, simulate
from numalign.scheduler.simulate.report import Report
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload
from tests.scheduler.simulate.test_worked_examples import SEPARATE, fleet, pod, run

UNAWARE = 117
"""Rejections within a minute where no object tells of NUMA nodes (7.5)."""


def under(exporter: ExporterConfig) -> Report:
    return run(SchedulerConfig(kind="nrt"), exporter)


def test_a_machine_without_an_exporter_has_no_object_to_refuse_by() -> None:
    report = under(ExporterConfig(mode="none"))

    assert report.topology_affinity_errors == UNAWARE
    assert not report.nrt_age_s.figures


def test_where_every_publication_is_lost_the_first_object_stays() -> None:
    report = under(SEPARATE._replace(loss=1))

    assert report.topology_affinity_errors == UNAWARE
    assert report.nrt_age_s.most > 59


@pytest.mark.parametrize(
    ("exporter", "oldest"),
    [
        pytest.param(ExporterConfig(mode="instant"), 0.4, id="instant: until the kubelet has admitted"),
        pytest.param(SEPARATE, 1, id="event: the delay of the publication"),
        pytest.param(SEPARATE._replace(publish_delay_s=10), 10, id="event: a longer delay"),
        pytest.param(SEPARATE._replace(jitter_s=5), 6, id="event: the delay and the most of the jitter"),
        pytest.param(ExporterConfig(mode="periodic", period_s=10, phase_s=5), 5, id="periodic: until the first sample"),
        pytest.param(ExporterConfig(mode="both", period_s=10, event_delay_s=2), 2.1, id="both: whichever comes first"),
    ],
)
def test_data_get_no_older_than_the_exporter_lets_them(exporter: ExporterConfig, oldest: float) -> None:
    report = under(exporter)

    assert report.admitted == 4
    assert 0 < report.topology_affinity_errors < UNAWARE
    assert report.nrt_age_s.most <= oldest + 0.5  # from the choice of a machine to the kubelet's verdict, and attempts


def test_older_data_cost_more_rejections() -> None:
    delays = (0, 1, 5, 10, 30)
    errors = [under(SEPARATE._replace(publish_delay_s=delay)).topology_affinity_errors for delay in delays]

    assert errors == sorted(errors)
    assert errors[0] < errors[-1]


def test_jitter_comes_from_the_seed() -> None:
    first, again, other = (
        run(SchedulerConfig(kind="nrt"), SEPARATE._replace(jitter_s=5), seed=seed) for seed in (1, 1, 2)
    )

    assert first == again
    assert first.nrt_age_s != other.nrt_age_s


def test_an_event_that_a_periodic_sample_was_before_samples_nothing() -> None:
    """What changed at 0.41 s is due at 4.41; the period samples it at 3; what changes at 4 is due at 8."""
    exporter = ExporterConfig(mode="both", period_s=100, phase_s=3, event_delay_s=4, publish_delay_s=0)
    nodes = fleet("a", SchedulerConfig(kind="nrt"), exporter, Timing(horizon_s=60))
    run = Run(Simulation(nodes), [Workload(0, "one", pod("1")), Workload(3_600_000, "two", pod("1"))])
    sampled = set()
    while run.step():
        sampled.add(run.machines[0].published.at / SECOND)
    assert sampled == {0, 3, 8.01}


def test_an_exporter_that_waits_for_events_samples_at_no_period_though_all_is_lost() -> None:
    nodes = fleet("a", SchedulerConfig(kind="nrt"), SEPARATE._replace(loss=1), Timing(horizon_s=60))
    run = Run(Simulation(nodes), [Workload(0, "one", pod("1"))])
    while run.step():
        assert run.machines[0].period_due is None


def sampled(exporter: ExporterConfig, *workloads: Workload, until: int = 60) -> list[float]:
    """Tell when what became visible was sampled, each time anew."""
    nodes = fleet("a", SchedulerConfig(kind="nrt"), exporter, Timing(horizon_s=until))
    run, times = Run(Simulation(nodes), workloads), [0.0]
    while run.step():
        if run.machines[0].published.at / SECOND != times[-1]:
            times.append(run.machines[0].published.at / SECOND)
    return times


TOUCHED = ExporterConfig(mode="periodic", period_s=10, touch_on_period=True, publish_delay_s=0)
PERIODS = [
    ("periods end after the start", 0, [0, 10, 20, 30, 40, 50, 60]),
    ("with a phase", 3, [0, 3, 13, 23, 33, 43, 53]),
    ("the phase is when the first one ends", 25, [0, 25, 35, 45, 55]),
]


@pytest.mark.parametrize(("phase", "times"), [row[1:] for row in PERIODS], ids=[row[0] for row in PERIODS])
def test_an_exporter_that_touches_samples_at_the_end_of_every_period(phase: float, times: list[float]) -> None:
    assert sampled(TOUCHED._replace(phase_s=phase)) == times


def test_an_exporter_that_does_not_touch_samples_at_the_end_of_a_period_in_which_something_changed() -> None:
    exporter = TOUCHED._replace(phase_s=0, touch_on_period=False)
    assert sampled(exporter, Workload(0, "one", pod("1")), Workload(22 * SECOND, "two", pod("1"))) == [0, 10, 30]


@pytest.mark.parametrize(
    ("exporter", "ended"),
    [
        pytest.param(TOUCHED._replace(period_s=99), "horizon", id="a period goes on"),
        pytest.param(TOUCHED._replace(period_s=99, touch_on_period=False), "trace", id="none is planned"),
        pytest.param(TOUCHED._replace(mode="event"), "trace", id="only a change is sampled"),
    ],
)
def test_an_idle_machine_is_sampled_only_where_its_exporter_touches(exporter: ExporterConfig, ended: str) -> None:
    nodes = fleet("a", SchedulerConfig(kind="nrt"), exporter, Timing(horizon_s=60))
    assert simulate(Simulation(nodes), []).ended_by == ended


def test_what_is_on_its_way_last_is_not_sent_again() -> None:
    """A pod comes at 0.41 s and goes 1 s later; the period samples at 3 s what was sampled at 1.41 s."""
    exporter = ExporterConfig(mode="both", period_s=100, phase_s=3, event_delay_s=0, publish_delay_s=10)
    assert sampled(exporter, Workload(0, "one", pod("1"), duration=SECOND)) == [0, 0.41, 1.41]
    assert sampled(exporter, Workload(0, "one", pod("1"), delete_at=SECOND)) == [0, 0.41, 1]
