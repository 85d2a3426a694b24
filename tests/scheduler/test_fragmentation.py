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
        pytest.param((2, 2), 5, 0, 0, Fraction(0), id="a unit that is missing"),
        pytest.param((0, 0), 1, 0, 0, Fraction(0), id="of nothing there is no copy"),
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


ZONES = [{"cpu": 4, "gpu": 1, "memory": 9}, {"cpu": 4}, {"cpu": 3, "gpu": 3}]
HOST = {"x.y/fpga": 3}
SHAPES = [
    ("the scarcest of what is asked", {"cpu": 1, "gpu": 1}, (), HOST, (1 + 3, 4)),
    ("in whatever order", {"gpu": 1, "cpu": 1}, (), HOST, (1 + 3, 4)),
    ("what is not asked does not count", {"cpu": 1, "gpu": 0}, (), HOST, (11, 11)),
    ("nor on the machine as a whole", {"cpu": 1, "x.y/fpga": 0}, ("x.y/fpga", "x.y/other"), HOST, (11, 11)),
    ("nothing is asked", {}, (), HOST, (0, 0)),
    ("of which the machine has nothing", {"cpu": 1, "x.y/fpga": 1}, ("x.y/fpga",), None, (0, 0)),
]


@pytest.mark.parametrize(
    ("probe", "host_level", "host", "copies"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES]
)
def test_a_shape_of_several_resources(
    probe: dict[str, int], host_level: tuple[str, ...], host: dict[str, int] | None, copies: tuple[int, int]
) -> None:
    assert fragmentation(ZONES, probe, host=host, host_level=host_level) == copies


def test_what_belongs_to_the_machine_as_a_whole_bounds_both() -> None:
    zones = [{"cpu": 8}, {"cpu": 8}]

    found = fragmentation(
        zones, {"cpu": 1, "vendor.io/fpga": 1}, host={"vendor.io/fpga": 3}, host_level=["vendor.io/fpga"]
    )

    assert found == Fragmentation(3, 3)
