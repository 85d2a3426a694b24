"""What 1.37 decides otherwise with devices: each case beside 1.36 (docs/rules/kubelet-versions.md, claims in 1.37)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.features import features
from numalign.dra.reading import read_slice, read_taint_rule
from numalign.dra.values import ClaimObjects
from tests.dra.objects import claim, device, names, outcome, request, resource_slice

OLD, NEW = features("1.36"), features("1.37")


def shared(name: str, memory: str, **policy: Any) -> dict[str, Any]:
    capacity = {"memory": {"value": memory, **({"requestPolicy": policy} if policy else {})}}
    return {"name": name, "allowMultipleAllocations": True, "capacity": capacity}


def asking(amount: str, **fields: Any) -> dict[str, Any]:
    return claim("c", request("r", "gpu", capacity={"requests": {"memory": amount}}, **fields))


def test_all_with_shared_capacity_is_all_or_nothing() -> None:
    slices = [resource_slice("gpu.example.com", [shared("a", "1Gi"), shared("b", "4Gi")])]
    wanted = [asking("2Gi", allocationMode="All")]
    assert names(outcome(slices, wanted, using=OLD)) == [["b"]]
    assert not outcome(slices, wanted, using=NEW).allocated


def test_a_negative_amount_is_refused() -> None:
    slices = [resource_slice("gpu.example.com", [shared("a", "1Gi")])]
    assert outcome(slices, [asking("-1Gi")], using=OLD).allocated
    assert not outcome(slices, [asking("-1Gi")], using=NEW).allocated


def test_ranges_step_in_fractions() -> None:
    policy = {"default": "500m", "validRange": {"min": "500m", "step": "500m"}}
    slices = [resource_slice("gpu.example.com", [shared("a", "2", **policy)])]
    found = outcome(slices, [asking("600m")], using=NEW)
    assert found.claims is not None
    assert [one.consumed["memory"].nano for one in found.claims[0].devices] == [10**9]


def test_distinct_holds_for_each_device_of_a_request() -> None:
    devices = [device(name, **{"d.com/x": value}) for name, value in (("a", 1), ("b", 2), ("c", 1), ("d", 3))]
    slices = [resource_slice("gpu.example.com", devices)]
    wanted = [claim("c", request("r", "gpu", 3), distinct="d.com/x")]
    assert names(outcome(slices, wanted, using=OLD)) == [["a", "b", "c"]]
    assert names(outcome(slices, wanted, using=NEW)) == [["a", "b", "d"]]


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
