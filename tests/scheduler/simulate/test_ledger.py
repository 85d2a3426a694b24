"""Amounts over time (docs/rules/scheduling.md 6.3)."""

from __future__ import annotations

import pytest

from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.simulate.ledger import OverTime, PeakRate, Utilisation
from numalign.scheduler.simulate.machines import machines_of
from numalign.scheduler.simulate.report import Share
from numalign.scheduler.simulate.settings import SECOND
from tests.scheduler.simulate.test_worked_examples import fleet

SHARES = [
    ("half of the time half of it", [(4, 5)], 8, 10, Share(0.25, 0.5)),
    ("what goes counts until it goes", [(8, 0), (-8, 5)], 8, 10, Share(0.5, 1.0)),
    ("in no time it is what is held", [(4, 0)], 8, 0, Share(0.5, 0.5)),
    ("of nothing nothing is held", [(4, 0)], 0, 10, Share(0.0, 0.0)),
]


@pytest.mark.parametrize(
    ("changes", "whole", "end", "share"), [row[1:] for row in SHARES], ids=[row[0] for row in SHARES]
)
def test_mean_and_most_are_shares_of_a_whole(
    changes: list[tuple[int, int]], whole: int, end: int, share: Share
) -> None:
    held = OverTime()
    for change, time in changes:
        held.add(change, time)
    assert held.share(whole, end) == share


def test_of_what_there_is_none_no_share_is_held() -> None:
    [node] = fleet("a", SchedulerConfig("unaware"), ExporterConfig(), Timing()).nodes
    made = node._replace(totals=node.totals._replace(allocatable={**node.totals.allocatable, "cpu": 0}))
    held = Utilisation(machines_of([made]))
    held.pod({"cpu": 0, "memory": 1}, 1, 0)
    assert held.now("cpu") == held.now("nothing") == 0.0
    assert held.now("memory") > 0.0


RATES = [
    ("no event", [], 0),
    ("one", [5], 1),
    ("all within a minute", [0, 30, 59], 3),
    ("after a minute one is over", [0, 30, 60], 2),
    ("the most is kept", [0, 1, 2, 100, 101], 3),
]


@pytest.mark.parametrize(("times", "most"), [row[1:] for row in RATES], ids=[row[0] for row in RATES])
def test_the_most_events_of_any_minute(times: list[int], most: int) -> None:
    rate = PeakRate()
    for time in times:
        rate.add(time * SECOND)
    assert rate.most == most
