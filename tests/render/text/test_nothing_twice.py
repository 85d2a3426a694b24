"""What a refusal says is not said again under the changes that admit the pod, nor under two of them."""

from __future__ import annotations

import json

import pytest

from numalign.render.text.reasons import every_step, long
from numalign.render.text.refusal.why import sentences
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.refusals.survey import refusals, scenarios
from tests.render.text.support import recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02434",
            1,
            ["why no more: memory: 32513Mi asked: takes 2 nodes, as one has 32512Mi at most"],
            id="of resources that differ in width only the one that is cut",
        ),
        pytest.param(
            "lifecycle-d-00327",
            14,
            ["why: p4 holds 2 cpu on node 0", "why: as told above"],
            id="what is in the way is told above, what a pod to move holds is not",
        ),
        pytest.param(
            "e2e-d-01279",
            2,
            [
                ("why: as told above of intel.com/sriov; NUMA nodes are then chosen once, for the whole pod"),
                "why: as told above",
            ],
            id="of a setting it is told of which resource, and what it does about that",
        ),
        pytest.param(
            "lifecycle-d-00377",
            10,
            ["not aligned: as in 1."],
            id="where it is not aligned in the same way, the first change tells it",
        ),
        pytest.param(
            "e2e-d-01141",
            4,
            ["why no more: as in 1."],
            id="why no more in the same way, too",
        ),
    ],
)
def test_it_refers_to_what_is_told(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in dict.fromkeys(text) if line in expected] == expected, "\n".join(text)


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_no_long_reason_is_told_twice(first: int) -> None:
    for data in scenarios(every=200, first=first):
        pods = scenario.read(json.dumps(data).encode()).steps
        for step, situation, _ in refusals(data):
            told = explain_one(situation, pods[step].pod)
            assert told.refusal is not None
            said = tuple(sentences(told.refusal, told.besides))
            above = {one.text for one in said}
            steps = every_step(told, situation.setup.config, said)
            texts = [{tuple(one.sentences) for one in each if long(one.sentences)} for each in steps]
            assert sum(map(len, texts)) == len(set[tuple[str, ...]]().union(*texts))
            assert not [one for each in texts for one in each if above.issuperset(one)]
