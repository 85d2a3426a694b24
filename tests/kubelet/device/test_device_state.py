"""What the Device Manager knows of devices, and who holds which (docs/rules/device-manager.md 1, 3, 4.1, 7)."""

from __future__ import annotations

import pytest

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.checkpoint import DeviceCheckpoint, DeviceEntry, Registered, registered, restore
from numalign.kubelet.device.hints import sets_tried
from numalign.kubelet.device.state import (
    EMPTY,
    DeviceManager,
    DeviceState,
    build,
    device_ids,
    natural_key,
    per_numa,
    remove,
    unregistered,
    with_hints_everywhere,
)
from numalign.model.machine import Device, Machine, NUMANode

GPU = "v/gpu"
DEVICES = (
    Device("d10", (2,)),
    Device("d2", (0, 2)),
    Device("d1", (0,)),
    Device("none", ()),
    Device("no-topology", None),
    Device("minus", (-1,)),
    Device("far", (7,)),
    Device("sick", (2, 2), healthy=False),
    Device("half", (-1, 0)),
)
"""On nodes 0, 2 and 5."""


def built(*devices: Device, nodes: tuple[int, ...] = (0, 2, 5)) -> DeviceManager:
    return build(Machine("m", tuple(NUMANode(node) for node in nodes), devices={GPU: devices}))


def test_devices_are_read_by_their_places() -> None:
    manager = built(*DEVICES)
    assert manager.nodes == 0b100101
    one = manager.resources[GPU]
    assert [device.id for device in one.devices] == [
        *("d1", "d2", "d10", "far", "half", "minus", "no-topology", "none", "sick"),
    ]
    bit = {device.id: 1 << place for place, device in enumerate(one.devices)}
    assert one.healthy == (1 << 9) - 1 - bit["sick"]
    assert one.aware
    assert one.no_topology == bit["no-topology"]
    assert one.on_node == (bit["d1"] | bit["half"], 0, bit["d10"] | bit["sick"], 0, 0, 0)
    assert one.spanning == ((bit["d2"], 0b101),)
    assert one.nowhere == bit["far"] | bit["minus"] | bit["none"]
    assert one.without_affinity == bit["none"] | bit["minus"] | bit["no-topology"]
    assert one.largest == (2, 4)
    assert (one.nodes, one.preferred_sets, one.links) == (0b101, (), {})
    assert one.on(0b1) == bit["d1"] | bit["half"] | bit["d2"]
    assert one.on(0b100000) == 0
    assert one.on(0b101) == bit["d1"] | bit["half"] | bit["d2"] | bit["d10"] | bit["sick"]
    assert [one.width(amount) for amount in (0, 1, 3, 4, 5, 6)] == [1, 1, 1, 2, 2, 2]


def test_without_nodes_devices_are_nowhere() -> None:
    one = built(Device("a"), Device("b", None), Device("c", ())).resources[GPU]
    assert (one.aware, one.nodes, one.largest) == (False, 0b100101, (0, 0, 0))
    assert built(Device("a", (-1,))).resources[GPU].aware


def test_how_few_nodes_have_so_many() -> None:
    """Rule 4.1: three on node 0, two on node 2, one on node 5; all if none have."""
    one = built(*[Device(f"d{place}", (node,)) for place, node in enumerate((0, 2, 0, 5, 0, 2))]).resources[GPU]
    assert one.largest == (3, 5, 6)
    assert [one.width(amount) for amount in range(8)] == [1, 1, 1, 1, 2, 2, 3, 3]
    across = built(Device("a", (0,)), Device("b", (0, 2)), Device("c", (0, 2))).resources[GPU]
    assert [across.width(amount) for amount in (1, 3, 4)] == [1, 1, 2]


def test_hints_are_made_of_all_nodes_up_to_1_35() -> None:
    manager = with_hints_everywhere(built(Device("a", (0,)), Device("b", (0, 2)), Device("c", (2,))))
    one = manager.resources[GPU]
    assert (one.nodes, one.largest) == (0b100101, (1, 2, 2))


@pytest.mark.parametrize(("node", "there"), [(-1, False), (0, True), (62, True), (63, True), (64, False)])
def test_a_mask_holds_nodes_up_to_63(node: int, there: bool) -> None:
    manager = built(Device("a", (node,)), nodes=(1, node))
    assert manager.nodes == 0b10 | (1 << node if there else 0)
    assert bool(manager.resources[GPU].nowhere) is not there


def test_until_its_plugin_registers_nobody_knows_of_a_device() -> None:
    was = built(*DEVICES).resources[GPU]._replace(preferred_sets=(1,), links={0b11: 1})
    one = unregistered(was)
    assert [device.id for device in one.devices] == [device.id for device in was.devices]
    assert (one.healthy, one.aware, one.no_topology) == (0, False, (1 << 9) - 1)
    assert (one.on_node, one.spanning, one.largest, one.nodes) == ((), (), (), 0)
    assert (one.preferred_sets, one.links) == ((), {})


def test_sets_and_links_name_devices() -> None:
    """A set with a device that is not there is never offered."""
    machine = Machine(
        "m",
        (NUMANode(0),),
        devices={GPU: (Device("b"), Device("a"), Device("c"))},
        preferred_allocation={GPU: (("b", "a"), ("c", "x"), ("c",), ())},
        links={GPU: (("a", "c", 2), ("b", "c", 1))},
    )
    one = build(machine).resources[GPU]
    assert one.preferred_sets == (0b11, 0b100, 0)
    assert one.links == {0b101: 2, 0b110: 1}


@pytest.mark.parametrize(
    "ordered",
    [("a2", "a10"), ("a", "a1"), ("a1", "b"), ("1", "a"), ("a1b2", "a1b10"), ("a02", "a2"), ("a2", "a03"),
     ("9" * 5000, "1" + "0" * 5000)],
)  # fmt: skip
def test_the_natural_order(ordered: tuple[str, str]) -> None:
    one, other = map(natural_key, ordered)
    assert one < other


def test_devices_are_counted_by_their_nodes() -> None:
    """Rule 1.5: one with several nodes under each, one without any under -1."""
    one = built(*DEVICES).resources[GPU]
    every = (1 << len(one.devices)) - 1
    assert per_numa(one, every) == {0: 3, 2: 4, 7: 1, -1: 4}
    assert per_numa(one, 0b11) == {0: 2, 2: 1}
    assert device_ids(one, 0b100000101) == ["d1", "d10", "sick"]


def test_what_a_pod_held_is_free() -> None:
    """Rule 7.1."""
    held = {"p": {"c": {GPU: 0b1}, "d": {GPU: 0b10, "v/nic": 0b1}}, "q": {"c": {GPU: 0b100}, "d": {GPU: 0b1000}}}
    state = DeviceState(held, {GPU: 0b1111, "v/nic": 0b1}, "p", {GPU: 0b1})
    assert remove(state, "p") == DeviceState({"q": held["q"]}, {GPU: 0b1100, "v/nic": 0}, "p", {GPU: 0b1})
    assert remove(state, "none") is state
    assert remove(remove(state, "q"), "p").holdings == EMPTY.holdings


def entry(uid: str, container: str, devices: dict[int, tuple[str, ...]], resource: str = GPU) -> DeviceEntry:
    return DeviceEntry(uid, container, resource, devices)


def test_a_checkpoint_says_who_holds_which() -> None:
    """Rule 7.2: two records of a container add up; of what is not there nobody holds any."""
    manager = built(Device("a", (0,)), Device("b", (2,)), Device("c", (2,)))
    found = restore(manager, [
        entry("p", "c", {0: ("a",)}), entry("p", "c", {2: ("c",)}), entry("q", "c", {2: ("b",)}),
        entry("q", "d", {0: ("gone",)}), entry("r", "c", {0: ("a",)}, "v/gone"),
    ])  # fmt: skip
    assert found == DeviceState({"p": {"c": {GPU: 0b101}}, "q": {"c": {GPU: 0b10}}}, {GPU: 0b111})


def test_devices_of_a_node_are_put_together_from_all_that_is_known() -> None:
    """docs/rules/kubelet-files.md 19: the machine wins about places, the file says who is healthy."""
    known = {GPU: [Device("a", (0,)), Device("b", (1,))], "v/none": [Device("x", (0,))]}
    file = DeviceCheckpoint(
        (entry("p", "c", {0: ("b", "c"), 1: ("d",)}), entry("q", "c", {-1: ("e",)}, "v/nic")),
        {GPU: ("a", "c", "f"), "v/nic": ("g",)},
    )
    found = registered(known, file)
    assert found == Registered(
        {
            GPU: (
                Device("a", (0,)), Device("b", (1,), healthy=False), Device("c", (0,)), Device("f", None),
                Device("d", (1,), healthy=False),
            ),
            "v/nic": (Device("g", None), Device("e", None, healthy=False)),
        },
        {GPU: ("f",), "v/nic": ("g",)},
        ("v/none",),
    )  # fmt: skip
    asked = registered(known, file, {GPU: ["b"]})
    assert [one.id for one in asked.devices[GPU] if one.healthy] == ["b"]
    assert [one.id for one in asked.devices["v/nic"] if one.healthy] == []


@pytest.mark.parametrize(
    ("asked", "held", "tried"),
    [
        ({GPU: 1}, {}, 3),
        ({GPU: 1, "v/nic": 1}, {}, 3 + 1),
        ({GPU: 0, "v/none": 1}, {}, 3),
        ({GPU: 2}, {GPU: 0b11}, 0),
        ({}, {}, 0),
    ],
)
def test_sets_of_nodes_with_devices_are_tried(asked: dict[str, int], held: dict[str, int], tried: int) -> None:
    """Two nodes have GPUs, one has NICs (docs/rules/topology-manager.md 12.5)."""
    devices = {GPU: (Device("a", (0,)), Device("b", (2,))), "v/nic": (Device("n", (5,)),)}
    manager = build(Machine("m", tuple(NUMANode(node) for node in (0, 2, 5)), devices=devices))
    one = ContainerDemand("c", "app", 0, (), tuple(sorted(asked.items())))
    pod = PodDemand("p", False, (one,), 0, (), one.devices)
    state = DeviceState({"p": {"c": held}}, held) if held else EMPTY
    assert sets_tried(manager, state, pod, one) == tried
