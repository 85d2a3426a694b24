"""Scheduling attempts: sampling, ties, what each scheduler sees, and whom it evicts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from numalign.model.quantity import NANO
from numalign.scheduler import choice, node_fit
from numalign.scheduler.attempt import Attempt, Judgement, attempt, judge, with_pod
from numalign.scheduler.config import CacheConfig, CacheMode, Kind, SchedulerConfig
from numalign.scheduler.filter_nrt import NOT_FRESH
from numalign.scheduler.kai.topology import Around
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.copy import copy_of
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.record import QUEUE, Belief, KnownNode, PodEntry, Preemption, entry_of
from numalign.scheduler.request import node_load
from numalign.scheduler.schedulers import SCHEDULERS
from numalign.scheduler.verdict import PASS, Verdict
from tests.conformance.sched import amounts, request
from tests.conformance.sched import pod as read
from tests.scheduler.make import asking, object_of, zone

TOTAL = amounts({"cpu": "8", "memory": "16Gi", "pods": "10"})
ALIGNED = object_of(zone(0, cpu="8", memory="16Gi"))
BOTH = object_of(zone(0, cpu="8", memory="16Gi"), zone(1, cpu="8", memory="16Gi"))
SPLIT = object_of(zone(0, cpu="4", memory="8Gi"), zone(1, cpu="4", memory="8Gi"))


def node(name: str, found: NodeResourceTopology | None = ALIGNED, used: str = "0", kind: Kind = "nrt") -> KnownNode:
    belief = SCHEDULERS[kind].opened(SchedulerConfig(kind), Around(), copy_of(found), ())
    total = TOTAL if found is not BOTH else {**TOTAL, **amounts({"cpu": "16"})}
    return KnownNode(ClusterNode(name, NodeTotals(total, amounts({"cpu": used}), 0)), belief)


def tried(config: SchedulerConfig, nodes: Sequence[KnownNode], asked: PodEntry, start: int = 0) -> Attempt[int]:
    scheduler = SCHEDULERS[config.kind]
    return attempt(config, range(len(nodes)), lambda place: judge(scheduler, config, nodes[place], asked), start=start)


@pytest.mark.parametrize(
    ("nodes", "enough"),
    [(3, 3), (99, 99), (100, 100), (250, 120), (1000, 420), (2480, 768), (2500, 750), (5000, 500), (10000, 500)],
)
def test_how_many_feasible_machines_are_enough(nodes: int, enough: int) -> None:
    assert choice.enough_feasible(nodes) == enough


def test_sampling_goes_on_where_it_stopped() -> None:
    many = [node(f"n{number}") for number in range(250)]
    config = SchedulerConfig(node_sampling="kube")
    first = tried(config, many, asking(1))
    second = tried(config, many, asking(1), start=first.next_start)
    assert (len(first.judgements), first.next_start) == (120, 120)
    assert next(iter(second.judgements)) == 120
    assert tried(config, many, asking(1), start=240).next_start == 110


def test_a_scheduler_that_knows_of_zones_avoids_the_split_machine() -> None:
    kinds: tuple[Kind, ...] = ("unaware", "kep", "nrt", "kai")
    nodes = {kind: [node("split", SPLIT, kind=kind), node("aligned", kind=kind)] for kind in kinds}
    chosen = {kind: tried(SchedulerConfig(kind), nodes[kind], asking(6)).chosen for kind in kinds}
    assert chosen == {"unaware": 0, "kep": 1, "nrt": 1, "kai": 1}


SEEDS = (7, 7 + (1 << 64), 7 + (1 << 63))
"""Of a seed 64 bits count."""


def test_random_ties_are_the_seeds() -> None:
    names = tuple("abcdefgh")
    picks, again, other = ([choice.pick(names, "random", seed, number) for number in range(40)] for seed in SEEDS)
    assert picks == again != other
    assert len(set(picks)) > 4
    assert choice.pick(names, "first", 5, 7) == "a"
    assert choice.pick((), "random", 5, 7) is None


def test_fit_names_every_shortage() -> None:
    found = tried(SchedulerConfig("unaware"), [node("n", used="4")], asking(6, "20Gi"))
    assert found.judgements[0].verdict.message == "Insufficient cpu, Insufficient memory"
    assert (found.chosen, found.feasible, found.best, found.next_start) == (None, (), (), 0)


def test_all_of_a_machine_may_be_asked_for() -> None:
    """Its last CPU, its last byte and its last pod; an amount of 0 fits where others have too much already."""
    totals = NodeTotals(amounts({"cpu": "8", "memory": "16Gi", "pods": "2"}), amounts({"cpu": "2"}), 1)
    asked = asking(6, "16Gi").load
    assert node_fit.check_totals(totals, asked).passed
    assert [node_fit.score(totals, asked, how) for how in ("LeastAllocated", "MostAllocated")] == [0, 100]
    assert totals.with_pod(asked).pods == 2
    assert node_fit.check_totals(totals._replace(used=amounts({"cpu": "9"})), asking(0).load).passed
    unknown = totals._replace(allocatable=amounts({"cpu": "8"}), unjudged=frozenset({"memory"}))
    assert node_fit.check_totals(unknown, asked).passed


TOO_BIG = Verdict(False, "Insufficient cpu", resource="cpu", requested=9 * NANO, best=8 * NANO)
NO_ZONE = Verdict(False, "cannot align container", "c", "cpu", 6 * NANO, 4 * NANO, 0)


@pytest.mark.parametrize(
    ("kind", "strategy", "found", "cpus", "expected"),
    [
        pytest.param("nrt", "LeastAllocated", ALIGNED, 9, Judgement(TOO_BIG, fits=False), id="too big as a bag"),
        pytest.param(
            "nrt", "LeastAllocated", SPLIT, 6, Judgement(NO_ZONE, marks=True), id="on no zone, which the filter marks"
        ),
        pytest.param("unaware", "LeastAllocated", ALIGNED, 2, Judgement(PASS, 84), id="a bag scores what is left"),
        pytest.param("nrt", "LeastAllocated", ALIGNED, 2, Judgement(PASS, 168), id="a zone beside that"),
        pytest.param("nrt", None, ALIGNED, 2, Judgement(PASS, 84), id="a zone alone"),
        pytest.param("kai", "LeastAllocated", ALIGNED, 2, Judgement(PASS, 100), id="KAI asks zones alone"),
    ],
)
def test_a_judgement_says_whether_it_fits_and_adds_both_scores(
    kind: Kind, strategy: node_fit.NodeStrategy | None, found: NodeResourceTopology, cpus: int, expected: Judgement
) -> None:
    config = SchedulerConfig(kind, node_score=strategy)
    assert tried(config, [node("n", found, kind=kind)], asking(cpus)).judgements[0] == expected


def test_a_full_machine_takes_no_more_pods() -> None:
    totals = NodeTotals(amounts({"cpu": "8", "memory": "16Gi", "pods": "2"}), {}, 2)
    full = KnownNode(ClusterNode("n", totals), Belief())
    verdict = tried(SchedulerConfig("unaware"), [full], asking(1)).judgements[0].verdict
    assert (verdict.message, verdict.resource, verdict.best) == ("Too many pods", "pods", 0)


def test_over_reserve_waits_where_a_zone_would_still_do() -> None:
    """Two pods of 5 CPUs fit a machine of 8 and 8, but a reservation counts on both zones until a resync."""
    total = amounts({"cpu": "16", "memory": "32Gi", "pods": "10"})
    found = copy_of(object_of(zone(0, cpu="8", memory="16Gi"), zone(1, cpu="8", memory="16Gi")))
    scheduler, asked = SCHEDULERS["nrt"], asking(5)
    modes: tuple[CacheMode, ...] = ("passthrough", "over_reserve")
    passed = {}
    for mode in modes:
        config = SchedulerConfig(cache=CacheConfig(mode))
        belief = scheduler.opened(config, Around(), found, ())
        one = KnownNode(ClusterNode("n", NodeTotals(total, {}, 0)), belief)
        then = with_pod(scheduler, config, one, asked)
        passed[mode] = [judge(scheduler, config, known, asked).passed for known in (one, then)]
    assert passed == {"passthrough": [True, True], "over_reserve": [True, False]}


def holding(name: str, config: SchedulerConfig, *ranks: int) -> KnownNode:
    """Make a node of 8 CPUs in one zone, with a pod of 4 CPUs for each priority."""
    result = node(name, kind=config.kind)
    for place, rank in enumerate(ranks):
        pod = asking(4, name=f"{name}{place}")._replace(priority=rank)
        result = with_pod(SCHEDULERS[config.kind], config, result, pod)
    return result


def evicted(nodes: Sequence[KnownNode], cpus: int, rank: int, config: SchedulerConfig) -> Preemption | None:
    scheduler = SCHEDULERS[config.kind]
    return scheduler.preempt(scheduler, config, nodes, asking(cpus)._replace(priority=rank))


@pytest.mark.parametrize(
    ("ranks", "cpus", "rank", "expected"),
    [
        pytest.param([(1, 2), (5, 5)], 4, 9, ("a", ("default/a0",)), id="only whom it takes, the least important"),
        pytest.param([(5, 5), (1, 2)], 8, 9, ("b", ("default/b1", "default/b0")), id="the least important node"),
        pytest.param([(2, 1), (2, 0)], 8, 9, ("b", ("default/b0", "default/b1")), id="then the smallest sum"),
        pytest.param([(0, 0), (0,)], 8, 9, ("b", ("default/b0",)), id="then the fewest"),
        pytest.param([(0, 0), (0, 9)], 4, 9, ("a", ("default/a1",)), id="then the first node"),
        pytest.param([(3, 3)], 4, 3, None, id="nobody of the same priority"),
        pytest.param([(9, 1)], 8, 5, None, id="nobody where it would not be enough"),
    ],
)
def test_whom_kube_scheduler_evicts(
    ranks: list[tuple[int, ...]], cpus: int, rank: int, expected: tuple[str, tuple[str, ...]] | None
) -> None:
    config = SchedulerConfig("unaware")
    nodes = [holding(name, config, *some) for name, some in zip("ab", ranks, strict=False)]
    assert evicted(nodes, cpus, rank, config) == (None if expected is None else Preemption(*expected))
    assert evicted(nodes, cpus, rank, config._replace(preempts=False)) is None


def test_kai_evicts_within_a_queue_by_priority_and_from_other_queues_what_they_do_not_deserve() -> None:
    deserved = {queue: amounts({"cpu": "4", "memory": "99Gi"}) for queue in ("mine", "other")}
    config = SchedulerConfig("kai", kai=SchedulerConfig().kai._replace(deserved=deserved))
    scheduler = SCHEDULERS["kai"]

    def full(queue: str, *ranks: int) -> KnownNode:
        result = node("n", kind="kai")
        for place, rank in enumerate(ranks):
            pod = asking(4, name=f"p{place}")._replace(priority=rank, queue=queue)
            result = with_pod(scheduler, config, result, pod)
        return result

    def asks(known: KnownNode, rank: int, cpus: int = 4, config: SchedulerConfig = config) -> Preemption | None:
        pod = entry_of(read({"containers": [{"name": "c", "requests": {"cpu": str(cpus)}}]}, "new"))
        return scheduler.preempt(scheduler, config, [known], pod._replace(priority=rank, queue="mine"))

    assert asks(full("mine", 1, 2), 3) == Preemption("n", ("default/p0",))
    kept = {name: one._replace(preemptible=False) for name, one in full("mine", 1, 2).pods.items()}
    assert asks(full("mine", 1, 2)._replace(pods=kept), 3) is None
    assert asks(full("mine", 3, 3), 3) is None
    assert asks(full("other", 5, 7), 0) == Preemption("n", ("default/p0",)), "it holds 8 and deserves 4"
    assert asks(full("other", 5), 0, cpus=8) is None, "with 8 its own queue would have more than it deserves"
    assert asks(full("other", 5), 0, cpus=4) is None, "it holds no more than it deserves"
    little = config._replace(kai=config.kai._replace(deserved={"mine": amounts({"cpu": "12", "memory": "1Gi"})}))
    assert asks(full("mine", 3, 3), 3, config=little) is None, "what its own queue holds too much of stays, too"


@pytest.mark.parametrize(
    ("found", "running", "asked", "gone"),
    [
        pytest.param(ALIGNED, (3, 5), 4, (1,), id="both go until 4 are free; the pod of 3 finds 4, that of 5 does not"),
        pytest.param(None, (3, 5), 4, (1,), id="where no object says anything, too"),
        pytest.param(ALIGNED, (2, 2, 4), 5, (0, 2), id="of two that find 3 the more important one stays"),
        pytest.param(BOTH, (2, 2, 4, 4), 5, (0, 2), id="none goes to another zone, where 4 are free"),
    ],
)
def test_of_whom_kai_evicts_those_run_on_who_still_fit(
    found: NodeResourceTopology | None, running: tuple[int, ...], asked: int, gone: tuple[int, ...]
) -> None:
    """They go until there is room, the lowest priority first; a later pod is more important."""
    config, scheduler = SchedulerConfig("kai"), SCHEDULERS["kai"]
    there = node("n", found, kind="kai")
    for place, cpus in enumerate(running):
        there = with_pod(scheduler, config, there, asking(cpus, name=f"p{place}")._replace(priority=place))
    pod = asking(asked, name="new")._replace(priority=3)
    expected = Preemption("n", tuple(f"default/p{place}" for place in gone))
    assert scheduler.preempt(scheduler, config, [there], pod) == expected


def test_kai_reads_an_object_where_it_had_none() -> None:
    config, scheduler, copy = SchedulerConfig("kai"), SCHEDULERS["kai"], copy_of(ALIGNED)
    assert copy is not None
    belief = scheduler.published(config, scheduler.opened(config, Around(), None, ()), copy, dict)
    assert belief == scheduler.opened(config, Around(), copy, ())


def test_a_node_scores_by_what_would_be_left_or_used_of_it() -> None:
    totals = node("n", used="1").node.totals
    asked = asking(3, "4Gi").load
    assert [node_fit.score(totals, asked, how) for how in ("LeastAllocated", "MostAllocated")] == [62, 37]


def test_a_container_without_a_request_counts_in_the_score() -> None:
    """docs/rules/scheduling.md 2.5: 100m and 200Mi, beside what the other container asks for."""
    asked = request({"containers": [{"name": "a", "requests": {"cpu": "1", "memory": "1Gi"}}, {"name": "b"}]})
    assert dict(node_load(asked).beyond) == amounts({"cpu": "100m", "memory": "200Mi"})


def test_data_that_the_cache_does_not_trust_refuse_by_themselves() -> None:
    scheduler, config = SCHEDULERS["nrt"], SchedulerConfig("nrt", cache=CacheConfig("over_reserve"))
    total = amounts({"cpu": "16", "memory": "32Gi", "pods": "10"})
    belief = scheduler.foreign(config, scheduler.opened(config, Around(), copy_of(ALIGNED), ()), asking(1))
    verdict = judge(scheduler, config, KnownNode(ClusterNode("n", NodeTotals(total, {}, 0)), belief), asking(1)).verdict
    assert verdict == NOT_FRESH


@pytest.mark.parametrize(("rank", "preemptible"), [(0, True), (99, True), (100, False), (2_000_000_000, False)])
def test_from_a_priority_on_kai_evicts_a_pod_for_no_other(rank: int, preemptible: bool) -> None:
    entry = entry_of(asking(1).pod._replace(spec={"priority": rank}))
    assert (entry.priority, entry.preemptible, entry.queue) == (rank, preemptible, "")


def test_a_pod_s_queue_is_its_label() -> None:
    assert entry_of(asking(1).pod._replace(labels={QUEUE: "team-a"})).queue == "team-a"
