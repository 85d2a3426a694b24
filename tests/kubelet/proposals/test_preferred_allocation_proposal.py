"""GetPreferredAllocations as proposed in 2019 (docs/rules/device-manager.md 8, example 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device import DeviceManager, DeviceState
from numalign.kubelet.device.links import best_sets, links_within
from numalign.kubelet.device.state import build
from numalign.kubelet.proposals.preferred_sets import build_as_proposed, preferred_allocations
from numalign.kubelet.releases.early_admission import build_without_asking
from numalign.kubelet.topology.hints import HintFamily, TopologyHint, WithoutMask, expand
from numalign.model.machine import Device, Machine, NUMANode
from tests.kubelet.hint_text import show

GPU = "nvidia.com/gpu"
PAIRS = "0 3,0 4,1 2,1 5,2 3,2 6,3 7,4 7,5 6,6 7"
"""The feedback document's pairs with two links."""
Read = Callable[[Machine], DeviceManager]


def dgx(read: Read = build_as_proposed, *, listed: str | None = None, links: str | None = PAIRS) -> DeviceManager:
    """Eight GPUs, four a node; pairs of `listed` are preferred, those of `links` have two links, the others one."""
    pairs = [tuple(pair.split()) for pair in (links or "").split(",") if pair]
    single = [("0", "1"), ("0", "2"), ("1", "3"), ("4", "5"), ("4", "6"), ("5", "7")] if links else []
    return read(
        Machine(
            "dgx-1",
            (NUMANode(0), NUMANode(1)),
            devices={GPU: tuple(Device(str(number), (number // 4,)) for number in range(8))},
            preferred_allocation={GPU: tuple(tuple(one.split()) for one in listed.split(","))} if listed else {},
            links={GPU: (*((one, other, 2) for one, other in pairs), *((one, other, 1) for one, other in single))}
            if links
            else {},
        )
    )


def asks(gpus: int, kind: Any = "app", name: str = "c") -> ContainerDemand:
    return ContainerDemand(name, kind, 0, (), ((GPU, gpus),))


def pod(*containers: ContainerDemand) -> PodDemand:
    return PodDemand("p", True, containers, 0, (), ())


def given_out(ids: str) -> DeviceState:
    members = sum(1 << int(one) for one in ids.split())
    return DeviceState({"other": {"c": {GPU: members}}}, {GPU: members})


def hints(of: DeviceManager, state: DeviceState, gpus: int) -> str:
    answer = device.container_hints(of, state, pod(asks(gpus)), asks(gpus))[GPU]
    if isinstance(answer, WithoutMask):
        return answer.value
    listed = expand(answer) if isinstance(answer, HintFamily) else answer
    return " ".join(show(hint, 2) for hint in listed)


def take(of: DeviceManager, state: DeviceState, gpus: int, mask: int | None) -> str:
    container = asks(gpus)
    after = device.allocate(of, state, pod(container), container, TopologyHint(mask, preferred=True))
    return " ".join(device.device_ids(of.resources[GPU], after.holdings["p"]["c"][GPU]))


def test_the_document_s_ten_pairs_follow_from_the_links() -> None:
    resource = dgx().resources[GPU]
    sets = preferred_allocations(resource, 2)

    assert sets is not None
    assert [" ".join(device.device_ids(resource, members)) for members in sets] == PAIRS.split(",")


class TestHints:
    CASES = (
        # sentence, reader of devices, given out, request, hints
        ("the kubelet prefers the narrowest", build, "", 2, "01:T 10:T 11:F"),
        ("the proposal prefers the nodes of all pairs", build_as_proposed, "", 2, "01:T 10:T 11:T"),
        ("pairs that are not free do not count", build_as_proposed, "0 2 4 5 6 7", 2, "01:F 11:F"),
        ("two free GPUs of a pair on both nodes are preferred", build_as_proposed, "1 2 3 5 6 7", 2, "11:T"),
        ("the kubelet does not prefer them", build, "1 2 3 5 6 7", 2, "11:F"),
        ("one GPU has no links, the default stands", build_as_proposed, "", 1, "01:T 10:T 11:F"),
        ("too few free is impossible for both", build_as_proposed, "0 1 2 3 4 5 6", 2, "cannot fit"),
    )

    @pytest.mark.parametrize(
        ("read", "used", "request_", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
    )
    def test_row(self, read: Read, used: str, request_: int, expected: str) -> None:
        of = dgx(read)

        assert expected == hints(of, given_out(used), request_)


class TestFourCases:
    """Topology Manager disabled (no mask) or enabled, GetPreferredAllocations implemented or not."""

    CASES = (
        # sentence, links, given out, mask, taken
        ("disabled, not implemented: the front of the list", None, "", None, "0 1"),
        ("enabled, not implemented: any with the affinity", None, "", 0b10, "4 5"),
        ("disabled, implemented: the first preferred", PAIRS, "", None, "0 3"),
        ("disabled, implemented, no pair free: the front of the list", PAIRS, "0 2 4 5 6 7", None, "1 3"),
        ("enabled, implemented: the first preferred with the affinity", PAIRS, "", 0b10, "4 7"),
        ("enabled, implemented, a pair on both nodes", PAIRS, "3 1 2", 0b11, "0 4"),
        ("enabled, implemented, none with the affinity: any with it", PAIRS, "0 2 4", 0b01, "1 3"),
    )

    @pytest.mark.parametrize(("links", "used", "mask", "taken"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
    def test_row(self, links: str | None, used: str, mask: int | None, taken: str) -> None:
        of = dgx(links=links)

        assert taken == take(of, given_out(used), 2, mask)


class TestListedSets:
    def test_sets_of_the_machine_file_come_before_links(self) -> None:
        of = dgx(listed="5 6")

        assert hints(of, device.EMPTY, 2) == "01:F 10:T 11:F"
        assert take(of, device.EMPTY, 2, 0b10) == "5 6"

    def test_a_size_that_is_not_listed_follows_the_links(self) -> None:
        assert take(dgx(listed="4 5 6"), device.EMPTY, 2, 0b01) == "0 3"

    def test_a_preferred_set_takes_over_what_an_init_container_left(self) -> None:
        """All devices that must be reused belong to the set."""
        of = dgx()
        before, after = asks(1, "init", "i"), asks(2)
        state = device.allocate(of, device.EMPTY, pod(before, after), before, TopologyHint(0b01, preferred=True))
        state = device.allocate(of, state, pod(before, after), after, TopologyHint(0b01, preferred=True))

        assert device.device_ids(of.resources[GPU], state.holdings["p"]["c"][GPU]) == ["0", "3"]


class TestTheKubelet:
    """The plugin is asked when devices are chosen; one that knows links names a set with many."""

    def test_links_decide_among_the_aligned(self) -> None:
        of = dgx(build)

        assert take(of, device.EMPTY, 2, 0b01) == "0 3"
        assert take(of, given_out("3 7"), 2, 0b01) == "1 2"

    def test_before_119_nobody_asks(self) -> None:
        of = dgx(build_without_asking, listed="2 3")

        assert take(of, device.EMPTY, 2, 0b01) == "0 1"


class TestBestSets:
    LINKS = {0b11: 1, 0b110: 3, 0b1100: 1, 0b1001: 2}  # noqa: RUF012 (a table)

    def test_the_set_with_the_most_links(self) -> None:
        assert best_sets(self.LINKS, 0b1111, 0, 2) == (0b110,)
        assert best_sets(self.LINKS, 0b1111, 0b1, 2) == (0b1001,)
        assert best_sets(self.LINKS, 0b1111, 0, 3) == (0b0111, 0b1110)
        assert links_within(self.LINKS, 0b0111) == 4

    def test_more_than_there_is(self) -> None:
        assert best_sets(self.LINKS, 0b11, 0, 3) == ()

    def test_many_devices_are_joined_link_by_link(self) -> None:
        """Sixty GPUs in a ring, a pair with five links in the middle; 60 over 12 sets are not gone through."""
        ring = {(1 << place) | (1 << (place + 1) % 60): 1 for place in range(60)}
        ring[(1 << 30) | (1 << 31)] = 5

        (found,) = best_sets(ring, (1 << 60) - 1, 0, 12)
        assert found.bit_count() == 12
        assert links_within(ring, found) == 15
