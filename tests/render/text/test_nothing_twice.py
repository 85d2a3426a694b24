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
            ["60.7Gi of memory needs 2 NUMA nodes: each has at most 31.7Gi."],
            id="of resources that differ in width only the one that is cut",
        ),
        pytest.param(
            "lifecycle-d-00327",
            14,
            ["p4 holds 2 CPUs on NUMA 0."],
            id="what is in the way is told above, what a pod to move holds is not",
        ),
        pytest.param(
            "e2e-d-01279",
            2,
            ["The kubelet then chooses NUMA nodes once, for the whole pod."],
            id="of a setting it is told of which resource, and what it does about that",
        ),
        pytest.param(
            "lifecycle-d-00377",
            10,
            ["NOT aligned as in fix 1."],
            id="where it is not aligned in the same way, the first change tells it",
        ),
    ],
)
def test_it_refers_to_what_is_told(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in dict.fromkeys(text) if line in expected] == expected, "\n".join(text)
