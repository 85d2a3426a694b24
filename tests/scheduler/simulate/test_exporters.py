"""Exporters: what their modes, delays, jitter and losses let the scheduler see (docs/rules/scheduling.md 3.2).

The trace is that of 7.5, whose scheduler errs the more, the older what it sees is: five replicas, room for four.
"""

from __future__ import annotations

import pytest

from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.simulate.engine import Run
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
