"""Runs as a whole: what must hold for any of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.scheduler.attempt import SchedulerConfig
from numalign.scheduler.cache import CacheConfig, ForeignPods, Informer, Method
from numalign.scheduler.simulate.engine import Run, simulate
from numalign.scheduler.simulate.report import Report, spread
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload, WorkloadKind
from numalign.scheduler.timing import ExporterConfig, Timing
from tests.dice import Dice, rolled
from tests.scheduler.simulate.test_worked_examples import fleet, pod

SCHEDULERS = {
    "unaware": SchedulerConfig(kind="unaware"),
    "kep": SchedulerConfig(kind="kep"),
    "passthrough": SchedulerConfig(kind="nrt"),
    "discard_reserved": SchedulerConfig(kind="nrt", cache=CacheConfig(mode="discard_reserved")),
    "over_reserve": SchedulerConfig(kind="nrt", cache=CacheConfig(mode="over_reserve")),
    "kai": SchedulerConfig(kind="kai"),
}


SHORT = Timing(max_failed_pods=50)


def cluster(
    scheduler: SchedulerConfig, exporter: ExporterConfig | None = None, timing: Timing = SHORT, **more: object
) -> Simulation:
    """Make three equal machines."""
    return Simulation(fleet("abc", scheduler, exporter or ExporterConfig(), timing))._replace(**more)


Row = tuple[int, str, WorkloadKind, int, int | None]
"""Arrival in seconds, CPUs, kind, replicas, duration in seconds."""

KINDS: tuple[WorkloadKind, ...] = ("pod", "replicaset", "job")


def row(dice: Dice) -> Row:
    cpus = dice.pick(("1", "3", "5", "8", "500m", "20"))
    return dice.below(101), cpus, dice.pick(KINDS), dice.between(1, 4), dice.between(1, 300) if dice.flag() else None


WORKLOADS = rolled(lambda dice: dice.several(row, 0, 8), 80)


def trace(rows: list[Row]) -> list[Workload]:
    """Make workloads of rows, in the order of their arrival."""
    return [
        Workload(at * SECOND, f"w{number}", pod(cpus), kind, replicas, duration and duration * SECOND)
        for number, (at, cpus, kind, replicas, duration) in enumerate(sorted(rows, key=lambda row: row[0]))
    ]


@pytest.mark.parametrize("name", SCHEDULERS)
@given(rows=WORKLOADS)
def test_figures_of_any_run_agree_with_each_other(name: str, rows: list[Row]) -> None:
    report = simulate(cluster(SCHEDULERS[name]), trace(rows))

    assert report.admitted <= report.submitted <= sum(row[3] for row in rows)
    assert report.ended_by == "failed pods" or report.submitted == sum(row[3] for row in rows)
    assert report.binds == report.verdicts.pass_admit + report.verdicts.pass_reject + pending(report)
    assert sum(report.rejected.values()) == report.verdicts.pass_reject
    assert sum(report.verdicts.causes.values()) == report.verdicts.pass_reject + report.verdicts.fail_admit
    assert report.attempts_total == report.binds + report.unschedulable
    assert all(0 <= share.mean <= share.most <= 1 for share in report.utilisation.values())
    assert 0 <= report.fragmentation.mean <= report.fragmentation.most <= 1


def pending(report: Report) -> int:
    """Count the pods that a kubelet has not answered yet when the run ends."""
    return sum(1 for row in report.pods if row.outcome == "pending" and row.machine)


@given(rows=WORKLOADS, seed=st.integers(0, 5))
def test_the_same_input_and_seed_give_the_same_report(rows: list[Row], seed: int) -> None:
    exporter = ExporterConfig(loss=0.3, jitter_s=0.5)
    scheduler = SCHEDULERS["over_reserve"]._replace(tie_break="random")
    settings = cluster(scheduler, exporter, seed=seed)

    assert simulate(settings, trace(rows)) == simulate(settings, trace(rows))


@given(rows=WORKLOADS)
def test_the_lazy_order_gives_what_judging_every_machine_anew_gives(
    rows: list[Row],
) -> None:
    """A shape that forgets everything before each attempt comes to the same end."""
    lazy = simulate(cluster(SCHEDULERS["over_reserve"]), trace(rows))

    run = Run(cluster(SCHEDULERS["over_reserve"]), trace(rows))
    scheduling = run._scheduling
    while run.step():
        for machine in run.machines:
            scheduling._changed(machine)
    assert run.report() == lazy


def test_an_interrupted_run_reports_what_happened_so_far() -> None:
    run = Run(cluster(SCHEDULERS["unaware"]), trace([(0, "5", "replicaset", 4, None), (50, "1", "pod", 1, None)]))
    while run.now < 10 * SECOND:
        assert run.step()

    run.interrupt()

    assert not run.step()
    assert run.report().ended_by == "interrupted"
    assert run.report().submitted == 4


def test_a_foreign_pod_makes_the_pessimistic_cache_distrust_the_machine() -> None:
    foreign = Workload(0, "daemon", pod("1"), machine="a")
    mine = Workload(SECOND, "mine", pod("8"), "pod")

    report = simulate(cluster(SCHEDULERS["over_reserve"]), [foreign, mine])

    assert {row.name: row.machine for row in report.pods} == {"daemon": "a", "mine": "b"}


def test_pods_of_somebody_else_are_no_binds_in_vain() -> None:
    """Two of the four that another scheduler sends to one machine are refused there."""
    foreign = Workload(0, "daemon", pod("5"), "replicaset", 4, machine="a")
    mine = Workload(SECOND, "mine", pod("1"), "pod")

    report = simulate(cluster(SCHEDULERS["passthrough"]), [foreign, mine])

    assert report.rejected == {"TopologyAffinityError": 2}
    assert (report.binds, report.wasted_binds) == (1, 0)


@pytest.mark.parametrize(
    ("method", "outcome"),
    [
        pytest.param("Autodetect", "running", id="as the exporter says: the daemon is not in its fingerprint"),
        pytest.param("OnlyExclusiveResources", "running", id="the same way, forced"),
        pytest.param("All", "pending", id="all pods: the fingerprint never matches"),
    ],
)
def test_the_method_says_which_pods_a_resync_compares(method: Method, outcome: str) -> None:
    """docs/rules/scheduling.md 3.4: a foreign pod with nothing of its own, beside one that has CPUs."""
    cache = CacheConfig(mode="over_reserve", method=method)
    shared = pod("500m")._replace(qos="Burstable")
    foreign = [Workload(0, "daemon", shared, machine="a"), Workload(0, "other", pod("1"), machine="a")]
    mine = Workload(30 * SECOND, "mine", pod("8"), "pod")
    nodes = fleet("a", SchedulerConfig(kind="nrt", cache=cache), ExporterConfig(fingerprint="exclusive"), SHORT)

    report = simulate(Simulation(nodes), [*foreign, mine])

    assert {row.name: row.outcome for row in report.pods}["mine"] == outcome


@pytest.mark.parametrize(
    ("terminal", "informer", "outcome"),
    [
        pytest.param(True, "Dedicated", "running", id="both count the finished pod"),
        pytest.param(False, "Shared", "running", id="neither does"),
        pytest.param(True, "Shared", "pending", id="only the exporter does"),
        pytest.param(False, "Dedicated", "pending", id="only the scheduler does"),
    ],
)
def test_a_fingerprint_matches_where_both_sides_count_the_same_pods(
    terminal: bool, informer: Informer, outcome: str
) -> None:
    """docs/rules/scheduling.md 3.2 and 3.4: a pod has finished, and its reservation still blocks both NUMA nodes."""
    cache = CacheConfig(mode="over_reserve", informer=informer)
    exporter = ExporterConfig(count_terminal_pods=terminal)
    nodes = fleet("a", SchedulerConfig(kind="nrt", cache=cache), exporter, SHORT)
    past = [Workload(0, "stays", pod("1")), Workload(0, "short", pod("5"), duration=5 * SECOND)]

    report = simulate(Simulation(nodes, retry_on_resync=True), [*past, Workload(30 * SECOND, "mine", pod("5"))])

    assert {row.name: row.outcome for row in report.pods}["mine"] == outcome


@pytest.mark.parametrize(
    ("foreign_pods", "outcome"),
    [
        pytest.param("All", "pending", id="any pod"),
        pytest.param("OnlyExclusiveResources", "running", id="it has nothing of its own"),
        pytest.param("None", "running", id="none"),
    ],
)
def test_the_cache_distrusts_a_machine_for_the_foreign_pods_it_is_told_to(
    foreign_pods: ForeignPods, outcome: str
) -> None:
    cache = CacheConfig(mode="over_reserve", foreign_pods=foreign_pods)
    exporter = ExporterConfig(fingerprint="none")  # so a machine stays distrusted
    nodes = fleet("a", SchedulerConfig(kind="nrt", cache=cache), exporter, SHORT)
    foreign = Workload(0, "daemon", pod("500m")._replace(qos="Burstable"), machine="a")

    report = simulate(Simulation(nodes), [foreign, Workload(SECOND, "mine", pod("8"))])

    assert {row.name: row.outcome for row in report.pods}["mine"] == outcome


def test_a_cache_that_discards_reserved_machines_waits_until_their_pods_are_bound() -> None:
    scheduler = SchedulerConfig(kind="nrt", cache=CacheConfig(mode="discard_reserved"))
    nodes = fleet("ab", scheduler, ExporterConfig(mode="instant"), Timing(horizon_s=60))

    report = simulate(Simulation(nodes), [Workload(0, "dpdk", pod("5"), "replicaset", 5)])

    assert (report.topology_affinity_errors, report.admitted, report.pending_at_end) == (0, 4, 1)
    assert report.messages["invalid node topology data"] > 0


def test_an_audit_draws_its_attempts_from_the_whole_run() -> None:
    """Most attempts of a run-away pod come after the first ones of its workload."""
    settings = cluster(SCHEDULERS["unaware"], audit=20, timing=Timing(horizon_s=60))

    report = simulate(settings, trace([(0, "5", "replicaset", 7, None)]))

    audited = report.audited
    assert report.attempts_total > 100
    assert audited.pass_reject > audited.pass_admit
    assert audited.causes == {"blind": audited.pass_reject}


def test_an_audit_looks_at_every_machine_with_room_of_so_many_attempts() -> None:
    report = simulate(cluster(SCHEDULERS["unaware"], audit=2), trace([(0, "5", "replicaset", 4, None)]))

    audited = report.audited
    assert audited.pass_admit + audited.pass_reject == 2 * 3
    assert (audited.fail_admit, audited.fail_reject) == (0, 0)


def test_a_job_gives_up_at_its_limit() -> None:
    report = simulate(cluster(SCHEDULERS["unaware"], timing=Timing(horizon_s=7200)), trace([(0, "12", "job", 1, None)]))

    assert report.rejected == {"TopologyAffinityError": 7}
    assert report.api_objects_created == 7
    made = [row.created_s for row in report.pods]
    refused = [row.ended_s or 0 for row in report.pods]
    waited = [later - earlier for later, earlier in zip(made[1:], refused, strict=False)]
    assert waited == pytest.approx([10, 20, 40, 80, 160, 320])


def test_a_run_stops_early_where_too_many_pods_fail() -> None:
    report = simulate(cluster(SCHEDULERS["unaware"]), trace([(0, "12", "replicaset", 1, None)]))

    assert (report.ended_by, report.topology_affinity_errors) == ("failed pods", 50)


def test_a_pod_that_is_evicted_for_a_critical_one_is_made_again() -> None:
    """The kubelet evicts for a static pod; the ReplicaSet counts what runs."""
    critical = pod("7500m")._replace(spec={"priority": 2_000_001_000})
    settings = Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), Timing(horizon_s=60)))

    report = simulate(
        settings,
        [
            Workload(0, "mine", pod("7500m"), "replicaset", 2),
            Workload(SECOND, "static", critical, machine="a"),
        ],
    )

    outcomes = {row.name: row.outcome for row in report.pods}
    assert outcomes["static"] == "running"
    assert sorted(outcome for name, outcome in outcomes.items() if name != "static") == [
        "Preempting",
        "pending",
        "running",
    ]


def test_a_bare_pod_is_not_made_again() -> None:
    report = simulate(cluster(SCHEDULERS["unaware"]), trace([(0, "12", "pod", 1, None)]))

    assert report.api_objects_created == 1
    assert report.pending_at_end == 1


@pytest.mark.parametrize(
    ("values", "figures"),
    [
        pytest.param([], (0, 0.0, 0.0, 0.0, 0.0, 0.0), id="nothing"),
        pytest.param([2.0], (1, 2.0, 2.0, 2.0, 2.0, 2.0), id="one figure"),
        pytest.param([float(one) for one in range(1, 101)], (100, 50.5, 50.0, 95.0, 99.0, 100.0), id="a hundred"),
    ],
)
def test_percentiles_are_by_the_nearest_rank(values: list[float], figures: tuple[float, ...]) -> None:
    assert spread(values) == figures


def test_the_figures_of_a_run_worked_out_by_hand() -> None:
    """One pod of 5 CPUs runs from 0.41 s on, on one of two NUMA nodes with 8 (docs/rules/scheduling.md 6.3, 6.4)."""
    settings = Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), Timing(horizon_s=60)))

    report = simulate(settings, [Workload(0, "one", pod("5"))])

    ran = (60 - 0.41) / 60
    assert report.utilisation["cpu"] == pytest.approx((5 / 16 * ran, 5 / 16))
    assert report.zone_utilisation["node-0"]["cpu"] == pytest.approx((5 / 8 * ran, 5 / 8))
    assert report.zone_utilisation["node-1"]["cpu"] == (0, 0)
    assert report.fragmentation == pytest.approx((1 / 3 * (1 - ran) + 1 / 2 * ran, 1 / 2))
    assert (report.alignment_rate, report.preferred_rate, report.retries) == (1, 1, 0)
    assert report.time_to_all_running_s == {"one": 0.41}
    assert report.wait_s.mean == 0.41
