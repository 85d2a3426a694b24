"""Scheduling attempts: sampling, ties, work that equal machines share."""

from __future__ import annotations

import pytest

from numalign.scheduler import choice, cluster, filter_nrt
from numalign.scheduler.attempt import Attempt, Candidate, SchedulerConfig, attempt, look_of
from numalign.scheduler.cache import View
from numalign.scheduler.cluster import WaitingPod
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import NodeResourceTopology
from tests.conformance.sched import amounts
from tests.scheduler.make import cpus, object_of, pod, zone

TOTAL = amounts({"cpu": "8", "memory": "16Gi", "pods": "10"})
ALIGNED = object_of(zone(0, cpu="8", memory="16Gi"))
SPLIT = object_of(zone(0, cpu="4", memory="8Gi"), zone(1, cpu="4", memory="8Gi"))


def candidate(name: str, found: NodeResourceTopology | None = ALIGNED, used: str = "0") -> Candidate:
    totals, view = NodeTotals(TOTAL, amounts({"cpu": used}), 0), View(found)
    return Candidate(name, totals, view, look_of(totals, view))


@pytest.mark.parametrize(
    ("nodes", "enough"), [(3, 3), (99, 99), (100, 100), (250, 120), (1000, 420), (5000, 500), (10000, 500)]
)
def test_how_many_feasible_machines_are_enough(nodes: int, enough: int) -> None:
    assert choice.enough_feasible(nodes) == enough


def test_sampling_goes_on_where_it_stopped() -> None:
    many = [candidate(f"n{number}") for number in range(250)]
    config = SchedulerConfig(node_sampling="kube")
    first = attempt(config, many, cpus(1))
    second = attempt(config, many, cpus(1), start=first.next_start)
    assert (len(first.verdicts), first.next_start) == (120, 120)
    assert next(iter(second.verdicts)) == "n120"
    assert attempt(config, many, cpus(1), start=240).next_start == 110


def test_the_scheduler_that_knows_of_zones_avoids_the_split_machine() -> None:
    machines = [candidate("split", SPLIT), candidate("aligned")]
    chosen = {kind: attempt(SchedulerConfig(kind), machines, cpus(6)).chosen for kind in ("unaware", "kep", "nrt")}
    assert chosen == {"unaware": "split", "kep": "aligned", "nrt": "aligned"}


def test_equal_machines_share_one_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    check = filter_nrt.check

    def counted(*arguments: object) -> object:
        asked.append(arguments)
        return check(*arguments)

    monkeypatch.setattr(filter_nrt, "check", counted)
    machines = [candidate(f"n{number}", SPLIT if number % 2 else ALIGNED) for number in range(400)]
    tried = attempt(SchedulerConfig(), machines, cpus(6))
    assert (len(tried.verdicts), len(tried.feasible), len(asked)) == (400, 200, 2)


def test_random_ties_are_the_seeds() -> None:
    names = tuple("abcdefgh")
    picks = [choice.pick(names, "random", 7, number) for number in range(40)]
    assert picks == [choice.pick(names, "random", 7, number) for number in range(40)]
    assert len(set(picks)) > 4
    assert choice.pick(names) == "a"
    assert choice.pick(()) is None


def test_fit_names_every_shortage() -> None:
    tried = attempt(SchedulerConfig("unaware"), [candidate("n", used="4")], pod({"cpu": "6", "memory": "20Gi"}))
    assert tried.verdicts["n"].message == "Insufficient cpu, Insufficient memory"
    assert tried == Attempt(None, tried.verdicts, {}, 0)


def test_a_full_machine_takes_no_more_pods() -> None:
    totals = NodeTotals(amounts({"cpu": "8", "memory": "16Gi", "pods": "2"}), {}, 2)
    one = Candidate("n", totals, View(None), None)
    assert attempt(SchedulerConfig("unaware"), [one], cpus(1)).verdicts["n"].message == "Too many pods"


def test_over_reserve_waits_where_a_zone_would_still_do() -> None:
    """Two pods of 5 CPUs fit a machine of 8 and 8, but a reservation counts on both zones until a resync."""
    total = amounts({"cpu": "16", "memory": "32Gi", "pods": "10"})
    found = object_of(zone(0, cpu="8", memory="16Gi"), zone(1, cpu="8", memory="16Gi"))
    bound = {}
    for mode in ("passthrough", "over_reserve"):
        config = SchedulerConfig(cache=SchedulerConfig().cache._replace(mode=mode))
        state = cluster.open_cluster(config, [("n", total, found._replace(name="n"))])
        tried = []
        for number in range(2):
            state, one = cluster.schedule(state, WaitingPod("default", f"p{number}", cpus(5)))
            tried.append(one.chosen)
        bound[mode] = tried
    assert bound == {"passthrough": ["n", "n"], "over_reserve": ["n", None]}
