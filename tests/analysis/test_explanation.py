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
            ["also: cpu: 7 requested (s0 3 + c0 4), 2 of 14 left: other pods request 12"],
            id="CPUs that the CPU Manager does not count",
        ),
        pytest.param(
            "e2e-d-00568",
            6,
            [
                ("also: cpu: 34 requested (s0 2 + c0 32), 31 allocatable on the node (other pods request 13)"),
                ("memory: 11382Mi requested (s0 40Mi + c0 11342Mi), 941.8Mi of 14.6Gi left: other pods request 13.6Gi"),
            ],
            id="less is left of the node than its NUMA nodes have free",
        ),
        pytest.param(
            "e2e-d-00007",
            7,
            [
                "also, container c1: cpu: 33 requested, 30 on the machine",
                ("also: cpu: 45 requested (c0 12 + c1 33), 30.3 allocatable on the node (other pods request 20)"),
                ("memory: 12.7Gi requested (c0 5.5Gi + c1 7.1Gi), 9.1Gi of 15.5Gi left: other pods request 6.3Gi"),
                "nvidia.com/gpu: 4 requested (c0 3 + c1 1), 2 of 4 left: other pods request 2",
            ],
            id="what several containers ask for; what never changes has no number of another state",
        ),
        pytest.param(
            "lifecycle-d-00378",
            11,
            [
                "also, container c0: cpu: 4 requested, 2 on the machine",
                "hugepages-1Gi: 3Gi requested, 2Gi on the machine",
            ],
            id="the same resource of another container; nothing that is told already",
        ),
        pytest.param("e2e-d-01408", 1, [], id="nothing else"),
        pytest.param(
            "e2e-d-02728",
            0,
            ["also: memory: 11468Mi requested, 7992Mi allocatable on the node"],
            id="not what the head tells of another resource of the same decision",
        ),
        pytest.param("e2e-d-00171", 4, [], id="no plugin is said to name a node where it names none"),
    ],
)
def test_what_else_refuses_a_pod_stands_in_the_head(name: str, step: int, expected: list[str]) -> None:
    found = recorded(name, step)
    head = found[: next(place for place, line in enumerate(found) if line.startswith("Kubelet, "))]
    first = next((place for place, line in enumerate(head) if line.startswith("also")), len(head))
    assert head[first:] == expected
    assert not [line for line in found if "is not enough" in line]
