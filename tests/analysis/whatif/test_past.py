"""What other settings do to the pods before: who lies elsewhere then, and who is admitted only then."""

from __future__ import annotations

import pytest

from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.goal import ALIGNED
from numalign.analysis.whatif.past import Anew, HeldAmount, anew, moved
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device
from numalign.model.pod import Pod
from tests.analysis.support import GPU, config, machine, pod, pod_of
from tests.kubelet.regular import regular


def after(settings: KubeletConfig, *before: Pod) -> Session:
    return Situation(Setup(machine("figure-1"), settings, "ideal"), past=arrivals(before)).session()


def test_pods_that_get_the_same_are_not_told() -> None:
    pods = (pod("a", 2), pod("b", 2))
    found = anew(after(config("single-numa-node"), *pods), after(config("best-effort"), *pods))
    assert found == Anew((), ())


def test_a_pod_that_gets_other_cpus_is_told() -> None:
    """With node 0 half taken, the second pod goes to node 1 under a policy that aligns, and across both without."""
    pods = (pod("a", 2), pod("b", 3))
    found = anew(after(config("single-numa-node"), *pods), after(config("none"), *pods))
    assert found == Anew((), ("b",))


def test_a_pod_that_is_admitted_only_then_is_told_with_what_it_holds() -> None:
    pods = (pod("wide", 5, gpu=1),)
    found = anew(after(config("single-numa-node"), *pods), after(config("none"), *pods))
    [one] = found.newcomers
    assert (one.name, one.amounts) == (
        "wide",
        (HeldAmount("cpu", 5, ((1, 4), (2, 1))), HeldAmount(GPU, 1, ((1, 1),))),
    )
    assert dict(one.asks)["cpu"] == 5 * 10**9
    assert found.moved == ()


def test_a_pod_that_gets_another_device_is_told() -> None:
    """The NIC of node 0 is taken: who wants one and a GPU gets both on node 1, or the first GPU without a policy."""
    pods = (pod("a", 1, nic=1), pod("b", 1, nic=1, gpu=1))
    aligned, loose = (
        after(config(policy, cpu_manager_policy="none"), *pods) for policy in ("single-numa-node", "none")
    )
    assert anew(aligned, loose) == Anew((), ("b",))


@pytest.mark.parametrize(
    ("idle", "there", "asked", "going", "fewest"),
    [
        pytest.param(0, 12, 10, 6, True, id="twelve pods: all sets are tried"),
        pytest.param(0, 13, 9, 6, False, id="more pods: nobody tries all 1716 sets of six"),
        pytest.param(0, 14, 6, 4, False, id="nor all 1001 sets of four"),
        pytest.param(999, 1, 16, 1, True, id="a thousand sets of one are not too many"),
    ],
)
def test_of_many_pods_up_to_a_thousand_sets_of_one_size_are_tried(
    idle: int, there: int, asked: int, going: int, fewest: bool
) -> None:
    """Who is idle asks for nothing, the others for a CPU each; so many of these have to go."""
    setup = Setup(regular(nodes=1, cores=16, threads=1), config("single-numa-node", max_pods=1000), "ideal")
    pods = [
        *(pod_of(f"idle{number}", app={}) for number in range(idle)),
        *(pod(f"p{number}", 1) for number in range(there)),
    ]
    session = Situation(setup, past=arrivals(pods)).session()
    found = moved(session, pod("p", asked))
    assert found is not None
    assert (len(found.pods), found.fewest) == (going, fewest)


@pytest.mark.parametrize(
    ("there", "asked", "going"),
    [
        pytest.param([4], 1, ["b0"], id="one pod"),
        pytest.param([2, 2], 3, ["b0", "b1"], id="two pods"),
        pytest.param([2, 1, 1], 4, None, id="not three"),
    ],
)
def test_where_an_empty_node_does_not_align_a_pod_up_to_two_may_go(
    there: list[int], asked: int, going: list[str] | None
) -> None:
    """The GPU is on node 1; without a policy CPUs are taken in a row, and node 0 is full: that is what helps."""
    setup = Setup(regular(3, 4, 1, devices={GPU: (Device("gpu", (1,)),)}), config("none"), "ideal")
    pods = [pod("a", 4), *(pod(f"b{place}", cpus) for place, cpus in enumerate(there))]
    found = moved(Situation(setup, past=arrivals(pods)).session(), pod("p", asked, gpu=1), ALIGNED)
    assert (found and [one.name for one in found.pods]) == going
    assert found is None or found.fewest
