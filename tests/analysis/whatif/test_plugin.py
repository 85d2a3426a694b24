"""Devices whose plugins name NUMA nodes that the machine does not have: what mending the plugin would do is tried."""

from __future__ import annotations

from numalign.analysis.refusal import refusal
from numalign.analysis.whatif.plugin import Repair, repair
from numalign.analysis.whatif.situation import Situation, arrivals
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from tests.analysis.support import GPU, config, machine, pod

WHOLE = machine("figure-1")
ODD = WHOLE._replace(devices={GPU: tuple([one._replace(numa_nodes=(7,)) for one in WHOLE.devices[GPU]])})
SETUP = Setup(ODD, config("single-numa-node"), "ideal")
TOLD = ((GPU, (7,)),)


def mended(situation: Situation, cpus: int = 1) -> Repair | None:
    outcome = admit(situation.session(), pod("p", cpus, gpu=1))
    assert not outcome.admit
    return repair(situation, outcome, refusal(outcome))


def test_a_pod_that_is_admitted_with_plugins_that_name_no_node() -> None:
    assert mended(Situation(SETUP)) == Repair(TOLD, admits=True)


def test_a_pod_that_something_else_refuses_as_well() -> None:
    assert mended(Situation(SETUP, past=arrivals((pod("a", 3), pod("b", 3)))), 2) == Repair(TOLD, admits=False)


def test_on_a_node_in_use_nothing_is_tried_and_nothing_is_claimed() -> None:
    there = Situation(SETUP, past=arrivals((pod("a", 1),))).session()
    assert mended(Situation(SETUP, there=there)) == Repair(TOLD, admits=None)
