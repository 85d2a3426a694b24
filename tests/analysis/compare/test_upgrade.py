"""What another kubelet decides about the same pods: a difference decides where without it alone they fare otherwise."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from numalign.analysis.compare.upgrade import decision, run, tried_differences
from numalign.analysis.situation import Situation
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import between, kubelet, without
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from tests.analysis.support import STATIC, config, limits, machine, outcome, pod, pod_of
from tests.analysis.whatif.drawn import drawn


def check(situation: Situation, pods: list[Pod], versions: tuple[Version, Version], *, started: bool) -> int:
    """Hold each difference to a run without it; returns how many decide."""
    older, newer = (run(situation, pods, kubelet(version), started=started) for version in versions)
    found = tried_differences(situation, pods, older, newer, started=started)
    assert [one.difference for one in found] == list(between(*versions))
    for tried in found:
        back = run(situation, pods, without(versions[1], [tried.difference]), started=started)
        both = zip_longest(map(decision, back.outcomes), map(decision, newer.outcomes))
        others = tuple(place for place, (before, after) in enumerate(both) if before != after)
        starts = newer.session is not None and back.session is not None
        assert tried.pods == (others if starts else ())
        assert tried.decides == (back.error != newer.error or bool(others))
    return sum(one.decides for one in found)


@pytest.mark.parametrize("number", range(6))
def test_a_difference_decides_where_taking_it_back_changes_a_decision(number: int) -> None:
    situation, last = drawn(number)
    pods = [*(event.pod for event in situation.past if event.op == "admit"), last.pod]
    situation = situation._replace(past=situation.past[:1])
    check(situation, pods[1:], ((1, 17 + 3 * number), (1, 37)), started=bool(number % 2))


HISTORY = [
    pytest.param("restricted", [pod("wide", 6, gpu=1)], ((1, 23), (1, 24)), 1, id="hints"),
    pytest.param("single-numa-node", [pod_of("p", init=limits(3), app=limits(3))], ((1, 18), (1, 19)), 1, id="init"),
    pytest.param("restricted", [pod("p", 3)], ((1, 29), (1, 30)), 0, id="nothing"),
]


@pytest.mark.parametrize(("policy", "pods", "versions", "deciding"), HISTORY)
def test_differences_that_decide(
    policy: str, pods: list[Pod], versions: tuple[Version, Version], deciding: int
) -> None:
    situation = Situation(Setup(machine("figure-1"), config(policy), "ideal"))
    assert check(situation, pods, versions, started=False) == deciding


def test_a_decision_is_what_a_pod_holds_or_why_it_is_rejected() -> None:
    found = outcome(config("restricted", **STATIC), pod("p", 1, gpu=1))
    memory = found.after.memory.blocks("default/p", "app")
    held = found.after.device.holdings["default/p"], found.after.cpu.assignments["default/p"]
    assert memory
    assert decision(found) == (found.result.hints, *held, [memory])
    refused = outcome(config("restricted"), pod("p", 99))
    assert decision(refused) == (refused.reason, refused.message)


def test_a_kubelet_that_does_not_start_has_no_session() -> None:
    situation = Situation(Setup(machine("figure-1"), config("restricted", topology_manager_scope="pod"), "ideal"))
    pods = [pod("p", 1)]
    assert check(situation, pods, ((1, 19), (1, 20)), started=False) == 1
    assert run(situation, pods, kubelet((1, 19)), started=False).session is None


def test_where_the_newer_kubelet_does_not_start_the_difference_that_stops_it_decides() -> None:
    """1.37 knows the gate SidecarContainers no more (docs/rules/kubelet-1.37.md)."""
    settings = config("restricted", feature_gates={"SidecarContainers": True})
    situation = Situation(Setup(machine("figure-1"), settings, "ideal"))
    assert check(situation, [pod("p", 1)], ((1, 36), (1, 37)), started=False) == 1
    assert run(situation, [pod("p", 1)], kubelet((1, 37)), started=False).session is None
