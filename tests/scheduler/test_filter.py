"""The worked examples of docs/rules/scheduling.md 7.1 and 7.2, and where the two filters part."""

from __future__ import annotations

import pytest

from numalign.scheduler import filter_kep, filter_nrt
from numalign.scheduler.nrt.value import NodeResourceTopology, NUMAZone
from numalign.scheduler.request import ContainerRequest, PodRequest
from tests.conformance.sched import amounts, nano
from tests.scheduler.make import cpus, object_of, pod, zone

TOTAL = amounts({"cpu": "12", "memory": "32Gi", "vendor.io/fpga": "2", "fpga": "2"})
EIGHT_AND_FOUR = object_of(zone(0, cpu="8", memory="16Gi"), zone(1, cpu="4", memory="16Gi"))
EIGHT_AND_EIGHT = object_of(zone(0, cpu="8", memory="8Gi"), zone(1, cpu="8", memory="8Gi"))


def asks(**names: str) -> PodRequest:
    return pod({"cpu": "1", "memory": "1Gi"} | {key.replace("_io_", ".io/"): text for key, text in names.items()})


@pytest.mark.parametrize(
    ("found", "asked", "today", "proposal"),
    [
        pytest.param(EIGHT_AND_FOUR, cpus(8, 4), "", True, id="the big container first fits both filters"),
        pytest.param(EIGHT_AND_FOUR, cpus(4, 8), "cannot align container", True, id="the small one takes zone 0 today"),
        pytest.param(
            EIGHT_AND_FOUR, cpus(8, 8), "cannot align container", True, id="two of eight: not subtracted before"
        ),
        pytest.param(EIGHT_AND_EIGHT, cpus(1, memory="12Gi"), "cannot align container", True, id="memory counts today"),
        pytest.param(
            EIGHT_AND_EIGHT, asks(vendor_io_fpga="1"), "", False, id="a device in no zone is host-level today"
        ),
        pytest.param(EIGHT_AND_EIGHT, asks(fpga="1"), "cannot align container", False, id="an unprefixed name is not"),
        pytest.param(EIGHT_AND_EIGHT, asks(vendor_io_none="0"), "", True, id="nothing of an unknown resource"),
        pytest.param(
            EIGHT_AND_EIGHT, asks(vendor_io_none="1"), "cannot align container", False, id="unknown to the node"
        ),
    ],
)
def test_worked_examples(found: NodeResourceTopology, asked: PodRequest, today: str, proposal: bool) -> None:
    verdict = filter_nrt.check_nrt(found, TOTAL, asked)
    assert (verdict.passed, verdict.message) == (not today, today)
    assert filter_kep.check_kep(found, asked).passed == proposal


def test_without_an_object_the_proposal_passes() -> None:
    """S-2."""
    assert filter_kep.check_kep(None, cpus(9)).passed


def test_lenient_memory_suits_a_zone_that_does_not_list_it() -> None:
    without = object_of(zone(0, cpu="8"))
    assert not filter_kep.check_kep(without, cpus(1)).passed
    assert filter_kep.check_kep(without, cpus(1), seed_memory="lenient").passed


def test_a_refusal_names_the_resource_and_the_best_zone() -> None:
    verdict = filter_nrt.check_nrt(EIGHT_AND_FOUR, TOTAL, cpus(9))
    assert (verdict.container, verdict.resource, verdict.requested) == ("c0", "cpu", nano("9"))
    assert (verdict.best, verdict.best_zone) == (nano("8"), 0)


def test_the_proposal_names_the_container() -> None:
    assert filter_kep.check_kep(EIGHT_AND_FOUR, cpus(1, 9)).message == "Can't align container: c1"


def test_a_zone_that_is_there_twice_gives_more_than_it_has() -> None:
    """T-13: zone 0 suits for what one says, and the other has not so much."""
    doubled = object_of(zone(0, cpu="8", memory="8Gi"), zone(0, cpu="2", memory="8Gi"))
    verdict = filter_nrt.check_nrt(doubled, TOTAL, cpus(4, 1))
    assert (verdict.passed, verdict.message, verdict.container) == (False, "inconsistent resource accounting", "c0")


@pytest.mark.parametrize(("number", "passed"), [(63, True), (64, False)])
def test_zones_up_to_63_may_serve(number: int, passed: bool) -> None:
    """T-6: the plugin's table has 64 entries."""
    last = object_of(zone(0, cpu="1", memory="8Gi"), zone(number, cpu="8", memory="8Gi"))
    assert filter_nrt.check_nrt(last, TOTAL, cpus(4)).passed is passed


@pytest.mark.parametrize("policy", ["none", "best-effort", "restricted"])
def test_only_single_numa_node_is_filtered(policy: str) -> None:
    found = object_of(zone(0, cpu="1", memory="1Gi"), policy=policy)
    assert filter_nrt.check_nrt(found, TOTAL, cpus(9)).passed
    assert filter_kep.check_kep(found, cpus(9)).passed


def test_pod_scope_adds_the_overhead_and_container_scope_does_not() -> None:
    zones = zone(0, cpu="8", memory="8Gi"), zone(1, cpu="8", memory="8Gi")
    asked = pod({"cpu": "8", "memory": "1Gi"}, overhead={"cpu": "1"})
    assert filter_nrt.check_nrt(object_of(*zones), TOTAL, asked).passed
    assert filter_nrt.check_nrt(object_of(*zones, scope="pod"), TOTAL, asked).message == "cannot align pod"


@pytest.mark.parametrize(("amount", "left"), [(1, 1), (2, 0), (3, None)])
def test_no_more_is_taken_of_a_zone_than_it_has(amount: int, left: int | None) -> None:
    """T-12, T-13: a device asked for by an app container; another zone keeps what it has."""
    zones = [NUMAZone(number, {"v.com/gpu": 2}) for number in range(2)]
    taken = filter_nrt.subtract(zones, 1, ContainerRequest("c", "app", (("v.com/gpu", amount),)), guaranteed=False)
    assert (taken and [zone.available["v.com/gpu"] for zone in taken]) == (None if left is None else [2, left])
