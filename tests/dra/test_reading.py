"""Objects of `resource.k8s.io` in the versions of its API, read into the same values."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, cast

import pytest

from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.reading import read_claim, read_class, read_node, read_slice, read_template
from numalign.dra.values import (
    Capacity,
    Config,
    Constraint,
    CounterUse,
    DeviceClass,
    DeviceID,
    DeviceRequest,
    Node,
    Placement,
    RequestPolicy,
    Requirement,
    Slice,
    Taint,
    Taken,
    Term,
    Toleration,
)
from numalign.errors import InputError
from numalign.model.quantity import parse
from tests.dra.objects import resource_slice

EXACTLY: dict[str, Any] = {
    "deviceClassName": "gpu.nvidia.com",
    "count": 2,
    "selectors": [{"cel": {"expression": "true"}}],
    "capacity": {"requests": {"memory": "10Gi"}},
}
ANY = {"firstAvailable": [{"name": "big", **EXACTLY}, {"name": "small", "deviceClassName": "mig.nvidia.com"}]}
DEVICE: dict[str, Any] = {"attributes": {"index": {"int": 3}}, "capacity": {"memory": {"value": "80Gi"}}}


def api_object(kind: str, version: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "it", "namespace": "ns"}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": metadata, "spec": spec}


def asking(requests: list[dict[str, Any]]) -> dict[str, Any]:
    return {"devices": {"requests": requests, "constraints": [{"matchAttribute": "resource.kubernetes.io/numaNode"}]}}


NOW = asking([{"name": "gpu", "exactly": EXACTLY}, {"name": "any", **ANY}])
V1BETA1 = asking([{"name": "gpu", **EXACTLY}, {"name": "any", **ANY}])


@pytest.mark.parametrize(("version", "spec"), [("v1beta2", NOW), ("v1beta1", V1BETA1)])
def test_a_claim_asks_for_the_same_in_every_version(version: str, spec: dict[str, Any]) -> None:
    claim = read_claim(api_object("ResourceClaim", "v1", NOW))

    assert claim.requests[0].exactly is not None
    assert (claim.requests[0].exactly.number, len(claim.requests[1].alternatives)) == (2, 2)
    assert read_claim(api_object("ResourceClaim", version, spec)) == claim
    assert read_template(api_object("ResourceClaimTemplate", version, {"spec": spec})) == claim


def test_fields_that_a_version_does_not_have_are_not_read() -> None:
    """The API server drops them, too."""
    assert read_claim(api_object("ResourceClaim", "v1", V1BETA1)).requests[0].exactly is None


def test_a_device_of_v1beta1_is_below_basic() -> None:
    rest = {"driver": "gpu.nvidia.com", "pool": {"name": "p"}, "nodeName": "n"}
    now = api_object("ResourceSlice", "v1", {**rest, "devices": [{"name": "gpu-3", **DEVICE}]})
    then = api_object("ResourceSlice", "v1beta1", {**rest, "devices": [{"name": "gpu-3", "basic": DEVICE}]})

    assert read_slice(then) == read_slice(now)
    assert read_slice(now).devices[0].attributes["index"].value == 3


FULL_DEVICE = {
    "name": "gpu-0",
    "attributes": {
        "i": {"int": 3},
        "b": {"bool": False},
        "s": {"string": ""},
        "v": {"version": "1.0.0"},
        "is": {"ints": [1, 2]},
        "bs": {"bools": [True]},
        "ss": {"strings": []},
        "vs": {"versions": ["1.0.0"]},
        "new": {"later": 1},
    },
    "capacity": {
        "plain": {"value": "80Gi"},
        "number": {"value": 7},
        "range": {"value": "9", "requestPolicy": {"default": "1", "validRange": {"min": "2", "max": "8", "step": "3"}}},
        "listed": {"value": "9", "requestPolicy": {"validValues": ["1", "2"]}},
        "open": {"value": "9", "requestPolicy": {"validRange": {}}},
    },
    "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}],
    "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {}],
    "allowMultipleAllocations": True,
    "nodeName": "n",
    "bindingConditions": ["ready"],
    "bindingFailureConditions": ["broken"],
    "bindsToNode": True,
    "nodeAllocatableResourceMappings": {"cpu": {}},
}


def test_every_field_of_a_device() -> None:
    spec = {"driver": "d", "pool": {"name": "p"}, "devices": [FULL_DEVICE]}
    [one] = read_slice(api_object("ResourceSlice", "v1", spec)).devices

    assert {name: (value.kind, value.value) for name, value in one.attributes.items()} == {
        "i": ("int", 3),
        "b": ("bool", False),
        "s": ("string", ""),
        "v": ("version", "1.0.0"),
        "is": ("ints", (1, 2)),
        "bs": ("bools", (True,)),
        "ss": ("strings", ()),
        "vs": ("versions", ("1.0.0",)),
        "new": ("unknown", None),
    }
    assert {name for name, value in one.attributes.items() if value.is_list} == {"is", "bs", "ss", "vs"}
    assert one.capacity["plain"] == Capacity(parse("80Gi"))
    assert one.capacity["number"].value.nano == parse("7").nano
    assert one.capacity["range"].policy == RequestPolicy(
        default=parse("1"), has_range=True, minimum=parse("2"), maximum=parse("8"), step=parse("3")
    )
    assert one.capacity["listed"].policy == RequestPolicy(valid_values=(parse("1"), parse("2")))
    assert one.capacity["open"].policy == RequestPolicy(has_range=True)
    assert one.consumes == (CounterUse("s", {"c": parse("1")}),)
    assert one.taints == (Taint("k", "v", "NoSchedule"), Taint("", "", ""))
    assert (one.shared, one.placement, one.binds_to_node) == (True, Placement("n"), True)
    assert (one.binding_conditions, one.binding_failure_conditions) == (("ready",), ("broken",))


def test_every_field_of_a_slice() -> None:
    terms = [
        {
            "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
            "matchFields": [{"key": "f", "operator": "Exists"}],
        }
    ]
    spec = {
        "driver": "d",
        "pool": {"name": "p", "generation": 3, "resourceSliceCount": 2},
        "nodeSelector": {"nodeSelectorTerms": terms},
        "allNodes": True,
        "perDeviceNodeSelection": True,
        "sharedCounters": [{"name": "s", "counters": {"c": {"value": "1"}}}],
    }

    assert read_slice(api_object("ResourceSlice", "v1", spec)) == Slice(
        name="it",
        driver="d",
        pool="p",
        generation=3,
        slice_count=2,
        placement=Placement(None, (Term((Requirement("k", "In", ("v",)),), (Requirement("f", "Exists"),)),), True),
        per_device=True,
        counters=(("s", {"c": parse("1")}),),
    )
    bare = read_slice(api_object("ResourceSlice", "v1", {"driver": "d", "pool": {"name": "p"}}))
    assert bare == Slice("it", "d", "p", 0, 1)


def test_every_field_of_a_claim() -> None:
    toleration = {"key": "k", "operator": "Exists", "value": "v", "effect": "NoExecute", "more": 1}
    exactly = {
        "deviceClassName": "gpu",
        "allocationMode": "All",
        "adminAccess": True,
        "tolerations": [toleration, {}],
        "selectors": [{"cel": {"expression": "a\nb"}}, {}],
        "capacity": {"requests": {"m": "1"}},
    }
    spec = {
        "devices": {
            "requests": [{"name": "r", "exactly": exactly}, {"name": "bare", "exactly": {}}],
            "constraints": [{"requests": ["r"], "distinctAttribute": "a/b"}, {"matchAttribute": "c/d"}],
            "config": [{"requests": ["r"], "opaque": {"driver": "d"}}],
        }
    }
    claim = read_claim(api_object("ResourceClaim", "v1", spec))

    assert (claim.name, claim.namespace, claim.full_name, claim.allocation) == ("it", "ns", "ns/it", None)
    assert claim.requests[0].exactly == DeviceRequest(
        name="r",
        device_class="gpu",
        selectors=("a\nb", None),
        mode="All",
        admin=True,
        tolerations=(Toleration("k", "Exists", "v", "NoExecute", toleration), Toleration(written={})),
        capacity={"m": parse("1")},
    )
    assert claim.requests[1].exactly == DeviceRequest("bare", "")
    assert claim.constraints == (Constraint(("r",), None, "a/b"), Constraint((), "c/d", None))
    assert claim.config == (Config(("r",), {"opaque": {"driver": "d"}}),)


@pytest.mark.parametrize(
    ("devices", "where", "message"),
    [
        pytest.param([None], "spec.devices[0]", "expected", id="an element is none"),
        pytest.param([{"attributes": {}}], "spec.devices[0].name", "is missing", id="a field is not there"),
        pytest.param(
            [{"name": "a", "attributes": {"x": {"bool": "yes"}}}],
            "spec.devices[0].attributes.x.bool",
            "expected bool",
            id="an attribute of another kind",
        ),
        pytest.param(
            [{"name": "a", "attributes": {"x": {"strings": ["b", 1]}}}],
            "spec.devices[0].attributes.x.strings[1]",
            "expected string",
            id="one of several values of another kind",
        ),
    ],
)
def test_what_is_not_there_and_what_is_nothing(devices: list[Any], where: str, message: str) -> None:
    spec = {"driver": "d", "pool": {"name": "p"}, "devices": devices}
    with pytest.raises(InputError) as caught:
        read_slice(api_object("ResourceSlice", "v1", spec))
    assert caught.value.where == where
    assert message in str(caught.value)


def test_a_document_of_nothing_is_no_object() -> None:
    with pytest.raises(InputError, match="expected"):
        read_class(cast(Any, None))


def test_what_a_claim_has_already() -> None:
    result = {
        "request": "r",
        "driver": "d",
        "pool": "p",
        "device": "x",
        "adminAccess": True,
        "shareID": "s",
        "consumedCapacity": {"m": "1"},
    }
    asked = {
        **api_object("ResourceClaim", "v1", asking([])),
        "status": {"allocation": {"devices": {"results": [result]}}},
    }
    asked["spec"]["devices"]["config"] = [{"opaque": {"driver": "asked"}}]

    claim = read_claim(asked)
    assert claim.allocation == (Taken(DeviceID("d", "p", "x"), "r", True, "s", {"m": parse("1")}),)
    assert claim.config == (Config((), {"opaque": {"driver": "asked"}}),)
    asked["status"]["allocation"]["devices"]["config"] = [{"opaque": {"driver": "told"}}]
    assert read_claim(asked).config == (Config((), {"opaque": {"driver": "told"}}),)
    assert read_claim({**asked, "status": {}}).allocation is None


def test_a_class_and_a_node() -> None:
    spec = {"selectors": [{"cel": {"expression": "true"}}], "config": [{"opaque": {}}], "extendedResourceName": "a/b"}

    assert read_class(api_object("DeviceClass", "v1", spec)) == DeviceClass(
        "it", ("true",), (Config((), {"opaque": {}}),), "a/b"
    )
    assert read_node({"metadata": {"name": "n", "labels": {"a": "b"}}}) == Node("n", {"a": "b"})


def test_without_rules_no_device_gets_a_taint() -> None:
    assert ClaimObjects().tainted() == ClaimObjects()


@pytest.mark.parametrize(("value", "read"), [(2**199 - 1, True), (2**199, False), (-(2**199), False)])
def test_a_number_as_an_amount_has_less_than_200_bits(value: int, read: bool) -> None:
    written = resource_slice("gpu.example.com", [{"name": "g", "capacity": {"m": {"value": value}}}])
    with nullcontext() if read else pytest.raises(InputError, match="not a quantity"):
        assert read_slice(written).devices[0].capacity["m"].value.int64 is None
