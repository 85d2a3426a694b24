"""Which other policies admit a refused pod, and which do not: the strictest laxer one is told, the rest is named."""

from __future__ import annotations

import pytest

from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.policies import NoPolicy, no_policy
from numalign.analysis.whatif.settings import POLICY
from numalign.analysis.whatif.situation import Situation, arrivals
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.proposals.table import FEEDBACK, with_proposals
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from tests.analysis.support import config, machine, pod


def met(policy: str, asked: Pod, *before: Pod) -> Tries:
    kubelet = with_proposals(LATEST, [FEEDBACK])
    situation = Situation(Setup(machine("figure-1"), config(policy), "ideal", kubelet), past=arrivals(before))
    return Tries(situation, admit(situation.session(), asked))


@pytest.mark.parametrize(
    ("policy", "refusing"),
    [
        pytest.param("single-numa-node", ("restricted",), id="single-numa-node: restricted is between"),
        pytest.param("restricted", (), id="restricted: best-effort is the next"),
        pytest.param("strict", ("single-numa-node", "restricted"), id="a proposed policy"),
        pytest.param("proposed-strict", ("single-numa-node", "restricted"), id="the policy proposed later"),
    ],
)
def test_policies_that_refuse_the_pod_still_are_named(policy: str, refusing: tuple[str, ...]) -> None:
    """Three CPUs fit one node, and two are left on each: only a policy that may spread them admits the pod."""
    tries = met(policy, pod("p", 3), pod("a", 2, gpu=1), pod("b", 2, gpu=1))
    assert not tries.outcome.admit
    [change] = [one for one in changes(tries) if POLICY in one.flags]
    assert (change.flags[POLICY], tuple(change.too_strict)) == ("best-effort", refusing)
    assert no_policy(tries) is None


def test_what_the_node_as_a_whole_lacks_no_policy_gives() -> None:
    tries = met("single-numa-node", pod("p", 3), pod("a", 3), pod("b", 3))
    found = no_policy(tries)
    assert found is not None
    assert found._replace(lax=None) == NoPolicy(others=True)
    assert found.lax is not None
