"""What in a claim can never work: without slices by what drivers publish, with slices by what is there."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.features import features
from numalign.dra.lint import ClaimFinding, driver_of_class, lint_claim, lint_claim_on, requests_of
from numalign.dra.reading import read_claim, read_class, read_slice
from numalign.dra.selection import Selection
from numalign.dra.values import DeviceClass, Node
from tests.dra.objects import NUMA, claim, device, device_class, request, resource_slice

ROOT = "resource.kubernetes.io/pcieRoot"


def classes(*names: str) -> dict[str, DeviceClass]:
    return {name: read_class(device_class(name)) for name in names}


def selecting(text: str | None) -> dict[str, DeviceClass]:
    return {"c": DeviceClass("c", (text,) if text is not None else ())}


MEANT = [
    ("a class that is told", "c", selecting('device.driver == "a.b"'), "a.b"),
    ("with other quotes and blanks", "c", selecting("true && device.driver=='a.b' && x"), "a.b"),
    ("a class whose selector says no driver", "c", selecting("true"), None),
    ("a class without a selector", "c", selecting(None), None),
    ("a class that a driver's installation brings", "gpu.nvidia.com", {}, "gpu.nvidia.com"),
    ("one of another name", "dra.hugepages-2m", {}, "dra.memory"),
    ("what is told outweighs it", "gpu.nvidia.com", {"gpu.nvidia.com": DeviceClass("gpu.nvidia.com", ("true",))}, None),
    ("a class that nobody knows", "c", {}, None),
]


@pytest.mark.parametrize(("name", "known", "driver"), [row[1:] for row in MEANT], ids=[row[0] for row in MEANT])
def test_whose_devices_a_class_means(name: str, known: dict[str, DeviceClass], driver: str | None) -> None:
    assert driver_of_class(name, known) == driver


def asking(*device_classes: str, match: str = "", distinct: str = "", only: tuple[str, ...] = ()) -> dict[str, Any]:
    """A claim with a request of each class, named r0, r1 and so on."""
    requests = [request(f"r{index}", name) for index, name in enumerate(device_classes)]
    made = claim("c", *requests, match=match, distinct=distinct)
    for one in made["spec"]["devices"]["constraints"]:
        one["requests"] = list(only)
    return made


def found(wanted: dict[str, Any]) -> list[ClaimFinding]:
    return list(lint_claim(read_claim(wanted), {}))


NEVER = [
    (
        "a driver that does not publish the name",
        asking("gpu.nvidia.com", "dra.net", match="dra.net/numaNode"),
        "gpu.nvidia.com does not publish it",
        f"match {ROOT}",
        "impossible",
    ),
    (
        "a request that the constraint is not about does not count",
        asking("gpu.nvidia.com", "dra.net", "unknown", match="dra.net/numaNode", only=("r0", "r1")),
        "gpu.nvidia.com does not publish it",
        f"match {ROOT}",
        "impossible",
    ),
    (
        "two of them",
        asking("gpu.nvidia.com", "gpu.amd.com", match="dra.net/numaNode"),
        "gpu.amd.com and gpu.nvidia.com do not publish it",
        f"match {ROOT}",
        "impossible",
    ),
    (
        "no name is common to all",
        asking("gpu.amd.com", "dra.cpu", match="dra.net/numaNode"),
        "gpu.amd.com does not publish it",
        "select devices with a selector in each request",
        "impossible",
    ),
    (
        "the standard name is common to CPUs and NVIDIA's GPUs",
        asking("gpu.nvidia.com", "dra.cpu", match="dra.net/numaNode"),
        "gpu.nvidia.com does not publish it",
        f"match {NUMA}",
        "impossible",
    ),
    (
        "several GPUs are not behind one root",
        asking("gpu.nvidia.com", "gpu.nvidia.com", match="dra.net/numaNode"),
        "gpu.nvidia.com does not publish it",
        f"match {NUMA}",
        "impossible",
    ),
    (
        "another name is common to all",
        asking("dra.cpu", "dra.net", match="dra.cpu/numaNodeID"),
        "dra.net does not publish it",
        "match dra.net/numaNode",
        "impossible",
    ),
    (
        "a driver without a root",
        asking("dra.cpu", "dra.net", match=ROOT),
        "dra.cpu does not publish it",
        "match dra.net/numaNode",
        "impossible",
    ),
    (
        "the standard name, which later drivers publish",
        asking("dra.cpu", "dra.net", match=NUMA),
        "dra.net does not publish it (drivers for 1.37 do)",
        "match dra.net/numaNode",
        "note",
    ),
    (
        "a driver's own name for a place that it does not use",
        asking("dra.cpu", match="dra.cpu/numaNode"),
        "dra.cpu does not publish it",
        "match dra.cpu/numaNodeID",
        "impossible",
    ),
    (
        "another driver's own name for anything",
        asking("dra.net", match="gpu.nvidia.com/model"),
        "dra.net does not publish it",
        f"match {ROOT}",
        "impossible",
    ),
    (
        "a driver that nobody knows beside it",
        asking("gpu.nvidia.com", "mine", match="dra.net/numaNode"),
        "gpu.nvidia.com does not publish it",
        "select devices with a selector in each request",
        "impossible",
    ),
]


@pytest.mark.parametrize(
    ("wanted", "message", "advice", "effect"), [row[1:] for row in NEVER], ids=[row[0] for row in NEVER]
)
def test_a_constraint_that_never_holds(wanted: dict[str, Any], message: str, advice: str, effect: str) -> None:
    [one] = found(wanted)

    assert (one.code, one.effect) == ("claim-attribute", effect)
    assert one.message.startswith("matchAttribute ")
    assert one.message.endswith(f" can never hold: {message}")
    assert one.advice.startswith(advice)


FINE = [
    ("a name that all publish", asking("dra.cpu", "dra.net", match="dra.net/numaNode")),
    ("a root that all publish", asking("gpu.nvidia.com", "dra.net", match=ROOT)),
    ("a constraint that covers others", asking("gpu.nvidia.com", "dra.net", match="dra.net/numaNode", only=("r1",))),
    ("a name of one's own that may be there", asking("gpu.nvidia.com", match="gpu.nvidia.com/model")),
    ("a name of a domain that nobody knows", asking("gpu.nvidia.com", match="acme.com/rack")),
    ("a class that nobody knows", asking("mine", match="dra.net/numaNode")),
    ("what has to be distinct is not judged", asking("gpu.nvidia.com", distinct="dra.net/numaNode")),
    ("no constraint", asking("gpu.nvidia.com")),
]


@pytest.mark.parametrize("wanted", [row[1] for row in FINE], ids=[row[0] for row in FINE])
def test_a_constraint_that_may_hold(wanted: dict[str, Any]) -> None:
    assert found(wanted) == []


def test_a_selector_that_costs_too_much_is_told_with_its_alternative() -> None:
    deep = "true"
    for name in "abcd":
        deep = f"device.attributes['d'].all({name}, {deep})"
    forms = [{"name": "big", "deviceClassName": "gpu", "selectors": [{"cel": {"expression": deep}}]}]
    [one] = found(claim("c", {"name": "r", "firstAvailable": forms}))
    assert one.message.startswith("request big, selector 0: the API server rejects it")


def test_a_selector_that_is_none_costs_nothing() -> None:
    assert found(claim("c", request("r", "gpu.nvidia.com", selectors=[{"of a later release": {}}]))) == []


def test_alternatives_are_requests_by_themselves() -> None:
    made = claim(
        "c",
        {
            "name": "r",
            "firstAvailable": [
                {"name": "a", "deviceClassName": "dra.net"},
                {"name": "b", "deviceClassName": "gpu.nvidia.com"},
            ],
        },
        {"name": "odd"},
        match="dra.net/numaNode",
    )

    assert [(tuple(name), form.device_class) for name, form in requests_of(read_claim(made))] == [
        (("r", "a"), "dra.net"),
        (("r", "b"), "gpu.nvidia.com"),
    ]
    assert [one.message.rpartition(": ")[2] for one in found(made)] == ["gpu.nvidia.com does not publish it"]


SLICES = [
    resource_slice("gpu.example.com", [device("g0", model="a", rack="x"), device("g1", model="b")]),
    resource_slice("nic.example.com", [device("n0", numa=1)], node="node-2"),
]
MODEL = "device.attributes['gpu.example.com'].model == '{}'"


def found_on(*wanted: dict[str, Any], cost: int = 10**6, slices: Any = SLICES, **constraint: str) -> list[ClaimFinding]:
    selection = Selection(Node("any"), features(), cost)
    read = [read_slice(one) for one in slices]
    return list(lint_claim_on(read_claim(claim("c", *wanted, **constraint)), classes("gpu", "nic"), read, selection))


def of(name: str, *selectors: str) -> dict[str, Any]:
    return request("r", name, selectors=[{"cel": {"expression": text}} for text in selectors])


ON = [
    (
        "a class that is not there",
        [of("gpus")],
        "claim-class",
        "request r: unknown DeviceClass gpus",
        "similar: gpu",
    ),
    ("no class", [of("")], "claim-class", "request r: unknown DeviceClass (nothing)", "allowed: gpu, nic"),
    (
        "selectors that no device meets",
        [of("gpu", MODEL.format("c"))],
        "claim-devices",
        "request r: no published device matches; 2 are of class gpu",
        "change its selectors",
    ),
    (
        "selectors that fail on all",
        [of("nic", MODEL.format("a"))],
        "claim-devices",
        "request r: no published device matches; 1 are of class nic",
        "change its selectors",
    ),
]


@pytest.mark.parametrize(("wanted", "code", "message", "advice"), [row[1:] for row in ON], ids=[row[0] for row in ON])
def test_a_request_that_nothing_meets(wanted: list[dict[str, Any]], code: str, message: str, advice: str) -> None:
    assert found_on(*wanted) == [ClaimFinding(code, message, advice, "impossible")]  # type: ignore[arg-type]  # one of the codes


def test_a_class_whose_driver_is_not_there() -> None:
    [one] = found_on(of("nic"), slices=SLICES[:1])
    assert (one.code, one.advice) == ("claim-devices", "change the class, or start its driver")
    assert one.message.endswith("0 are of class nic")


def test_each_alternative_has_to_be_met() -> None:
    forms = [{"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "tpu"}]
    assert [one.code for one in found_on({"name": "r", "firstAvailable": forms})] == ["claim-class"]


def test_devices_of_any_node_count_and_whoever_says_where_they_are() -> None:
    own = resource_slice(
        "gpu.example.com", [{"name": "g", "nodeName": "far"}], nodeName=None, perDeviceNodeSelection=True
    )
    assert found_on(of("gpu"), slices=[own]) == []
    assert found_on(of("gpu"), of("nic")) == []


UNPUBLISHED = [
    ("an attribute that one device has", [of("gpu")], {"match": "gpu.example.com/rack"}, None),
    (
        "of those that are selected none has it",
        [of("gpu", MODEL.format("b"))],
        {"match": "gpu.example.com/rack"},
        "1 devices",
    ),
    ("what has to be distinct, too", [of("gpu")], {"distinct": "acme.com/rack"}, "2 devices"),
]


@pytest.mark.parametrize(
    ("wanted", "constraint", "number"), [row[1:] for row in UNPUBLISHED], ids=[row[0] for row in UNPUBLISHED]
)
def test_an_attribute_that_no_device_publishes(
    wanted: list[dict[str, Any]], constraint: dict[str, str], number: str | None
) -> None:
    said = found_on(*wanted, **constraint)

    assert [one.code for one in said] == ([] if number is None else ["claim-attribute"])
    if number is not None:
        name = next(iter(constraint.values()))
        assert said[0].message == f"request r: none of its {number} publishes {name} (gpu.example.com)"


def test_a_constraint_is_held_against_the_requests_it_covers() -> None:
    made = claim("c", request("g", "gpu"), request("n", "nic"), match=NUMA)
    made["spec"]["devices"]["constraints"][0]["requests"] = ["n"]
    selection = Selection(Node("any"), features())

    assert (
        list(lint_claim_on(read_claim(made), classes("gpu", "nic"), [read_slice(one) for one in SLICES], selection))
        == []
    )


def test_a_request_without_devices_publishes_nothing_that_could_be_told() -> None:
    said = found_on(of("gpu", MODEL.format("c")), match="acme.com/rack")
    assert [one.code for one in said] == ["claim-devices"]


def test_once_nobody_can_ask_any_more_every_device_may_be_meant() -> None:
    assert found_on(of("gpu", MODEL.format("c")), cost=-1) == []
    assert found_on(of("gpu", "format.named('x') == 1")) == []


def test_a_selector_is_asked_only_of_devices_of_its_class() -> None:
    [one] = found_on(of("gpu", "format.named('x') == 1"), slices=SLICES[1:])
    assert one.message == "request r: no published device matches; 0 are of class gpu"
