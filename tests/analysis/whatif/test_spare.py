"""A change that takes the last CPU to share is told with one CPU, or core, less, where that will do."""

from __future__ import annotations

from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.situation import Situation
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from tests.analysis.support import GPU, config, limits, machine, pod, pod_of

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
    assert [part.unshared for part in cut.parts] == [False, True]


def test_what_cannot_be_cut_is_told_as_it_is() -> None:
    found = ways(pod_of("p", **{f"c{place}": limits(1) for place in range(9)}))
    assert found
