"""What 1.37 decides otherwise with devices: each case beside 1.36 (docs/rules/kubelet-versions.md, claims in 1.37)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.features import Features, features
from numalign.dra.reading import read_slice, read_taint_rule
from numalign.model.quantity import canonical
from tests.dra.objects import claim, device, names, outcome, request, resource_slice

OLD, NEW = features("1.36"), features("1.37")


def shared(name: str, memory: str, **policy: Any) -> dict[str, Any]:
    capacity = {"memory": {"value": memory, **({"requestPolicy": policy} if policy else {})}}
    return {"name": name, "allowMultipleAllocations": True, "capacity": capacity}


def asking(amount: str, **fields: Any) -> dict[str, Any]:
    return claim("c", request("r", "gpu", capacity={"requests": {"memory": amount}}, **fields))


def test_all_with_shared_capacity_is_all_or_nothing() -> None:
    """A device that has enough by itself but is used up by others counts; one that never has enough does not."""
    devices = [shared("a", "4Gi"), shared("b", "4Gi"), shared("small", "1Gi")]
    slices = [resource_slice("gpu.example.com", devices)]
    wanted = asking("2Gi", allocationMode="All")
    held = asking("3Gi")
    held["metadata"]["name"] = "other"
    result = {"request": "r", "driver": "gpu.example.com", "pool": "node-1", "device": "a"}
    share = {**result, "shareID": "1", "consumedCapacity": {"memory": "3Gi"}}
    held["status"] = {"allocation": {"devices": {"results": [share]}}}

    for using in (OLD, NEW):
        assert names(outcome(slices, [wanted], using=using)) == [["a", "b"]]
    assert names(outcome(slices, [held, wanted], using=OLD)) == [["b"]]
    assert not outcome(slices, [held, wanted], using=NEW).allocated


LARGEST = str(2**63 - 1)
STEPS = {"default": "1", "validRange": {"min": "1", "step": "10"}}
TINY = {"default": "1", "validRange": {"min": "1", "step": "10000000100u"}}
"""Not in thousandths: counted in whole numbers."""
HALVES = {"default": "500m", "validRange": {"min": "500m", "step": "500m"}}
ERRORS = [
    ("nothing", {}, "0", ""),
    ("below 0", {}, "-1Gi", "capacity value is negative"),
    ("a billionth below 0", {}, "-1n", "capacity value is negative"),
    ("below 0 is the least of a range", STEPS, "-1", ""),
    ("beyond 64 bits", STEPS, "1e20", "request 100e18 is not a representable milli value"),
    ("rounded beyond 64 bits", TINY, LARGEST, "exceeds the range"),
    ("beyond 64 bits in whole numbers", TINY, "1e20", "request 100e18 exceeds the range"),
    ("rounded beyond 64 bits of thousandths", HALVES, f"{LARGEST}m", "exceeds the range"),
    ("below a thousandth", HALVES, "1000000n", ""),
    ("between thousandths", HALVES, "500500u", "is not a representable milli value"),
]


@pytest.mark.parametrize(("policy", "amount", "message"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_an_amount_that_cannot_be_counted_ends_the_allocation(
    policy: dict[str, Any], amount: str, message: str
) -> None:
    slices = [resource_slice("gpu.example.com", [shared("a", "4", **policy)])]
    found = outcome(slices, [asking(amount)], using=NEW)
    assert found.ends_cycle == bool(message)
    assert found.allocated != bool(message)
    assert message in found.error
    assert not outcome(slices, [asking(amount)], using=OLD).ends_cycle


def test_an_amount_that_cannot_be_counted_ends_a_request_for_all_too() -> None:
    slices = [resource_slice("gpu.example.com", [shared("a", "4")])]
    found = outcome(slices, [asking("-1", allocationMode="All")], using=NEW)
    assert found.error == 'claim default/c, request r: capacity "memory": capacity value is negative'


@pytest.mark.parametrize(
    ("using", "asked", "taken"),
    [
        (NEW, "600m", "1"),
        (NEW, "1100m", "1500m"),
        (NEW, "500m", "500m"),
        (features("1.37", {"DRAFractionalCapacityRange": False}), "1100m", "2"),
        (OLD, "1100m", "2"),
    ],
)
def test_ranges_step_in_fractions(using: Features, asked: str, taken: str) -> None:
    slices = [resource_slice("gpu.example.com", [shared("a", "2", **HALVES)])]
    found = outcome(slices, [asking(asked)], using=using)
    assert found.claims is not None
    assert [canonical(one.consumed["memory"]) for one in found.claims[0].devices] == [taken]


@pytest.mark.parametrize("using", [OLD, NEW])
def test_partitions_that_exclude_each_other_are_not_both_given(using: Features) -> None:
    """Also where the first one is held by shares; 1.36 does so since 1.36.2."""
    uses = [{"counterSet": "s", "counters": {"mem": {"value": "2"}}}]
    devices = [{"name": name, "allowMultipleAllocations": True, "consumesCounters": uses} for name in "ab"]
    counters = [{"name": "s", "counters": {"mem": {"value": "2"}}}]
    slices = [resource_slice("gpu.example.com", devices, sharedCounters=counters)]
    held = claim("other", request("r", "gpu"))
    result = {"request": "r", "driver": "gpu.example.com", "pool": "node-1", "device": "b", "shareID": "1"}
    held["status"] = {"allocation": {"devices": {"results": [result]}}}

    assert names(outcome(slices, [claim("c", request("r", "gpu"))], using=using)) == [["a"]]
    assert names(outcome(slices, [held, claim("c", request("r", "gpu"))], using=using)) == [["b"]]


def test_counters_come_back_where_a_device_falls_at_a_later_gate() -> None:
    """A taint, a constraint, or stepping back: the counter is there for the next one."""
    uses = [{"counterSet": "s", "counters": {"mem": {"value": "2"}}}]
    tainted = {"name": "a", "consumesCounters": uses, "taints": [{"key": "k", "effect": "NoSchedule"}]}
    counters = [{"name": "s", "counters": {"mem": {"value": "2"}}}]
    slices = [
        resource_slice("gpu.example.com", [tainted, {"name": "b", "consumesCounters": uses}], sharedCounters=counters)
    ]
    assert names(outcome(slices, [claim("c", request("r", "gpu"))], using=NEW)) == [["b"]]


def test_distinct_holds_for_each_device_of_a_request() -> None:
    devices = [device(name, **{"d.com/x": value}) for name, value in (("a", 1), ("b", 2), ("c", 1), ("d", 3))]
    slices = [resource_slice("gpu.example.com", devices)]
    wanted = [claim("c", request("r", "gpu", 3), distinct="d.com/x")]
    assert names(outcome(slices, wanted, using=OLD)) == [["a", "b", "c"]]
    assert names(outcome(slices, wanted, using=NEW)) == [["a", "b", "d"]]


def test_what_devices_have_in_common_is_widened_on_stepping_back() -> None:
    """The second device leaves nothing for the card; the third one does."""
    listed = [
        {"name": name, "attributes": {"d.com/x": {"ints": values}}}
        for name, values in (("a", [1, 2]), ("b", [2]), ("c", [1]))
    ]
    slices = [
        resource_slice("gpu.example.com", listed),
        resource_slice("nic.example.com", [device("n", **{"d.com/x": 1})]),
    ]
    wanted = [claim("c", request("g", "gpu", 2), request("n", "nic"), match="d.com/x")]
    old, new = (one._replace(lists=True, list_constraints=True) for one in (OLD, NEW))
    assert not outcome(slices, wanted, using=old).allocated
    assert names(outcome(slices, wanted, using=new)) == [["a", "c", "n"]]


def test_the_first_device_of_a_constraint_may_have_no_value() -> None:
    """Only what a second one has in common with it must not be nothing."""
    listed = [{"name": name, "attributes": {"d.com/x": {"ints": []}}} for name in "ab"]
    slices, using = [resource_slice("gpu.example.com", listed)], NEW._replace(lists=True, list_constraints=True)
    for count in (1, 2):
        wanted = [claim("c", request("r", "gpu", count), match="d.com/x")]
        assert outcome(slices, wanted, using=using).allocated is (count == 1)


def test_counters_are_kept_by_driver_and_pool() -> None:
    def partition(driver: str, counter: str) -> dict[str, Any]:
        counters = {"mem": {"value": counter}}
        one = {"name": "p", "consumesCounters": [{"counterSet": "s", "counters": {"mem": {"value": "2"}}}]}
        return resource_slice(f"{driver}.example.com", [one], sharedCounters=[{"name": "s", "counters": counters}])

    slices = [partition("gpu", "2"), partition("nic", "2")]
    wanted = [claim("c", request("g", "gpu"), request("n", "nic"))]
    assert not outcome(slices, wanted, using=OLD).allocated
    assert outcome(slices, wanted, using=NEW).allocated


def test_lists_can_be_used_in_selectors() -> None:
    listed = {"name": "a", "attributes": {"resource.kubernetes.io/numaNode": {"ints": [0, 1]}}}
    slices = [resource_slice("gpu.example.com", [listed])]
    old = outcome(slices, [claim("c", request("r", "gpu"))], using=OLD)
    assert "unsupported attribute value" in old.error
    assert outcome(slices, [claim("c", request("r", "gpu"))], using=NEW).allocated


@pytest.mark.parametrize(
    ("selector", "tainted"),
    [
        ({}, True),
        ({"driver": "gpu.example.com"}, True),
        ({"driver": "nic.example.com"}, False),
        ({"pool": "node-1", "device": "a"}, True),
        ({"device": "b"}, False),
        ({"pool": "node-2", "device": "a"}, False),
    ],
)
def test_a_rule_puts_a_taint_on_devices(selector: dict[str, str], tainted: bool) -> None:
    one = resource_slice("gpu.example.com", [device("a")])
    taint = {"key": "broken", "effect": "NoSchedule"}
    rule = read_taint_rule({"metadata": {"name": "r"}, "spec": {"deviceSelector": selector, "taint": taint}})
    objects = ClaimObjects(slices=(read_slice(one),), taint_rules=(rule,))
    [found] = objects.tainted().slices
    assert [each.key for each in found.devices[0].taints] == ["broken"] * tainted
    assert (OLD.taint_rules, NEW.taint_rules) == (False, True)
