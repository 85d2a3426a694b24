"""Why claims get nothing: the request, the gates, who publishes the attribute asked for."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.attempt import Attempt
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.reading import read_claim, read_class, read_slice
from numalign.dra.selection import RequestKey
from numalign.dra.usage import usage
from numalign.dra.values import Claim, DeviceClass, DeviceRequest, Node
from numalign.dra.why import Publisher, Why, drivers_by_class, form_of, why
from tests.dra.objects import NUMA, claim, device, device_class, request, resource_slice

GPU = "gpu.example.com"
GPUS = resource_slice(GPU, [device("g0", numa=0), device("g1", numa=0)])
NICS = resource_slice("nic.example.com", [device("n0", numa=1), device("n1")])
HALF = resource_slice(GPU, [device("h0")], pool={"name": "half", "generation": 1, "resourceSliceCount": 2})
ODD = {"metadata": {"name": "odd"}, "spec": {"selectors": [{"cel": {"expression": "1 / 0 == 1"}}]}}


def attempt(*slices: dict[str, Any], held: tuple[str, ...] = ()) -> Attempt:
    results = [{"driver": GPU, "pool": "node-1", "device": name, "request": "r"} for name in held]
    other = read_claim({**claim("other"), "status": {"allocation": {"devices": {"results": results}}}})
    known = {name: read_class(device_class(name)) for name in ("gpu", "nic")}
    return Attempt(
        published(read_slice(one) for one in slices),
        {**known, "odd": read_class(ODD)},
        usage([other]),
        features(),
        Node("node-1"),
    )


TWO_CLAIMS = [claim("a", request("n", "nic")), claim("b", request("m", "nic", 3))]


def test_publishers_are_told_by_name_whatever_the_order_of_their_pools() -> None:
    late = resource_slice(GPU, [{**device("g0", numa=0), "bindingConditions": ["ready"]}])
    found = said(attempt(late, NICS), claim("c", request("g", "gpu"), request("n", "nic"), match=NUMA))
    assert [one.driver for one in found.publishers] == [GPU, "nic.example.com"]


def said(trying: Attempt, *claims: dict[str, Any]) -> Why:
    read: list[Claim] = [read_claim(one) for one in claims]
    found = why(trying, read, trying.allocate(read))
    assert found is not None
    return found


GATES = [
    (
        "devices of other classes are told as such",
        attempt(GPUS, NICS),
        request("r", "gpu", 3),
        {"class": 2},
    ),
    (
        "devices of other claims are in use",
        attempt(GPUS, NICS, held=("g0",)),
        request("r", "gpu", 2),
        {"class": 2, "in use": 1},
    ),
    (
        "another claim's device of another class",
        attempt(GPUS, NICS, held=("g0",)),
        request("r", "nic", 3),
        {"class": 2},
    ),
    (
        "devices that the request's own selector leaves out",
        attempt(GPUS),
        request("r", "gpu", selectors=[{"cel": {"expression": "false"}}]),
        {"selector": 2},
    ),
    ("devices of a pool that is not whole", attempt(GPUS, HALF), request("r", "gpu", 3), {"pool": 1}),
]


@pytest.mark.parametrize(("trying", "wanted", "gates"), [row[1:] for row in GATES], ids=[row[0] for row in GATES])
def test_what_devices_failed_at(trying: Attempt, wanted: dict[str, Any], gates: dict[str, int]) -> None:
    assert said(trying, claim("c", wanted)).gates == gates


def test_devices_that_the_pod_s_other_claims_took_are_taken() -> None:
    """What the request itself has taken by then fails at nothing."""
    assert said(attempt(GPUS, NICS), *TWO_CLAIMS).gates == {"class": 2, "taken": 1}


def test_how_far_the_search_got() -> None:
    found = said(
        attempt(GPUS, NICS), claim("a", request("n", "nic")), claim("b", request("x", "nic"), request("r", "gpu", 3))
    )

    assert (found.claim, found.request, found.found, found.wanted) == ("b", "r", 2, 3)
    assert (found.constraint, found.publishers, found.classes) == (None, (), ())


def test_all_devices_are_no_number() -> None:
    found = said(attempt(GPUS, held=("g0",)), claim("c", request("r", "gpu", allocationMode="All")))

    assert (found.wanted, found.found) == (None, 0)


def test_the_form_is_that_of_the_alternative() -> None:
    forms = [{"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "gpu"}]
    asked = read_claim(claim("c", {"name": "r", "firstAvailable": forms}))

    assert [form_of(asked, RequestKey(0, 0, number))[1].name for number in (-1, 0, 1)] == ["a", "a", "b"]


def test_the_alternative_is_named() -> None:
    forms = [{"name": "a", "deviceClassName": "gpu", "count": 3}, {"name": "b", "deviceClassName": "gpu", "count": 4}]
    found = said(attempt(GPUS), claim("c", {"name": "r", "firstAvailable": forms}))

    assert found.request in ("r/a", "r/b")
    assert found.wanted == {"r/a": 3, "r/b": 4}[found.request]


def test_classes_that_there_are_where_the_one_asked_for_is_not() -> None:
    found = said(attempt(GPUS), claim("c", request("r", "tpu")))

    assert (found.request, found.found, found.gates) == ("r", 0, {})
    assert found.classes == ("gpu", "nic", "odd")


def test_who_publishes_what_has_to_match() -> None:
    found = said(attempt(GPUS, NICS, HALF), claim("c", request("g", "gpu"), request("n", "nic"), match=NUMA))

    assert found.constraint is not None
    assert found.constraint.match == NUMA
    assert found.publishers == (Publisher(GPU, 2, 2), Publisher("nic.example.com", 1, 2))


def test_only_devices_that_the_constraint_covers_are_counted() -> None:
    made = claim("c", request("g", "gpu", 2), request("n", "nic"), distinct=NUMA)
    made["spec"]["devices"]["constraints"][0]["requests"] = ["g"]

    found = said(attempt(GPUS, NICS), made)

    assert found.constraint is not None
    assert (found.constraint.distinct, found.publishers) == (NUMA, (Publisher(GPU, 2, 2),))


def test_an_alternative_is_covered_by_its_own_name() -> None:
    forms = [{"name": "a", "deviceClassName": "gpu", "count": 2}, {"name": "b", "deviceClassName": "nic", "count": 2}]
    made = claim("c", {"name": "r", "firstAvailable": forms}, match="acme.com/x")
    made["spec"]["devices"]["constraints"][0]["requests"] = ["r/a"]
    made["spec"]["devices"]["requests"].append(request("n", "nic", 3))

    found = said(attempt(GPUS, NICS), made)

    assert found.publishers in ((Publisher(GPU, 0, 2),), ())


def test_what_is_allocated_or_names_no_request_has_no_why() -> None:
    trying = attempt(GPUS)
    met = [read_claim(claim("c", request("r", "gpu")))]
    assert why(trying, met, trying.allocate(met)) is None
    many = [read_claim(claim("c", request("r", "gpu", 33)))]
    assert why(trying, many, trying.allocate(many)) is None
    stuck = [read_claim(claim("c", request("r", "gpu", 3)))]
    assert why(trying, [], trying.allocate(stuck)) is None


def test_a_request_of_neither_form_is_named() -> None:
    assert form_of(read_claim(claim("c", {"name": "r"})), RequestKey(0, 0))[1] == DeviceRequest("r", "")


def test_the_drivers_of_classes() -> None:
    """A class whose selector fails, or that is not there, selects none."""
    assert drivers_by_class(attempt(GPUS, NICS, HALF), ("gpu", "nic", "odd", "tpu")) == {
        "gpu": frozenset({GPU}),
        "nic": frozenset({"nic.example.com"}),
        "odd": frozenset(),
        "tpu": frozenset(),
    }
    assert drivers_by_class(attempt(HALF), ("gpu",)) == {"gpu": frozenset()}
    placed = DeviceClass("placed", ("'numaNode' in device.attributes['resource.kubernetes.io']",))
    some = attempt(NICS)._replace(classes={"placed": placed})
    assert drivers_by_class(some, ("placed",)) == {"placed": frozenset({"nic.example.com"})}
