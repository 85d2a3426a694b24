"""Limits of instance types."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.config.instances import limits_of, pods_of
from numalign.analysis.config.system import Facts

PUBLISHED = {
    29: ["m5.large"],
    58: ["m5.xlarge", "m5.2xlarge"],
    234: ["m5.4xlarge", "m5.8xlarge", "m5.12xlarge"],
    737: ["m5.16xlarge", "m5.24xlarge", "m5.metal", "g4dn.metal", "g5.12xlarge", "g5.24xlarge"],
    51: ["hpc6id.32xlarge"],
    100: ["hpc6a.48xlarge", "hpc7a.96xlarge", "hpc8a.96xlarge", "p5.48xlarge", "p5e.48xlarge", "trn2.48xlarge"],
    118: ["p5.4xlarge"],
    198: ["hpc7g.16xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge"],
    247: ["trn1.32xlarge", "trn1n.32xlarge"],
    292: ["g6e.12xlarge"],
    345: ["g5.48xlarge"],
    492: ["g6e.24xlarge", "g6e.48xlarge"],
    632: ["g7e.48xlarge"],
    758: ["g7.48xlarge"],
}
"""Pods -> types for which AWS publishes so many."""


@pytest.mark.parametrize(("pods", "instances"), PUBLISHED.items())
def test_pods_as_they_are_published(pods: int, instances: list[str]) -> None:
    assert {name: pods_of(name) for name in instances} == dict.fromkeys(instances, pods)


@pytest.mark.parametrize(
    ("instance", "pods"),
    [
        pytest.param("m7i.large", 29, id="a usual size"),
        pytest.param("m7i.metal-48xl", 737, id="metal"),
        pytest.param("zz9.large", None, id="an unknown family"),
        pytest.param("m7i.huge", None, id="an unknown size"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_pods_of_an_instance(instance: str, pods: int | None) -> None:
    assert pods_of(instance) == pods
    assert (limits_of(instance) is None) == (pods is None)


@pytest.mark.parametrize(("given", "pods"), [({}, None), ({"instance": "m5.large"}, 29), ({"pods": 8}, 8)])
def test_the_pods_of_a_network_are_those_of_the_instance(given: dict[str, Any], pods: int | None) -> None:
    assert Facts(4, 1 << 40, **given).network_pods == pods


def test_a_number_of_pods_that_is_given_counts_before_the_instance() -> None:
    assert Facts(4, 1 << 40, instance="m5.large", pods=8).network_pods == 8
