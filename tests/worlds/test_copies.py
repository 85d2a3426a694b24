"""Copies of a pod on one node: how many come in, and what the one that does not is told."""

from __future__ import annotations

from numalign.kubelet import admission
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.worlds.copies import Probe, copies
from tests.analysis.support import config, machine, pod

FIGURE = Setup(machine("figure-1"), config("none", max_pods=12), "ideal")


def test_the_copy_that_is_refused_meets_the_pods_that_are_there() -> None:
    found = copies(admission.open_session(FIGURE), Probe("web", (Pod("web", "web", "BestEffort", ()),)))

    assert (found.fit, len(found.last.pods)) == (12, 12)
    assert found.refused is not None
    assert found.refused.message == "Node didn't have enough resource: pods, requested: 1, used: 12, capacity: 12"


def test_what_others_ask_for_counts() -> None:
    last = admission.admit(admission.open_session(FIGURE), pod("other", 2)).then

    found = copies(last, Probe("web", (pod("web", 0.6),)))

    assert found.fit == 10
    assert found.refused is not None
    assert found.refused.message == "Node didn't have enough resource: cpu, requested: 600, used: 8000, capacity: 8000"


def test_no_more_come_in_than_are_asked_for() -> None:
    found = copies(admission.open_session(FIGURE), Probe("web", (pod("web", 0),)), most=3)

    assert (found.fit, found.refused) == (3, None)
