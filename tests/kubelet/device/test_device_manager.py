"""The Device Manager: the worked examples, tables and traps of docs/rules/device-manager.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device import DeviceManager, DeviceState
from numalign.kubelet.device.provider import DEVICE
from numalign.kubelet.device.state import build, natural_key, with_hints_everywhere
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    HintFamily,
    Hints,
    TopologyHint,
    WithoutMask,
    expand,
)
from numalign.kubelet.topology.merge.lists import numa_info
from numalign.kubelet.topology.policy import explicit, merge
from numalign.model.machine import Device, Machine, NUMANode
from numalign.model.pod import ContainerKind
from tests.dice import Dice, draws, rolled
from tests.kubelet.hint_text import hints, show

GPU = "v/gpu"
NOT_CARE = NO_PREFERENCE.value
IMPOSSIBLE = CANNOT_FIT.value


def manager(
    devices: Mapping[str, Iterable[Device]], nodes: int = 2, plugin: Mapping[str, Sequence[str]] | None = None
) -> DeviceManager:
    """Devices on a machine of `nodes` nodes; `plugin`: resource -> the sets its plugin prefers, `gpu-1 gpu-3`."""
    return with_hints_everywhere(
        device.build(
            Machine(
                "test",
                tuple(NUMANode(node) for node in range(nodes)),
                devices={name: tuple(members) for name, members in devices.items()},
                preferred_allocation={
                    name: tuple(tuple(text.split()) for text in sets) for name, sets in (plugin or {}).items()
                },
            )
        )
    )


def four_gpus(unhealthy: str = "", plugin: Sequence[str] | None = None) -> DeviceManager:
    """The machine of most examples: gpu-0 and gpu-1 on node 0, gpu-2 and gpu-3 on node 1."""
    gpus = [Device(f"gpu-{i}", (i // 2,), f"gpu-{i}" not in unhealthy.split()) for i in range(4)]
    return manager({GPU: gpus}, plugin=None if plugin is None else {GPU: plugin})


def container(name: str, kind: ContainerKind = "app", **amounts: int) -> ContainerDemand:
    """A container that asks for `v/NAME` devices."""
    return ContainerDemand(name, kind, 0, (), tuple(sorted((f"v/{key}", amount) for key, amount in amounts.items())))


def pod(uid: str, *containers: ContainerDemand, **effective: int) -> PodDemand:
    total = tuple(sorted((f"v/{key}", amount) for key, amount in effective.items()))
    return PodDemand(uid, False, containers, 0, (), total)


def members(of: DeviceManager, ids: str, resource: str = GPU) -> int:
    positions = {one.id: index for index, one in enumerate(of.resources[resource].devices)}
    return sum(1 << positions[word] for word in ids.split())


def given_out(of: DeviceManager, busy: str = "", resource: str = GPU) -> DeviceState:
    """A state in which another pod holds `busy`."""
    if not busy:
        return device.EMPTY
    held = {resource: members(of, busy, resource)}
    return DeviceState({"other": {"c": held}}, held)


def all_but(of: DeviceManager, free: str, resource: str = GPU) -> DeviceState:
    wanted = free.split()
    return given_out(of, " ".join(d.id for d in of.resources[resource].devices if d.id not in wanted), resource)


def write(answer: Hints, nodes: int = 2) -> str:
    """A list as the rules print it."""
    if isinstance(answer, WithoutMask):
        return answer.value
    return " ".join(show(one, nodes) for one in explicit([answer])[0])


def asked(of: DeviceManager, state: DeviceState, one: ContainerDemand, nodes: int = 2, resource: str = GPU) -> str:
    return write(device.container_hints(of, state, pod("p", one), one)[resource], nodes)


def chosen(of: DeviceManager, state: DeviceState, uid: str, name: str, resource: str = GPU) -> str:
    held = state.holdings.get(uid, {}).get(name, {}).get(resource, 0)
    return " ".join(device.device_ids(of.resources[resource], held)) if held else ""


def take(
    of: DeviceManager, state: DeviceState, mask: int | None, amount: int, resource: str = "gpu"
) -> tuple[DeviceState, str]:
    """Allocate for a pod of one container; return the state and the ids."""
    one = container("c", **{resource: amount})
    after = device.allocate(of, state, pod("p", one), one, TopologyHint(mask, preferred=True))
    return after, chosen(of, after, "p", "c", f"v/{resource}")


def reusing(of: DeviceManager, state: DeviceState, ids: str) -> DeviceState:
    """The same state after an init container of pod `p` that got `ids` and ended."""
    held = members(of, ids)
    return DeviceState(
        {**state.holdings, "p": {"init": {GPU: held}}},
        {GPU: state.allocated.get(GPU, 0) | held},
        "p",
        {GPU: held},
    )


def test_natural_order() -> None:
    """Digit runs are numbers, the rest is text, plain text decides a full tie."""
    ids = ["gpu-10", "gpu-2", "gpu-02", "gpu", "a-1", "10", "9"]

    assert sorted(ids, key=natural_key) == ["9", "10", "a-1", "gpu", "gpu-02", "gpu-2", "gpu-10"]


class TestHintTable:
    """Rule 4: the first row that matches."""

    def test_row_1_not_topology_aware(self) -> None:
        """No device with a node: no preference, also when there are too few."""
        of = manager({GPU: [Device("gpu-0"), Device("gpu-1", ())]})

        assert asked(of, device.EMPTY, container("c", gpu=5)) == NOT_CARE

    def test_row_2_holds_another_number(self) -> None:
        of = four_gpus()
        state, _ = take(of, device.EMPTY, None, 2)

        assert asked(of, state, container("c", gpu=3)) == IMPOSSIBLE
        assert asked(of, state, container("c", gpu=1)) == IMPOSSIBLE

    def test_row_3_holds_what_it_asks(self) -> None:
        """Masks that all of its own devices touch, though nothing is free; they need not be preferred."""
        of = four_gpus()
        state, ids = take(of, all_but(of, "gpu-1 gpu-2"), None, 2)

        assert ids == "gpu-1 gpu-2"
        assert asked(of, state, container("c", gpu=2)) == "11:F"

    def test_row_4_too_few(self) -> None:
        of = four_gpus()

        assert asked(of, all_but(of, "gpu-1"), container("c", gpu=2)) == IMPOSSIBLE

    def test_row_4_counts_reusable_devices(self) -> None:
        of = four_gpus()
        state = reusing(of, given_out(of, "gpu-2 gpu-3"), "gpu-0")

        assert asked(of, state, container("c", gpu=2)) == "01:T 11:F"
        assert asked(of, state, container("c", gpu=3)) == IMPOSSIBLE

    def test_nothing_named_is_an_empty_answer(self) -> None:
        of = four_gpus()
        one = container("c", unknown=1)

        assert device.container_hints(of, device.EMPTY, pod("p", one), one) == {}
        assert device.pod_hints(of, device.EMPTY, pod("p", one, unknown=1)) == {}

    def test_a_reuse_set_of_another_pod_is_forgotten(self) -> None:
        of = four_gpus()
        state = reusing(of, device.EMPTY, "gpu-0 gpu-1 gpu-2")
        one = container("c", gpu=2)

        assert write(device.container_hints(of, state, pod("q", one), one)[GPU]) == IMPOSSIBLE


EXAMPLE_1 = (
    ("all are free, one is asked", "gpu-0 gpu-1 gpu-2 gpu-3", "", 1, "01:T 10:T 11:F"),
    ("all are free, two are asked", "gpu-0 gpu-1 gpu-2 gpu-3", "", 2, "01:T 10:T 11:F"),
    ("one of each node is free, two are asked", "gpu-1 gpu-3", "", 2, "11:F"),
    ("three need both nodes", "gpu-0 gpu-1 gpu-2 gpu-3", "", 3, "11:T"),
    ("more than are free", "gpu-1", "", 2, IMPOSSIBLE),
    ("the only free one of node 0 is unhealthy", "gpu-1 gpu-2 gpu-3", "gpu-1", 1, "10:T 11:F"),
)


class TestHintGeneration:
    """Rule 4.1."""

    @pytest.mark.parametrize(
        ("free", "unhealthy", "amount", "expected"), [row[1:] for row in EXAMPLE_1], ids=[row[0] for row in EXAMPLE_1]
    )
    def test_example_1(self, free: str, unhealthy: str, amount: int, expected: str) -> None:
        of = four_gpus(unhealthy)

        assert asked(of, all_but(of, free), container("c", gpu=amount)) == expected

    def test_example_4_a_device_on_several_nodes(self) -> None:
        of = manager({"v/fpga": [Device("f-0", (0, 1)), Device("f-1", (2,))]}, nodes=3)

        one = asked(of, device.EMPTY, container("c", fpga=1), 3, "v/fpga")
        two = asked(of, device.EMPTY, container("c", fpga=2), 3, "v/fpga")

        assert hints(one)[:3] == hints("001:T 010:T 100:T")
        assert all(not wide.preferred for wide in hints(one)[3:])
        assert hints(two) == hints("101:T 110:T 111:F")
        assert take(of, device.EMPTY, 0b010, 2, "fpga")[1] == "f-0 f-1"

    def test_example_6_a_zero_request_is_a_real_hint(self) -> None:
        of = four_gpus()
        answer = device.container_hints(of, device.EMPTY, pod("p", container("c", gpu=0)), container("c", gpu=0))

        assert write(answer[GPU]) == "01:T 10:T 11:F"
        for with_zero, admitted in ((answer, False), ({}, True)):
            _, admit = merge("restricted", [with_zero, {"cpu": hints("11:T")}], numa_info(range(2)))
            assert admit is admitted
        best, _ = merge("best-effort", [answer, {"cpu": hints("11:T")}], numa_info(range(2)))
        assert show(best, 2) == "11:F"

    def test_example_7_a_plugin_s_pairs_are_no_hints(self) -> None:
        of = dgx()

        assert asked(of, device.EMPTY, container("c", gpu=2)) == "01:T 10:T 11:F"
        assert asked(of, all_but(of, "0 4"), container("c", gpu=2)) == "11:F"

    def test_devices_without_nodes_never_count(self) -> None:
        """Four are free, but no mask is touched by three."""
        of = mixed_nics()

        assert asked(of, device.EMPTY, container("c", nic=3), resource="v/nic") == IMPOSSIBLE
        assert asked(of, device.EMPTY, container("c", nic=2), resource="v/nic") == "01:T 11:F"

    @pytest.mark.parametrize("nodes", [(-1,), (7,), (-1, 7)])
    def test_only_nodes_outside_the_machine_is_aware_and_impossible(self, nodes: tuple[int, ...]) -> None:
        of = manager({GPU: [Device("gpu-0", nodes), Device("gpu-1", nodes)]})

        assert asked(of, device.EMPTY, container("c", gpu=1)) == IMPOSSIBLE

    def test_a_zero_request_fits_even_there(self) -> None:
        of = manager({GPU: [Device("gpu-0", (-1,))]})

        assert asked(of, device.EMPTY, container("c", gpu=0)) == "01:T 10:T 11:F"

    def test_the_width_counts_all_known_devices(self) -> None:
        """Busy and unhealthy ones too, so a list can have no preferred hint."""
        of = four_gpus("gpu-0 gpu-3")

        assert asked(of, device.EMPTY, container("c", gpu=2)) == "11:F"

    def test_all_reusable_devices_must_touch_the_mask(self) -> None:
        """Also when fewer are asked than there are."""
        of = four_gpus()
        state = reusing(of, device.EMPTY, "gpu-0 gpu-1 gpu-2")

        assert asked(of, state, container("c", gpu=1)) == "11:F"

    def test_a_reusable_device_with_an_empty_topology_makes_it_impossible(self) -> None:
        of = manager({GPU: [Device("gpu-0", ()), Device("gpu-1", (0,)), Device("gpu-2", (1,))]})

        assert asked(of, reusing(of, device.EMPTY, "gpu-0"), container("c", gpu=1)) == IMPOSSIBLE

    def test_a_reusable_device_without_topology_is_harmless_and_not_counted(self) -> None:
        of = manager({GPU: [Device("gpu-0"), Device("gpu-1", (0,)), Device("gpu-2", (1,))]})
        state = reusing(of, device.EMPTY, "gpu-0")

        assert asked(of, state, container("c", gpu=1)) == "01:T 10:T 11:F"
        assert asked(of, state, container("c", gpu=3)) == IMPOSSIBLE

    def test_a_reusable_device_on_two_nodes_is_touched_by_either(self) -> None:
        of = manager({GPU: [Device("gpu-0", (0, 1)), Device("gpu-1", (2,))]}, nodes=3)

        answer = asked(of, reusing(of, device.EMPTY, "gpu-0"), container("c", gpu=1), 3)

        assert answer == "001:T 010:T 011:F 101:F 110:F 111:F"

    def test_a_machine_without_nodes_is_impossible(self) -> None:
        of = manager({GPU: [Device("gpu-0", (0,))]}, nodes=0)

        assert asked(of, device.EMPTY, container("c", gpu=0), 0) == IMPOSSIBLE


class TestPodHints:
    """Rule 5."""

    def test_nothing_is_reused(self) -> None:
        of = four_gpus()
        state = reusing(of, device.EMPTY, "gpu-0 gpu-1 gpu-2")
        held_by_p = DeviceState({}, state.allocated, "p", state.reusable)

        assert write(device.pod_hints(of, held_by_p, pod("p", gpu=1))[GPU]) == "10:T 11:F"

    def test_what_any_container_holds_counts_as_held(self) -> None:
        of = four_gpus()
        state = reusing(of, device.EMPTY, "gpu-0 gpu-1")

        assert write(device.pod_hints(of, state, pod("p", gpu=2))[GPU]) == "01:T 11:F"
        assert write(device.pod_hints(of, state, pod("p", gpu=1))[GPU]) == IMPOSSIBLE

    def test_what_a_container_holds_of_another_resource_does_not_count(self) -> None:
        of = four_gpus()
        state = DeviceState({"p": {"c": {"v/nic": 1}}}, {"v/nic": 1})

        assert write(device.pod_hints(of, state, pod("p", gpu=1))[GPU]) == "01:T 10:T 11:F"

    def test_too_few(self) -> None:
        of = four_gpus()

        assert write(device.pod_hints(of, given_out(of, "gpu-0"), pod("p", gpu=4))[GPU]) == IMPOSSIBLE

    def test_not_topology_aware(self) -> None:
        of = manager({GPU: [Device("gpu-0")]})

        assert write(device.pod_hints(of, device.EMPTY, pod("p", gpu=4))[GPU]) == NOT_CARE


EXAMPLE_3 = (
    ("fewer than are aligned: natural order", "gpu-0 gpu-1 gpu-2 gpu-3", 1, "", None, "gpu-0"),
    ("as many as are aligned: all of them", "gpu-0 gpu-1 gpu-2 gpu-3", 2, "", None, "gpu-0 gpu-1"),
    ("a silent plugin: aligned first, then natural order", "gpu-1 gpu-2 gpu-3", 2, "", None, "gpu-1 gpu-2"),
    ("the plugin's set is taken", "gpu-1 gpu-2 gpu-3", 2, "", ["gpu-1 gpu-3"], "gpu-1 gpu-3"),
    ("a set without what it must include", "gpu-1 gpu-2 gpu-3", 2, "", ["gpu-2 gpu-3"], "gpu-1 gpu-2"),
    ("reuse first, though not aligned", "gpu-1 gpu-3", 2, "gpu-2", None, "gpu-1 gpu-2"),
    ("the plugin is asked within the aligned ones", "gpu-0 gpu-1 gpu-2 gpu-3", 1, "", ["gpu-2", "gpu-1"], "gpu-1"),
    (
        "the plugin is not asked when all aligned are needed",
        "gpu-0 gpu-1 gpu-2 gpu-3",
        2,
        "",
        ["gpu-2 gpu-3"],
        "gpu-0 gpu-1",
    ),
    (
        "the plugin is asked for the full amount",
        "gpu-0 gpu-1 gpu-3",
        2,
        "gpu-2",
        ["gpu-1", "gpu-1 gpu-2"],
        "gpu-1 gpu-2",
    ),
)


class TestChoosing:
    """Rules 6.3 to 6.5; the stored mask is 01 where nothing else is said."""

    @pytest.mark.parametrize(
        ("free", "amount", "reuse", "plugin", "expected"),
        [row[1:] for row in EXAMPLE_3],
        ids=[row[0] for row in EXAMPLE_3],
    )
    def test_example_3(self, free: str, amount: int, reuse: str, plugin: list[str] | None, expected: str) -> None:
        of = four_gpus(plugin=plugin)
        state = all_but(of, f"{free} {reuse}")
        if reuse:
            state = reusing(of, state, reuse)

        assert take(of, state, 0b01, amount)[1] == expected

    def test_example_3_the_message_has_the_remaining_need(self) -> None:
        of = four_gpus()
        state = reusing(of, all_but(of, "gpu-0 gpu-3"), "gpu-0")

        with pytest.raises(AllocationError) as error:
            take(of, state, 0b01, 3)

        assert error.value.message == "requested number of devices unavailable for v/gpu. Requested: 2, Available: 1"
        assert error.value.reason == ""

    @pytest.mark.parametrize(
        ("mask", "expected"),
        [
            pytest.param(0b01, "nic-0 nic-1 nic-2", id="aligned, then without affinity"),
            pytest.param(0b10, "nic-0 nic-1 nic-2", id="unaligned before without affinity"),
            pytest.param(None, "nic-0 nic-1 nic-2", id="no mask: natural order"),
            pytest.param(0, "nic-0 nic-1 nic-2", id="an empty mask aligns nothing"),
        ],
    )
    def test_example_5_mixed_topology(self, mask: int | None, expected: str) -> None:
        assert take(mixed_nics(), device.EMPTY, mask, 3, "nic")[1] == expected

    def test_unaligned_devices_come_before_those_without_affinity(self) -> None:
        """Though the latter come first in natural order; node -1 alone is no affinity, beside another node it is."""
        of = manager({GPU: [Device("gpu-0"), Device("gpu-1", (-1,)), Device("gpu-2", (-1, 1)), Device("gpu-3", (0,))]})

        assert take(of, device.EMPTY, 0b01, 2)[1] == "gpu-2 gpu-3"
        assert take(of, device.EMPTY, 0b01, 3)[1] == "gpu-0 gpu-2 gpu-3"

    def test_example_7_a_plugin_that_knows_links(self) -> None:
        of = dgx()

        state, first = take(of, device.EMPTY, 0b01, 2)
        one = container("d", gpu=2)
        after = device.allocate(of, state, pod("q", one), one, TopologyHint(0b01, preferred=True))

        assert first == "0 3"
        assert chosen(of, after, "q", "d") == "1 2"
        assert take(of, given_out(of, "3 7"), 0b01, 2)[1] == "1 2"
        assert take(dgx(plugin=False), given_out(of, "3 7"), 0b01, 2)[1] == "0 1"

    def test_without_mask_the_plugin_sees_everything(self) -> None:
        assert take(four_gpus(plugin=["gpu-1 gpu-2"]), device.EMPTY, None, 2)[1] == "gpu-1 gpu-2"

    def test_a_set_with_unknown_devices_is_never_answered(self) -> None:
        assert take(four_gpus(plugin=["gpu-9 gpu-2", "gpu-3 gpu-2"]), device.EMPTY, None, 2)[1] == "gpu-2 gpu-3"

    def test_reuse_ignores_health(self) -> None:
        """Step 7: what an init container left is taken without another look."""
        of = four_gpus("gpu-0")

        assert take(of, reusing(of, device.EMPTY, "gpu-0"), 0b10, 1)[1] == "gpu-0"


FAILURES = (
    (
        "no healthy device",
        "gpu-0 gpu-1 gpu-2 gpu-3",
        1,
        "no healthy devices present; cannot allocate unhealthy devices v/gpu",
    ),
    (
        "no healthy device, and none asked",
        "gpu-0 gpu-1 gpu-2 gpu-3",
        0,
        "no healthy devices present; cannot allocate unhealthy devices v/gpu",
    ),
    ("too few", "gpu-0", 4, "requested number of devices unavailable for v/gpu. Requested: 4, Available: 3"),
    (
        "more than anything could count one by one",
        "",
        2**62,
        "requested number of devices unavailable for v/gpu. Requested: 4611686018427387904, Available: 4",
    ),
)


class TestFailures:
    """Rule 6.3, steps 1, 4, 5 and 8, and what a failure leaves (6.6)."""

    @pytest.mark.parametrize(
        ("unhealthy", "amount", "message"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES]
    )
    def test_message(self, unhealthy: str, amount: int, message: str) -> None:
        with pytest.raises(AllocationError) as error:
            take(four_gpus(unhealthy), device.EMPTY, None, amount)

        assert error.value.message == message

    def test_a_changed_request(self) -> None:
        of = four_gpus()
        state, _ = take(of, device.EMPTY, None, 2)

        with pytest.raises(AllocationError) as error:
            take(of, state, None, 3)

        assert error.value.message == 'pod "p" container "c" changed request for resource "v/gpu" from 2 to 3'

    def test_a_held_device_that_fell_ill(self) -> None:
        state, _ = take(four_gpus(), device.EMPTY, None, 2)

        with pytest.raises(AllocationError) as error:
            take(four_gpus("gpu-1"), state, None, 2)

        assert error.value.message == (
            "previously allocated devices are no longer healthy; cannot allocate unhealthy devices v/gpu"
        )

    def test_the_same_request_again_changes_nothing(self) -> None:
        of = four_gpus()
        state, _ = take(of, device.EMPTY, None, 2)

        again, ids = take(of, state, None, 2)

        assert ids == "gpu-0 gpu-1"
        assert again.holdings == state.holdings
        assert again.allocated == state.allocated

    def test_nothing_asked_of_healthy_devices_is_fine(self) -> None:
        after, ids = take(four_gpus(), device.EMPTY, None, 0)

        assert ids == ""
        assert after._replace(reusable_of="", reusable={}) == device.EMPTY

    def test_an_unknown_resource_is_ignored(self) -> None:
        """Trap 9."""
        assert take(four_gpus(), device.EMPTY, None, 1, "unknown")[0].holdings == {}

    def test_of_two_failing_resources_the_first_by_name_is_told(self) -> None:
        of = manager({"v/a": [Device("a-0", (0,))], "v/b": [Device("b-0", (0,))]})
        one = container("c", b=2, a=2)

        with pytest.raises(AllocationError, match="unavailable for v/a"):
            device.allocate(of, device.EMPTY, pod("p", one), one, TopologyHint(None, preferred=True))


class TestReuse:
    """Rule 6.1."""

    def test_example_2_the_reuse_trap(self) -> None:
        """`restricted` refuses in scope container what it admits in scope pod."""
        of, numa = four_gpus(), numa_info(range(2))
        init, app = container("init", "init", gpu=3), container("app", gpu=1)
        demand = pod("p", init, app, gpu=3)

        best, admit = merge("restricted", [device.container_hints(of, device.EMPTY, demand, init)], numa)
        assert (show(best, 2), admit) == ("11:T", True)
        state = device.allocate(of, device.EMPTY, demand, init, TopologyHint(best.numa_affinity, preferred=True))
        assert chosen(of, state, "p", "init") == "gpu-0 gpu-1 gpu-2"
        answer = device.container_hints(of, state, demand, app)
        assert write(answer[GPU]) == "11:F"
        assert merge("restricted", [answer], numa)[1] is False
        state = device.allocate(of, state, demand, app, merge("best-effort", [answer], numa)[0])
        assert chosen(of, state, "p", "app") == "gpu-0"
        assert write(device.pod_hints(of, device.EMPTY, demand)[GPU]) == "11:T"

    def test_example_8_sidecar(self) -> None:
        of = manager({GPU: [Device(f"g{i}", (0,)) for i in range(6)]}, nodes=1)
        containers = (
            container("A", "init", gpu=1),
            container("S", "sidecar", gpu=1),
            container("B", "init", gpu=2),
            container("C", "app", gpu=1),
        )
        state, steps = device.EMPTY, []
        for one in containers:
            state = device.allocate(of, state, pod("p", *containers), one, TopologyHint(1, preferred=True))
            left = " ".join(device.device_ids(of.resources[GPU], state.reusable[GPU]))
            steps.append((chosen(of, state, "p", one.name), left))

        assert steps == [("g0", "g0"), ("g0", ""), ("g1 g2", "g1 g2"), ("g1", "g2")]
        assert device.device_ids(of.resources[GPU], state.allocated[GPU]) == ["g0", "g1", "g2"]

    def test_what_is_left_of_one_resource_is_none_of_another(self) -> None:
        of = manager({GPU: [Device("gpu-0", (0,))], "v/nic": [Device(f"nic-{i}", (i,)) for i in range(3)]}, nodes=3)
        init, app = container("i", "init", gpu=1), container("a", gpu=1, nic=2)
        demand = pod("p", init, app)
        state = given_out(of, "nic-0", "v/nic")
        state = device.allocate(of, state, demand, init, TopologyHint(None, preferred=True))

        assert write(device.container_hints(of, state, demand, app)["v/nic"], 3) == "110:T 111:F"
        after = device.allocate(of, state, demand, app, TopologyHint(None, preferred=True))
        assert (chosen(of, after, "p", "a"), chosen(of, after, "p", "a", "v/nic")) == ("gpu-0", "nic-1 nic-2")

    def test_only_what_it_held_is_left_of_an_init_container(self) -> None:
        of = four_gpus()
        init = container("i", "init", gpu=1)
        state = device.allocate(of, device.EMPTY, pod("p", init), init, TopologyHint(0b10, preferred=True))
        assert state.reusable == state.allocated == {GPU: members(of, "gpu-2")}

    def test_two_app_containers_never_share(self) -> None:
        of = four_gpus()
        containers = (container("i", "init", gpu=1), container("a", gpu=1), container("b", gpu=1))
        state = device.EMPTY
        for one in containers:
            state = device.allocate(of, state, pod("p", *containers), one, TopologyHint(None, preferred=True))

        assert [chosen(of, state, "p", name) for name in "iab"] == ["gpu-0", "gpu-0", "gpu-1"]

    def test_a_refused_container_leaves_the_reuse_set(self) -> None:
        of = four_gpus()
        containers = (container("i", "init", gpu=2), container("a", gpu=5))
        state = device.allocate(
            of, device.EMPTY, pod("p", *containers), containers[0], TopologyHint(None, preferred=True)
        )

        with pytest.raises(AllocationError, match="Requested: 3, Available: 2"):
            device.allocate(of, state, pod("p", *containers), containers[1], TopologyHint(None, preferred=True))


def test_counts_by_node_a_device_on_several_nodes_under_each() -> None:
    """Rule 1.5: one without topology, and one with an empty topology, under -1."""
    of = manager({GPU: [Device("gpu-0", (0, 1)), Device("gpu-1", (1,)), Device("gpu-2"), Device("gpu-3", ())]})

    assert device.per_numa(of.resources[GPU], 0b1111) == {0: 1, 1: 2, -1: 2}


def dgx(plugin: bool = True) -> DeviceManager:
    """Eight GPUs; the plugin prefers the pairs with two links, in the order of the feedback document."""
    pairs = ["0 3", "0 4", "1 2", "1 5", "2 3", "2 6", "3 7", "4 7", "5 6", "6 7"]
    return manager({GPU: [Device(str(i), (i // 4,)) for i in range(8)]}, plugin={GPU: pairs} if plugin else None)


def mixed_nics() -> DeviceManager:
    """Two NICs on node 0, two without topology."""
    return manager({"v/nic": [Device(f"nic-{i}", (0,) if i < 2 else None) for i in range(4)]})


Asking = tuple[list[tuple[ContainerKind, int]], int | None, bool]
"""The containers of a pod, the mask, and whether it stays."""
KINDS: tuple[ContainerKind, ...] = ("app", "app", "init", "sidecar")


def one_device(dice: Dice) -> Device:
    nodes = tuple(dice.shuffled(range(-1, 4))[: dice.below(4)]) if dice.flag() else None
    return Device("", nodes, not dice.flag())


def fleet_of(dice: Dice) -> list[Device]:
    return [one._replace(id=f"gpu-{index}") for index, one in enumerate(dice.several(one_device, 1, 8))]


def a_pod_asking(dice: Dice) -> Asking:
    containers = dice.several(lambda one: (one.pick(KINDS), one.below(4)), 1, 3)
    return containers, dice.between(1, 7) if dice.flag() else None, dice.flag()


fleets = rolled(fleet_of, 80)
pods_asking = rolled(lambda dice: dice.several(a_pod_asking, 1, 8), 80)


class TestLaws:
    """Whatever is asked in whatever order."""

    @draws(80)
    @given(fleets, pods_asking)
    def test_allocation_and_removal(self, fleet: list[Device], asking: list[Asking]) -> None:
        """Each container gets what it asks, pods share nothing, and a removal gives back exactly what was taken."""
        of = manager({GPU: fleet}, nodes=3)
        state = device.EMPTY
        alive: dict[str, int] = {}
        for index, (wanted, mask, stays) in enumerate(asking):
            uid = f"pod-{index}"
            containers = tuple(container(f"c{n}", kind, gpu=amount) for n, (kind, amount) in enumerate(wanted))
            before = state.allocated.get(GPU, 0)
            try:
                for one in containers:
                    state = device.allocate(of, state, pod(uid, *containers), one, TopologyHint(mask, preferred=True))
                    held = state.holdings.get(uid, {}).get(one.name, {}).get(GPU, 0)
                    assert held.bit_count() == dict(one.devices)[GPU]
            except AllocationError:
                stays = False
            of_pod = 0
            for held_by_container in state.holdings.get(uid, {}).values():
                of_pod |= held_by_container.get(GPU, 0)
            assert of_pod & before == 0
            assert state.allocated.get(GPU, 0) == before | of_pod
            if stays:
                alive[uid] = of_pod
            else:
                state = device.remove(state, uid)
                assert uid not in state.holdings
                assert state.allocated.get(GPU, 0) == before
        for uid in list(alive):
            state = device.remove(state, uid)
            del alive[uid]
            assert state.allocated.get(GPU, 0) == sum(alive.values())

    @draws(80)
    @given(fleets, st.integers(0, 255), st.integers(0, 255), st.integers(0, 5))
    def test_hints_are_the_masks_of_the_rule(self, fleet: list[Device], busy: int, reuse: int, amount: int) -> None:
        """Rule 4.1 mask by mask, as written there."""
        of = manager({GPU: fleet}, nodes=3)
        everything = (1 << len(fleet)) - 1
        reuse &= everything
        busy &= everything & ~reuse
        state = DeviceState({}, {GPU: busy | reuse}, "p", {GPU: reuse})

        answer = device.container_hints(of, state, pod("p"), container("c", gpu=amount))[GPU]

        if any(one.numa_nodes for one in fleet):
            assert write(answer, 3) == (write_by_the_rule(fleet, busy, reuse, amount) or IMPOSSIBLE)
        else:
            assert answer == NO_PREFERENCE

    @draws(80)
    @given(fleets, st.integers(0, 255), st.integers(0, 5))
    def test_hints_since_136_are_those_on_nodes_with_devices(self, fleet: list[Device], busy: int, amount: int) -> None:
        """docs/rules/kubelet-versions.md 7.1: the masks that hold a node without devices are gone, no other."""
        everywhere = manager({GPU: fleet}, nodes=3)
        sparse = build(Machine("m", tuple(NUMANode(node) for node in range(3)), devices={GPU: tuple(fleet)}))
        state = DeviceState({}, {GPU: busy & (1 << len(fleet)) - 1})
        with_devices = {node for one in fleet for node in one.numa_nodes or () if 0 <= node < 3}
        known = sum(1 << node for node in with_devices) or 0b111

        before, since = (
            device.container_hints(of, state, pod("p"), container("c", gpu=amount))[GPU] for of in (everywhere, sparse)
        )

        if not isinstance(before, HintFamily):
            assert since == before
            return
        assert isinstance(since, HintFamily)
        assert [hint for hint in expand(before) if not (hint.numa_affinity or 0) & ~known] == list(expand(since))


def write_by_the_rule(fleet: list[Device], busy: int, reuse: int, amount: int) -> str:
    def touches(one: Device, mask: int) -> bool:
        return any(node in range(3) and mask >> node & 1 for node in one.numa_nodes or ())

    free = [one for i, one in enumerate(fleet) if one.healthy and not (busy | reuse) >> i & 1]
    again = [one for i, one in enumerate(fleet) if reuse >> i & 1]
    if len(free) + len(again) < amount:
        return ""
    order = [0b001, 0b010, 0b100, 0b011, 0b101, 0b110, 0b111]
    width = min((m.bit_count() for m in order if sum(touches(one, m) for one in fleet) >= amount), default=3)
    found = []
    for mask in order:
        with_topology = [one for one in again if one.numa_nodes is not None]
        matching = len(with_topology) + sum(touches(one, mask) for one in free)
        if matching >= amount and all(touches(one, mask) for one in with_topology):
            found.append(f"{mask:03b}:{'T' if mask.bit_count() == width else 'F'}")
    return " ".join(found)


def test_a_running_container_needs_no_healthy_device() -> None:
    of = four_gpus(unhealthy="gpu-0 gpu-1 gpu-2 gpu-3")._replace(running=frozenset({("p", "a")}))
    one = container("a", gpu=1)
    state = device.allocate(of, device.EMPTY, pod("p", one), one, TopologyHint(None, preferred=True))
    assert not state.holdings


@pytest.mark.parametrize("as_a_whole", [True, False])
def test_only_a_pod_that_was_admitted_as_a_whole_gets_devices_when_it_starts(as_a_whole: bool) -> None:
    """docs/rules/kubelet-versions.md 6.9."""
    of, one = four_gpus(), container("c", gpu=1)
    asking = pod("p", one)._replace(as_a_whole=as_a_whole)

    after = DEVICE.start_container(of, device.EMPTY, asking, one, TopologyHint(None, preferred=False))

    assert chosen(of, after, "p", "c") == ("gpu-0" if as_a_whole else "")
