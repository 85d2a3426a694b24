"""What other settings do to the pods before: who lies elsewhere then, and who is admitted only then."""

from __future__ import annotations

import pytest

from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.past import Anew, HeldAmount, anew, moved
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from tests.analysis.support import GPU, config, machine, pod
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


@pytest.mark.parametrize(("there", "asked", "fewest"), [(12, 10, True), (13, 9, False)])
def test_among_twelve_pods_every_set_is_tried(there: int, asked: int, fewest: bool) -> None:
    """Six pods of one CPU have to go; of more pods nobody tries all sets of six."""
    setup = Setup(regular(nodes=1, cores=16, threads=1), config("single-numa-node"), "ideal")
    session = Situation(setup, past=arrivals([pod(f"p{number}", 1) for number in range(there)])).session()
    found = moved(session, pod("p", asked))
    assert found is not None
    assert (len(found.pods), found.fewest) == (6, fewest)
