"""The machines of a run at its start: a scheduler knows of each what its node says."""

from __future__ import annotations

from numalign.scheduler.config import SchedulerConfig, Timing
from numalign.scheduler.simulate.machines import machines_of
from tests.scheduler.simulate.test_worked_examples import SEPARATE, fleet


def test_of_what_no_pod_asks_for_nothing_is_used() -> None:
    [node] = fleet("a", SchedulerConfig("unaware"), SEPARATE, Timing()).nodes
    [machine] = machines_of([node._replace(totals=node.totals._replace(used={"cpu": 7}))])
    assert machine.node.totals.used == {**dict.fromkeys(node.totals.allocatable, 0), "cpu": 7}
