"""How pods to move away are told: what they hold, who may be moved instead, what is free without them."""

from __future__ import annotations

import pytest

from numalign.model.pod import Pod
from numalign.model.quantity import parse
from tests.analysis.support import STATIC, config, limits, pod, pod_of
from tests.render.text.support import explained, recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-00741",
            8,
            [
                "p4 holds 8 CPUs and 14.3Gi of memory on NUMA 3. While p4 stays:",
                (
                    "cpu: 6 requested. full-pcpus-only finds 4 free and does not count 2 that init "
                    "containers i0 and i1 leave."
                ),
                ("Init containers i0 and i1 leave 2 CPUs on NUMA 0 to later containers, which must use NUMA 0."),
                "p5 holds 6 CPUs and 8Gi of memory on NUMA 0.",
            ],
            id="why a pod is moved away from another node than the pod goes to",
        ),
        pytest.param(
            "e2e-d-00170",
            3,
            [
                "- move pod p1 off the node",
                "p1 holds 1 example.com/notopo, 2 CPUs on NUMA 0 and 819Mi of memory on NUMA 0.",
            ],
            id="a pod to move is told with what it holds of what is in the way",
        ),
        pytest.param(
            "e2e-d-00474",
            3,
            [
                (
                    "p2 holds 14 CPUs (7 on NUMA 0, 7 on NUMA 1) and 63.0Gi of memory (42.6Gi on "
                    "NUMA 0, 20.4Gi on NUMA 1)."
                )
            ],
            id="a pod to move holds what a later container needs, too",
        ),
        pytest.param(
            "e2e-d-02147",
            5,
            [
                (
                    "1. Move pod p2 off the node: CPUs and intel.com/sriov are aligned, but the "
                    "device plugin reports no NUMA node for example.com/notopo"
                ),
                "p2 holds 32 CPUs on NUMA 1.",
            ],
            id="the only pod to move is told with what it holds and where",
        ),
        pytest.param(
            "e2e-d-02963",
            5,
            [
                (
                    "p2 holds 1 amd.com/gpu on NUMA 0-1, 1 mellanox.com/rdma on NUMA 0, 3Gi of "
                    "hugepages-1Gi on NUMA 0-1 and 3263Mi of memory on NUMA 0-1."
                ),
                "p3 holds 1 amd.com/gpu on NUMA 0 and 12.7Gi of memory on NUMA 0-1.",
            ],
            id="pods to move are told with all of what is short that they hold",
        ),
        pytest.param(
            "e2e-d-00413",
            1,
            [
                "also: memory: 15.1Gi requested, 11.9Gi of 15.9Gi left: other pods request 4Gi",
                "1. Move pod p0 off the node: admitted, NOT aligned",
                "- request at most 6 CPUs (now 7)",
                "- request at most 12257Mi memory (now 16300M (15545Mi))",
            ],
            id="cuts stand beside a pod to move, with what else is too much",
        ),
        pytest.param(
            "e2e-d-02042",
            4,
            [("p2 holds 4 CPUs on NUMA 3 and requests 4.5 cpu in total (without p2, 7 of 30 cpu are left).")],
            id="a pod to move frees more of the node than it holds",
        ),
        pytest.param(
            "e2e-d-01907",
            6,
            [
                "p0 holds 3 example.com/notopo and requests 11 cpu.",
                "p3 holds 1 example.com/notopo and requests 2 cpu.",
                "Without these pods, 14 of 14 cpu are left.",
            ],
            id="pods to move free what the node as a whole lacks, too",
        ),
        pytest.param(
            "e2e-d-01747",
            2,
            [("p1 holds 4 intel.com/sriov (2 on NUMA 0, 2 on NUMA 1) and 6 CPUs (4 on NUMA 0, 2 on NUMA 1).")],
            id="a pod to move holds what is asked for in part, too",
        ),
        pytest.param(
            "e2e-d-01702",
            7,
            [
                "p0 requests 2Gi hugepages-1Gi.",
                "Without these pods, 2Gi of 2Gi hugepages-1Gi is left.",
                "- request at most 1Gi hugepages-1Gi (now 2Gi) in container s0",
            ],
            id="a pod to move that holds nothing says what it asks for",
        ),
        pytest.param(
            "e2e-d-02763",
            4,
            [
                (
                    "p1 holds 1 nvidia.com/gpu and 1842Mi of memory on NUMA 0 and requests 10 cpu "
                    "(without p1, 12 of 14 cpu are left)."
                ),
                "- request at most 718Mi memory (now 858M (818Mi)) in container s0",
            ],
            id="a pod to move gives back what the node as a whole lacks, too; M is told in Mi",
        ),
        pytest.param(
            "e2e-d-01572",
            2,
            ["1. Move pod p1 off the node: aligned on NUMA 1", "Or move p0."],
            id="another pod that may be moved instead is named",
        ),
        pytest.param(
            "e2e-d-01483",
            9,
            [
                "- move pods p3, p7 off the node (the smallest set)",
                "- request at most 1487Mi memory (now 2816Mi) in container c0",
                (
                    "Without p3 and p7: Limit: memory: 3536Mi requested (c0 1488Mi + c1 2Gi), 3.4Gi "
                    "free in total (NUMA 0: 14.2Mi of 3Gi, NUMA 1: 3.4Gi of 3.4Gi)"
                ),
            ],
            id="pods to move come first, and what is free without them says so",
        ),
        pytest.param(
            "e2e-d-02238",
            1,
            [
                ("1. Request at most 5 example.com/notopo (now 7): admitted, NOT aligned (CPUs shared in any case)"),
                "- move pod p0 off the node",
                "- request at most 6 example.com/notopo (now 7)",
            ],
            id="with pods moved more may be kept of the only request that is cut",
        ),
        pytest.param(
            "lifecycle-d-00215",
            10,
            [
                "p1 requests 4 cpu and 10.7Gi memory.",
                "p3 holds 8 CPUs on NUMA 0 and requests 35Gi memory.",
                "p4 holds 5 CPUs on NUMA 0 and requests 12.7Gi memory.",
            ],
            id="a pod to move that holds nothing of its own asks for some",
        ),
        pytest.param(
            "e2e-d-00614",
            5,
            [
                "1. Move pod p1 off the node: admitted, NOT aligned",
                "- request at most 1398Mi memory (now 6800M (6485Mi)) in container i0",
                "- request at most 4 CPUs (now 5) in container c0",
            ],
            id="less memory stands beside a pod to move",
        ),
        pytest.param(
            "e2e-d-00063",
            3,
            [
                "Without these pods, 14 of 14 cpu are left.",
                (
                    "c1 goes to NUMA 1 (with c0 there): 7 cpu requested, 1 free now, 32256Mi memory "
                    "requested (reduced below), 2.8Gi free now."
                ),
            ],
            id="the container that goes to a node is named, and what of the pod is there now",
        ),
        pytest.param(
            "e2e-d-00663",
            1,
            [
                "p0 requests 1 cpu.",
                ("While p0 stays: cpu: 4 requested (reduced below), 3 of 4 left: other pods request 1"),
                "- request at most 4 CPUs (now 5) in container i0",
            ],
            id="what is cut below is too much for the node as a whole",
        ),
        pytest.param(
            "e2e-d-00416",
            1,
            [
                (
                    "This pod goes to NUMA 0: 4 cpu requested, 0 free now, 7005Mi memory requested "
                    "(reduced below), 5.1Gi free now."
                ),
                "- request at most 7005Mi memory (now 7869Mi)",
            ],
            id="what is cut below is too much where the pod goes",
        ),
        pytest.param(
            "e2e-d-00624",
            6,
            [
                ("p0 requests 2 cpu. While p0 stays, the shared pool is empty and the kubelet would not restart."),
                "p3 requests 4 cpu.",
            ],
            id="a pod that only keeps the last CPU from being shared",
        ),
        pytest.param(
            "e2e-d-01610",
            6,
            [
                "p1 holds 2 intel.com/sriov on NUMA 0. While p1 stays:",
                "p2 holds 3 intel.com/sriov (2 on NUMA 0, 1 on NUMA 1). While p2 stays:",
            ],
            id="what one of them is in the way of is told where enough would be free without the others",
        ),
        pytest.param(
            "e2e-d-00831",
            3,
            [
                (
                    "cpu: 2 requested. full-pcpus-only counts free CPUs of cores without a reserved "
                    "CPU: 1 free now, 14 on an empty node."
                ),
                (
                    "p0 holds 4 CPUs and 29Gi of memory on NUMA 0. While p0 holds memory of NUMA 0, "
                    "the Memory Manager combines it with no other."
                ),
                (
                    "p1 holds 4 CPUs and 1Gi of memory on NUMA 1. While p1 holds memory of NUMA 1, "
                    "the Memory Manager combines it with no other."
                ),
            ],
            id="memory that keeps nodes apart is told beside the CPUs that are refused first",
        ),
        pytest.param(
            "e2e-d-00617",
            7,
            ["p3 holds 2 amd.com/gpu, 4 CPUs and 10.9Gi of memory on NUMA 0."],
            id="what another container of the pod gets where they were is told, too",
        ),
        pytest.param(
            "lifecycle-d-00194",
            8,
            [
                ("Each of these has enough, but the kubelet chose NUMA 0,2 for all resources first."),
                "p1 holds 13.5Gi of memory on NUMA 3 and 5 CPUs (1 on NUMA 0, 4 on NUMA 3).",
            ],
            id="nodes that would do and were not chosen are told as such, and all that is held where the pod goes",
        ),
        pytest.param(
            "e2e-d-02366",
            3,
            [
                (
                    "also: memory: 29184Mi requested (c0 23040Mi + c1 6Gi), 25.8Gi of 63.9Gi left: "
                    "other pods request 38.0Gi"
                ),
                (
                    "p0 holds 3 example.com/notopo and requests 38.0Gi memory (without p0, 63.9Gi of "
                    "63.9Gi memory is left)."
                ),
            ],
            id="what a pod asks for is rounded as what all of them ask for",
        ),
        pytest.param(
            "e2e-d-01677",
            2,
            [("p0 holds 2 example.com/notopo, 1 xilinx.com/fpga on NUMA 0 and 4.3Gi of memory on NUMA 0-1.")],
            id="all that the pod gets of what is not free today is told",
        ),
    ],
)
def test_a_recorded_move_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def with_overhead(of: Pod, **amounts: str) -> Pod:
    return of._replace(overhead={name: parse(text) for name, text in amounts.items()})


def test_the_overhead_of_pods_to_move_is_told_as_the_node_counts_it() -> None:
    """The node has all 29Gi left without them; what containers ask for alone would leave 17Gi."""
    before = with_overhead(pod("a", 4, "2Gi"), memory="12Gi"), pod("b", 1, "4Gi")
    text = explained(config("best-effort", **STATIC), pod("p", 4, "20Gi"), *before)
    expected = [
        (
            "a holds 4 CPUs and 2Gi of memory on NUMA 0 and requests 14Gi memory in total. "
            "While a holds memory of NUMA 0, the Memory Manager combines it with no other."
        ),
        (
            "b holds 1 CPU and 4Gi of memory on NUMA 1. While b holds memory of NUMA 1, the "
            "Memory Manager combines it with no other."
        ),
        "Without these pods, 29Gi of 29Gi memory is left.",
    ]
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_memory_that_a_pod_asks_for_beside_what_it_holds_is_told_in_units() -> None:
    before = with_overhead(pod("a", 1, "2Gi"), memory="12Gi")
    text = explained(config("none", **STATIC), pod("p", 4, "20Gi"), before)
    expected = (
        "a holds 1 CPU and 2Gi of memory on NUMA 0 and requests 14Gi memory in total "
        "(without a, 29Gi of 29Gi memory is left)."
    )
    assert [line for line in text if line.startswith(expected)], "\n".join(text)


def test_a_share_of_a_cpu_is_counted_with_the_overhead_of_other_pods() -> None:
    before = pod("a", 3), with_overhead(pod("b", 3), cpu="700m")
    text = explained(config("restricted"), pod_of("p", app=limits(3), two=limits(2)), *before)
    told = [line for line in text if line.startswith("A share of a CPU counts against the node totals only.")]
    assert told
    assert all("Other pods request 6.7 of 8 CPUs, which leaves 1.3" in line for line in told), told
