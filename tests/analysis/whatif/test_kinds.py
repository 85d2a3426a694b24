"""Changes of one kind: which pods may go instead of the one that is to be moved, and which settings help."""

from __future__ import annotations

import pytest

from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.kinds import other_settings, pods_moved
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from tests.analysis.support import STATIC, config, pod
from tests.kubelet.regular import GI, regular


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        pytest.param(12, 11, id="up to twelve pods: every other one is tried"),
        pytest.param(13, 0, id="more pods: none is"),
    ],
)
def test_on_a_node_of_few_pods_others_are_named_that_may_go_instead(there: int, instead: int) -> None:
    """Each pod has one CPU, and one more is asked for than there is; the youngest is to be moved."""
    setup = Setup(regular(1, there, 1), config("single-numa-node"), "ideal")
    situation = Situation(setup, past=arrivals([pod(f"p{number}", 1) for number in range(there)]))
    [way] = pods_moved(Tries(situation, admit(situation.session(), pod("p", 1))))
    assert [one.name for one in way.pods] == [f"p{there - 1}"]
    assert [one.name for one in way.or_pods] == [f"p{number}" for number in range(instead)]


def test_where_two_have_to_go_none_is_named_instead() -> None:
    setup = Setup(regular(1, 12, 1), config("single-numa-node"), "ideal")
    situation = Situation(setup, past=arrivals([pod(f"p{number}", 1) for number in range(12)]))
    [way] = pods_moved(Tries(situation, admit(situation.session(), pod("p", 2))))
    assert ([one.name for one in way.pods], way.or_pods) == (["p10", "p11"], ())


def test_the_first_policy_that_does_is_told_beside_other_settings() -> None:
    """A node has four GiB, and five are asked for: more than one node's memory if a policy lets it."""
    setup = Setup(regular(2, 4, 1, memory=4 * GI), config("single-numa-node", **STATIC), "ideal")
    situation = Situation(setup)
    tries = Tries(situation, admit(situation.session(), pod("p", 1, "5Gi")))
    assert [way.flags for way in other_settings(tries)] == [
        {"memory-manager-policy": "None"},
        {"topology-manager-policy": "best-effort"},
    ]
