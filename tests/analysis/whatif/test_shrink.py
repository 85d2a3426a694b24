"""Cuts as they are told: a sum where only the sum counts, and a CPU left to share."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.shrink import dropped, shared, takes_the_last, weakened, with_one_to_share
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.quantity import GIBI, MEBI, NANO
from tests.analysis.support import GPU, config, limits, machine, pod, pod_of
from tests.kubelet.regular import regular
from tests.refusals.survey import named, refusals


def found(policy: str, asked: Pod) -> tuple[WayOut, ...]:
    situation = Situation(Setup(machine("figure-1"), config(policy), "ideal"))
    return changes(Tries(situation, admit(situation.session(), asked)))


def test_a_sum_is_split_in_proportion() -> None:
    """Nine and eighteen CPUs are asked of fewer: who asks for twice as many keeps twice as many."""
    ways = found("none", pod_of("p", one=limits(9), two=limits(18)))
    [shared] = [way for way in ways if way.together]
    assert shared.together == ((("one", "cpu"), ("two", "cpu")),)
    one, two = (shared.amounts[key] // NANO for key in shared.together[0])
    assert one < two
    assert abs(two - 2 * one) <= 1


def test_amounts_that_have_to_lie_on_nodes_are_no_sum() -> None:
    """Each container must fit a node of its own: what one gives up is of no use to the other."""
    ways = found("single-numa-node", pod_of("p", one=limits(9), two=limits(18)))
    assert ways
    assert not any(way.together for way in ways)


def test_devices_that_one_container_alone_may_not_have_all_of_are_no_sum() -> None:
    """One on each node: who reads of two together would give both to the one that wants six."""
    [(situation, outcome)] = [(met, refused) for index, met, refused in refusals(named("e2e-d-01747")) if index == 2]
    assert not any(way.together for way in changes(Tries(situation, outcome)))


def test_changes_that_differ_in_the_split_alone_are_told_once() -> None:
    data = named("e2e-d-01919")
    [(situation, outcome)] = [(met, refused) for index, met, refused in refusals(data) if index == 0]
    amounts = [way.amounts for way in changes(Tries(situation, outcome))]
    assert amounts
    assert all(one != other for place, one in enumerate(amounts) for other in amounts[:place])


@pytest.mark.parametrize("least", ["one", "two"])
def test_a_device_is_given_up_where_the_smaller_share_is_lost(least: str) -> None:
    """Of each resource containers ask for more than there is; who asks for most of it gives it up."""
    many, few = limits(1, gpu=2), limits(1, gpu=1)
    ways = found("none", pod_of("p", one=few if least == "one" else many, two=many if least == "one" else few))
    other = "two" if least == "one" else "one"
    assert {(other, GPU): NANO} in [way.amounts for way in ways]


CPUS = ("app", "cpu")


def ways(asked: Pod, policy: str = "restricted") -> tuple[WayOut, ...]:
    """Changes on two nodes of four CPUs, of which none is kept back."""
    situation = Situation(Setup(machine("figure-1"), config(policy), "ideal"))
    return changes(Tries(situation, admit(situation.session(), asked)))


def test_a_cut_leaves_a_cpu_to_share_and_says_why_no_more() -> None:
    [cut] = ways(pod("p", 9))
    assert cut.amounts == {CPUS: 7 * 10**9}
    [part] = cut.parts
    assert (part.larger, part.unshared, part.otherwise) == (8 * 10**9, True, None)


def test_with_something_else_cpus_are_cut_where_that_alone_would_take_the_last() -> None:
    [cut] = [one for one in ways(pod("p", 8, gpu=3)) if not one.hardware]
    assert cut.amounts == {("app", GPU): 2 * 10**9, CPUS: 7 * 10**9}
    assert [(part.unshared, part.apart) for part in cut.parts] == [(False, False), (True, False)]


def test_containers_that_hand_on_what_they_have_are_cut_together() -> None:
    """One CPU less in either alone leaves none to share; the second init container may keep what it asks for."""
    [cut] = ways(pod_of("p", init=limits(9), init2=limits(4), app=limits(9)), "none")
    assert cut.amounts == {("init", "cpu"): 7 * NANO, ("app", "cpu"): 7 * NANO}


def test_what_another_machine_admits_is_not_cut_although_it_leaves_no_cpu_to_share() -> None:
    here, there = (Setup(one, config("single-numa-node"), "ideal") for one in (regular(2, 8, 1), regular(1, 9, 1)))
    situation = Situation(here)
    tries = Tries(situation, admit(situation.session(), pod("p", 9)))
    found = changes(tries, [("there", Situation(there))])
    assert found
    assert not any(way.machine and way.amounts for way in found)


def test_what_cannot_be_cut_is_told_as_it_is() -> None:
    found = ways(pod_of("p", **{f"c{place}": limits(1) for place in range(9)}))
    assert found


def test_more_is_given_back_although_a_little_more_is_refused() -> None:
    """Under `restricted` eight CPUs take both nodes: so do two GPUs, one lies on one node."""
    situation = Situation(Setup(machine("figure-1"), config("restricted"), "ideal"))
    tries = Tries(situation, admit(situation.session(), pod("p", 8, gpu=4)))
    nothing = WayOut(amounts={("app", GPU): 0}, asked={("app", GPU): 4 * NANO})
    found = weakened(tries, nothing._replace(tried=tries.attempt(nothing)))
    assert found.amounts == {("app", GPU): 2 * NANO}


@pytest.mark.parametrize(
    ("asked", "least"), [(2 * NANO, NANO // 2), (2 * NANO + NANO // 2, NANO)], ids=["of whole CPUs", "of a part of one"]
)
def test_a_share_of_a_cpu_is_not_given_back_more(asked: int, least: int) -> None:
    """A little more might be CPUs of its own."""
    situation = Situation(Setup(machine("figure-1"), config("restricted"), "ideal"))
    tries = Tries(situation, admit(situation.session(), pod("p", asked / NANO)))
    cut = WayOut(amounts={CPUS: least}, asked={CPUS: asked})
    assert weakened(tries, cut._replace(tried=tries.attempt(cut))).amounts == cut.amounts


def test_memory_is_given_back_in_whole_mib_although_no_whole_byte_is_asked_for() -> None:
    situation = Situation(Setup(machine("figure-1"), config("restricted"), "ideal"))
    memory, asked = ("app", "memory"), GIBI * NANO + NANO // 10
    tries = Tries(situation, admit(situation.session(), pod("p", 1, "1.0000000001Gi")))
    cut = WayOut(amounts={memory: 16 * MEBI * NANO}, asked={memory: asked})
    assert weakened(tries, cut._replace(tried=tries.attempt(cut))).amounts == {memory: GIBI * NANO}


def test_who_asks_for_most_is_cut_alone_where_another_would_have_very_little() -> None:
    """Three CPUs are free on node 0, eight on node 1: nine do not lie there as they are asked for, six and three do."""
    situation = Situation(Setup(regular(2, 8, 1), config("single-numa-node"), "ideal"), past=arrivals((pod("a", 5),)))
    tries = Tries(situation, admit(situation.session(), pod_of("p", some=limits(6), most=limits(9))))
    some, most = ("some", "cpu"), ("most", "cpu")
    starving = WayOut(True, amounts={some: NANO, most: 8 * NANO}, asked={some: 6 * NANO, most: 9 * NANO})
    found = shared(tries, starving._replace(tried=tries.attempt(starving)))
    assert (found.amounts, found.together) == ({most: 3 * NANO}, ())


def test_the_last_cpu_is_taken_where_one_less_would_lie_apart() -> None:
    """Two CPUs are free on node 0, three on node 1: five need both, four would fit one node."""
    setup = Setup(machine("figure-1"), config("best-effort"), "ideal")
    situation = Situation(setup, past=arrivals((pod("a", 2, gpu=1), pod("b", 1, gpu=1))))
    tries = Tries(situation, admit(situation.session(), pod("p", 6)))
    cut = WayOut(True, amounts={CPUS: 5 * NANO}, asked={CPUS: 6 * NANO})
    cut = cut._replace(tried=tries.attempt(cut))
    assert takes_the_last(cut)
    assert with_one_to_share(tries, cut) == cut
    assert with_one_to_share(tries, cut._replace(aligned=False)).amounts == {CPUS: 4 * NANO}


def test_a_pod_may_be_aligned_with_a_cpu_less() -> None:
    """One CPU is free on node 0, three on node 1."""
    setup = Setup(regular(2, 4, 1, devices=machine("figure-1").devices), config("best-effort"), "ideal")
    situation = Situation(setup, past=arrivals((pod("a", 3, gpu=1), pod("b", 1, gpu=1))))
    tries = Tries(situation, admit(situation.session(), pod("p", 5)))
    cut = WayOut(False, amounts={CPUS: 4 * NANO}, asked={CPUS: 5 * NANO})
    found = with_one_to_share(tries, cut._replace(tried=tries.attempt(cut)))
    assert (found.amounts, found.aligned) == ({CPUS: 3 * NANO}, True)


def test_no_container_is_left_with_very_little_where_another_could_give_too() -> None:
    [(situation, outcome)] = [(met, refused) for index, met, refused in refusals(named("e2e-d-00714")) if index == 0]
    first = changes(Tries(situation, outcome))[0]
    assert first.amounts
    assert all(4 * nano >= first.asked[key] for key, nano in first.amounts.items())


@pytest.mark.parametrize(
    "elsewhere",
    [
        pytest.param({"machine": "other"}, id="on another machine"),
        pytest.param({"hardware": (("device", f"{GPU}@0=2"),)}, id="with more hardware"),
        pytest.param({}, id="here"),
    ],
)
def test_what_is_not_needed_is_left_out_of_a_change_here_alone(elsewhere: dict[str, Any]) -> None:
    """Four of five CPUs fit a node, whatever memory is asked for."""
    situation = Situation(Setup(machine("figure-1"), config("single-numa-node"), "ideal"))
    tries, memory = Tries(situation, admit(situation.session(), pod("p", 5))), ("app", "memory")
    cut = WayOut(amounts={CPUS: 4 * NANO, memory: MEBI * NANO}, asked={CPUS: 5 * NANO, memory: GIBI * NANO})
    change = cut._replace(tried=tries.attempt(cut), **elsewhere)
    assert dropped(tries, change).amounts == (cut.amounts if elsewhere else {CPUS: 4 * NANO})
