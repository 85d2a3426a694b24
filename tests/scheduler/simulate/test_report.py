"""How figures of a run are summed up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.scheduler.simulate.report import Spread, spread

SPREADS = [
    ("none", [], Spread()),
    ("one", [3.0], Spread(1, 3.0, 3.0, 3.0, 3.0, 3.0)),
    ("two", [4.0, 2.0], Spread(2, 3.0, 2.0, 4.0, 4.0, 4.0)),
    ("a hundred", [float(number) for number in range(100, 0, -1)], Spread(100, 50.5, 50.0, 95.0, 99.0, 100.0)),
    ("one more", [float(number) for number in range(101)], Spread(101, 50.0, 50.0, 95.0, 99.0, 100.0)),
]


@pytest.mark.parametrize(("figures", "summed"), [row[1:] for row in SPREADS], ids=[row[0] for row in SPREADS])
def test_percentiles_are_by_the_nearest_rank(figures: list[float], summed: Spread) -> None:
    assert spread(figures) == summed


@given(st.lists(st.integers(0, 99), min_size=1, max_size=60))
def test_so_many_of_a_hundred_are_not_above_a_percentile(figures: list[int]) -> None:
    found = spread(figures)

    for percent, value in ((50, found.p50), (95, found.p95), (99, found.p99), (100, found.most)):
        assert 100 * sum(one <= value for one in figures) >= percent * len(figures)
        assert 100 * sum(one < value for one in figures) < percent * len(figures)
