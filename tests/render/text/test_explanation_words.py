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
            ["1. move 1 pod away: b; it is aligned then, on node 1"],
            id="an aligned pod has its nodes named",
        ),
        pytest.param(
            lambda: explained(SINGLE, pod_of("p", one=limits(4), two=limits(3)), pod("a", 2)),
            ["1. move 1 pod away: a; it is aligned then, one on node 0, two on node 1"],
            id="containers on different nodes are named with theirs",
        ),
        pytest.param(
            lambda: explained(config("best-effort"), pod("p", 2, gpu=2), pod("a", 1, gpu=1), on=LOOSE),
            [
                f"{GPU}: 2 asked, the whole machine has 1 free (1 of 2; the plugin names no NUMA node for them)",
                f"{GPU} | 2 | - | - | nothing",
                "all of it |  | no ✗ | no ✗ | ",
                (
                    f"{GPU}: the plugin tells no NUMA node of any of them, so it does not matter which node; "
                    "1 free in all, 2 asked"
                ),
            ],
            id="devices of no known node have no cell, and no tick where there are too few",
        ),
        pytest.param(
            lambda: explained(FULL, pod("p", 3), on=HYPER),
            [
                "cpu | 3 | 112 of 112 ✗ | 112 of 112 ✗ | whole cores only",
                "all of it |  | no ✗ | no ✗ | ",
                "cpu ✗ also where enough single CPUs are free: full-pcpus-only gives out whole cores only",
            ],
            id="single CPUs have no tick where whole cores are given out",
        ),
        pytest.param(
            lambda: explained(config("restricted"), pod("p", 1, "20Gi"), pod("a", 1, "16Gi")),
            ["yes ✓ is about NUMA nodes; the node as a whole refuses the pod, see above"],
            id="a tick does not promise that the node as a whole wants the pod",
        ),
        pytest.param(
            lambda: explained(
                config("best-effort"), pod_of("p", one=limits(1, gpu=1), two=limits(1, gpu=1)), pod("a", 1, gpu=1)
            ),
            [
                (
                    f"{GPU}: 1 asked, the whole machine has 0 free, as this pod's own one holds 1 and other pods hold "
                    "1 (node 0: 0 of 1, node 1: 0 of 1)"
                )
            ],
            id="what the pod's own containers hold stands beside what is free",
        ),
        pytest.param(
            lambda: explained(config("best-effort"), pod_of("p", one=limits(1, gpu=1), two=limits(1, gpu=2))),
            [
                (
                    f"{GPU}: 2 asked, the whole machine has 1 free, as this pod's own one holds 1 "
                    "(node 0: 0 of 1, node 1: 1 of 1)"
                )
            ],
            id="nothing is said of other pods that hold nothing",
        ),
        pytest.param(
            lambda: explained(POD, pod_of("p", one=limits(1, gpu=1), two=limits(1, gpu=2))),
            [
                (
                    f"{GPU}: 3 asked (one 1 + two 2), the whole machine never has more than 2 "
                    "(node 0: 1 of 1, node 1: 1 of 1)"
                )
            ],
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
                "~ is some, but less than what is asked",
                f"{GPU}: a device of several nodes counts on each of them: node 1: 1 of 1, nodes 0-1 at once: 1 of 1",
            ],
        ),
        (
            (Device("a", (0,)), Device("b")),
            [
                f"{GPU} | 3 | 1 of 1 ~ | 0 of 0 ✗ | nothing",
                "~ is some, but less than what is asked",
                f"{GPU}: a device whose NUMA node is not known counts on no node: there is 1, and it is free",
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
    head = text[: next(place for place, line in enumerate(text) if line.startswith("the kubelet says"))]
    assert len([line for line in head if line.startswith("memory: ") and "node 0 cannot give it" in line]) == 1


def test_a_sign_that_no_table_has_is_not_explained() -> None:
    assert not [line for line in explained(FULL, pod("p", 3), on=HYPER) if line.startswith("~")]


def test_widths_that_count_unhealthy_devices_say_so() -> None:
    """Two of the three of node 0 are sick: the kubelet still takes three for one node's worth."""
    sick = (Device("a", (0,)), Device("b", (0,), healthy=False), Device("c", (0,), healthy=False))
    on = FIGURE._replace(devices={GPU: (*sick, Device("d", (1,)), Device("e", (1,)))})
    assert explained(config("restricted"), pod("p", 1, gpu=3), on=on)[1] == (
        f"{GPU}: 3 asked; as the kubelet counts devices that are not healthy (2 on node 0), too, one node is enough, "
        "and policy restricted allows no more nodes; but one node never has more than 2 for pods; free now: node 0: "
        "1 of 1, node 1: 2 of 2"
    )


def test_what_stays_in_the_way_when_sick_devices_are_mended_is_named() -> None:
    assert recorded("e2e-d-02818", 4)[2] == (
        "memory: fits one node, and policy restricted wants xilinx.com/fpga on as many, which takes 2 nodes at least"
    )


def test_cpus_that_the_kubelet_handed_out_twice_are_named() -> None:
    assert (
        "cpu does not add up: CPU 6 is held by a pod and counted as free, or held by two, since the kubelet misjudges "
        "cores of unequal size"
    ) in recorded("e2e-d-00238", 8)


def test_cpus_that_are_no_whole_cores_are_told_beside_what_else_refuses() -> None:
    assert "besides: cpu: 1 asked by c0, but full-pcpus-only gives out whole cores of 2 threads: ask for 2" in recorded(
        "e2e-d-00596", 2
    )


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02963",
            5,
            [
                (
                    "the machine has too little free now: 3 amd.com/gpu asked as reduced below, 1 free; 2Gi "
                    "hugepages-1Gi asked, 0 free; 8 mellanox.com/rdma asked, 7 free"
                )
            ],
            id="pods are moved away for all that they hold",
        ),
        pytest.param(
            "e2e-d-02968",
            3,
            ["no table for the container after c0: the kubelet goes no further"],
            id="a container that the kubelet did not come to has no table, and a line says so",
        ),
        pytest.param(
            "e2e-d-00051",
            11,
            ["no ✗ is about one NUMA node alone: this container passes"],
            id="an earlier container that fits no node alone was admitted all the same",
        ),
        pytest.param(
            "e2e-d-00832",
            6,
            ["nvidia.com/gpu: 2 asked: fits one node, too"],
            id="all that fits one node is named where what does not is in the way",
        ),
        pytest.param(
            "e2e-d-00170",
            4,
            [
                (
                    "c0 goes to node 0 then, which has too little free now (with s0 there until then): 2867Mi memory "
                    "asked, 2168Mi free; 1 example.com/notopo asked as reduced below, 0 free"
                )
            ],
            id="the node that a pod goes to is named with all that is short there",
        ),
        pytest.param(
            "e2e-d-01373",
            1,
            ["why: cpu: 1 asked by c0, but full-pcpus-only gives out whole cores of 2 threads: ask for 2"],
            id="a raise for whole cores says so",
        ),
        pytest.param(
            "e2e-d-02856",
            2,
            ["- ask for 1638Mi or 1639Mi memory instead of 1.6Gi"],
            id="a part of a byte is written as it was asked for",
        ),
        pytest.param(
            "e2e-d-02386",
            0,
            [
                (
                    "memory: 4.8Gi of container i0 is not read as a whole number of bytes, and the Memory Manager "
                    "takes no other: write 4915Mi or 4916Mi"
                ),
                "once that is corrected: cpu: 8 asked by c0: takes 2 nodes, as one has 4 at most",
                "memory: 4.8Gi asked by i0: fits one node, which has 64Gi at most",
            ],
            id="what is refused once an odd number is mended is told at once",
        ),
        pytest.param(
            "e2e-d-02138",
            7,
            [
                "intel.com/sriov: 1 asked, the whole machine has 0 free (node 0: 0 of 1)",
                "hugepages-2Mi: 512Mi asked, the whole machine has 0 free (node 0: 0 of 1024Mi)",
            ],
            id="memory that nobody was asked for is named, too, where it is short",
        ),
        pytest.param(
            "lifecycle-d-00241",
            3,
            [
                (
                    "p2: refused at container c0, never on this machine with these settings: an empty machine "
                    "refuses it, too"
                ),
                (
                    "once that is corrected, container c1: cpu: 4 asked: i0 leaves 2 CPUs of node 0 to it, so it must "
                    "use node 0"
                ),
            ],
            id="a reason that is about another container names it",
        ),
        pytest.param(
            "lifecycle-d-00030",
            0,
            [
                "- ask for a share of a cpu, such as 100m, instead of 6 in container c0 (no CPUs of its own then)",
                (
                    "why not even 2: cpu: the pod's containers together ask for 6 "
                    "(c0 2 + c1 2 + c2 2), and the machine never has more than 5"
                ),
                (
                    "a share counts only against the node as a whole, not against the CPUs that are free: 0 of 5.8 "
                    "requested by other pods, which leaves 5.8 for this pod, 4.1 asked"
                ),
            ],
            id="a share of a CPU is no smaller number of CPUs",
        ),
        pytest.param(
            "lifecycle-d-00014",
            0,
            ["amd.com/gpu: 3 asked, the whole machine never has more than 2 (node 0: 2 of 2)"],
            id="a container's own number is no sum of others that is as large",
        ),
        pytest.param(
            "e2e-d-02527",
            2,
            [
                (
                    "cpu: 17 asked (s0 1 + i0 16), the whole machine never has more than 14, and has 5 free now "
                    "(node 0: 5 of 6, node 1: 0 of 8)"
                )
            ],
            id="the sum of a whole pod may be that of an init container and the sidecars before it",
        ),
        pytest.param(
            "e2e-d-00419",
            3,
            [
                (
                    "no other --topology-manager-policy admits it as it is, with the pods that are there; best-effort: "
                    "cpu: 9 asked by i0, but full-pcpus-only gives out whole cores of 2 threads: ask for 8 or 10"
                )
            ],
            id="where the policy is named as in the way, and no other one does, that is said",
        ),
        pytest.param(
            "e2e-d-00302",
            3,
            ["no other --topology-manager-policy admits it as it is: too little hugepages-1Gi under any of them"],
            id="what an empty machine lacks under any policy is named alone",
        ),
        pytest.param(
            "e2e-d-00942",
            2,
            [
                (
                    "no other --topology-manager-policy admits it as it is, with the pods that are there; best-"
                    "effort: intel.com/sriov: 1 asked, the whole machine has 0 free, as this pod's own s0 holds 4 "
                    "and other pods hold 2 (node 0: 0 of 1, node 1: 0 of 3, node 2: 0 of 2, node 3: 0 of 0)"
                )
            ],
            id="how best-effort refuses it is told beside the pods that are there, without others",
        ),
        pytest.param(
            "e2e-d-02434",
            1,
            ["policy best-effort would admit it only while p0, refused so far, stays away"],
            id="a policy that does only without a pod that comes first under it says so",
        ),
        pytest.param(
            "e2e-d-00330",
            7,
            [
                (
                    "no other --topology-manager-policy admits it as it is, with the pods that are there; best-effort: "
                    "p1, p4, there now, would be refused where all pods are admitted anew"
                )
            ],
            id="a policy under which pods that are there would be refused is none that does",
        ),
        pytest.param(
            "e2e-d-00962",
            1,
            [
                (
                    "p1: refused at container c0 as the node is now; never admitted with these settings: an empty "
                    "machine refuses it at container c1"
                )
            ],
            id="a container that no machine admits is told apart from the one refused now",
        ),
        pytest.param(
            "lifecycle-d-00327",
            14,
            [
                (
                    "example.com/notopo: 4 asked (c0 1 + c1 3), the whole machine never has more than 3 (the plugin "
                    "names no NUMA node for them)"
                ),
                "as the node is now: cpu: 4 asked (c0 2 + c1 2), the whole machine has 2 free (node 0: 2 of 7)",
            ],
            id="what refuses it at any time comes before what does today",
        ),
        pytest.param(
            "e2e-d-00068",
            2,
            [
                "hugepages-1Gi: 2Gi asked, and the node has 1Gi",
                (
                    "as the node is now: memory: 32Gi asked, 32Gi of the node's 62.8Gi requested by other pods, which "
                    "leaves 30.8Gi"
                ),
            ],
            id="the same of the node as a whole",
        ),
        pytest.param(
            "e2e-d-00151",
            5,
            [
                (
                    "why no more: container c1: cpu: 2 asked, the whole machine has 1 free, as this pod's own c0 holds "
                    "13 and other pods hold 16 (node 0: 1 of 30)"
                )
            ],
            id="a reason about a container that the change does not touch names it",
        ),
        pytest.param(
            "e2e-d-01050",
            6,
            [
                (
                    "amd.com/gpu: 2 asked, the whole machine never has more than 1 (the plugin puts it on no NUMA "
                    "node of this machine)"
                ),
                (
                    "amd.com/gpu: the plugin puts them on NUMA node -1, which this machine does not have, so policy "
                    "restricted takes none of them"
                ),
            ],
            id="why one device of no known node would not do either",
        ),
        pytest.param(
            "e2e-d-00269",
            1,
            [
                (
                    "+ is what the pod's init containers held and leave to the next one; for cpu it must use node "
                    "1, too, so others are ✗"
                )
            ],
            id="signs of a table that need words have them",
        ),
        pytest.param(
            "lifecycle-d-00329",
            9,
            [
                (
                    "nvidia.com/gpu: 1 asked: its nodes must include node 0, where i1 leaves 1 "
                    "(node 0: 0 + 1 of 1, node 1: 2 of 2)"
                )
            ],
            id="why one node must be used stands beside its amounts",
        ),
        pytest.param(
            "e2e-d-02552",
            2,
            [
                (
                    "mellanox.com/rdma: 4 asked by c0, the whole machine never has more than 3, and has 0 free now "
                    "(node 0: 0 of 1, nodes 0-1 at once: 0 of 2)"
                ),
                (
                    "the kubelet says, while it handed out what was chosen, at container i0, the first of the pod for "
                    'which it failed: "UnexpectedAdmissionError: Allocate failed due to requested number of devices '
                    'unavailable for mellanox.com/rdma. Requested: 1, Available: 0, which is unexpected"'
                ),
            ],
            id="who asks for the most of a whole pod, and where the kubelet stopped, are two things",
        ),
        pytest.param(
            "e2e-d-00741",
            8,
            [
                "why no more (the next whole core makes 8), once p4 and p5 are gone: with 8 cpu node 3 would be chosen",
                "hugepages-2Mi: container i0 asks for 128Mi, and node 3, chosen for it, has 0 free",
                "so nodes are looked for again, with node 3 among them",
                (
                    "nodes 0,3 would do, but the kubelet takes no more nodes than it must: for what container i0 "
                    "itself asks one node is enough on an empty machine, and these are 2"
                ),
            ],
            id="huge pages that only init containers ask for are missed on the nodes chosen without them",
        ),
        pytest.param(
            "e2e-d-01387",
            3,
            ["why: cpu: 1 asked, but full-pcpus-only gives out whole cores of 2 threads"],
            id="who is told to ask for a share is not told to ask for a whole core",
        ),
        pytest.param(
            "e2e-d-01599",
            2,
            ["why: 4.8Gi is no whole number of bytes, and the Memory Manager takes no other"],
            id="more is asked where the amount is no whole number of bytes",
        ),
        pytest.param(
            "e2e-d-02759",
            6,
            [
                (
                    "Requested: 5 is what is still missing of the 7 amd.com/gpu that container c0 asks for: init "
                    "containers give 2 first"
                )
            ],
            id="numbers of the kubelet's message: what init containers leave is had before",
        ),
        pytest.param(
            "e2e-d-01909",
            0,
            [
                (
                    "requested=30 is what is still missing of the 34 cpu that container c1 asks for: node 0, chosen "
                    "for it, gives 4 first"
                )
            ],
            id="numbers of the kubelet's message: CPUs of the chosen nodes are had before",
        ),
        pytest.param(
            "e2e-d-02421",
            1,
            [
                (
                    "even on an empty machine: hugepages-1Gi: 1Gi asked, and the node has none; to have them, boot "
                    "it with hugepagesz=1G and hugepages=1 at least, which takes 1Gi off its memory"
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
    assert "the whole pod: the kubelet ties nothing that it asks for to NUMA nodes" in text
    assert not [line for line in text if "✓" in line]


def test_what_the_machine_never_has_is_not_told_again_of_an_empty_one() -> None:
    text = recorded("e2e-d-02132", 4)
    assert any(" never has more than 2, and has 0 free now " in line for line in text)
    assert not [line for line in text if line.startswith("even on an empty machine")]


@pytest.mark.parametrize(
    ("name", "step", "text"),
    [
        pytest.param(
            "e2e-d-00203",
            0,
            "it is aligned then, on nodes 0-1 (its CPUs need 2 nodes; nvidia.com/gpu on node 1)",
            id="what is aligned and needs fewer nodes is said to lie on fewer",
        ),
        pytest.param(
            "e2e-d-01665", 0, "mellanox.com/rdma on nodes 0,3 at once, CPUs anywhere", id="a device of two nodes"
        ),
        pytest.param(
            "e2e-d-01826", 3, "c0: memory on nodes 0-1, CPUs and amd.com/gpu on node 0, as", id="what is not remote"
        ),
    ],
)
def test_it_is_said_where_each_resource_lies(name: str, step: int, text: str) -> None:
    assert [line for line in recorded(name, step) if text in line]


def test_when_several_sentences_hold_is_said_once() -> None:
    found = recorded("e2e-d-01831", 6)
    place = found.index("even on an empty machine: cpu: 12 asked: takes 2 nodes, as one has 8 at most")
    assert found[place + 1] == "memory: 2Gi asked: fits one node, which has 7.75Gi at most"
    assert sum("even on an empty machine: " in line for line in found) == 1


def test_amounts_left_by_init_containers_are_added_up_where_no_table_explains_them() -> None:
    found = recorded("lifecycle-d-00378", 11)
    assert "why: hugepages-1Gi: 3Gi asked, the whole machine never has more than 2Gi (node 0: 2Gi of 2Gi)" in found
    assert not [line for line in found if "1Gi + 1Gi" in line]


def test_memory_that_is_no_whole_number_of_bytes_has_no_row() -> None:
    found = recorded("e2e-d-02237", 0)
    assert "memory of i0 is not counted: the container asks for no whole number of bytes" in found
