"""Preemption beyond the recorded cases (docs/rules/scheduling.md 8)."""

from __future__ import annotations

import pytest

from numalign.model.quantity import NANO
from numalign.scheduler import preemption
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource
from numalign.scheduler.placement import Placement
from tests.conformance.sched import amounts
from tests.scheduler.make import cpus, object_of, zone


@pytest.mark.parametrize("known", [None, {}, {("default", "p", "c"): 0}], ids=["nothing", "no container", "one"])
def test_without_victims_nothing_else_is_looked_at(known: Placement | None) -> None:
    with pytest.raises(preemption.EvictionError, match="no victims found, cannot process eviction simulation"):
        preemption.after_eviction(object_of(zone(0, cpu="4")), [], known)


def saying(**amounts_: str) -> Zone:
    """Make zone 0 with CPUs of which some amounts are said."""
    return Zone("node-0", resources={"cpu": ZoneResource(**amounts(amounts_))})


VICTIM = preemption.Victim("default", "p", cpus(2))
BACK = [
    ("what is free and what comes back", saying(available="1", allocatable="4"), "3"),
    ("all of it", saying(available="2", allocatable="4"), "4"),
    ("more than there is", saying(available="3", allocatable="4"), None),
    ("where nothing is said to be free", saying(allocatable="4"), "2"),
    ("where nobody says how much there is", saying(available="1"), None),
    (
        "the least more than nothing there",
        Zone("node-0", resources={"cpu": ZoneResource(available=1 - 2 * NANO)}),
        None,
    ),
    ("no more than nothing there", saying(available="-2"), "0"),
]


@pytest.mark.parametrize(("there", "free"), [row[1:] for row in BACK], ids=[row[0] for row in BACK])
def test_what_is_free_after_an_eviction(there: Zone, free: str | None) -> None:
    """P-4: 2 CPUs come back to zone 0."""
    found, known = object_of(there, zone(1, cpu="4", gpu="1")), {("default", "p", "c0"): 0}
    if free is None:
        with pytest.raises(preemption.EvictionError, match=preemption.TOO_MUCH):
            preemption.after_eviction(found, [VICTIM], known)
    else:
        after = preemption.after_eviction(found, [VICTIM], known)
        assert after.zones[0].resources["cpu"].available == amounts({"cpu": free})["cpu"]
        assert after.zones[1] == found.zones[1]


def test_what_a_zone_does_not_list_does_not_come_back_to_it() -> None:
    found = object_of(zone(0, gpu="4"), zone(1, cpu="4"))
    assert preemption.after_eviction(found, [VICTIM], {("default", "p", "c0"): 0}) == found


def test_a_container_that_is_on_no_known_node_gives_nothing_back() -> None:
    with pytest.raises(preemption.EvictionError, match=preemption.NOTHING):
        preemption.after_eviction(object_of(zone(0, cpu="4")), [VICTIM], {("default", "p", "other"): 0})


FULL = object_of(zone(0, cpu="1", memory="9Gi"))
FILTERED = [
    ("without an object everything passes", None, {("default", "p", "c0"): 0}, True),
    ("without a placement the object is asked as it is", FULL, None, False),
    ("without a container in it, too", FULL, {}, False),
    ("where the object cannot be worked out, it fails", FULL, {("default", "p", "other"): 0}, False),
]


@pytest.mark.parametrize(("found", "known", "passes"), [row[1:] for row in FILTERED], ids=[row[0] for row in FILTERED])
def test_no_failure_with_victims_marks_the_machine(
    found: NodeResourceTopology | None, known: Placement | None, passes: bool
) -> None:
    """P-3."""
    total = amounts({"cpu": "16", "memory": "64Gi"})
    answer = preemption.check_after_eviction(found, total, cpus(2), mode="Enabled", victims=[VICTIM], known=known)
    assert answer.verdict.passed is passes
    assert not answer.marks_over_reserved
