"""Preemption beyond the recorded cases (docs/rules/scheduling.md 8)."""

from __future__ import annotations

import pytest

from numalign.scheduler import preemption
from numalign.scheduler.placement import Placement
from tests.scheduler.make import object_of, zone


@pytest.mark.parametrize("known", [None, {}, {("default", "p", "c"): 0}], ids=["nothing", "no container", "one"])
def test_without_victims_nothing_else_is_looked_at(known: Placement | None) -> None:
    with pytest.raises(preemption.EvictionError, match="no victims found, cannot process eviction simulation"):
        preemption.after_eviction(object_of(zone(0, cpu="4")), [], known)
