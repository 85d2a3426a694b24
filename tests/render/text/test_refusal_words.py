"""A refusal in words: each cause says what is asked, what there is, and what would be readable or possible instead."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.refusal import refusal
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from numalign.render.text.amounts import amount_text
from numalign.render.text.words import why
from tests.analysis.support import GPU, NIC, STATIC, config, limits, machine, outcome, pod, pod_of
from tests.refusals.survey import named, refusals
from tests.render.text.support import recorded

FULL = {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}
FIGURE, HYPER = machine("figure-1"), machine("hgx-h100")


def words(settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine = FIGURE) -> list[str]:
    found = outcome(settings, asked, *before, on=on)
    assert not found.admit
    return list(why(refusal(found)))


def with_gpus(*devices: Device) -> Machine:
    return FIGURE._replace(devices={GPU: devices, NIC: FIGURE.devices[NIC]})


def test_devices_of_which_no_node_is_told_are_not_blamed_for_it() -> None:
    """The plugin tells no node of any, so all of them count, wherever they are."""
    found = words(config("restricted"), pod("p", 9, gpu=3), on=with_gpus(Device("a"), Device("b", ())))
    assert any(
        line.startswith("gpu-vendor.com/gpu: 3 requested, 2 on the machine (the device plugin reports no NUMA node)")
        for line in found
    )
    assert not any("no known NUMA node" in line for line in found)


@pytest.mark.parametrize(
    ("settings", "asked", "before", "on", "expected"),
    [
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=2),
            (),
            with_gpus(Device("a", (0,)), Device("b"), Device("c")),
            [
                (f"{GPU}: 2 requested, 3 free in total (NUMA 0: 1 of 1, NUMA node unknown: 2 of 2)"),
                (
                    f"{GPU}: NUMA node unknown for 2 free. restricted counts only "
                    "devices with a known NUMA node: 1 of 1 free."
                ),
            ],
            id="devices whose node nobody tells do not count",
        ),
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=1),
            (),
            with_gpus(Device("a", (-1,)), Device("b", (7,))),
            [
                (f"{GPU}: 1 requested, 2 free in total (the device plugin reports no NUMA node of this machine)"),
                (f"{GPU}: the device plugin reports NUMA -1, 7, not on this machine. restricted counts none."),
            ],
            id="devices on nodes that the machine does not have are taken by no policy that chooses nodes",
        ),
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=2),
            (),
            with_gpus(Device("a", (0,)), Device("b", (-1,))),
            [
                (f"{GPU}: 2 requested, 2 free in total (NUMA 0: 1 of 1, NUMA node unknown: 1 of 1)"),
                (
                    f"{GPU}: NUMA node unknown for 1 free (the device plugin reports "
                    "NUMA -1, not on this machine). restricted counts only devices with a known NUMA "
                    "node: 1 of 1 free."
                ),
            ],
            id="a device on a node that the machine does not have beside one on a node",
        ),
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=3),
            (),
            with_gpus(Device("a", (0, 1)), Device("b", (1,))),
            [(f"{GPU}: 3 requested, 2 on the machine (NUMA 1: 1, NUMA 0-1 at once: 1)")],
            id="a device of two nodes is told apart, so that the amounts add up",
        ),
        pytest.param(
            config("none", **FULL),
            pod("p", 5),
            (),
            HYPER,
            [("5 CPUs are not whole cores, and full-pcpus-only allocates whole cores (2 CPUs each). Request 4 or 6.")],
            id="whole cores: the next numbers",
        ),
        pytest.param(
            config("restricted", topology_manager_scope="pod", **FULL),
            pod_of("p", one=limits(2), two=limits(3)),
            (),
            HYPER,
            [
                (
                    "3 CPUs of two are not whole cores, and full-pcpus-only allocates whole cores (2 "
                    "CPUs each). Request 2 or 4."
                )
            ],
            id="whole cores: the container's own number in scope pod",
        ),
        pytest.param(
            config("restricted", topology_manager_scope="pod", **FULL),
            pod("p", 3),
            (),
            HYPER,
            [("3 CPUs are not whole cores, and full-pcpus-only allocates whole cores (2 CPUs each). Request 2 or 4.")],
            id="whole cores: of a pod of one container the same in either scope",
        ),
        pytest.param(
            config("none", **FULL),
            pod("p", 6),
            (pod("q", 4),),
            FIGURE,
            ["cpu: 6 requested, 4 free now, 8 on an empty node"],
            id="one thread a core: nothing about cores",
        ),
        pytest.param(
            config("none", **STATIC),
            pod("p", 1, "3.73Gi"),
            (),
            FIGURE,
            [
                (
                    "memory: 3.73Gi of container app is not a whole number of bytes for the Memory "
                    "Manager. Request 3819Mi or 3820Mi."
                )
            ],
            id="no whole number of bytes",
        ),
        pytest.param(
            config("none"),
            pod_of("p", one=limits(5), two=limits(4)),
            (),
            FIGURE,
            [
                ("cpu: 4 requested, 3 of 8 free: one of this pod holds 5"),
                "cpu: containers request 9 (one 5 + two 4), 8 on the machine",
            ],
            id="never, because its containers together ask for more than there is",
        ),
        pytest.param(
            config("single-numa-node"),
            pod_of("p", one=limits(3), two=limits(3), three=limits(2)),
            (),
            FIGURE,
            [
                (
                    "single-numa-node takes 2 CPUs from 1 NUMA node. Left after one and two: NUMA 0: "
                    "1 of 4, NUMA 1: 1 of 4."
                ),
            ],
            id="never, because its own containers are in the way",
        ),
        pytest.param(
            config("restricted", **STATIC),
            pod("p", 1, "16Gi"),
            (pod("a", 1, "6Gi"), pod("b", 4, "6Gi")),
            FIGURE,
            [
                "on an empty node: 1 CPU fits on 1 NUMA node: each has 4.",
                "on an empty node: 16Gi of memory needs 2 NUMA nodes: each has at most 15Gi.",
                (
                    "on an empty node: restricted requires each resource on as few NUMA nodes as "
                    "possible, and all resources on the same NUMA nodes."
                ),
                ("now: memory: 16Gi requested, 17Gi free in total (NUMA 0: 8Gi of 14Gi, NUMA 1: 9Gi of 15Gi)"),
                (
                    "now: Memory is held on NUMA 0 (by a) and NUMA 1 (by b). The Memory Manager "
                    "combines no NUMA node in single use with others."
                ),
                ("now: The request must fit on NUMA 1 (9Gi of memory free) or NUMA 0 (8Gi of memory free)."),
            ],
            id="memory is there, but its nodes are bound by who holds it",
        ),
        pytest.param(
            config("none"),
            pod("p", 1, "40Gi"),
            (),
            FIGURE,
            ["memory: 40Gi requested, 30Gi allocatable on the node"],
            id="the node as a whole never has it",
        ),
        pytest.param(
            config("none"),
            pod("p", 1, "20Gi"),
            (pod("a", 1, "16Gi"),),
            FIGURE,
            ["memory: 20Gi requested, 14Gi of 30Gi left: other pods request 16Gi"],
            id="the node as a whole has it, others hold it",
        ),
    ],
)
def test_a_cause_in_words(
    settings: KubeletConfig, asked: Pod, before: tuple[Pod, ...], on: Machine, expected: list[str]
) -> None:
    assert words(settings, asked, *before, on=on) == expected


def test_what_an_init_container_held_is_taken_over() -> None:
    """Two CPUs of node 0 go to the next container; node 0 has one more, and three are asked from one node."""
    asked = pod_of("p", init=limits(1), app=limits(4))
    found = words(config("single-numa-node"), asked, pod("there", 1), on=FIGURE)
    assert found == [
        (
            "single-numa-node takes 4 CPUs from 1 NUMA node. Init container init leaves 1 "
            "CPU on NUMA 0, which the container must use. Free now: NUMA 0: 2 + 1 of 4, NUMA "
            "1: 4 of 4."
        )
    ]


def test_what_an_init_container_hands_on_is_counted_beside_what_is_free() -> None:
    """Node 0 has three CPUs beside the two handed on, node 1 four: nine are asked."""
    asked = pod_of("p", init=limits(2), app=limits(9))
    assert words(config("best-effort"), asked, on=FIGURE) == [
        "cpu: 9 requested, 6 free and 2 left by init (NUMA 0: 4 of 4, NUMA 1: 4 of 4)"
    ]


def test_what_an_init_container_leaves_is_part_of_what_there_is() -> None:
    """Another pod holds three CPUs, so that with the two handed on there are five."""
    asked = pod_of("p", init=limits(2), app=limits(6))
    assert words(config("best-effort"), asked, pod_of("a", app=limits(3)), on=FIGURE) == [
        "cpu: 6 requested, 3 free and 2 left by init (NUMA 0: 1 of 4, NUMA 1: 4 of 4)"
    ]


def test_memory_that_an_init_container_hands_on_is_added_up() -> None:
    """The pod's own init container is no other pod; memory of which there is enough everywhere is no obstacle."""
    data = named("e2e-d-00605")
    [found] = [outcome for index, _, outcome in refusals(data) if index == 4]
    assert list(why(refusal(found))) == [
        ("hugepages-2Mi: 256Mi requested, 380Mi free in total (NUMA 0: 252Mi + 2Mi of 256Mi, NUMA 1: 128Mi of 128Mi)"),
        "single-numa-node takes all of it from 1 NUMA node.",
        (
            "Init container i0 leaves 2Mi of hugepages-2Mi on NUMA 0 to later containers, "
            "usable only with free memory of NUMA 0. 252Mi + 2Mi = 254Mi, 256Mi requested."
        ),
    ]


def test_a_hint_that_cannot_be_extended_is_told_as_memory_that_binds_its_nodes() -> None:
    found = outcome(
        config("restricted", **STATIC), pod("p", 1, "16Gi"), pod("a", 1, "6Gi"), pod("b", 4, "6Gi"), on=FIGURE
    )
    assert "failed to find NUMA nodes to extend the current topology hint" in found.message
    assert any("Resources cannot be allocated" in line or "Memory Manager" in line for line in why(refusal(found)))


def test_each_resource_that_would_be_refused_alone_is_named() -> None:
    assert words(config("single-numa-node"), pod("p", 5, gpu=3), on=FIGURE)[:2] == [
        ("5 CPUs need 2 NUMA nodes: each has at most 4. single-numa-node allows 1."),
        f"{GPU}: 3 requested, 2 on the machine (NUMA 0: 1, NUMA 1: 1)",
    ]


def test_what_is_taken_over_ties_a_container_to_a_node() -> None:
    """The init container took CPUs of node 0, whose only device is gone: what is free on node 1 does not help."""
    asked = pod_of("p", init=limits(1), app=limits(1, gpu=1))
    found = words(config("single-numa-node"), asked, pod("there", 1, gpu=1))
    assert found == [
        ("cpu: 1 requested. Init container init leaves 1 CPU on NUMA 0; the container must use NUMA 0."),
        (f"{GPU}: 1 requested: too few free on NUMA 0 (NUMA 0: 0 of 1, NUMA 1: 1 of 1)"),
    ]


def test_pages_of_an_init_container_alone_are_named_in_scope_pod() -> None:
    """They have no part in what the pod asks for as a whole."""
    asked = pod_of("p", init={**limits(1), "hugepages-2Mi": "4Gi"}, app=limits(1))
    assert words(config("best-effort", topology_manager_scope="pod", **STATIC), asked)[0] == (
        "hugepages-2Mi: 4Gi requested, 2Gi on the machine (NUMA 0: 1Gi, NUMA 1: 1Gi)"
    )


def test_a_node_that_is_too_small_names_who_asks_for_how_much() -> None:
    assert words(config("none"), pod_of("p", one=limits(2, "20Gi"), two=limits(1, "20Gi"))) == [
        "memory: 40Gi requested (one 20Gi + two 20Gi), 30Gi allocatable on the node"
    ]


@given(st.integers(1, 1 << 42), st.integers(1, 1 << 42))
def test_too_little_never_looks_like_enough(there: int, asked: int) -> None:
    assert there >= asked or amount_text("memory", there) != amount_text("memory", asked, up=True)


@pytest.mark.parametrize(
    ("amount", "down", "up"),
    [
        pytest.param(7582 << 20, "7582Mi", "7582Mi", id="a short number is exact"),
        pytest.param(31340 << 20, "30.6Gi", "31340Mi", id="so is a longer one that somebody requests"),
        pytest.param((15 << 30) + (1 << 10), "15.0Gi", "15.0Gi", id="a long one has a decimal"),
    ],
)
def test_amounts_are_exact_or_have_one_decimal(amount: int, down: str, up: str) -> None:
    assert (amount_text("memory", amount), amount_text("memory", amount, up=True)) == (down, up)


def test_a_sum_of_amounts_in_two_units_adds_up_as_it_is_written() -> None:
    """All but 120Mi of 7.67Gi: 7.6Gi less 119.8Mi is not 7.4Gi."""
    [found] = [refused for step, _, refused in refusals(named("e2e-d-00155")) if step == 2]
    assert next(why(refusal(found))) == (
        "memory: 1060Mi requested (c0 804Mi + c1 256Mi), 119.8Mi of 7.6Gi left: other pods request 7.5Gi"
    )


def test_a_sum_that_is_told_of_what_is_next_in_the_way_is_not_told_again() -> None:
    [found] = [refused for step, _, refused in refusals(named("e2e-d-00181")) if step == 0]
    assert list(why(refusal(found))) == [
        "amd.com/gpu: 4 requested (s0 2 + c2 2), 1 on the machine",
        ("xilinx.com/fpga: 3 requested (s0 1 + c0 1 + c2 1), 2 by i1 before, 1 on the machine"),
    ]


def test_what_nodes_never_have_without_reserved_cpus_is_not_told_again_of_an_empty_machine() -> None:
    [found] = [refused for step, _, refused in refusals(named("e2e-d-01383")) if step == 1]
    sentences = list(why(refusal(found)))
    assert sentences[0].startswith(
        "10 CPUs do not fit: 3 NUMA nodes have at most 9 for pods. restricted allows 3 "
        "NUMA nodes, because the kubelet also counts reserved CPUs (1 on each of NUMA "
        "0-3). Init container i0 leaves 2 CPUs on NUMA 1, which the container must use. "
        "Free now: NUMA 0: 3 of 3, NUMA 1: 1 + 2 of 3, NUMA 2: 3 of 3, NUMA 3: 3 of 3."
    )
    assert not [one for one in sentences[1:] if one.partition(": ")[0].endswith("cpu")]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param("lifecycle-d-00402", 12, id="other pods hold it"),
        pytest.param("e2e-d-02364", 4, id="a sidecar of the pod holds some"),
        pytest.param("e2e-d-00234", 11, id="its plugin puts it on no node"),
    ],
)
def test_what_is_enough_on_the_whole_machine_is_not_told_as_never_enough(name: str, step: int) -> None:
    for line in recorded(name, step):
        found = re.search(r": (\d+) asked\b.*? never has more than (\d+)\b", line)
        assert found is None or int(found[1]) > int(found[2]), line
