"""The tables of an explanation: nothing in them may read like a second reason, or like room that is not there."""

from __future__ import annotations

import pytest

from tests.analysis.support import config, machine, pod
from tests.render.text.support import explained, recorded

HYPER = machine("hgx-h100")


def test_a_pod_that_the_node_as_a_whole_refuses_under_policy_none_has_no_table_of_nodes() -> None:
    found = recorded("e2e-d-00580", 2)
    assert "No table: the node total of cpu is too small; policy none ignores NUMA nodes." in found
    assert not [line for line in found if line.startswith(("container", "all of it", "cpu |"))]


def test_policy_none_counts_what_is_free_on_any_node() -> None:
    found = explained(config("none"), pod("p", 3, gpu=3))
    assert "cpu | 3 | 4 of 4 | 4 of 4 | any NUMA nodes" in found
    assert "gpu-vendor.com/gpu | 3 | 1 of 1 | 1 of 1 | nothing" in found
    assert "Policy none does not align: CPUs and devices may come from any NUMA node." in found
    assert not [line for line in found if line.startswith("all of it")]


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02049",
            1,
            ("cpu: other pods request 2 of 30; FREE leaves out only exclusive resources"),
            id="CPUs that a shared pool has",
        ),
        pytest.param(
            "e2e-d-02765",
            9,
            ("memory: other pods request 58.3Gi of 61.2Gi; FREE leaves out only exclusive resources"),
            id="memory that nobody has pinned",
        ),
    ],
)
def test_what_pods_only_ask_for_is_told_apart_from_what_they_hold(name: str, step: int, expected: str) -> None:
    assert expected in recorded(name, step)


def test_a_table_says_nothing_of_requests_where_pods_hold_all_that_they_ask_for() -> None:
    found = explained(config("restricted"), pod("p", 200), pod("a", 100), on=HYPER)
    assert not [line for line in found if "FREE leaves out" in line]


def test_what_the_node_as_a_whole_lacks_is_visible_in_rounded_amounts() -> None:
    found = recorded("lifecycle-d-00321", 7)
    assert [
        line
        for line in found
        if line.startswith("also now: memory: 11.0Gi requested, 8.9Gi of 14.6Gi left: other pods request 5.6Gi")
    ], found


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02954",
            4,
            [
                "(fits on) | one of NUMA 0-1 or NUMA 2-3 together | nothing |",
                (
                    "~ part of the request; memory: pods hold memory of NUMA 2-3 together, so each "
                    "alone is ✗ (7.0Gi free in total)."
                ),
            ],
            id="nodes that are used only together are no choice one by one, and one as a whole",
        ),
        pytest.param(
            "e2e-d-01499",
            11,
            [
                (
                    "~ part of the request; memory: NUMA 5 cannot have 15.9Ei: more is reserved "
                    "there than it has, and the kubelet counts below zero."
                )
            ],
            id="memory below zero, which the kubelet counts as very much",
        ),
        pytest.param(
            "e2e-d-01279",
            3,
            ["memory: NUMA 0 (in single use) is not combined with others."],
            id="a node that is held alone is no part of several, also where others are enough",
        ),
        pytest.param(
            "e2e-d-00242",
            1,
            [("The CPUs are from NUMA 0: align-by-socket also takes CPUs of the socket's other NUMA nodes.")],
            id="CPUs of an earlier container that were taken elsewhere",
        ),
        pytest.param(
            "e2e-d-00598",
            4,
            [
                "(fits on) | whole cores only | NUMA 5 or NUMA 0-1 together or NUMA 2-4 together |",
            ],
            id="each set of nodes is told apart from the other",
        ),
        pytest.param(
            "e2e-d-00598",
            4,
            [("+ left by the pod's init containers; for cpu the container must use NUMA 0-2 together")],
            id="CPUs that init containers leave on two nodes tie to both at once",
        ),
        pytest.param(
            "e2e-d-02566",
            1,
            [
                "NUMA 2 | 8 of 8 ✗ | 62.2Gi of 62.2Gi ✓ | 3 of 3 ✓ | 1 + 1 of 2 ✗ | no",
                (
                    "+ left by the pod's init containers; the container must use the NUMA nodes of "
                    "every xilinx.com/fpga left, so others are ✗"
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
    note = "✗ counts NUMA nodes only; the node totals reject the pod"
    assert note in recorded("lifecycle-d-00309", 6)


@pytest.mark.parametrize(
    ("name", "step", "text"),
    [
        pytest.param(
            "lifecycle-d-00187", 4, "amd.com/gpu | 9 | 1 of 1 ~ | nothing", id="all of many nodes have the same"
        ),
        pytest.param(
            "e2e-d-02238",
            1,
            ("example.com/notopo: the device plugin reports no NUMA node, so any will match. 5 free, 7 requested."),
            id="no node of any is known",
        ),
        pytest.param(
            "e2e-d-00007",
            7,
            "nvidia.com/gpu: devices with an unknown NUMA node count on none (2 of 2 free)",
            id="the nodes of some are not known",
        ),
    ],
)
def test_devices_are_counted_where_they_are(name: str, step: int, text: str) -> None:
    assert [line for line in recorded(name, step) if text in line]


def test_devices_of_several_nodes_that_nobody_can_have_are_not_counted() -> None:
    assert not [line for line in recorded("e2e-d-02602", 1) if "a device of several nodes" in line]


def test_nodes_are_rows_where_a_column_each_would_be_too_wide() -> None:
    text = recorded("lifecycle-d-00305", 7)
    at = text.index("Container c1")
    assert text[at + 1 : at + 4] == [
        "(request) | 8 | 163.8Mi | 2Gi | 1026Mi | ",
        "NUMA 0 | 5 of 30 ~ | 1.6Gi of 12.1Gi ✓ | 2Gi of 2Gi ✓ | 256Mi of 256Mi ~ | no",
        "NUMA 1 | 24 of 32 ✓ | 10.3Gi of 12.3Gi ✓ | 0 of 1Gi ✗ | 1022Mi of 1Gi ~ | no",
    ]
    assert text[at + 10] == "(fits on) | one of NUMA 1-7 | any NUMA node | one of NUMA 0,2 | no single NUMA node | "


def test_the_only_node_is_named() -> None:
    assert "memory | 326Mi | 9525Mi of 15.6Gi ✓ | NUMA 0" in recorded("lifecycle-d-00070", 7)


def test_containers_of_which_nothing_is_tied_are_told_together_with_the_reason() -> None:
    text = recorded("lifecycle-d-00067", 0)
    place = text.index("The kubelet aligns nothing of containers s0, c0.")
    assert text[place + 1].startswith("cpu, memory and hugepages-2Mi (the pod is Burstable: s0 requests less cpu ")


def test_no_node_is_said_to_fit_a_number_of_cpus_that_is_no_whole_cores() -> None:
    text = recorded("e2e-d-02916", 0)
    assert ("cpu ✗ also where single CPUs are enough: full-pcpus-only allocates whole cores only.") in text
    assert "(fits on) | whole cores only | any NUMA node | " in text
    assert not [line for line in text if "yes ✓" in line]


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-01964",
            2,
            [
                "on an empty node: The same is true of cpu.",
                "NUMA 0 | 3 + 3 of 6 ~ | 5399Mi + 163Mi of 5562Mi ✓ | no",
            ],
            id="what an empty machine refuses with the same numbers is not told again",
        ),
        pytest.param(
            "e2e-d-02234",
            0,
            ["This machine has no NUMA 0-1."],
            id="numbers that no NUMA node has are named",
        ),
        pytest.param(
            "e2e-d-01337",
            1,
            [
                (
                    "on an empty node, container c1: restricted takes 17920Mi of memory from 1 NUMA "
                    "node, because 1 is enough on an empty node. c0 of this pod holds memory of NUMA "
                    "0-1 together, so the Memory Manager uses all or none. Left after c0: NUMA 0: 0 "
                    "of 31.6Gi, NUMA 1: 28.6Gi of 32Gi."
                ),
                "memory | 35Gi | 8.7Gi of 31.6Gi ~ | 32Gi of 32Gi ~ | nothing",
                (
                    "~ part of the request; memory: enough is free in total, but NUMA 0 (in single "
                    "use) is not combined with others."
                ),
            ],
            id="memory that is held on other sets of nodes than it takes is no choice",
        ),
        pytest.param(
            "e2e-d-02159",
            3,
            [("memory is not aligned (6.4Gi of s0 is not a whole number of bytes)")],
            id="a part of a byte keeps the memory of the whole pod from being counted",
        ),
        pytest.param(
            "lifecycle-d-00243",
            4,
            [
                (
                    "4 CPUs do not fit: 1 NUMA node has at most 3 for pods. restricted allows 1 NUMA "
                    "node, because the kubelet also counts reserved CPUs (15 on NUMA 0-7). Free now: "
                    "most on NUMA 2: 3 of 3."
                )
            ],
            id="a node that is enough only with its reserved CPUs is not told as enough",
        ),
        pytest.param(
            "e2e-d-02421",
            1,
            [
                ("~ part of the request; cpu is not aligned (the pod is Burstable: c0 has no cpu or memory limit)"),
                "hugepages-1Gi is not aligned (memoryManagerPolicy: None)",
            ],
            id="what no table counts says why: the pod's class, a manager",
        ),
        pytest.param(
            "e2e-d-00741",
            8,
            [("hugepages-2Mi of i0, i1 is not aligned (only init containers request it)")],
            id="what no table counts says why: only init containers ask for it",
        ),
        pytest.param(
            "e2e-d-00201",
            1,
            ["cpu is counted without c0 (the request is not a whole number of CPUs)"],
            id="what a row does not count says why: a share of a CPU",
        ),
    ],
)
def test_a_recorded_table_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in dict.fromkeys(text) if line in expected] == expected, "\n".join(text)
