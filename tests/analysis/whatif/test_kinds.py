"""Changes of one kind: which pods may go instead of the one that is to be moved."""

from __future__ import annotations

import pytest

from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.kinds import pods_moved
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from tests.analysis.support import config, pod
from tests.kubelet.regular import regular


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
