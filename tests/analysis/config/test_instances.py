"""Limits of instance types."""

from __future__ import annotations

import pytest

from numalign.analysis.config.instances import limits_of, pods_of


@pytest.mark.parametrize(
    ("instance", "pods"),
    [
        pytest.param("m7i.large", 29, id="a usual size"),
        pytest.param("m7i.metal-48xl", 737, id="metal"),
        pytest.param("g5.48xlarge", 345, id="a type of its own"),
        pytest.param("p5.48xlarge", 100, id="few interfaces"),
        pytest.param("zz9.large", None, id="an unknown family"),
        pytest.param("m7i.huge", None, id="an unknown size"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_pods_of_an_instance(instance: str, pods: int | None) -> None:
    assert pods_of(instance) == pods
    assert (limits_of(instance) is None) == (pods is None)
