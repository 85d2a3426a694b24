"""Runs as a whole: what must hold for any of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import InputError
from numalign.model.machine import Taint
from numalign.model.pod import Container
from numalign.scheduler import schedulers
from numalign.scheduler.attempt import attempt, judge
from numalign.scheduler.choice import Sampling
from numalign.scheduler.config import (
    CacheConfig,
    ExporterConfig,
    ForeignPods,
    Informer,
    Kind,
    Method,
    PreemptionMode,
    SchedulerConfig,
    Scope,
    Timing,
)
from numalign.scheduler.node import Fleet
from numalign.scheduler.nrt.export import export
from numalign.scheduler.nrt.value import POLICY
from numalign.scheduler.record import QUEUE, KnownNode
from numalign.scheduler.simulate.engine import Run, simulate
from numalign.scheduler.simulate.report import Report, Verdicts, spread
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload, WorkloadKind
from numalign.scheduler.simulate.shapes import Shape, Shapes
from numalign.scheduler.simulate.workloads import WorkloadRun
from numalign.scheduler.verdict import Verdict
from tests.conformance.sched import amounts
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


def affinity(group: str, key: str, operator: str, value: str) -> dict[str, object]:
    terms = [{group: [{"key": key, "operator": operator, "values": [value]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


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


@pytest.mark.parametrize("sampling", ["all", "kube"])
@pytest.mark.parametrize("name", SCHEDULERS)
@given(rows=WORKLOADS)
def test_every_attempt_of_a_run_is_the_plain_one(name: str, sampling: Sampling, rows: list[Row]) -> None:
    """What a run remembers, and its order of machines, give what judging each machine anew and choosing gives."""
    config = SCHEDULERS[name]._replace(node_sampling=sampling)
    run = Run(cluster(config), trace(rows))
    scheduling, scheduler = run._scheduling, schedulers.SCHEDULERS[config.kind]
    choose = scheduling._choose

    def compared(shape: Shape, kept_away: Mapping[int, Verdict]) -> int | None:
        known = [KnownNode(machine.node, machine.belief) for machine in run.machines]
        plain = attempt(
            config,
            range(len(known)),
            lambda place: judge(scheduler, config, known[place], shape.entry),
            start=scheduling._start,
            number=scheduling._attempts,
        )
        assert {place: shape.judged[place] for place in plain.judgements} == plain.judgements
        chosen = choose(shape, kept_away)
        assert chosen == plain.chosen
        return chosen

    scheduling._choose = compared  # type: ignore[method-assign]  # the choice is what is asked about
    while run.step():
        pass


def nodes(names: str, **changes: object) -> Fleet:
    """Make nodes of which the first one is other than the rest."""
    made = fleet(names, SCHEDULERS["unaware"], ExporterConfig(), SHORT)
    return made._replace(nodes=(made.nodes[0]._replace(**changes), *made.nodes[1:]))  # type: ignore[arg-type]  # fields of its own


@pytest.mark.parametrize(
    ("changes", "spec", "text"),
    [
        pytest.param(
            {"taints": (Taint("gpu", "yes", "NoSchedule"),)}, {}, "untolerated taint {gpu: yes}", id="a taint"
        ),
        pytest.param({"unschedulable": True}, {}, "unschedulable", id="a node that takes no pods"),
        pytest.param(
            {"labels": {"disk": "slow"}},
            {"affinity": affinity("matchExpressions", "disk", "NotIn", "slow")},
            "didn't match Pod's node affinity",
            id="required node affinity",
        ),
        pytest.param(
            {},
            {"affinity": affinity("matchFields", "metadata.name", "In", "b")},
            "didn't match Pod's node affinity",
            id="the name in a node affinity",
        ),
        pytest.param({}, {"nodeName": "b"}, "didn't match the requested node name", id="the name itself"),
    ],
)
def test_a_pod_goes_nowhere_but_where_it_may(changes: dict[str, object], spec: dict[str, object], text: str) -> None:
    asked = pod("1")._replace(spec=spec)
    found = simulate(Simulation(nodes("ab", **changes)), [Workload(0, "one", asked)])
    assert [(row.machine, row.outcome) for row in found.pods] == [("b", "running")]
    refused = simulate(Simulation(nodes("a", **changes)), [Workload(0, "one", asked)])
    assert (refused.binds, refused.rejected, refused.pods[0].outcome) == (0, {}, "pending")
    assert all(text in message for message in refused.messages)


def ranked(name: str, cpus: str, rank: int, at: int = 0, **more: object) -> Workload:
    return Workload(at * SECOND, name, pod(cpus)._replace(spec={"priority": rank}))._replace(**more)


@pytest.mark.parametrize("kind", ["unaware", "kep", "nrt", "kai"])
def test_a_pod_of_higher_priority_has_others_evicted(kind: Kind) -> None:
    """Two pods of 7 CPUs fill the node; the least important one goes, and a ReplicaSet makes another one that waits."""
    config = SchedulerConfig(kind)
    there = [ranked("low", "7500m", 1, kind="replicaset"), ranked("mid", "7500m", 2)]
    settings = Simulation(fleet("a", config, ExporterConfig(mode="instant"), Timing(horizon_s=60)))

    report = simulate(settings, [*there, ranked("high", "7500m", 3, at=5)])

    outcomes = {row.name: row.outcome for row in report.pods}
    assert outcomes == {"low-0": "deleted", "mid": "running", "high": "running", "low-1": "pending"}


def test_a_pod_that_somebody_else_bound_is_evicted_like_any_other() -> None:
    settings = Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), Timing(horizon_s=60)))

    report = simulate(settings, [ranked("theirs", "12500m", 1, machine="a"), ranked("high", "7500m", 3, at=5)])

    assert {row.name: row.outcome for row in report.pods} == {"theirs": "deleted", "high": "running"}


def test_a_pod_that_is_deleted_when_others_have_made_room_gives_it_back() -> None:
    settings = Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), Timing(horizon_s=60)))
    low, high, late = ranked("low", "12500m", 1), ranked("high", "12500m", 3, at=5), ranked("late", "12500m", 1, at=20)

    report = simulate(settings, [low, high._replace(delete_at=5 * SECOND + SECOND // 2), late])

    assert {row.name: row.outcome for row in report.pods} == {"low": "deleted", "high": "deleted", "late": "running"}


@pytest.mark.parametrize(("deserved", "outcome"), [({}, "pending"), ({"cpu": "4"}, "running")])
def test_kai_reclaims_what_a_queue_does_not_deserve_whatever_the_priorities(
    deserved: dict[str, str], outcome: str
) -> None:
    """docs/rules/scheduling.md K-11: the other queue holds 15 CPUs and deserves 8."""
    queues = {"mine": amounts(deserved), "other": amounts({"cpu": "8"})} if deserved else {}
    config = SchedulerConfig("kai", kai=SchedulerConfig().kai._replace(deserved=queues))
    settings = Simulation(fleet("a", config, ExporterConfig(mode="instant"), Timing(horizon_s=60)))
    first, second, late = (
        Workload(at * SECOND, name, pod(cpus)._replace(labels={QUEUE: queue}))
        for name, cpus, queue, at in (("first", "7", "other", 0), ("second", "8", "other", 0), ("late", "4", "mine", 5))
    )

    report = simulate(settings, [first, second, late])

    assert {row.name: row.outcome for row in report.pods}["late"] == outcome


def test_with_sampling_an_attempt_begins_where_the_last_one_stopped() -> None:
    """docs/rules/scheduling.md 2.5: of 120 nodes a hundred that pass are enough."""
    names = [f"n{number}" for number in range(120)]
    made = fleet("a", SCHEDULERS["unaware"]._replace(node_sampling="kube", node_score=None), ExporterConfig(), SHORT)
    settings = Simulation(made._replace(nodes=tuple([made.nodes[0]._replace(name=name) for name in names])))

    report = simulate(settings, trace([(0, "1", "pod", 2, None)]))

    assert [row.machine for row in report.pods] == ["n0", "n100"]


@pytest.mark.parametrize(
    ("mode", "prefilter", "outcome"),
    [
        pytest.param("Enabled", True, "running", id="the filter sees the node without the victim"),
        pytest.param("Enabled", False, "pending", id="not on at PreFilter: every call fails"),
        pytest.param("Disabled", False, "pending", id="it sees what is free now: no NUMA node"),
    ],
)
def test_the_plugin_takes_part_in_preemption_as_it_is_set_up(
    mode: PreemptionMode, prefilter: bool, outcome: str
) -> None:
    """The node has room for two pods of 5 CPUs, one a NUMA node; P-1 to P-6."""
    cache = CacheConfig(mode="over_reserve", resync_s=1)
    config = SchedulerConfig("nrt", cache=cache, preemption_mode=mode, prefilter=prefilter)
    settings = Simulation(
        fleet("a", config, ExporterConfig(mode="instant"), Timing(horizon_s=200)), retry_on_resync=True
    )
    there = [ranked("low", "5", 1), ranked("mid", "5", 2)]

    run = Run(settings, [*there, ranked("high", "5", 3, at=30)])
    while run.step():
        pass
    report = run.report()

    assert {run.pods[number].state for number in run.machines[0].listed} == {"running"}
    outcomes = {row.name: row.outcome for row in report.pods}
    assert outcomes["high"] == outcome
    assert (outcomes["low"] == "deleted") == (outcome == "running")


@pytest.mark.parametrize(("scope", "outcome"), [("All", "pending"), ("OnlyResources", "running")])
def test_a_policy_that_changed_is_taken_over_as_the_scope_says(scope: Scope, outcome: str) -> None:
    """The object at the start says policy none, so every pod passes; the exporter's own refuse 9 CPUs (O-8)."""
    cache = CacheConfig(mode="over_reserve", resync_scope=scope, resync_s=5)
    made = fleet("a", SchedulerConfig("nrt", cache=cache), ExporterConfig(fingerprint="none"), Timing(horizon_s=60))
    session = made.nodes[0].session
    assert session is not None
    old = export(session, "a")
    attributes = tuple([(name, "none" if name == POLICY else value) for name, value in old.attributes])
    node = made.nodes[0]._replace(nrt=old._replace(attributes=attributes, topology_policies=()))
    small, wide = Workload(0, "small", pod("1")), Workload(30 * SECOND, "wide", pod("9"))

    report = simulate(Simulation(made._replace(nodes=(node,))), [small, wide])

    assert report.binds == (1 if outcome == "pending" else 2)


def test_moments_tell_who_runs_who_waits_and_who_was_refused() -> None:
    """One runs, one waits for 20 CPUs until it is deleted, one is refused for ever."""
    timing = Timing(horizon_s=100)
    waits = Workload(0, "waits", pod("20"), delete_at=50 * SECOND)
    split = Workload(0, "split", pod("12"))

    report = simulate(
        Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), timing)),
        [Workload(70 * SECOND, "runs", pod("1"), duration=20 * SECOND), waits, split],
    )

    told = {one.at_s: (one.running, one.waiting, one.rejected) for one in report.moments}
    assert [told[at] for at in (0, 40, 60, 80, 95)] == [(0, 0, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1), (0, 0, 1)]


def test_a_pod_that_is_deleted_before_its_kubelet_answers_gives_its_room_back() -> None:
    timing = Timing(bind_to_admit_s=1, horizon_s=100)
    settings = Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), timing))
    stays, gone, late = (
        Workload(at * SECOND, name, pod("7500m")) for name, at in (("stays", 0), ("gone", 0), ("late", 5))
    )

    report = simulate(settings, [stays, gone._replace(delete_at=SECOND // 2), late])

    assert {row.name: row.outcome for row in report.pods} == {"stays": "running", "gone": "deleted", "late": "running"}


@pytest.mark.parametrize(
    ("session", "machine", "said"),
    [
        pytest.param(False, None, "node a: its hardware is unknown, so no kubelet can be simulated", id="no hardware"),
        pytest.param(True, "z", "workload mine: unknown node z", id="a workload of a node that is not there"),
    ],
)
def test_what_cannot_be_run_is_told_before_it_starts(session: bool, machine: str | None, said: str) -> None:
    nodes = fleet("a", SCHEDULERS["unaware"], ExporterConfig(), SHORT).nodes
    made = Fleet(tuple([one if session else one._replace(session=None) for one in nodes]))
    with pytest.raises(InputError) as raised:
        simulate(Simulation(made), [Workload(0, "mine", pod("1"), machine=machine)])
    assert str(raised.value) == said


def test_how_far_a_run_is() -> None:
    """Its horizon is 600 s after the last arrival, or as it is told."""
    late = trace([(0, "1", "pod", 1, None), (200, "1", "pod", 1, None)])
    run = Run(cluster(SCHEDULERS["unaware"]), late)
    assert run.progress == 0
    while run.now < 200 * SECOND:
        run.step()
    assert run.progress == pytest.approx(0.25, abs=0.01)
    run = Run(cluster(SCHEDULERS["unaware"], timing=Timing(horizon_s=0)), late)
    assert run.progress == 1
    assert simulate(cluster(SCHEDULERS["unaware"]), []).ended_s == 600


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


def test_kai_gets_no_record_of_what_a_pod_of_somebody_else_took() -> None:
    settings = Simulation(fleet("a", SCHEDULERS["kai"], ExporterConfig(mode="instant"), Timing(horizon_s=60)))
    run = Run(settings, [Workload(0, "theirs", pod("3"), machine="a"), Workload(SECOND, "mine", pod("2"))])
    while run.step():
        pass
    ledger = run.machines[0].belief.ledger
    assert ledger is not None
    assert [name.rpartition("/")[2] for name in ledger.placements] == ["mine"]


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


def test_a_workload_that_is_removed_makes_no_more_pods() -> None:
    split = Workload(0, "split", pod("12"), "replicaset", 2, delete_at=SECOND)

    report = simulate(cluster(SCHEDULERS["unaware"], timing=Timing(horizon_s=60)), [split])

    assert max(row.created_s for row in report.pods) < 1
    assert report.pending_at_end == 0


def test_of_two_pods_the_kubelet_evicts_the_one_that_is_just_enough() -> None:
    settings = Simulation(fleet("a", SCHEDULERS["unaware"], ExporterConfig(), Timing(horizon_s=60)))
    there = [ranked("large", "8", 1), ranked("small", "7", 1)]

    report = simulate(settings, [*there, ranked("critical", "7500m", 2_000_001_000, at=5, machine="a")])

    assert {row.name: row.outcome for row in report.pods} == {
        "large": "running",
        "small": "Preempting",
        "critical": "running",
    }


def test_what_is_not_said_of_a_run() -> None:
    report = simulate(cluster(SCHEDULERS["unaware"]), [Workload(0, "one", pod("12"))])
    assert report.audited == Verdicts()
    assert Simulation(nodes("a"))[1:] == (0, False, "none", 10, 0)
    assert Workload(0, "one", pod("1"))[3:] == ("pod", 1, None, None, None)


def test_a_pod_without_requests_counts_in_the_score() -> None:
    """docs/rules/scheduling.md 2.5: so the second one goes to the other node."""
    bare = pod("1")._replace(qos="BestEffort", containers=(Container("c", "app", {}, {}),))
    settings = Simulation(fleet("ab", SCHEDULERS["unaware"], ExporterConfig(), Timing(horizon_s=60)))

    report = simulate(settings, [Workload(0, "w", bare, "replicaset", 2)])

    assert [row.machine for row in report.pods] == ["a", "b"]


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


@pytest.mark.parametrize(("failed", "runaways"), [(10, 0), (11, 1)])
def test_a_replica_runs_away_when_more_than_ten_of_its_pods_were_refused(failed: int, runaways: int) -> None:
    split = Workload(0, "split", pod("12"), "replicaset")
    settings = cluster(SCHEDULERS["unaware"], timing=Timing(max_failed_pods=failed))
    assert simulate(settings, [split]).runaway_replicas == runaways


def test_the_end_of_a_pod_of_somebody_else_makes_the_cache_distrust_the_machine_until_a_resync() -> None:
    """It comes at 0 and ends at 15 s; resyncs are at 10 and 20 s."""
    cache = CacheConfig(mode="over_reserve", resync_s=10)
    nodes = fleet("a", SchedulerConfig("nrt", cache=cache), ExporterConfig(mode="instant"), Timing(horizon_s=60))
    foreign = Workload(0, "daemon", pod("1"), duration=15 * SECOND, machine="a")
    mine = Workload(16 * SECOND, "mine", pod("8"))

    report = simulate(Simulation(nodes, retry_on_resync=True), [foreign, mine])

    assert report.wait_s.most >= 4


@pytest.mark.parametrize(("kind", "at_once"), [("replicaset", [500, 1]), ("job", [501, 0])])
def test_a_replicaset_makes_500_pods_in_a_sync(kind: WorkloadKind, at_once: list[int]) -> None:
    """docs/rules/scheduling.md 4.1."""
    wanted = Workload(0, "w", pod("1"), kind, 501)
    run = WorkloadRun(0, wanted, Shapes(0).of(wanted.pod))
    run.arrive(0)
    assert [len(run.take()) for _ in range(2)] == at_once
