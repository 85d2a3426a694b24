"""What several containers may have of one resource is told as a sum where only the sum counts, and tried as such."""

from __future__ import annotations

import pytest

from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.situation import Situation
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from tests.analysis.support import GPU, config, limits, machine, pod_of
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
    assert ways[0].amounts == {(other, GPU): NANO}
