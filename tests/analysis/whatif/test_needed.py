"""Each part of a change is needed, and says why; what another change does alone is not told again with more."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.needed import covers, without_needless
from numalign.analysis.whatif.reasons import reasons
from numalign.analysis.whatif.situation import Situation, arrivals
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.render.text.refusal.why import in_short
from tests.analysis.support import GPU, config, machine, pod

BOTH = {("app", "cpu"): 4 * 10**9, ("app", GPU): 10**9}


def met(asked: Pod, *before: Pod, **more: Any) -> Tries:
    setup = Setup(machine("figure-1"), config("single-numa-node", **more), "ideal")
    situation = Situation(setup, past=arrivals(before))
    return Tries(situation, admit(situation.session(), asked))


def combination(**parts: Any) -> WayOut:
    asked = {("app", "cpu"): 5 * 10**9, ("app", GPU): 2 * 10**9}
    return WayOut("combination", 1, True, asked=asked, **parts)


def test_each_part_of_a_combination_says_how_it_is_refused_without_it() -> None:
    found = next(reasons(met(pod("p", 5, gpu=2)), [combination(amounts=BOTH)]))
    told = {next(iter(part.change.amounts)): in_short(part.otherwise) for part in found.parts if part.otherwise}
    assert told == {
        ("app", "cpu"): [
            (
                "cpu: 5 asked, but no NUMA node ever has more than 4 (nodes 0-1), and policy single-numa-node takes "
                "all of it from one node"
            )
        ],
        ("app", GPU): [
            (
                f"{GPU}: 2 asked, but no NUMA node ever has more than 1 (nodes 0-1), and policy single-numa-node takes "
                "all of it from one node"
            )
        ],
    }


def test_a_part_that_is_not_needed_is_left_out() -> None:
    other = pod("other", 1)
    found = without_needless(met(pod("p", 5, gpu=2), other), combination(amounts=BOTH, pods=(other,)))
    assert (found.pods, found.amounts) == ((), BOTH)


def test_what_is_left_of_a_combination_is_of_its_own_kind() -> None:
    found = without_needless(met(pod("p", 5, gpu=1)), combination(amounts=BOTH))
    assert (found.kind, found.amounts) == ("request", {("app", "cpu"): 4 * 10**9})


@pytest.mark.parametrize(
    ("change", "other", "expected"),
    [
        pytest.param({"amounts": BOTH}, {"amounts": {("app", "cpu"): 4 * 10**9}}, True, id="one cut of two"),
        pytest.param({"amounts": BOTH}, {"amounts": {("app", "cpu"): 3 * 10**9}}, False, id="a larger cut"),
        pytest.param({"amounts": BOTH}, {"flags": {"a": "b"}}, False, id="something else"),
        pytest.param({"flags": {"a": "b"}, "amounts": BOTH}, {"flags": {"a": "b"}}, True, id="the setting alone"),
    ],
)
def test_a_change_covers_another(change: dict[str, Any], other: dict[str, Any], expected: bool) -> None:
    assert covers(combination(**change), combination(**other)) is expected


def test_a_change_that_aligns_covers_none_that_does_not() -> None:
    assert not covers(combination(amounts=BOTH), combination(amounts=BOTH)._replace(aligned=False))
