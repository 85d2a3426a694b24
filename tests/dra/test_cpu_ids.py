"""Which CPUs stand behind claims on `dra.cpu`, and what is said where the slices do not tell."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.cpu_ids import cpus_held, kept_back, order_doubt
from numalign.dra.publish.cpus import CAPACITY, GroupBy, devices
from numalign.dra.values import Attribute, Claim, Config, Device, DeviceID, Taken
from numalign.model.cpuset import format_set, parse
from numalign.model.quantity import from_int
from numalign.sources.machine.loading import load_machine

HGX = load_machine("hgx-h100").machine
NODE = "node-1"


def published(group: GroupBy, reserved: str = "") -> dict[DeviceID, Device]:
    made = devices(HGX, group, parse(reserved))
    return {DeviceID("dra.cpu", NODE, one.device.name): one.device for one in made}


def held(name: str, device: str, number: int | None, config: tuple[Config, ...] = (), request: str = "r") -> Claim:
    consumed = {} if number is None else {CAPACITY: from_int(number)}
    taken = Taken(DeviceID("dra.cpu", NODE, device), request, share="s", consumed=consumed)
    return Claim(name, "default", allocation=(taken,), config=config)


KEPT: list[tuple[str, GroupBy, str, str, str, str]] = [
    ("nothing is kept back", "numanode", "", "", "", ""),
    ("the kubelet is told the same CPUs", "numanode", "0-1,112-113", "0-1,112-113", "0-1,112-113", ""),
    ("the kubelet is told others, of the same number", "numanode", "0-1", "4-5", "4-5", ""),
    ("nobody says which", "numanode", "4-5,60", "", "0,56,112", "dra.cpu reserves 2 CPUs of cpudevnuma000: "),
    ("the kubelet keeps back, the driver does not", "numanode", "", "0-1", "", ""),
    ("single CPUs say it themselves", "cpu", "7,119", "", "7,119", ""),
    ("of sockets, too", "socket", "0-3", "0-3", "0-3", ""),
]  # fmt: skip


def of_node_0(**changes: Any) -> dict[DeviceID, Device]:
    [(identity, device), *_] = published("numanode").items()
    return {identity: device._replace(**changes)}


CPU_LIST = {"dra.cpu/cpuIDs": Attribute("string", "0-x")}
ODD: list[tuple[str, dict[DeviceID, Device], str]] = [
    ("a list that is none", of_node_0(attributes=CPU_LIST), "dra.cpu/cpuIDs of cpudevnuma000 is not a CPU list: 0-x"),
    ("of a long one the beginning is told", of_node_0(attributes={"dra.cpu/cpuIDs": Attribute("string", "x" * 41)}),
     f"dra.cpu/cpuIDs of cpudevnuma000 is not a CPU list: {'x' * 40}"),
    ("a list that is no text", of_node_0(attributes={"dra.cpu/cpuIDs": Attribute("int", 7)}), ""),
    ("a group without an amount", of_node_0(capacity={}), ""),
    ("a group of another machine", {DeviceID("dra.cpu", NODE, "cpudevnumaX"): Device("cpudevnumaX")}, ""),
    ("no CPU of the machine", {DeviceID("dra.cpu", NODE, "d"): Device("d", {"cpuID": Attribute("int", 65536)})}, ""),
    ("devices of another driver", {DeviceID("gpu.x", NODE, "d"): Device("d", {"cpuID": Attribute("int", 1)})}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("found", "doubt"), [case[1:] for case in ODD], ids=[case[0] for case in ODD])
def test_what_does_not_say_which_cpus_are_kept_back(found: dict[DeviceID, Device], doubt: str) -> None:
    assert kept_back(HGX, found, 0) == (0, (doubt,) if doubt else ())


@pytest.mark.parametrize("name", ["cpuID", "dra.cpu/cpuID"])
def test_a_single_cpu_says_its_number_under_either_name(name: str) -> None:
    found = {DeviceID("dra.cpu", NODE, "d"): Device("d", {name: Attribute("int", 1)})}
    assert kept_back(HGX._replace(numa_nodes=HGX.numa_nodes[:1]), found, 0).cpus == HGX.numa_nodes[0].cpus & ~2
    assert kept_back(HGX._replace(numa_nodes=()), found, 0) == (0, ())


@pytest.mark.parametrize(
    ("group", "reserved", "told", "kept", "doubt"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT]
)
def test_what_the_driver_keeps_back(group: GroupBy, reserved: str, told: str, kept: str, doubt: str) -> None:
    found = kept_back(HGX, published(group, reserved), parse(told))

    assert format_set(found.cpus) == kept
    assert doubt in "; ".join(found.doubts)
    assert bool(found.doubts) == bool(doubt)


def test_an_external_allocator_s_slices_list_the_cpus() -> None:
    [(identity, device), *_] = published("numanode", "2-3").items()
    listed = device._replace(
        attributes={**device.attributes, "dra.cpu/cpuIDs": Attribute("string", "0-1,4-55,112-167")}
    )

    assert format_set(kept_back(HGX, {identity: listed}, 0).cpus) == "2-3"


@pytest.mark.parametrize("more", [1, 388])
def test_a_smaller_machine_than_the_slices_is_doubted(more: int) -> None:
    [(identity, device), *_] = published("numanode").items()
    larger = device._replace(capacity={CAPACITY: device.capacity[CAPACITY]._replace(value=from_int(112 + more))})

    kept = kept_back(HGX, {identity: larger}, 0)
    assert kept.cpus == 0
    assert f"{112 + more} CPUs in the slices and 112 here" in kept.doubts[0]


def cpuset(text: object) -> tuple[Config, ...]:
    parameters = {"apiVersion": "v1alpha1", "cpuConfig": {"cpuset": text}}
    return (Config(("r",), {"opaque": {"driver": "dra.cpu", "parameters": parameters}}),)


LISTED, OTHER = *cpuset("9"), Config(("r",), {"opaque": {"driver": "dra.cpu"}})
HELD: list[tuple[str, GroupBy, Claim, str, str]] = [
    ("a share of a node, not of what is kept back", "numanode", held("c", "cpudevnuma000", 4), "2-3,114-115", ""),
    ("a single CPU", "cpu", held("c", "cpudev000", None), "2", ""),
    ("CPUs that the claim lists", "machine", held("c", "cpudevmachine", 2, cpuset("9-10")), "9-10", ""),
    ("no list for the whole machine", "machine", held("c", "cpudevmachine", 2), "", "lists no cpuset"),
    ("a list for all requests", "machine", held("c", "cpudevmachine", 2, (LISTED._replace(requests=()),)), "9", ""),
    ("one for another", "machine", held("c", "cpudevmachine", 2, (LISTED._replace(requests=("s",)),)), "", "no cpuset"),
    ("the first one counts", "machine", held("c", "cpudevmachine", 2, (OTHER, LISTED, *cpuset("7"))), "9", ""),
    ("a list that is none", "machine", held("c", "cpudevmachine", 2, cpuset("x")), "", "lists no cpuset"),
    ("although it is the first", "machine", held("c", "cpudevmachine", 2, (*cpuset("x"), LISTED)), "", "no cpuset"),
    ("a list for all alternatives", "machine", held("c", "cpudevmachine", 2, (LISTED,), "r/a"), "9", ""),
    ("for one", "machine", held("c", "cpudevmachine", 2, (LISTED._replace(requests=("r/a",)),), "r/a"), "9", ""),
    ("more than there is", "numanode", held("c", "cpudevnuma000", 110), "", "would not prepare claim default/c"),
    ("no such group", "numanode", held("c", "cpudevnumaX", 1), "", "no CPU device has the name cpudevnumaX"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("group", "claim", "cpus", "doubt"), [case[1:] for case in HELD], ids=[case[0] for case in HELD]
)
def test_the_cpus_behind_a_claim(group: GroupBy, claim: Claim, cpus: str, doubt: str) -> None:
    reserved = "0-1,112-113"

    found = cpus_held(HGX, published(group, reserved), [claim], NODE, parse(reserved))

    assert format_set(sum(found.cpus.values())) == cpus
    assert doubt in "; ".join(found.doubts)
    assert bool(found.doubts) == bool(doubt)


def test_the_order_of_claims_that_hold_cpus_already_is_doubted() -> None:
    one, other = held("a", "cpudevnuma000", 4), held("b", "cpudevnuma001", 4)

    assert order_doubt([one, other, Claim("none", "default")], NODE) == ()
    assert order_doubt([held(name, "cpudevmachine", None) for name in "ab"], NODE) == ()
    assert (
        "claims hold CPUs of one group in unknown order: CPU ids are one possible answer"
        in order_doubt([one, held("c", "cpudevnuma000", 2), other], NODE)[0]
    )
    assert order_doubt([one, held("c", "cpudevnuma000", 2)], "node-2") == ()


def test_a_claim_that_cannot_be_prepared_takes_nothing_from_the_next() -> None:
    claims = [held("a", "cpudevnuma000", 999), held("b", "cpudevnuma000", 2)]

    found = cpus_held(HGX, published("numanode"), claims, NODE, 0)

    assert [format_set(one) for one in found.cpus.values()] == ["0,112"]
    assert len(found.doubts) == 1


def test_claims_come_one_after_the_other() -> None:
    claims = [held("a", "cpudevnuma000", 4), held("b", "cpudevnuma000", 4), held("c", "cpudevnuma001", 2)]

    found: dict[Any, int] = dict(cpus_held(HGX, published("numanode"), claims, NODE, 0).cpus)

    assert [format_set(one) for one in found.values()] == ["0-1,112-113", "2-3,114-115", "56,168"]
