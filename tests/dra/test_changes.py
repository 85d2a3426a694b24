"""The nearest changes with which claims are allocated: each is tried, each says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.attempt import Attempt
from numalign.dra.changes import ClaimChange, changes
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.reading import read_claim, read_class, read_slice
from numalign.dra.result import Outcome
from numalign.dra.usage import usage
from numalign.dra.values import Node
from numalign.model.quantity import canonical
from tests.dra.objects import NUMA, claim, device, device_class, request, resource_slice

GPU, NIC = "gpu.example.com", "nic.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"


def gpus(count: int = 2, **fields: Any) -> dict[str, Any]:
    return resource_slice(GPU, [{**device(f"g{index}"), **fields} for index in range(count)])


def found(
    wanted: list[dict[str, Any]],
    *slices: dict[str, Any],
    held: tuple[str, ...] = (),
    used: dict[str, str] | None = None,
) -> list[ClaimChange]:
    results: list[dict[str, Any]] = [{"driver": GPU, "pool": "node-1", "device": name} for name in held]
    results += [
        {"driver": GPU, "pool": "node-1", "device": name, "shareID": "s", "consumedCapacity": {"m": amount}}
        for name, amount in (used or {}).items()
    ]
    other = read_claim({**claim("other"), "status": {"allocation": {"devices": {"results": results}}}})
    trying = Attempt(
        published(read_slice(one) for one in slices),
        {name: read_class(device_class(name)) for name in ("gpu", "nic")},
        usage([other]),
        features(),
        Node("node-1"),
    )
    claims = [read_claim(one) for one in wanted]
    return list(changes(trying, claims, trying.allocate(claims)))


def texts(*wanted: Any, **more: Any) -> list[str]:
    return [one.text for one in found(*wanted, **more)]


def test_what_is_allocated_needs_no_change() -> None:
    assert found([claim("c", request("r", "gpu"))], gpus()) == []


def test_fewer_devices_and_the_most_of_them() -> None:
    [one] = found([claim("c", request("r", "gpu", 4))], gpus())

    assert (one.kind, one.text) == ("count", "request 2 in r (now 4)")
    assert [each.device.device for each in one.claims[0].devices] == ["g0", "g1"]


def test_asking_for_no_device_is_no_change() -> None:
    """A class that means nothing here may be any other."""
    nics = resource_slice(NIC, [device("n")])
    assert texts([claim("c", request("r", "gpu"))], nics) == ["request deviceClassName nic in r (now gpu)"]


def test_another_name_for_a_place_that_all_have() -> None:
    slices = [
        resource_slice(GPU, [device("g", **{ROOT: "a", "gpu.example.com/numa": 0})]),
        resource_slice(NIC, [device("n", **{ROOT: "a", "dra.net/numaNode": 1})]),
    ]
    [first, second] = found([claim("c", request("g", "gpu"), request("n", "nic"), match=NUMA)], *slices)

    assert (first.kind, first.text) == ("attribute", f"match {ROOT} instead of {NUMA}")
    assert (second.kind, second.text) == (
        "constraint",
        f"drop matchAttribute {NUMA}: the devices may then be on different NUMA nodes",
    )


def test_at_most_two_other_names() -> None:
    same = {ROOT: "a", "numaNode": 1, "dra.net/numaNode": 1, "dra.cpu/numaNode": 1}
    slices = [resource_slice(GPU, [device("g", **same)])]

    kinds = [one.kind for one in found([claim("c", request("g", "gpu"), match="dra.cpu/numaNodeID")], *slices)]

    assert kinds == ["attribute", "attribute", "constraint"]


def test_what_has_to_be_distinct_may_be_dropped() -> None:
    assert "drop distinctAttribute x/y: the devices may then be on different NUMA nodes" in texts(
        [claim("c", request("r", "gpu", 2), distinct="x/y")], gpus()
    )


def test_the_constraint_that_helps_is_dropped_and_no_other() -> None:
    wanted = claim("c", request("r", "gpu", 2))
    wanted["spec"]["devices"]["constraints"] = [{"matchAttribute": f"{GPU}/a"}, {"matchAttribute": f"{GPU}/b"}]
    slices = resource_slice(GPU, [device("g0", a=1, b=1), device("g1", a=1, b=2)])

    assert [text for text in texts([wanted], slices) if text.startswith("drop")] == [
        f"drop matchAttribute {GPU}/b: the devices may then be on different NUMA nodes"
    ]


def test_a_selector_may_be_dropped() -> None:
    own = [{"cel": {"expression": text}} for text in ("true", "1 ==\n   2")]
    [one] = found([claim("c", request("r", "gpu", selectors=own))], gpus())

    assert (one.kind, one.text) == ("selector", "drop the selector `1 == 2` of r")


def test_a_selector_is_told_in_at_most_60_characters() -> None:
    for written, told in (
        ("'' == '".ljust(59, "x") + "'",) * 2,
        ("'' == '".ljust(60, "x") + "'", "'' == '".ljust(59, "x") + "…"),
    ):
        selectors = [{"cel": {"expression": written}}]
        assert texts([claim("c", request("r", "gpu", selectors=selectors))], gpus()) == [
            f"drop the selector `{told}` of r"
        ]


TAINTED = {"taints": [{"key": "old", "value": "x", "effect": "NoSchedule"}]}


def test_a_taint_may_be_tolerated() -> None:
    [one] = found([claim("c", request("r", "gpu", 2))], gpus(2, **TAINTED))

    assert (one.kind, one.text) == ("toleration", "tolerate the taint old:NoSchedule in r")


def test_a_taint_is_tolerated_with_its_effect_alone() -> None:
    twice = {"taints": [{"key": "old", "effect": effect} for effect in ("NoSchedule", "NoExecute")]}
    assert [one.kind for one in found([claim("c", request("r", "gpu"))], gpus(1, **twice))] == []


def test_a_selector_that_is_none_may_be_dropped() -> None:
    assert texts([claim("c", request("r", "gpu", selectors=[{"of a later release": {}}]))], gpus()) == [
        "drop the selector `` of r"
    ]


def test_a_class_of_the_same_driver_or_the_one_that_was_meant() -> None:
    assert texts([claim("c", request("r", "gpus"))], gpus()) == ["request deviceClassName gpu in r (now gpus)"]
    assert texts([claim("c", request("r", "xyzzy"))], gpus()) == []
    assert texts([claim("c", request("r", "nic"))], gpus()) == ["request deviceClassName gpu in r (now nic)"]
    nics = resource_slice(NIC, [device("n0"), device("n1")])
    assert texts([claim("c", request("r", "nic", 3))], gpus(3), nics) == ["request 2 in r (now 3)"]


def test_a_change_that_nobody_can_judge_is_none() -> None:
    odd = read_class(
        {"metadata": {"name": "odd"}, "spec": {"selectors": [{"cel": {"expression": "format.named('x') == 1"}}]}}
    )
    slices = published([read_slice(gpus())])
    trying = Attempt(
        slices, {"nic": read_class(device_class("nic")), "odd": odd}, usage([]), features(), Node("node-1")
    )
    claims = [read_claim(claim("c", request("r", "nic")))]
    assert changes(trying, claims, trying.allocate(claims)) == ()


def test_other_claims_may_end() -> None:
    assert texts([claim("c", request("r", "gpu", 2))], gpus(), held=("g0",)) == [
        "request 1 in r (now 2)",
        "wait until other claims on this node end",
    ]
    assert "wait until other claims on this node end" not in texts([claim("c", request("r", "gpu", 3))], gpus())


SHARED = {"allowMultipleAllocations": True, "capacity": {"m": {"value": "10Gi"}}}


@pytest.mark.parametrize(
    ("asked", "used", "said"),
    [
        ("12Gi", {}, "request 10Gi of m in r (now 12Gi)"),
        ("12Gi", {"g0": "4Gi"}, "request 6Gi of m in r (now 12Gi)"),
        ("12Gi", {"g0": "10Gi"}, None),
        ("12Gi", {"g0": "10737418239500m"}, "request 500m of m in r (now 12Gi)"),
        ("12Gi", {"g0": "10737418239999999999n"}, "request 1n of m in r (now 12Gi)"),
    ],
    ids=["what a device has", "what others leave of it", "nothing is left", "a part of one is left", "the least part"],
)
def test_less_of_a_capacity(asked: str, used: dict[str, str], said: str | None) -> None:
    wanted = [claim("c", request("r", "gpu", capacity={"requests": {"m": asked}}))]

    capacity = [one.text for one in found(wanted, gpus(1, **SHARED), used=used) if one.kind == "capacity"]

    assert capacity == ([said] if said else [])


def test_of_another_capacity_as_much_as_before() -> None:
    amounts = {"m": {"value": "10Gi"}, "n": {"value": "5"}}
    wanted = [claim("c", request("r", "gpu", capacity={"requests": {"m": "12Gi", "n": "3"}}))]
    [one] = found(wanted, gpus(1, allowMultipleAllocations=True, capacity=amounts))
    [device_] = one.claims[0].devices
    assert {name: canonical(amount) for name, amount in device_.consumed.items()} == {"m": "10Gi", "n": "3"}


def test_less_than_one_of_a_capacity() -> None:
    wanted = [claim("c", request("r", "gpu", capacity={"requests": {"m": "600m"}}))]
    part = {**SHARED, "capacity": {"m": {"value": "500m"}}}
    assert texts(wanted, gpus(1, **part)) == ["request 500m of m in r (now 600m)"]


def test_the_claim_that_failed_is_changed_and_the_others_stay() -> None:
    [one] = found([claim("a", request("r", "gpu")), claim("b", request("s", "gpu", 3))], gpus(3))

    assert one.text == "request 2 in s (now 3)"
    assert [len(each.devices) for each in one.claims] == [1, 2]


def test_an_alternative_is_changed() -> None:
    forms = [{"name": "a", "deviceClassName": "gpu", "count": 4}, {"name": "b", "deviceClassName": "gpu", "count": 3}]
    [text] = texts([claim("c", {"name": "r", "firstAvailable": forms})], gpus())

    assert text in ("request 2 in a (now 4)", "request 2 in b (now 3)")


def test_where_no_request_failed_nothing_is_changed() -> None:
    assert found([claim("c", request("r", "gpu", 33))], gpus()) == []
    assert changes(Attempt(published([]), {}, usage([]), features(), Node("n")), [], Outcome(error="x")) == ()


@pytest.mark.parametrize(("which", "kinds"), [(60, ["selector"]), (61, [])])
def test_so_many_changes_are_tried(which: int, kinds: list[str]) -> None:
    """Only without the selector that no device meets there are devices."""
    texts_ = ["true"] * (which - 1) + ["false"]
    selectors = [{"cel": {"expression": text}} for text in texts_]
    assert [one.kind for one in found([claim("c", request("r", "gpu", selectors=selectors))], gpus())] == kinds


def test_at_most_four_changes_are_told() -> None:
    wanted = claim("c", request("r", "gpu", 2, selectors=[{"cel": {"expression": "false"}}]), match=ROOT)
    same = {ROOT: "a", "numaNode": 1, "dra.net/numaNode": 1, "dra.cpu/numaNode": 1}
    slices = resource_slice(GPU, [device("g0", **same), device("g1", **same)])

    assert len(found([wanted], slices, held=("g0",))) <= 4
