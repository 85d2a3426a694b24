"""What the node as a whole lacks is told with the refusal, also where the managers refuse the pod first."""

from __future__ import annotations

import pytest

from tests.render.text.support import recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02763",
            4,
            ["besides: cpu: 7 asked (s0 3 + c0 4), 12 of the node's 14 requested by other pods, which leaves 2"],
            id="CPUs that the CPU Manager does not count",
        ),
        pytest.param(
            "e2e-d-00568",
            6,
            [
                "besides: cpu: 34 asked (s0 2 + c0 32), and the node has 31, of which other pods ask for 13",
                (
                    "memory: 11.1Gi asked (s0 40Mi + c0 11.1Gi), 13.7Gi of the node's 14.6Gi requested by other pods, "
                    "which leaves 0.9Gi"
                ),
            ],
            id="less is left of the node than its NUMA nodes have free",
        ),
        pytest.param(
            "e2e-d-00007",
            7,
            [
                "besides, container c1: cpu: 33 asked, the whole machine never has more than 30",
                "besides: cpu: 45 asked (c0 12 + c1 33), and the node has 30.3, of which other pods ask for 20",
                (
                    "memory: 12.8Gi asked (c0 5.6Gi + c1 7.2Gi), 6.4Gi of the node's 15.5Gi requested by other pods, "
                    "which leaves 9.1Gi"
                ),
                "nvidia.com/gpu: 4 asked (c0 3 + c1 1), 2 of the node's 4 requested by other pods, which leaves 2",
            ],
            id="what several containers ask for; what never changes has no number of another state",
        ),
        pytest.param(
            "lifecycle-d-00378",
            11,
            [
                "besides, container c0: cpu: 4 asked, the whole machine never has more than 2",
                "hugepages-1Gi: 3Gi asked, the whole machine never has more than 2Gi",
            ],
            id="the same resource of another container; nothing that is told already",
        ),
        pytest.param("e2e-d-01408", 1, [], id="nothing else"),
        pytest.param(
            "e2e-d-02728",
            0,
            ["besides: memory: 11.2Gi asked, and the node has 7.8Gi"],
            id="not what the head tells of another resource of the same decision",
        ),
        pytest.param("e2e-d-00171", 4, [], id="no plugin is said to name a node where it names none"),
    ],
)
def test_what_else_refuses_a_pod_stands_in_the_head(name: str, step: int, expected: list[str]) -> None:
    found = recorded(name, step)
    head = found[: next(place for place, line in enumerate(found) if line.startswith("the kubelet"))]
    first = next((place for place, line in enumerate(head) if line.startswith("besides")), len(head))
    assert head[first:] == expected
    assert not [line for line in found if "alone is not enough" in line]
