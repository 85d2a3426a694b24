"""A plugin that knows links: which set it names when devices are chosen (docs/rules/device-manager.md 6.5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device import DeviceManager, DeviceState
from numalign.kubelet.device.allocate import best_sets, links_within
from numalign.kubelet.device.state import build
from numalign.kubelet.releases.early_merge import build_without_asking
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.machine import Device, Machine, NUMANode

GPU = "nvidia.com/gpu"
PAIRS = ("0 3", "0 4", "1 2", "1 5", "2 3", "2 6", "3 7", "4 7", "5 6", "6 7")
"""Pairs of a DGX-1 with two links; those of the others have one."""
SINGLE = ("0 1", "0 2", "1 3", "4 5", "4 6", "5 7")
Read = Callable[[Machine], DeviceManager]


def dgx(read: Read, *listed: str) -> DeviceManager:
    """Eight GPUs, four a node."""
    links = [(*pair.split(), number) for number, pairs in ((2, PAIRS), (1, SINGLE)) for pair in pairs]
    return read(
        Machine(
            "dgx-1",
            (NUMANode(0), NUMANode(1)),
            devices={GPU: tuple(Device(str(number), (number // 4,)) for number in range(8))},
            preferred_allocation={GPU: tuple(tuple(one.split()) for one in listed)} if listed else {},
            links={GPU: tuple((one, other, number) for one, other, number in links)},
        )
    )


def given_out(ids: str) -> DeviceState:
    members = sum(1 << int(one) for one in ids.split())
    return DeviceState({"other": {"c": {GPU: members}}}, {GPU: members})


def take(of: DeviceManager, state: DeviceState, gpus: int, mask: int) -> str:
    container = ContainerDemand("c", "app", 0, (), ((GPU, gpus),))
    pod = PodDemand("p", True, (container,), 0, (), ())
    after = device.allocate(of, state, pod, container, TopologyHint(mask, preferred=True))
    return " ".join(device.device_ids(of.resources[GPU], after.holdings["p"]["c"][GPU]))


def test_links_decide_among_the_aligned() -> None:
    of = dgx(build)

    assert take(of, device.EMPTY, 2, 0b01) == "0 3"
    assert take(of, given_out("3 7"), 2, 0b01) == "1 2"
    assert take(of, device.EMPTY, 3, 0b01) == "0 2 3", "1, 2 and 3 have as many, and come later"


def test_before_119_nobody_asks() -> None:
    assert take(dgx(build_without_asking, "2 3"), device.EMPTY, 2, 0b01) == "0 1"


class TestBestSets:
    LINKS = {0b11: 1, 0b110: 3, 0b1100: 1, 0b1001: 2}  # noqa: RUF012 (a table)

    def test_the_set_with_the_most_links(self) -> None:
        assert best_sets(self.LINKS, 0b1111, 0, 2) == (0b110,)
        assert best_sets(self.LINKS, 0b1111, 0b1, 2) == (0b1001,)
        assert best_sets(self.LINKS, 0b1111, 0, 3) == (0b0111, 0b1110)
        assert links_within(self.LINKS, 0b0111) == 4

    def test_more_than_there_is(self) -> None:
        assert best_sets(self.LINKS, 0b11, 0, 3) == ()

    @pytest.mark.parametrize(
        ("pool", "must", "size", "sets"),
        [
            (0b1010, 0, 2, (0b1010,)),
            (0b1010, 0b10, 2, (0b1010,)),
            (0b1111, 0b11, 2, (0b11,)),
            (0b1111, 0b111, 2, ()),
            (0b1111, 0b1111, 4, (0b1111,)),
            (0b1111, 0b1001, 3, (0b1011, 0b1101)),
            (0b1111, 0, 0, (0,)),
            (0b110000, 0, 1, (0b010000, 0b100000)),
            (0, 0, 1, ()),
        ],
    )
    def test_what_there_is_and_what_a_set_must_have(
        self, pool: int, must: int, size: int, sets: tuple[int, ...]
    ) -> None:
        assert best_sets(self.LINKS, pool, must, size) == sets

    @pytest.mark.parametrize(
        ("must", "size", "found"),
        [
            # The pair with most links and what is linked to it, of equals the first; from what must be there.
            (0, 12, [*range(20, 32)]),
            (1 << 10, 12, [*range(12)]),
            (1 << 10 | 1 << 30, 12, [*range(1, 11), 30, 31]),
        ],
    )
    def test_many_devices_grow_from_what_there_is(self, must: int, size: int, found: list[int]) -> None:
        ring = {(1 << place) | (1 << (place + 1) % 60): 1 for place in range(60)}
        ring[(1 << 30) | (1 << 31)] = 5
        (members,) = best_sets(ring, (1 << 60) - 1, must, size)
        assert [place for place in range(60) if members >> place & 1] == found

    def test_without_links_the_first_devices_are_as_good_as_any(self) -> None:
        for first in (0, 1):
            assert best_sets({}, (1 << 60) - 1 << first, 0, 12) == ((1 << 12) - 1 << first,)

    def test_many_devices_are_joined_link_by_link(self) -> None:
        """Sixty GPUs in a ring, a pair with five links in the middle; 60 over 12 sets are not gone through."""
        ring = {(1 << place) | (1 << (place + 1) % 60): 1 for place in range(60)}
        ring[(1 << 30) | (1 << 31)] = 5

        (found,) = best_sets(ring, (1 << 60) - 1, 0, 12)
        assert found.bit_count() == 12
        assert links_within(ring, found) == 15
