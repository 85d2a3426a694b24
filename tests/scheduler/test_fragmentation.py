"""What NUMA borders cost: the worked examples of docs/rules/scheduling.md 7.8, and the edges of 6.4."""

from __future__ import annotations

from fractions import Fraction

import pytest

from numalign.scheduler.fragmentation import Fragmentation, fragmentation, of_cluster


@pytest.mark.parametrize(
    ("free", "probe", "single", "total", "share"),
    [
        pytest.param((3, 3), 5, 0, 1, Fraction(1), id="no NUMA node has room, the sum has"),
        pytest.param((8, 3), 5, 1, 2, Fraction(1, 2), id="half of the room is of use"),
        pytest.param((3, 3), 3, 2, 2, Fraction(0), id="borders cost nothing"),
        pytest.param((10, -2), 5, 2, 2, Fraction(0), id="where more is given than there is, nothing is free"),
        pytest.param((2, 2, 1), 5, 0, 1, Fraction(1), id="the last unit counts"),
        pytest.param((1, 1), 5, 0, 0, Fraction(0), id="no room at all is no fragmentation"),
    ],
)
def test_a_machine(free: tuple[int, int], probe: int, single: int, total: int, share: Fraction) -> None:
    found = fragmentation([{"cpu": amount} for amount in free], {"cpu": probe})

    assert (found.single, found.total, found.share) == (single, total, share)


def test_a_cluster_of_both_machines() -> None:
    both = of_cluster([fragmentation([{"cpu": cpus} for cpus in free], {"cpu": 5}) for free in ((3, 3), (8, 3))])

    assert both == Fragmentation(1, 3)
    assert round(float(both.share), 2) == 0.67
    assert both.stranded == 2


def test_what_belongs_to_the_machine_as_a_whole_bounds_both() -> None:
    zones = [{"cpu": 8}, {"cpu": 8}]

    found = fragmentation(
        zones, {"cpu": 1, "vendor.io/fpga": 1}, host={"vendor.io/fpga": 3}, host_level=["vendor.io/fpga"]
    )

    assert found == Fragmentation(3, 3)
