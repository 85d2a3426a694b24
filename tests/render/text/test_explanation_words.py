"""The whole text of a refused pod: tables and notes, what to change, why each part is needed, where it goes then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from numalign.model.machine import Device
from tests.analysis.support import GPU, NIC, config, limits, machine, pod, pod_of
from tests.render.text.support import FIGURE, explained, recorded

HYPER = machine("hgx-h100")
LOOSE = FIGURE._replace(devices={GPU: (Device("a"), Device("b")), NIC: FIGURE.devices[NIC]})
SINGLE, POD = config("single-numa-node"), config("restricted", topology_manager_scope="pod")
FULL = config("restricted", cpu_manager_policy_options={"full-pcpus-only": "true"})


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            lambda: explained(SINGLE, pod("p", 4), pod("a", 3), pod("b", 3)),
            ["1. Move pod b off the node: aligned on NUMA 1"],
            id="an aligned pod has its nodes named",
        ),
        pytest.param(
            lambda: explained(SINGLE, pod_of("p", one=limits(4), two=limits(3)), pod("a", 2)),
            ["1. Move pod a off the node: aligned (one on NUMA 0, two on NUMA 1)"],
            id="containers on different nodes are named with theirs",
        ),
        pytest.param(
            lambda: explained(config("best-effort"), pod("p", 2, gpu=2), pod("a", 1, gpu=1), on=LOOSE),
            ["all |  | no | no | "],
            id="devices of no known node have no cell, and no tick where there are too few",
        ),
        pytest.param(
            lambda: explained(FULL, pod("p", 3), on=HYPER),
            [
                "cpu | 3 | 112 of 112 ✗ | 112 of 112 ✗ | whole cores only",
                "all |  | no | no | ",
                ("cpu ✗ also where single CPUs are enough: full-pcpus-only allocates whole cores only."),
            ],
            id="single CPUs have no tick where whole cores are given out",
        ),
        pytest.param(
            lambda: explained(config("restricted"), pod("p", 1, "20Gi"), pod("a", 1, "16Gi")),
            ["✓ counts NUMA nodes only; the node totals reject the pod"],
            id="a tick does not promise that the node as a whole wants the pod",
        ),
        pytest.param(
            lambda: explained(
                config("best-effort"), pod_of("p", one=limits(1, gpu=1), two=limits(1, gpu=1)), pod("a", 1, gpu=1)
            ),
            [(f"{GPU}: 1 requested, 0 of 2 free: one of this pod holds 1, other pods 1")],
            id="what the pod's own containers hold stands beside what is free",
        ),
        pytest.param(
            lambda: explained(config("best-effort"), pod_of("p", one=limits(1, gpu=1), two=limits(1, gpu=2))),
            [(f"{GPU} | 2 | 0 of 1 ✗ | 1 of 1 ~ | nothing")],
            id="nothing is said of other pods that hold nothing",
        ),
        pytest.param(
            lambda: explained(POD, pod_of("p", one=limits(1, gpu=1), two=limits(1, gpu=2))),
            [(f"{GPU}: 3 requested (one 1 + two 2), 2 on the machine (NUMA 0: 1, NUMA 1: 1)")],
            id="a sum of containers is told with what it is made of, once",
        ),
    ],
)
def test_a_text_says(found: Callable[[], list[str]], expected: list[str]) -> None:
    text = found()
    assert [line for line in text if line in expected] == expected, "\n".join(text)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (
            (Device("a", (0, 1)), Device("b", (1,))),
            [
                f"{GPU} | 3 | 1 of 1 ~ | 2 of 2 ~ | nothing",
                (
                    f"~ part of the request; {GPU}: a device of several NUMA nodes "
                    "counts on each (NUMA 1: 1 of 1, NUMA 0-1 at once: 1 of 1)"
                ),
            ],
        ),
        (
            (Device("a", (0,)), Device("b")),
            [
                f"{GPU} | 3 | 1 of 1 ~ | 0 of 0 ✗ | nothing",
                (f"~ part of the request; {GPU}: devices with an unknown NUMA node count on none (1 of 1 free)"),
            ],
        ),
    ],
    ids=["on several", "on none"],
)
def test_devices_that_a_table_cannot_place_stand_below_it(devices: tuple[Device, ...], expected: list[str]) -> None:
    text = explained(SINGLE, pod("p", 1, gpu=3), on=FIGURE._replace(devices={GPU: devices}))
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_numbers_of_the_kubelet_that_are_those_of_the_request_need_no_word() -> None:
    assert not [line for line in recorded("e2e-d-00413", 1) if line.startswith("its numbers")]


def test_what_a_node_cannot_give_is_told_once() -> None:
    text = recorded("lifecycle-d-00241", 3)
    head = text[: next(place for place, line in enumerate(text) if line.startswith("Kubelet, "))]
    assert len([line for line in head if line.startswith("memory: ") and "too few free on NUMA 0" in line]) == 1


def test_a_sign_that_no_table_has_is_not_explained() -> None:
    assert not [line for line in explained(FULL, pod("p", 3), on=HYPER) if line.startswith("~")]


def test_widths_that_count_unhealthy_devices_say_so() -> None:
    """Two of the three of node 0 are sick: the kubelet still takes three for one node's worth."""
    sick = (Device("a", (0,)), Device("b", (0,), healthy=False), Device("c", (0,), healthy=False))
    on = FIGURE._replace(devices={GPU: (*sick, Device("d", (1,)), Device("e", (1,)))})
    assert explained(config("restricted"), pod("p", 1, gpu=3), on=on)[1] == (
        f"3 {GPU} do not fit: 1 NUMA node has at most 2 for pods. restricted "
        "allows 1 NUMA node, because the kubelet also counts unhealthy devices (2 on "
        "NUMA 0). Free now: NUMA 0: 1 of 1, NUMA 1: 2 of 2."
    )


def test_what_stays_in_the_way_when_sick_devices_are_mended_is_named() -> None:
    assert recorded("e2e-d-02818", 4)[2] == (
        "memory fits on 1 NUMA node. restricted requires as many for xilinx.com/fpga, which needs at least 2."
    )


def test_cpus_that_the_kubelet_handed_out_twice_are_named() -> None:
    assert (
        "cpu does not add up: CPU 6 is allocated and counted as free, or allocated twice "
        "(kubelet bug on cores of unequal size)."
    ) in recorded("e2e-d-00238", 8)


def test_cpus_that_are_no_whole_cores_are_told_beside_what_else_refuses() -> None:
    assert (
        "also: 1 CPU of c0 is not a whole core, and full-pcpus-only allocates whole cores (2 CPUs each). Request 2."
    ) in recorded("e2e-d-00596", 2)


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02963",
            5,
            [
                (
                    "The node is too full: 3 amd.com/gpu requested (reduced below), 1 free now, 2Gi "
                    "hugepages-1Gi requested, 0 free now, 8 mellanox.com/rdma requested, 7 free now."
                )
            ],
            id="pods are moved away for all that they hold",
        ),
        pytest.param(
            "e2e-d-02968",
            3,
            ["No table for the container after c0: the kubelet stopped there."],
            id="a container that the kubelet did not come to has no table, and a line says so",
        ),
        pytest.param(
            "e2e-d-00832",
            6,
            ["2 nvidia.com/gpu fit on 1 NUMA node."],
            id="all that fits one node is named where what does not is in the way",
        ),
        pytest.param(
            "e2e-d-00170",
            4,
            [
                (
                    "c0 goes to NUMA 0 (with s0 there): 2867Mi memory requested, 2168Mi free now, 1 "
                    "example.com/notopo requested (reduced below), 0 free now."
                )
            ],
            id="the node that a pod goes to is named with all that is short there",
        ),
        pytest.param(
            "e2e-d-01373",
            1,
            [("1 CPU of c0 is not a whole core, and full-pcpus-only allocates whole cores (2 CPUs each). Request 2.")],
            id="a raise for whole cores says so",
        ),
        pytest.param(
            "e2e-d-02856",
            2,
            ["- request 1638Mi or 1639Mi memory (now 1.6Gi)"],
            id="a part of a byte is written as it was asked for",
        ),
        pytest.param(
            "e2e-d-02386",
            0,
            [
                (
                    "memory: 4.8Gi of container i0 is not a whole number of bytes for the Memory "
                    "Manager. Request 4915Mi or 4916Mi."
                ),
                "after this fix: 8 CPUs (by c0) need 2 NUMA nodes: each has at most 4.",
                "4916Mi of memory (by i0) fits on 1 NUMA node: each has at most 64Gi.",
            ],
            id="what is refused once an odd number is mended is told at once",
        ),
        pytest.param(
            "e2e-d-02138",
            7,
            [
                "intel.com/sriov: 1 requested, 0 of 1 free",
                "hugepages-2Mi: 512Mi requested, 0 of 1Gi free",
            ],
            id="memory that nobody was asked for is named, too, where it is short",
        ),
        pytest.param(
            "lifecycle-d-00241",
            3,
            [
                ("p2: rejected at container c0, even on an empty node with these settings"),
                (
                    "after this fix, container c1: cpu: 4 requested. Init container i0 leaves 2 CPUs "
                    "on NUMA 0; the container must use NUMA 0."
                ),
            ],
            id="a reason that is about another container names it",
        ),
        pytest.param(
            "lifecycle-d-00030",
            0,
            [
                ("- request a share of a CPU, such as 100m (now 6) in container c0 (no exclusive CPUs)"),
                "Not even 2: cpu: containers request 6 (c0 2 + c1 2 + c2 2), 5 on the machine",
                (
                    "A share of a CPU counts against the node totals only. Other pods request 0 of "
                    "5.8 CPUs, which leaves 5.8, 4.1 requested."
                ),
            ],
            id="a share of a CPU is no smaller number of CPUs",
        ),
        pytest.param(
            "lifecycle-d-00014",
            0,
            ["amd.com/gpu: 3 requested, 2 on the machine"],
            id="a container's own number is no sum of others that is as large",
        ),
        pytest.param(
            "e2e-d-02527",
            2,
            [("cpu: 17 requested (s0 1 + i0 16), 5 of 14 free, 14 on the machine")],
            id="the sum of a whole pod may be that of an init container and the sidecars before it",
        ),
        pytest.param(
            "e2e-d-00419",
            3,
            [
                (
                    "No other policy admits the pod beside the pods on the node. best-effort: 9 CPUs "
                    "of i0 are not whole cores, and full-pcpus-only allocates whole cores (2 CPUs "
                    "each). Request 8 or 10."
                )
            ],
            id="where the policy is named as in the way, and no other one does, that is said",
        ),
        pytest.param(
            "e2e-d-00302",
            3,
            ["No other policy admits the pod: too little hugepages-1Gi under every policy."],
            id="what an empty machine lacks under any policy is named alone",
        ),
        pytest.param(
            "e2e-d-00942",
            2,
            [
                (
                    "No other policy admits the pod beside the pods on the node. best-effort: "
                    "intel.com/sriov: 1 requested, 0 of 6 free: s0 of this pod holds 4, other pods 2"
                )
            ],
            id="how best-effort refuses it is told beside the pods that are there, without others",
        ),
        pytest.param(
            "e2e-d-02434",
            1,
            ["best-effort admits the pod only if p0 (rejected so far) does not start before this pod."],
            id="a policy that does only without a pod that comes first under it says so",
        ),
        pytest.param(
            "e2e-d-00330",
            7,
            [
                (
                    "No other policy admits the pod beside the pods on the node. best-effort: after "
                    "a restart the kubelet would reject p1, p4."
                )
            ],
            id="a policy under which pods that are there would be refused is none that does",
        ),
        pytest.param(
            "e2e-d-00962",
            1,
            [("p1: rejected at container c0 now, even on an empty node, at container c1")],
            id="a container that no machine admits is told apart from the one refused now",
        ),
        pytest.param(
            "lifecycle-d-00327",
            14,
            [
                (
                    "example.com/notopo: 4 requested (c0 1 + c1 3), 3 on the machine (the device "
                    "plugin reports no NUMA node)"
                ),
                "now: cpu: 4 requested (c0 2 + c1 2), 2 of 7 free",
            ],
            id="what refuses it at any time comes before what does today",
        ),
        pytest.param(
            "e2e-d-00068",
            2,
            [
                "hugepages-1Gi: 2Gi requested, 1Gi allocatable on the node",
                ("now: memory: 32Gi requested, 30.8Gi of 62.8Gi left: other pods request 32Gi"),
            ],
            id="the same of the node as a whole",
        ),
        pytest.param(
            "e2e-d-00151",
            5,
            [("also: cpu: 18 requested (c0 16 + c1 2), 14.5 (14 whole) of 30.5 left: other pods request 16")],
            id="a reason about a container that the change does not touch names it",
        ),
        pytest.param(
            "e2e-d-01050",
            6,
            [
                ("amd.com/gpu: 2 requested, 1 on the machine (the device plugin reports no NUMA node of this machine)"),
                ("amd.com/gpu: the device plugin reports NUMA -1, not on this machine. restricted counts none."),
            ],
            id="why one device of no known node would not do either",
        ),
        pytest.param(
            "e2e-d-00269",
            1,
            [("+ left by the pod's init containers; for cpu the container must use NUMA 1, so others are ✗")],
            id="signs of a table that need words have them",
        ),
        pytest.param(
            "lifecycle-d-00329",
            9,
            [
                (
                    "nvidia.com/gpu: 1 requested. Init container i1 leaves 1 nvidia.com/gpu on NUMA "
                    "0, which the container must use."
                )
            ],
            id="why one node must be used stands beside its amounts",
        ),
        pytest.param(
            "e2e-d-02552",
            2,
            [
                (
                    "mellanox.com/rdma: 4 requested by c0, 0 of 3 free, 3 on the machine (NUMA 0: 0 "
                    "of 1, NUMA 0-1 at once: 0 of 2)"
                ),
                (
                    'Kubelet, allocating for container i0 (the first to fail): "UnexpectedAdmissionError: Allocate '
                    "failed due to requested number of devices unavailable for mellanox.com/rdma. Requested: 1, "
                    'Available: 0, which is unexpected"'
                ),
            ],
            id="who asks for the most of a whole pod, and where the kubelet stopped, are two things",
        ),
        pytest.param(
            "e2e-d-00741",
            8,
            [
                ("Without p4 and p5: Limit (next whole core: 8): With 8 cpu the kubelet would choose NUMA 3."),
                ("hugepages-2Mi: 128Mi requested by container i0, 0 free on NUMA 3, the chosen NUMA node"),
                "The kubelet looks for other NUMA nodes, with NUMA 3 among them.",
                (
                    "NUMA 0,3 have enough, but the kubelet takes as few NUMA nodes as possible. For "
                    "container i0 1 is enough on an empty node."
                ),
            ],
            id="huge pages that only init containers ask for are missed on the nodes chosen without them",
        ),
        pytest.param(
            "e2e-d-01387",
            3,
            [("1 CPU is not a whole core, and full-pcpus-only allocates whole cores (2 CPUs each).")],
            id="who is told to ask for a share is not told to ask for a whole core",
        ),
        pytest.param(
            "e2e-d-01599",
            2,
            ["4.8Gi is not a whole number of bytes, which the Memory Manager requires."],
            id="more is asked where the amount is no whole number of bytes",
        ),
        pytest.param(
            "e2e-d-02759",
            6,
            [("Requested: 5 is the rest for container c0: 2 of 7 amd.com/gpu come from init containers.")],
            id="numbers of the kubelet's message: what init containers leave is had before",
        ),
        pytest.param(
            "e2e-d-01909",
            0,
            [("requested=30 is the rest for container c1: 4 of 34 cpu come from NUMA 0.")],
            id="numbers of the kubelet's message: CPUs of the chosen nodes are had before",
        ),
        pytest.param(
            "e2e-d-02421",
            1,
            [
                (
                    "on an empty node: hugepages-1Gi: 1Gi requested, 0 on the node. Fix: boot with "
                    "hugepagesz=1G hugepages=1 or more (uses 1Gi of memory)."
                )
            ],
            id="what an empty machine lacks is lacking now, too",
        ),
    ],
)
def test_a_recorded_refusal_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in dict.fromkeys(text) if line in expected] == expected, "\n".join(text)


def test_a_pod_of_which_nothing_is_tied_to_nodes_has_no_tick() -> None:
    text = recorded("e2e-d-00856", 2)
    assert "The kubelet aligns nothing of the whole pod." in text
    assert not [line for line in text if "✓" in line]


def test_what_the_machine_never_has_is_not_told_again_of_an_empty_one() -> None:
    text = recorded("e2e-d-02132", 4)
    assert any(" 0 of 2 free, 2 on the machine" in line for line in text)
    assert not [line for line in text if line.startswith("on an empty node")]


@pytest.mark.parametrize(
    ("name", "step", "text"),
    [
        pytest.param(
            "e2e-d-00203",
            0,
            (
                "2. Set the policy to best-effort (now restricted): aligned on NUMA 0-1 (CPUs "
                "need 2; nvidia.com/gpu on NUMA 1)"
            ),
            id="what is aligned and needs fewer nodes is said to lie on fewer",
        ),
        pytest.param(
            "e2e-d-01665",
            0,
            (
                "mellanox.com/rdma on NUMA 0,3 at once. The container requests no CPUs, so it "
                "may run far from its devices."
            ),
            id="a device of two nodes",
        ),
        pytest.param(
            "e2e-d-01826",
            3,
            (
                "c1: hugepages-1Gi and memory on NUMA 0-1 and amd.com/gpu on NUMA 1. The CPUs "
                "are not pinned (the request is not a whole number of CPUs)."
            ),
            id="what is not remote",
        ),
    ],
)
def test_it_is_said_where_each_resource_lies(name: str, step: int, text: str) -> None:
    assert [line for line in recorded(name, step) if text in line]


def test_when_several_sentences_hold_is_said_once() -> None:
    found = recorded("e2e-d-01831", 6)
    place = found.index("on an empty node: 12 CPUs need 2 NUMA nodes: each has at most 8.")
    assert found[place + 1] == "2Gi of memory fits on 1 NUMA node: each has at most 7936Mi."
    assert sum("on an empty node: " in line for line in found) == 1


def test_amounts_left_by_init_containers_are_added_up_where_no_table_explains_them() -> None:
    found = recorded("lifecycle-d-00378", 11)
    assert "hugepages-1Gi: 3Gi requested, 1Gi free and 1Gi left by i0 (NUMA 0: 2Gi of 2Gi)" in found
    assert not [line for line in found if "1Gi + 1Gi" in line]


def test_memory_that_is_no_whole_number_of_bytes_has_no_row() -> None:
    found = recorded("e2e-d-02237", 0)
    assert "memory of i0 is not aligned (the request is not a whole number of bytes)" in found
