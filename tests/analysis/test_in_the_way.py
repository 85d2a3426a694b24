"""What is asked and what there is, where no decision tells it: of the container that failed, or of the whole pod."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.in_the_way import Amount, amounts
from numalign.model.quantity import NANO
from tests.analysis.support import GPU, STATIC, config, limits, outcome, pod, pod_of

GI = 1 << 30
CPUS, GPUS = ("cpu", 5, 2, 8), (GPU, 1, 1, 2)


@pytest.mark.parametrize(
    ("scope", "second", "expected"),
    [
        pytest.param(
            "container",
            limits(5, "2Gi", gpu=1),
            [CPUS, ("memory", 2 * GI, GI, 29 * GI), GPUS],
            id="of the container that failed",
        ),
        pytest.param(
            "pod",
            limits(5, "2Gi", gpu=1),
            [("cpu", 6, 2, 8), ("memory", 3 * GI, GI, 29 * GI), GPUS],
            id="of the whole pod",
        ),
        pytest.param("container", limits(5, "1500m", gpu=1), [CPUS, GPUS], id="no memory where no one can count it"),
        pytest.param(
            "container",
            limits(0.5, "2Gi", gpu=2),
            [("memory", 2 * GI, GI, 29 * GI), (GPU, 2, 1, 2)],
            id="no CPU where it is to have none of its own",
        ),
    ],
)
def test_what_is_asked_and_what_there_is(
    scope: str, second: dict[str, str], expected: list[tuple[str, int, int, int]]
) -> None:
    asked = pod_of("p", one=limits(1, "1Gi"), two=second)
    settings = config("single-numa-node", topology_manager_scope=scope, **STATIC)
    found = outcome(settings, asked, pod("there", 2, "1Gi", gpu=1))
    assert not found.admit
    assert amounts(found, Circumstances(), {}) == tuple(
        Amount(name, *(number * NANO for number in numbers)) for name, *numbers in expected
    )


@pytest.mark.parametrize(("kept", "settings"), [("memory", {**STATIC, "cpu_manager_policy": "none"}), ("cpu", {})])
def test_what_no_manager_gives_out_is_not_asked_for(kept: str, settings: dict[str, Any]) -> None:
    """Its capacity would be told as 0."""
    found = outcome(config("single-numa-node", **settings), pod("p", 5, "2Gi", gpu=2), pod("there", 2, "1Gi", gpu=1))
    assert [one.resource for one in amounts(found, Circumstances(), {})] == [kept, GPU]


def test_nothing_is_asked_again_where_a_decision_tells_it() -> None:
    found = outcome(config("single-numa-node"), pod("p", 5))
    assert amounts(found, Circumstances(), {"cpu": 5}) == ()
