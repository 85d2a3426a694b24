"""What an allocation needs beside the claims."""

from __future__ import annotations

from typing import Any

from numalign.dra.attempt import Attempt
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.reading import read_claim, read_class, read_slice
from numalign.dra.result import AllocatedDevice, ClaimAllocation, Outcome
from numalign.dra.usage import Usage
from numalign.dra.values import Claim, DeviceID, Node, Taken
from tests.dra.objects import claim, device, device_class, names, request, resource_slice


def attempt(*slices: dict[str, Any], release: str = "1.36") -> Attempt:
    return Attempt(
        published(read_slice(one) for one in slices),
        {name: read_class(device_class(name)) for name in ("gpu", "nic")},
        Usage(),
        features(release),
        Node("node-1"),
    )


GPUS, NICS = (
    resource_slice("gpu.example.com", [device("a"), device("b")]),
    resource_slice("nic.example.com", [device("n")]),
)
HALF = resource_slice("nic.example.com", [device("n")], pool={"name": "half", "generation": 1, "resourceSliceCount": 2})
OTHER = resource_slice("nic.example.com", [device("n")], node="node-2")


def test_an_order_is_fixed_from_1_36_on_or_where_there_is_but_one_slice() -> None:
    assert attempt(GPUS, NICS).is_determined
    assert not attempt(GPUS, NICS, release="1.35").is_determined
    assert attempt(GPUS, OTHER, release="1.35").is_determined
    assert attempt(release="1.35").is_determined


def test_devices_are_those_of_pools_that_can_be_used() -> None:
    assert [(driver, one.name) for driver, one in attempt(GPUS, HALF, OTHER).devices()] == [
        ("gpu.example.com", "a"),
        ("gpu.example.com", "b"),
    ]
    assert [str(pool) for pool in attempt(GPUS, HALF, OTHER).pools()] == [
        "gpu.example.com/node-1",
        "nic.example.com/half",
    ]


def test_claims_are_tried_on_the_node() -> None:
    wanted = [read_claim(claim("c", request("r", "gpu", 2)))]

    assert names(attempt(GPUS).allocate(wanted)) == [["a", "b"]]
    assert attempt(GPUS).allocate(wanted, work=1).gave_up


def test_a_claim_holds_what_it_was_given() -> None:
    """A device that serves several claims is held by a share of it."""
    gpu, nic = DeviceID("gpu.example.com", "p", "s"), DeviceID("nic.example.com", "p", "n")
    given = (AllocatedDevice("r", gpu, shared=True), AllocatedDevice("a", nic, admin=True))

    [held] = Outcome((ClaimAllocation("c", given, (), None),)).held([Claim("c")])

    assert held.allocation == (Taken(gpu, "r", share="share"), Taken(nic, "a", admin=True))
    assert Outcome(error="no").held([Claim("c")]) == []
