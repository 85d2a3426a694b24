"""The sum that `reservedMemory` has to meet, and the section that meets it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.memory.calculator import calculate
from numalign.model import quantity
from numalign.model.machine import Machine, NUMANode
from tests.kubelet.memory.nodes import GI

TWO = Machine("two", tuple(NUMANode(node, cpus=1 << node, memory=10 * GI) for node in (0, 1)))


def section(*elements: tuple[int, str]) -> tuple[MemoryReservation, ...]:
    return tuple(MemoryReservation(node, {"memory": text}) for node, text in elements)


def test_both_sides_are_broken_down() -> None:
    config = KubeletConfig(
        system_reserved={"memory": "1Gi"}, kube_reserved={"memory": "512Mi"}, reserved_memory=section((0, "1Gi"))
    )
    found = calculate(TWO, config)
    (sums,) = found.sums
    parts = [sums.system, sums.kube, sums.eviction, sums.reservation, sums.total]
    assert [quantity.canonical(part) for part in parts if part] == ["1Gi", "512Mi", "100Mi", "1636Mi", "1Gi"]
    assert [(node, quantity.canonical(amount)) for node, amount in sums.elements] == [(0, "1Gi")]
    assert not sums.equal
    assert found.error.startswith('the total amount "1Gi" of type "memory" is not equal to the value "1636Mi"')
    assert found.suggestion == section((0, "818Mi"), (1, "818Mi"))


def test_a_section_that_is_accepted_stays() -> None:
    config = KubeletConfig(reserved_memory=section((1, "100Mi")))
    found = calculate(TWO, config)
    assert (found.error, found.obstacle, found.suggestion) == ("", "", config.reserved_memory)
    assert found.sums[0].equal


def test_default_eviction_threshold_must_be_spread_too() -> None:
    assert calculate(TWO, KubeletConfig()).suggestion == section((0, "50Mi"), (1, "50Mi"))


def test_huge_pages_are_left_out() -> None:
    reserved = (MemoryReservation(0, {"memory": "100Mi", "hugepages-2Mi": "2Mi"}),)
    found = calculate(TWO, KubeletConfig(reserved_memory=reserved))
    assert [(sums.resource, sums.equal) for sums in found.sums] == [("memory", True), ("hugepages-2Mi", False)]
    assert found.suggestion == section((0, "50Mi"), (1, "50Mi"))


def test_a_node_full_of_huge_pages_gets_nothing() -> None:
    nodes = (NUMANode(0, memory=4 * GI, hugepages={"1Gi": 4 * GI}), NUMANode(1, memory=4 * GI))
    found = calculate(Machine("full", nodes), KubeletConfig(reserved_memory=section((0, "100Mi"))))
    assert found.error == ""
    assert found.overdrawn == ((0, "memory"),)
    assert found.suggestion == section((1, "100Mi"))


@pytest.mark.parametrize(
    ("config", "obstacle"),
    [
        (KubeletConfig(eviction_hard={}), "nothing is reserved for the system"),
        (KubeletConfig(system_reserved={"memory": "100.5"}, eviction_hard={}), "is no whole number of bytes"),
        (KubeletConfig(system_reserved={"memory": "30Gi"}), "is more than the NUMA nodes have"),
    ],
    ids=["nothing reserved", "half a byte", "more than there is"],
)
def test_what_is_in_the_way_is_said(config: KubeletConfig, obstacle: str) -> None:
    found = calculate(TWO, config)
    assert found.suggestion == ()
    assert obstacle in found.obstacle


def test_refusals_of_the_validation_come_first() -> None:
    found = calculate(TWO, KubeletConfig(reserved_memory=section((0, "0"), (9, "100Mi"))))
    assert found.error == 'invalid configuration: reserved memory may not be zero for NUMA node 0 and resource "memory"'


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3 * GI), st.integers(0, GI)), min_size=1, max_size=6),
    st.integers(1, 6 * GI),
)
def test_every_suggestion_is_accepted(sizes: list[tuple[int, int]], need: int) -> None:
    """Whatever the nodes, the suggested section starts, overdraws no node, and is missing only for want of room."""
    nodes = tuple(
        NUMANode(node, memory=memory, hugepages={"2Mi": min(memory, pages)})
        for node, (memory, pages) in enumerate(sizes)
    )
    machine = Machine("any", nodes)
    config = KubeletConfig(system_reserved={"memory": str(need)}, eviction_hard={})
    found = calculate(machine, config)
    room = sum(node.memory - node.hugepages["2Mi"] for node in nodes)
    if need > room:
        assert found.suggestion == ()
        return
    again = calculate(machine, config._replace(reserved_memory=found.suggestion))
    assert (again.error, again.overdrawn) == ("", ())
