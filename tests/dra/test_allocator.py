"""The search beside the recorded cases: where it got stuck, its bounds, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.allocator import MAX_WORK, allocate
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.reading import MAX_DEVICES, read_claim, read_class, read_slice
from numalign.dra.usage import usage
from numalign.dra.values import DeviceClass, Node
from numalign.errors import InputError
from tests.dra.objects import NUMA, claim, device, names, outcome, request, resource_slice

GPU, NIC = "gpu.example.com", "nic.example.com"


def test_a_value_of_a_kind_that_is_not_known_matches_no_other() -> None:
    """D-1a: the first device fixes it, and even an equal one does not join. No selector reads such a device."""
    later = [{"name": name, "attributes": {"x": {"of a later release": 1}}} for name in ("a", "b")]
    slices = published([read_slice(resource_slice("gpu.example.com", later))])
    for count in (1, 2):
        asked = read_claim(claim("c", request("g", "any", count), match="gpu.example.com/x"))
        found = allocate(Node("node-1"), slices, {"any": DeviceClass("any")}, [asked], usage([]), features())
        assert found.allocated is (count == 1)


def test_the_first_devices_that_lie_together_are_taken() -> None:
    gpus = resource_slice(GPU, [device(f"gpu-{index}", numa=index // 2) for index in range(4)])
    nics = resource_slice(NIC, [device("nic-0", numa=1)])
    found = outcome([gpus, nics], [claim("c", request("g", "gpu", 2), request("n", "nic"), match=NUMA)])
    assert names(found) == [["gpu-2", "gpu-3", "nic-0"]]


def test_where_the_search_got_stuck_is_told() -> None:
    gpus = resource_slice(GPU, [device("gpu-0", numa=0), device("gpu-1", numa=0)])
    nics = resource_slice(NIC, [device("nic-0", numa=1), device("nic-1")])
    found = outcome([gpus, nics], [claim("c", request("g", "gpu"), request("n", "nic"), match=NUMA)])
    assert not found.allocated
    assert found.stuck is not None
    assert (found.stuck.key.request, found.stuck.position) == (1, 0)
    assert found.stuck.gates == {"taken": 1, "selector": 1, "constraint": 2}


def test_a_claim_that_needs_deep_backtracking_ends_at_the_bound() -> None:
    """Thirty devices of thirty-two, and the last request can never be met: more ways than anybody can try."""
    gpus = resource_slice(GPU, [device(f"gpu-{index}") for index in range(60)])
    work = MAX_WORK // 20
    found = outcome([gpus], [claim("c", request("g", "gpu", 30), request("n", "nic"))], work=work)
    assert found.gave_up
    assert not found.allocated
    assert work // 40 < found.steps < work
    assert found.stuck is not None
    assert found.stuck.key.request == 1


def test_selectors_that_cost_too_much_together_end_it_too() -> None:
    """Each evaluation stays below its own limit, a hundred devices and ten selectors do not stay below the node's."""
    loops = "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, a > 0)))"
    gpus = resource_slice(GPU, [device(f"gpu-{index}") for index in range(100)])
    selectors = [{"cel": {"expression": f"{loops} && {index} >= 0"}} for index in range(10)]
    found = outcome(
        [gpus], [claim("c", request("g", "gpu", 200, allocationMode="All", selectors=selectors))], work=10_000
    )
    assert found.gave_up
    assert (found.error, found.steps) == ("", 0), "it ends before the search"


def test_no_number_of_devices_exhausts_the_stack() -> None:
    slices = [
        resource_slice(GPU, [device(f"gpu-{index}") for index in range(part * 128, part * 128 + 128)])
        for part in range(10)
    ]
    for part, one in enumerate(slices):
        one["metadata"]["name"] = f"part-{part}"
        one["spec"]["pool"] = {"name": "node-1", "generation": 1, "resourceSliceCount": 10}
    found = outcome(slices, [claim(f"c{index}", request("g", "gpu", 32)) for index in range(40)])
    assert sum(len(each) for each in names(found)) == 1280


def test_a_selector_that_numalign_does_not_follow_is_refused_by_name() -> None:
    gpus = resource_slice(GPU, [device("gpu-0")])
    selectors = [{"cel": {"expression": "format.named('x') == 1"}}]
    with pytest.raises(InputError, match=r"selector uses format.named, which numalign does not know \(line 1"):
        outcome([gpus], [claim("c", request("g", "gpu", selectors=selectors))])


READING = [
    ("a device without a name", {"devices": [{}]}, "spec.devices[0].name", "is missing"),
    (
        "an amount that is none",
        {"devices": [{"name": "a", "capacity": {"m": {"value": "x"}}}]},
        "value",
        "not a quantity",
    ),
    (
        "true, which is no amount",
        {"devices": [{"name": "a", "capacity": {"m": {"value": True}}}]},
        "value",
        "expected a quantity",
    ),
    ("a count that is text", {"pool": {"name": "p", "resourceSliceCount": "1"}}, "resourceSliceCount", "whole number"),
    ("a number too small", {"devices": [{"name": "a", "attributes": {"i": {"int": -(2**63) - 1}}}]}, "int", "whole"),
    ("a number too large", {"devices": [{"name": "a", "attributes": {"i": {"int": 2**63}}}]}, "int", "whole number"),
    ("too many devices", {"devices": [{"name": str(index)} for index in range(MAX_DEVICES + 1)]}, "devices", "1024"),
    ("devices that are no list", {"devices": {}}, "spec.devices", "expected a list"),
]


@pytest.mark.parametrize(
    ("spec", "place", "message"), [case[1:] for case in READING], ids=[case[0] for case in READING]
)
def test_a_slice_that_is_none_is_refused_with_its_place(spec: dict[str, object], place: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_slice({"spec": {"driver": GPU, "pool": {"name": "p"}, **spec}})
    assert place in caught.value.where
    assert message in caught.value.message


def test_a_class_needs_a_name() -> None:
    with pytest.raises(InputError, match="is missing"):
        read_class({"metadata": {}, "spec": {}})


_NODES = st.lists(st.integers(0, 2), max_size=6)
_CLAIMS = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 2), st.sampled_from(["", "match", "distinct"])), min_size=1, max_size=3
)


@given(_NODES, _NODES, _CLAIMS, st.sampled_from(["1.34", "1.36"]))
def test_what_is_allocated_keeps_every_promise(
    gpus: list[int], nics: list[int], wanted: list[tuple[int, int, str]], release: str
) -> None:
    """No device twice, as many as asked for, and with a `matchAttribute` all on one node."""
    slices = [
        resource_slice(GPU, [device(f"gpu-{index}", numa=node) for index, node in enumerate(gpus)]),
        resource_slice(NIC, [device(f"nic-{index}", numa=node) for index, node in enumerate(nics)]),
    ]
    claims = [
        claim(
            f"c{index}",
            *([request("g", "gpu", count)] + ([request("n", "nic", more)] if more else [])),
            **({kind: NUMA} if kind else {}),
        )
        for index, (count, more, kind) in enumerate(wanted)
    ]
    found = outcome(slices, claims, using=features(release))
    if found.claims is None:
        return
    taken = [one.device for each in found.claims for one in each.devices]
    assert len(set(taken)) == len(taken)
    assert [len(each.devices) for each in found.claims] == [count + more for count, more, _ in wanted]
    nodes = {"gpu": gpus, "nic": nics}
    for each, (_, _, kind) in zip(found.claims, wanted, strict=True):
        if kind == "match":
            seen = [one.device.device.split("-") for one in each.devices]
            assert len({nodes[name][int(index)] for name, index in seen}) == 1


@given(_NODES, st.integers(1, 4))
def test_a_lone_request_is_met_whenever_there_is_enough(gpus: list[int], count: int) -> None:
    slices = [resource_slice(GPU, [device(f"gpu-{index}", numa=node) for index, node in enumerate(gpus)])]
    together = outcome(slices, [claim("c", request("g", "gpu", count), match=NUMA)])
    assert together.allocated == any(gpus.count(node) >= count for node in gpus)
    assert outcome(slices, [claim("c", request("g", "gpu", count))]).allocated == (len(gpus) >= count)
