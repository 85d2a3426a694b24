"""The tables of an explanation: nothing in them may read like a second reason, or like room that is not there."""

from __future__ import annotations

import pytest

from tests.analysis.support import config, machine, pod
from tests.render.text.support import explained, recorded

HYPER = machine("hgx-h100")


def test_a_pod_that_the_node_as_a_whole_refuses_under_policy_none_has_no_table_of_nodes() -> None:
    found = recorded("e2e-d-00580", 2)
    assert "no table: the machine as a whole lacks cpu; under policy none, no NUMA node is in the way" in found
    assert not [line for line in found if line.startswith(("container", "all of it", "cpu |"))]


def test_policy_none_counts_what_is_free_on_any_node() -> None:
    found = explained(config("none"), pod("p", 3, gpu=3))
    assert "cpu | 3 | 4 of 4 | 4 of 4 | any nodes" in found
    assert "gpu-vendor.com/gpu | 3 | 1 of 1 | 1 of 1 | nothing" in found
    assert "policy none chooses no NUMA nodes: CPUs and devices may come from any" in found
    assert not [line for line in found if line.startswith("all of it")]


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param("e2e-d-02049", 1, "cpu: other pods ask for 2 of 30 in all; {}", id="CPUs that a shared pool has"),
        pytest.param(
            "e2e-d-02765",
            9,
            "memory: other pods ask for 58.4Gi of 61.2Gi in all; {}",
            id="memory that nobody has pinned",
        ),
    ],
)
def test_what_pods_only_ask_for_is_told_apart_from_what_they_hold(name: str, step: int, expected: str) -> None:
    assert expected.format("FREE leaves out only what they hold as their own") in recorded(name, step)


def test_a_table_says_nothing_of_requests_where_pods_hold_all_that_they_ask_for() -> None:
    found = explained(config("restricted"), pod("p", 200), pod("a", 100), on=HYPER)
    assert not [line for line in found if "FREE leaves out" in line]


def test_what_the_node_as_a_whole_lacks_is_visible_in_rounded_amounts() -> None:
    found = recorded("lifecycle-d-00321", 7)
    assert (
        "why no more: memory: 9198Mi asked, 5807Mi of the node's 15004Mi requested by other pods, which leaves 9197Mi"
    ) in found


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02954",
            4,
            [
                "one of nodes 0-1 or nodes 2-3 together",
                "memory: nodes 2-3 ✗ one by one, as pods hold memory of them together: 7.1Gi free as a whole",
            ],
            id="nodes that are used only together are no choice one by one, and one as a whole",
        ),
        pytest.param(
            "e2e-d-01499",
            11,
            ["memory: node 5 cannot have 15.9Ei: more is reserved there than it has, and the kubelet counts so"],
            id="memory below zero, which the kubelet counts as very much",
        ),
        pytest.param(
            "e2e-d-01279",
            3,
            ["memory: node 0 (held alone) is combined with no other"],
            id="a node that is held alone is no part of several, also where others are enough",
        ),
        pytest.param(
            "e2e-d-00242",
            1,
            [
                (
                    "its CPUs came from node 0: option align-by-socket takes CPUs of the whole socket, also of nodes "
                    "that were not chosen"
                )
            ],
            id="CPUs of an earlier container that were taken elsewhere",
        ),
        pytest.param(
            "e2e-d-00598",
            4,
            [
                "node 5 or nodes 0-1 together or nodes 2-4 together",
                (
                    "memory: nodes 0-1 ✗ one by one, as this pod's own i0 holds memory of them together: 57.4Gi free "
                    "as a whole"
                ),
                (
                    "memory: nodes 2-4 ✗ one by one, as this pod's own c0 holds memory of them together: 46.5Gi free "
                    "as a whole"
                ),
            ],
            id="each set of nodes is told apart from the other",
        ),
        pytest.param(
            "e2e-d-00598",
            4,
            [
                (
                    "+ is what the pod's init containers held and leave to the next one; for cpu it must use nodes "
                    "0-2 at once, so none alone will do"
                )
            ],
            id="CPUs that init containers leave on two nodes tie to both at once",
        ),
        pytest.param(
            "e2e-d-02566",
            1,
            [
                "node 2 | 8 of 8 ✗ | 62.2Gi of 62.2Gi ✓ | 3 of 3 ✓ | 1 + 1 of 2 ✗ | no ✗",
                (
                    "+ is what the pod's init containers held and leave to the next one; for xilinx.com/fpga it must "
                    "use a node of each that is left, so others are ✗"
                ),
            ],
            id="devices of several nodes that init containers leave tie to one node of each",
        ),
    ],
)
def test_a_table_says_which_nodes_go_only_together(name: str, step: int, expected: list[str]) -> None:
    text = "\n".join(recorded(name, step))
    assert [one for one in expected if one in text] == expected


def test_a_node_that_has_not_all_of_it_is_not_told_as_a_second_reason() -> None:
    note = "no ✗ is about one NUMA node alone and not in the way; the node as a whole refuses the pod, see above"
    assert note in recorded("lifecycle-d-00309", 6)


@pytest.mark.parametrize(
    ("name", "step", "text"),
    [
        pytest.param("lifecycle-d-00187", 4, "(each of nodes 0-7: 1 of 1)", id="all of many nodes have the same"),
        pytest.param(
            "e2e-d-02238", 1, "so it does not matter which node; 5 free in all, 7 asked", id="no node of any is known"
        ),
        pytest.param(
            "e2e-d-00007", 7, "counts on no node: there are 2, all free", id="the nodes of some are not known"
        ),
    ],
)
def test_devices_are_counted_where_they_are(name: str, step: int, text: str) -> None:
    assert [line for line in recorded(name, step) if text in line]


def test_devices_of_several_nodes_that_nobody_can_have_are_not_counted() -> None:
    assert not [line for line in recorded("e2e-d-02602", 1) if "a device of several nodes" in line]


def test_nodes_are_rows_where_a_column_each_would_be_too_wide() -> None:
    text = recorded("lifecycle-d-00305", 7)
    at = text.index("container c1")
    assert text[at + 1 : at + 4] == [
        "(asked) | 8 | 163.8Mi | 2Gi | 1026Mi | ",
        "node 0 | 5 of 30 ~ | 1.6Gi of 12.1Gi ✓ | 2Gi of 2Gi ✓ | 256Mi of 256Mi ~ | no ✗",
        "node 1 | 24 of 32 ✓ | 10.3Gi of 12.3Gi ✓ | 0 of 1Gi ✗ | 1022Mi of 1024Mi ~ | no ✗",
    ]
    assert text[at + 10] == "(could use) | one of nodes 1-7 | any node | one of nodes 0,2 | no node alone | "


def test_the_only_node_is_named() -> None:
    assert "memory | 326Mi | 9.3Gi of 15.6Gi ✓ | node 0" in recorded("lifecycle-d-00070", 7)


def test_containers_of_which_nothing_is_tied_are_told_together_with_the_reason() -> None:
    text = recorded("lifecycle-d-00067", 0)
    place = text.index("containers s0, c0: the kubelet ties nothing that they ask for to NUMA nodes")
    assert text[place + 1].startswith("cpu, memory and hugepages-2Mi: the pod is Burstable, as s0 requests less cpu ")


def test_no_node_is_said_to_fit_a_number_of_cpus_that_is_no_whole_cores() -> None:
    text = recorded("e2e-d-02916", 0)
    assert "cpu ✗ also where enough single CPUs are free: full-pcpus-only gives out whole cores only" in text
    assert "(could use) | whole cores only | any node | " in text
    assert not [line for line in text if "yes ✓" in line]


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-01964",
            2,
            [
                "even on an empty machine: the same goes for cpu",
                "node 0 | 3 + 3 of 6 ~ | 5.2Gi + 163Mi of 5.4Gi ✓ | no ✗",
            ],
            id="what an empty machine refuses with the same numbers is not told again",
        ),
        pytest.param(
            "e2e-d-02234",
            0,
            ["this machine has no nodes 0-1"],
            id="numbers that no NUMA node has are named",
        ),
        pytest.param(
            "e2e-d-01337",
            1,
            [
                (
                    "even on an empty machine, container c1: memory: 17.5Gi asked, and policy restricted takes it "
                    "from one node, which is enough while nothing is held; but nodes 0-1 can only be used together, "
                    "as this pod's own c0 holds memory of them together; left after c0: node 0: 0 of 31.6Gi, node 1: "
                    "28.6Gi of 32Gi"
                ),
                "memory | 35Gi | 8.7Gi of 31.6Gi ~ | 32Gi of 32Gi ~ | nothing",
                "memory: enough is free in all, but node 0 (held alone) is combined with no other",
            ],
            id="memory that is held on other sets of nodes than it takes is no choice",
        ),
        pytest.param(
            "e2e-d-02159",
            3,
            [
                (
                    "memory is not counted: 6.4Gi of s0 is no whole number of bytes, so what the whole pod asks for is "
                    "not counted"
                )
            ],
            id="a part of a byte keeps the memory of the whole pod from being counted",
        ),
        pytest.param(
            "lifecycle-d-00243",
            4,
            [
                (
                    "cpu: 4 asked; as the kubelet counts reserved CPUs (15 on nodes 0-7), too, one node is enough, "
                    "and policy restricted allows no more nodes; but one node never has more than 3 for pods; free "
                    "now: most on node 2: 3 of 3"
                )
            ],
            id="a node that is enough only with its reserved CPUs is not told as enough",
        ),
        pytest.param(
            "e2e-d-02421",
            1,
            [
                "cpu is not counted: the pod is Burstable, as c0 has no cpu or memory limit",
                "hugepages-1Gi is not counted: memoryManagerPolicy is None",
            ],
            id="what no table counts says why: the pod's class, a manager",
        ),
        pytest.param(
            "e2e-d-00741",
            8,
            [
                (
                    "hugepages-2Mi of i0, i1 is not counted: only init containers ask for it, which does not count for "
                    "a whole pod"
                )
            ],
            id="what no table counts says why: only init containers ask for it",
        ),
        pytest.param(
            "e2e-d-00201",
            1,
            ["cpu counts without c0: the container asks for no whole number of CPUs"],
            id="what a row does not count says why: a share of a CPU",
        ),
    ],
)
def test_a_recorded_table_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in dict.fromkeys(text) if line in expected] == expected, "\n".join(text)
