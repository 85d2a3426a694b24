"""Every aligned allocation there is: counted without listing, listed when asked, and none that the node has not."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.alternatives import Alternatives, Choice, alternatives
from numalign.analysis.matrix import matrix
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, STATIC, config, decision, machine, outcome, pod


def found(settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine | None = None) -> tuple[Alternatives, ...]:
    reached = outcome(settings, asked, *before, on=on)
    one = decision(reached)
    return alternatives(reached.before.node, one, matrix(reached.before.node, reached.demand, one))


def test_each_node_that_would_do_is_one() -> None:
    """Two CPUs of four, the GPU and the NIC, on either node."""
    both = found(config("single-numa-node"), pod("p", 2, gpu=1, nic=1))
    assert [(one.nodes, one.ways) for one in both] == [(0b01, 6), (0b10, 6)]
    assert both[0].choices == (
        Choice("cpu", 2, ("0", "1", "2", "3")),
        Choice(GPU, 1, ("0",)),
        Choice(NIC, 1, ("0",)),
    )
    assert next(both[1].listed()) == (("cpu", ("4", "5")), (GPU, ("1",)), (NIC, ("1",)))


def test_what_others_hold_is_no_choice() -> None:
    left = found(config("single-numa-node"), pod("p", 2, gpu=1), pod("there", 1, gpu=1))
    assert [one.nodes for one in left] == [0b10]
    assert found(config("single-numa-node"), pod("p", 1, gpu=1), pod("a", gpu=1), pod("b", gpu=1)) == ()


def test_what_needs_two_nodes_is_chosen_from_two() -> None:
    [one] = found(config("restricted"), pod("p", 6, gpu=1))
    assert one.nodes == 0b11
    assert [(choice.resource, choice.ways) for choice in one.choices] == [("cpu", 28), (GPU, 2)]


def test_a_sick_device_is_no_choice_and_one_without_a_node_is_one_everywhere() -> None:
    there = machine("figure-1")
    sick = there._replace(devices={GPU: (Device("a", (0,), healthy=False), Device("b", (1,)))})
    assert [one.nodes for one in found(config("single-numa-node"), pod("p", 1, gpu=1), on=sick)] == [0b10]
    loose = there._replace(devices={GPU: (Device("a"), Device("b"))})
    both = found(config("single-numa-node"), pod("p", 1, gpu=1), on=loose)
    assert [(one.nodes, one.choices[-1].members) for one in both] == [(0b01, ("a", "b")), (0b10, ("a", "b"))]


def test_without_enough_of_one_resource_there_is_no_choice_of_the_others_either() -> None:
    loose = machine("figure-1")._replace(devices={GPU: (Device("a"), Device("b"))})
    assert found(config("single-numa-node"), pod("p", 1, gpu=3), on=loose) == ()


def test_a_resource_of_which_none_is_asked_is_no_choice() -> None:
    both = found(config("single-numa-node"), pod("p", 1, gpu=0))
    assert [[choice.resource for choice in one.choices] for one in both] == [["cpu"], ["cpu"]]


def test_a_device_of_two_nodes_is_a_choice_on_each() -> None:
    wide = machine("figure-1")._replace(devices={GPU: (Device("a", (0, 1)),)})
    both = found(config("single-numa-node"), pod("p", 1, gpu=1), on=wide)
    assert [(one.nodes, one.choices[-1].members) for one in both] == [(0b01, ("a",)), (0b10, ("a",))]


def test_reserved_cpus_are_no_choice() -> None:
    [one, _] = found(config("single-numa-node", reserved_system_cpus="0"), pod("p", 1))
    assert one.choices == (Choice("cpu", 1, ("1", "2", "3")),)


def test_memory_has_no_ids_but_says_where() -> None:
    both = found(config("single-numa-node", **STATIC), pod("p", 1, "14848Mi"))
    assert [one.nodes for one in both] == [0b10]


def test_on_many_nodes_only_single_ones_are_looked_at() -> None:
    """Nine nodes and more would be too many combinations."""
    gb200 = machine("gb200")
    widest = max(node.cpus.bit_count() for node in gb200.numa_nodes)
    options = {"max-allowable-numa-nodes": "64"}
    settings = config("restricted", topology_manager_policy_options=options)
    assert found(settings, pod("p", widest + 1), on=gb200) == ()
    assert found(settings, pod("p", widest), on=gb200)


def test_too_many_to_hold_are_given_one_by_one() -> None:
    on = machine("hgx-h100")
    many = found(config("single-numa-node"), pod("p", 40), on=on)[0]
    assert many.ways > 10**20
    assert len(list(islice(many.listed(), 3))) == 3


@pytest.mark.parametrize("amount", [0, 1, 3, 4])
def test_ways_are_counted_without_listing(amount: int) -> None:
    choice = Choice("cpu", amount, ("0", "1", "2"))
    assert choice.ways == {0: 1, 1: 3, 3: 1, 4: 0}[amount]


@given(st.integers(1, 4), st.integers(0, 1), st.integers(0, 1), st.lists(st.integers(1, 3), max_size=3))
def test_what_is_listed_is_counted_and_the_kubelets_own_choice_is_among_it(
    cpus: int, gpus: int, nics: int, before: list[int]
) -> None:
    there = [pod(f"p{number}", each) for number, each in enumerate(before)]
    asked = pod("p", cpus, gpu=gpus, nic=nics)
    reached = outcome(config("single-numa-node"), asked, *there, fit_check=False)
    every = found(config("single-numa-node"), asked, *there)
    listed = [given for one in every for given in one.listed()]
    assert len(listed) == len(set(listed)) == sum(one.ways for one in every)
    assert bool(every) == reached.admit
    if reached.admit:
        given = reached.after.cpu.assigned(reached.demand.uid, "app") or 0
        own = tuple(str(cpu) for cpu in range(given.bit_length()) if given >> cpu & 1)
        assert own in {dict(one)["cpu"] for one in listed}
