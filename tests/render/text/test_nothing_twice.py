"""What a refusal says is not said again under the changes that admit the pod, nor under two of them."""

from __future__ import annotations

import pytest

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
