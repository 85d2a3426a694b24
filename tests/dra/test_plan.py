"""What is refused before any device is looked at (docs/rules/dra.md D-7, D-9a)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.constraints import RequestName
from numalign.dra.features import features
from numalign.dra.plan import Grip, Wanted, claim_allocation
from numalign.dra.result import AllocatedDevice, ClaimAllocation, Outcome
from numalign.dra.selection import Candidate, RequestKey
from numalign.dra.values import (
    Claim,
    Config,
    Device,
    DeviceClass,
    DeviceID,
    DeviceRequest,
    Node,
    Placement,
    Request,
    Requirement,
    Slice,
    Term,
)
from tests.dra.objects import claim, device, names, outcome, request, resource_slice

GPU = "gpu.example.com"
GPUS = resource_slice(GPU, [device(f"gpu-{index}", index=index) for index in range(4)])
ALL = {"allocationMode": "All"}


def asking(*requests: dict[str, Any], release: str = "1.36", slices: Any = (GPUS,), **gates: bool) -> Outcome:
    return outcome(slices, [claim("c", *requests)], using=features(release, gates))


def any_of(*forms: dict[str, Any]) -> dict[str, Any]:
    """A request with alternatives of these forms."""
    return {"name": "r", "firstAvailable": [{"name": f"a{index}", **form} for index, form in enumerate(forms)]}


def of(device_class: str = "gpu", **fields: Any) -> dict[str, Any]:
    return {"deviceClassName": device_class, **fields}


REFUSED = [
    (
        "alternatives where they are off",
        any_of(of()),
        {"DRAPrioritizedList": False},
        "claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
    ),
    (
        "admin access where it is off",
        request("r", "gpu", adminAccess=True),
        {"DRAAdminAccess": False},
        "claim default/c, request r: admin access is requested, but the feature is disabled",
    ),
    (
        "capacity where it is off",
        request("r", "gpu", capacity={"requests": {"m": "1"}}),
        {"DRAConsumableCapacity": False},
        "claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled",
    ),
    (
        "a selector that is no CEL",
        request("r", "gpu", selectors=[{"cel": {"expression": "true"}}, {}]),
        {},
        "claim default/c, request r, selector #1: CEL expression empty (unsupported selector type?)",
    ),
    (
        "no class",
        request("r", ""),
        {},
        "claim default/c, request r: missing device class name (unsupported request type?)",
    ),
    (
        "neither form",
        {"name": "r"},
        {},
        "claim default/c, request r: missing device class name (unsupported request type?)",
    ),
    (
        "a class that is not there",
        request("r", "tpu"),
        {},
        'claim default/c, request r: could not retrieve device class tpu: deviceclasses "tpu" not found',
    ),
    (
        "a mode that is none",
        request("r", "gpu", allocationMode="Some"),
        {},
        "claim default/c, request r: unsupported count mode Some",
    ),
    (
        "an alternative is named",
        any_of(of(), of("tpu")),
        {},
        'claim default/c, subrequest a1: could not retrieve device class tpu: deviceclasses "tpu" not found',
    ),
    (
        "more devices than a claim may have",
        request("r", "gpu", 33),
        {},
        "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
    ),
]


@pytest.mark.parametrize(("wanted", "gates", "error"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_claim_is_refused(wanted: dict[str, Any], gates: dict[str, bool], error: str) -> None:
    found = asking(wanted, **gates)

    assert found.error == error
    assert (found.error_at is None) == ("exceeds" in error)
    assert found.claims is None


def test_1_34_names_the_request_of_an_alternative() -> None:
    assert asking(any_of(of("tpu")), release="1.34").error.startswith("claim default/c, request r: could not retrieve")


def test_the_smallest_total_counts() -> None:
    assert asking(any_of(of(count=33), of(count=2))).allocated
    assert asking(request("one", "gpu", 16), request("two", "gpu", 16)).error == ""
    assert "requested devices 33 exceeds" in asking(request("one", "gpu", 16), request("two", "gpu", 17)).error
    assert "requested devices 34 exceeds" in asking(any_of(of(count=40), of(count=34))).error


def test_the_request_that_is_refused_is_told() -> None:
    found = outcome([GPUS], [claim("a", request("r", "gpu")), claim("b", request("r", "gpu"), request("s", "tpu"))])
    assert found.error_at is not None
    assert found.error_at[:2] == (1, 1)


def test_a_constraint_of_no_kind_is_refused() -> None:
    wanted = claim("c", request("r", "gpu"))
    wanted["spec"]["devices"]["constraints"] = [{"matchAttribute": "x"}, {"requests": ["r"]}]

    assert "constraint #1: empty constraint" in outcome([GPUS], [wanted]).error


def selecting(text: str) -> dict[str, Any]:
    return {**ALL, "selectors": [{"cel": {"expression": f"device.attributes['{GPU}'].index {text}"}}]}


def test_all_are_those_that_are_selected() -> None:
    assert names(asking(request("r", "gpu", **selecting("> 1")))) == [["gpu-2", "gpu-3"]]
    assert not asking(request("r", "gpu", **selecting("> 9"))).allocated


def test_all_of_a_pool_that_cannot_be_used_is_an_error() -> None:
    half = resource_slice(GPU, [device("gpu-0")], pool={"name": "node-1", "generation": 1, "resourceSliceCount": 2})
    twice = resource_slice(GPU, [device("gpu-0"), device("gpu-0")])
    asks = "claim default/c, request r: asks for all devices, but resource pool gpu.example.com/node-1 is currently "

    assert asking(request("r", "gpu", **ALL), slices=[half]).error == f"{asks}being updated"
    assert asking(request("r", "gpu", **ALL), slices=[twice]).error == f"{asks}invalid"


def test_all_leaves_out_what_has_too_little() -> None:
    small, large = (
        {"name": name, "capacity": {"m": {"value": amount}}} for name, amount in (("small", "1"), ("large", "9"))
    )
    wanted = request("r", "gpu", **ALL, capacity={"requests": {"m": "2"}})

    assert names(asking(wanted, slices=[resource_slice(GPU, [small, large])])) == [["large"]]


def test_all_counts_capacity_only_where_it_can_be_consumed() -> None:
    """Before, a device that serves several is taken whole however its policy reads."""
    policy = {"default": "9", "validValues": ["1"]}
    odd = {"name": "odd", "allowMultipleAllocations": True, "capacity": {"m": {"value": "5", "requestPolicy": policy}}}
    slices = [resource_slice(GPU, [odd, device("plain")])]

    assert names(asking(request("r", "gpu", **ALL), slices=slices)) == [["plain"]]
    assert names(asking(request("r", "gpu", **ALL), slices=slices, DRAConsumableCapacity=False)) == [["odd", "plain"]]


NODE = Node("n1")
KEY = RequestKey(0, 0)


def config(name: str, *requests: str) -> Config:
    return Config(requests, {"opaque": {"driver": name}})


def wants(name: str, class_: str, alternative: str = "", *configs: Config) -> Wanted:
    of = DeviceClass(class_, config=configs)
    return Wanted(DeviceRequest(name, class_), of, RequestName(name, alternative), 1)


def grip(name: str, request_name: str, slice_: Slice | None = None, **fields: Any) -> Grip:
    of = slice_ or Slice("s", "d", "p", 1, 1)
    identity = DeviceID("d", "p", name)
    return Grip(Candidate(identity, Device(name, **fields), of), AllocatedDevice(request_name, identity))


def got(
    claim_: Claim, wanted: dict[RequestKey, Wanted], *grips: Grip, index: int = 0, mended: bool = False
) -> ClaimAllocation:
    return claim_allocation(NODE, index, claim_, wanted, grips, mended=mended)


def told(found: ClaimAllocation) -> list[tuple[str, tuple[str, ...], str]]:
    """(source, requests, driver) of each configuration."""
    return [(one.source, one.config.requests, one.config.fields["opaque"]["driver"]) for one in found.config]


def test_the_devices_stand_in_the_order_in_which_they_were_taken() -> None:
    found = got(Claim("c"), {}, grip("b", "r"), grip("a", "r"))

    assert found.claim == "c"
    assert [one.device.device for one in found.devices] == ["b", "a"]


def test_a_class_gives_its_configuration_once_for_all_its_requests() -> None:
    both = (config("one"), config("two"))
    wanted = {
        RequestKey(0, 1): wants("s", "gpu", "", *both),
        RequestKey(0, 0): wants("r", "gpu", "", *both),
        RequestKey(0, 2): wants("n", "nic"),
        RequestKey(1, 0): wants("r", "other", "", config("no")),
    }

    found = got(Claim("c"), wanted, grip("a", "r"), grip("b", "s"), grip("c", "n"))

    assert told(found) == [("FromClass", ("r", "s"), "one"), ("FromClass", ("r", "s"), "two")]


def test_only_the_alternative_that_was_taken_gives_its_configuration() -> None:
    wanted = {
        RequestKey(0, 0, 0): wants("r", "big", "big", config("big")),
        RequestKey(0, 0, 1): wants("r", "small", "small", config("small")),
    }

    assert told(got(Claim("c"), wanted, grip("a", "r/small"))) == [("FromClass", ("r/small",), "small")]


CONFIGS = [
    ("for all requests", config("x"), ["r"], [()]),
    ("for a request that got something", config("x", "r"), ["r"], [("r",)]),
    ("for another one", config("x", "s"), ["r"], []),
    ("for several: again for each", config("x", "s", "r"), ["r", "s"], [("s", "r"), ("s", "r")]),
    ("for a request, whose alternative was taken", config("x", "r"), ["r/a"], [("r",)]),
    ("for the alternative that was taken", config("x", "r/a"), ["r/a"], [("r/a",)]),
    ("for another alternative", config("x", "r/b"), ["r/a"], []),
]


@pytest.mark.parametrize(("own", "taken", "kept"), [row[1:] for row in CONFIGS], ids=[row[0] for row in CONFIGS])
def test_a_claim_s_own_configuration(own: Config, taken: list[str], kept: list[tuple[str, ...]]) -> None:
    requests = tuple(Request(name.partition("/")[0]) for name in taken)
    found = got(Claim("c", requests=requests, config=(own,)), {}, *(grip("a", name) for name in taken))

    assert told(found) == [("FromClaim", requests, "x") for requests in kept]


SHORT = [
    ("for all, by name", config("x", "r", "s"), ["r", "s"], [()]),
    ("for one of two", config("x", "r"), ["r", "s"], [("r",)]),
    ("for the only one", config("x", "r"), ["r"], [()]),
    ("for the alternative that was taken, of the only one", config("x", "r/a"), ["r/a"], [()]),
    ("for two alternatives of one of two", config("x", "r/a", "r/b"), ["r/a", "s"], [("r/a", "r/b")]),
]


@pytest.mark.parametrize(("own", "taken", "kept"), [row[1:] for row in SHORT], ids=[row[0] for row in SHORT])
def test_from_137_on_a_configuration_for_all_requests_names_none(
    own: Config, taken: list[str], kept: list[tuple[str, ...]]
) -> None:
    """docs/rules/kubelet-1.37.md 11.3."""
    requests = tuple(Request(name.partition("/")[0]) for name in taken)
    wanted = {KEY: wants("r", "gpu", "", config("class"))} if "r" in taken and len(taken) == 1 else {}
    found = got(Claim("c", requests=requests, config=(own,)), wanted, *(grip("a", name) for name in taken), mended=True)

    assert told(found) == [("FromClass", (), "class")] * bool(wanted) + [("FromClaim", names_, "x") for names_ in kept]


def test_the_class_comes_before_the_claim() -> None:
    found = got(Claim("c", config=(config("own"),)), {KEY: wants("r", "gpu", "", config("class"))}, grip("a", "r"))

    assert [one.source for one in found.config] == ["FromClass", "FromClaim"]


def asks(key: str, *, field: bool = False) -> Placement:
    one = (Requirement(key, "Exists"),)
    return Placement(selector=(Term(fields=one) if field else Term(expressions=one),))


def at(placement: Placement, *, per_device: bool = False) -> Slice:
    return Slice("s", "d", "p", 1, 1, placement, per_device)


ONLY = (Term(fields=(Requirement("metadata.name", "In", ("n1",)),)),)
ZONE = Requirement("zone", "Exists")
SELECTORS = [
    ("devices of every node", [grip("a", "r", at(Placement(all_nodes=True)))], None),
    ("a device of the node", [grip("a", "r", at(Placement("n1")))], ONLY),
    ("a device that binds to the node", [grip("a", "r", at(Placement(all_nodes=True)), binds_to_node=True)], ONLY),
    ("a device of some nodes", [grip("a", "r", at(asks("zone")))], (Term((ZONE,)),)),
    (
        "two of the same nodes ask it once",
        [grip("a", "r", at(asks("zone"))), grip("b", "r", at(asks("zone")))],
        (Term((ZONE,)),),
    ),
    (
        "all is asked that any asks",
        [
            grip("a", "r", at(asks("zone"))),
            grip("b", "r", at(asks("rack"))),
            grip("c", "r", at(asks("name", field=True))),
        ],
        (Term((ZONE, Requirement("rack", "Exists")), (Requirement("name", "Exists"),)),),
    ),
    (
        "a field asked twice",
        [grip("a", "r", at(asks("name", field=True))), grip("b", "r", at(asks("name", field=True)))],
        (Term((), (Requirement("name", "Exists"),)),),
    ),
    (
        "one device of the node outweighs the others",
        [grip("a", "r", at(asks("zone"))), grip("b", "r", at(Placement("n1")))],
        ONLY,
    ),
    (
        "devices that say it themselves",
        [grip("a", "r", at(Placement("n2"), per_device=True), placement=Placement("n1"))],
        ONLY,
    ),
    (
        "a device's own place counts only there",
        [grip("a", "r", at(Placement(all_nodes=True)), placement=Placement("n2"))],
        None,
    ),
]


@pytest.mark.parametrize(("grips", "selector"), [row[1:] for row in SELECTORS], ids=[row[0] for row in SELECTORS])
def test_from_which_nodes_the_devices_can_be_used(grips: list[Grip], selector: Any) -> None:
    assert got(Claim("c"), {}, *grips).node_selector == selector


BINDING = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}
TOLERATION = {"key": "old", "operator": "Exists"}


def test_a_result_repeats_what_the_binding_will_ask() -> None:
    gpus = resource_slice("gpu.example.com", [{"name": "gpu-0", **BINDING}, device("gpu-1")])
    wanted = claim("c", request("r", "gpu", 2, tolerations=[TOLERATION]))

    found = outcome([gpus], [wanted])

    assert found.claims is not None
    [first, second] = found.claims[0].devices
    assert (first.binding_conditions, first.binding_failure_conditions) == (("ready",), ("broken",))
    assert (second.binding_conditions, second.binding_failure_conditions) == ((), ())
    assert [one.written for one in first.tolerations] == [TOLERATION]


def test_a_result_says_nothing_of_what_is_off() -> None:
    wanted = claim("c", request("r", "gpu", tolerations=[TOLERATION]))
    off = features("1.36", {"DRADeviceTaints": False, "DRADeviceBindingConditions": False})

    found = outcome(
        [resource_slice("gpu.example.com", [{"name": "gpu-0", **BINDING}, device("gpu-1")])], [wanted], using=off
    )

    assert found.claims is not None
    [one] = found.claims[0].devices
    assert (one.device.device, one.tolerations, one.binding_conditions) == ("gpu-1", (), ())
