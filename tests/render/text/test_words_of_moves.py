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
                "why: p4 holds 8 cpu and 14.4Gi memory on node 3; as long as it stays:",
                ("cpu: 6 asked; full-pcpus-only finds 4 free, and does not count the 2 that i0 and i1 leave"),
                "cpu: i0 and i1 leave 2 on node 0 to the containers after it, which must use node 0, too",
                "p5 holds 6 cpu and 8Gi memory on node 0",
            ],
            id="why a pod is moved away from another node than the pod goes to",
        ),
        pytest.param(
            "e2e-d-00170",
            3,
            ["- move 1 pod away: p1", "why: p1 holds 1 example.com/notopo, 2 cpu on node 0 and 819Mi memory on node 0"],
            id="a pod to move is told with what it holds of what is in the way",
        ),
        pytest.param(
            "e2e-d-00474",
            3,
            [
                (
                    "why: p2 holds 14 cpu (7 on node 0, 7 on node 1) and 63.0Gi memory (42.6Gi on node 0, 20.4Gi on "
                    "node 1)"
                )
            ],
            id="a pod to move holds what a later container needs, too",
        ),
        pytest.param(
            "e2e-d-02147",
            5,
            [
                (
                    "1. move 1 pod away: p2; CPUs and intel.com/sriov are aligned then, but no plugin tells the NUMA "
                    "node of example.com/notopo"
                ),
                "why: p2 holds 32 cpu on node 1",
            ],
            id="the only pod to move is told with what it holds and where",
        ),
        pytest.param(
            "e2e-d-02963",
            5,
            [
                (
                    "why: p2 holds 1 amd.com/gpu on nodes 0-1, 1 mellanox.com/rdma on node 0, 3Gi hugepages-1Gi "
                    "on nodes 0-1 and 3263Mi memory on nodes 0-1"
                ),
                "p3 holds 1 amd.com/gpu on node 0 and 12.7Gi memory on nodes 0-1",
            ],
            id="pods to move are told with all of what is short that they hold",
        ),
        pytest.param(
            "e2e-d-00413",
            1,
            [
                "besides: memory: 15.2Gi asked, 4Gi of the node's 15.9Gi requested by other pods, which leaves 11.9Gi",
                "1. move 1 pod away: p0; it is NOT aligned then",
                "- ask for at most 6 cpu instead of 7",
                "- ask for at most 12257Mi memory instead of 16300M (15545Mi)",
            ],
            id="cuts stand beside a pod to move, with what else is too much",
        ),
        pytest.param(
            "e2e-d-02042",
            4,
            ["why: p2 holds 4 cpu on node 3 and asks for 4.5 cpu in all; without it 7 of the node's 30 cpu are left"],
            id="a pod to move frees more of the node than it holds",
        ),
        pytest.param(
            "e2e-d-01907",
            6,
            [
                "why: p0 holds 3 example.com/notopo and asks for 11 cpu",
                "p3 holds 1 example.com/notopo and asks for 2 cpu",
                "without them all 14 cpu of the node are left",
            ],
            id="pods to move free what the node as a whole lacks, too",
        ),
        pytest.param(
            "e2e-d-01747",
            2,
            ["why: p1 holds 4 intel.com/sriov (2 on node 0, 2 on node 1) and 6 cpu (4 on node 0, 2 on node 1)"],
            id="a pod to move holds what is asked for in part, too",
        ),
        pytest.param(
            "e2e-d-01702",
            7,
            [
                "why: p0 asks for 2Gi hugepages-1Gi",
                "without them all 2Gi hugepages-1Gi of the node are left",
                "- ask for at most 1Gi hugepages-1Gi instead of 2Gi in container s0",
                "why: as told above",
                "why: as told above",
            ],
            id="a pod to move that holds nothing says what it asks for",
        ),
        pytest.param(
            "e2e-d-02763",
            4,
            [
                (
                    "why: p1 holds 1 nvidia.com/gpu and 1842Mi memory on node 0 and asks for 10 cpu; without it 12 of "
                    "the node's 14 cpu are left"
                ),
                "- ask for at most 718Mi memory instead of 858M (818Mi) in container s0",
            ],
            id="a pod to move gives back what the node as a whole lacks, too; M is told in Mi",
        ),
        pytest.param(
            "e2e-d-01572",
            2,
            ["1. move 1 pod away: p1; it is aligned then, on node 1", "to move p0 instead would do, too"],
            id="another pod that may be moved instead is named",
        ),
        pytest.param(
            "e2e-d-01483",
            9,
            [
                "- move 2 pods away: p3, p7 (no fewer will do)",
                "- ask for at most 1487Mi memory instead of 2816Mi in container c0",
                (
                    "why no more, once p3 and p7 are gone: memory: 3536Mi asked (c0 1488Mi + c1 2048Mi), 3549Mi free "
                    "in all then (node 0: 14Mi of 3072Mi, node 1: 3535Mi of 3535Mi)"
                ),
            ],
            id="pods to move come first, and what is free without them says so",
        ),
        pytest.param(
            "e2e-d-02238",
            1,
            [
                (
                    "1. ask for at most 5 example.com/notopo instead of 7; its CPUs are shared in any case, so it is "
                    "NOT aligned"
                ),
                "- move 1 pod away: p0",
                "- ask for at most 6 example.com/notopo instead of 7",
            ],
            id="with pods moved more may be kept of the only request that is cut",
        ),
        pytest.param(
            "lifecycle-d-00215",
            10,
            [
                "why: p1 asks for 4 cpu and 10.8Gi memory",
                "p3 holds 8 cpu on node 0 and asks for 35Gi memory",
                "p4 holds 5 cpu on node 0 and asks for 12.8Gi memory",
            ],
            id="a pod to move that holds nothing of its own asks for some",
        ),
        pytest.param(
            "e2e-d-00614",
            5,
            [
                "1. move 1 pod away: p1; it is NOT aligned then",
                "- ask for at most 1398Mi memory instead of 6800M (6485Mi) in container i0",
                "- ask for at most 4 cpu instead of 5 in container c0",
            ],
            id="less memory stands beside a pod to move",
        ),
        pytest.param(
            "e2e-d-00063",
            3,
            [
                "without them all 14 cpu of the node are left",
                (
                    "c1 goes to node 1 then, which has too little free now (with c0 there until then): 7 cpu asked, 1 "
                    "free; 31.5Gi memory asked as reduced below, 2.8Gi free"
                ),
            ],
            id="the container that goes to a node is named, and what of the pod is there now",
        ),
        pytest.param(
            "e2e-d-00663",
            1,
            [
                "why: p0 asks for 1 cpu",
                (
                    "as long as it stays: cpu: 4 asked as reduced below, 1 of the node's 4 requested by other pods, "
                    "which leaves 3"
                ),
                "- ask for at most 4 cpu instead of 5 in container i0",
            ],
            id="what is cut below is too much for the node as a whole",
        ),
        pytest.param(
            "e2e-d-00416",
            1,
            [
                (
                    "this pod goes to node 0 then, which has too little free now: 4 cpu asked, 0 free; 6.8Gi memory "
                    "asked as reduced below, 5.1Gi free"
                ),
                "- ask for at most 7005Mi memory instead of 7869Mi",
            ],
            id="what is cut below is too much where the pod goes",
        ),
        pytest.param(
            "e2e-d-00624",
            6,
            [
                (
                    "why: p0 asks for 2 cpu; as long as it stays, no CPU is left to share, and the kubelet would not "
                    "start again"
                ),
                "p3 asks for 4 cpu",
            ],
            id="a pod that only keeps the last CPU from being shared",
        ),
        pytest.param(
            "e2e-d-01610",
            6,
            [
                "why: p1 holds 2 intel.com/sriov on node 0; as long as it stays:",
                "p2 holds 3 intel.com/sriov (2 on node 0, 1 on node 1); as long as it stays:",
            ],
            id="what one of them is in the way of is told where enough would be free without the others",
        ),
        pytest.param(
            "e2e-d-00831",
            3,
            [
                (
                    "cpu: 2 asked, but full-pcpus-only counts only free CPUs on cores without a reserved CPU, on any "
                    "node: 1 now, 14 on an empty machine"
                ),
                (
                    "why: p0 holds 4 cpu and 29Gi memory on node 0; as long as it stays, node 0 is not combined with "
                    "another"
                ),
                "p1 holds 4 cpu and 1Gi memory on node 1; as long as it stays, node 1 is not combined with another",
            ],
            id="memory that keeps nodes apart is told beside the CPUs that are refused first",
        ),
        pytest.param(
            "e2e-d-00617",
            7,
            ["why: p3 holds 2 amd.com/gpu, 4 cpu and 10.9Gi memory on node 0"],
            id="what another container of the pod gets where they were is told, too",
        ),
        pytest.param(
            "lifecycle-d-00194",
            8,
            [
                (
                    "each of these would do, but before the memory nodes 0,2 had been chosen for all that is asked, "
                    "and memory is taken from there"
                ),
                "why: p1 holds 13.6Gi memory on node 3 and 5 cpu (1 on node 0, 4 on node 3)",
            ],
            id="nodes that would do and were not chosen are told as such, and all that is held where the pod goes",
        ),
        pytest.param(
            "e2e-d-02366",
            3,
            [
                (
                    "besides: memory: 28.5Gi asked (c0 22.5Gi + c1 6Gi), 38.1Gi of the node's 63.9Gi requested by "
                    "other pods, which leaves 25.8Gi"
                ),
                (
                    "why: p0 holds 3 example.com/notopo and asks for 38.1Gi memory; without it all 63.9Gi memory of "
                    "the node are left"
                ),
            ],
            id="what a pod asks for is rounded as what all of them ask for",
        ),
        pytest.param(
            "e2e-d-01677",
            2,
            ["why: p0 holds 2 example.com/notopo, 1 xilinx.com/fpga on node 0 and 4.4Gi memory on nodes 0-1"],
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
            "why: a holds 4 cpu and 2Gi memory on node 0 and asks for 14Gi memory in all; as long as it stays, node 0 "
            "is not combined with another"
        ),
        "b holds 1 cpu and 4Gi memory on node 1; as long as it stays, node 1 is not combined with another",
        "without them all 29Gi memory of the node are left",
    ]
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_memory_that_a_pod_asks_for_beside_what_it_holds_is_told_in_units() -> None:
    before = with_overhead(pod("a", 1, "2Gi"), memory="12Gi")
    text = explained(config("none", **STATIC), pod("p", 4, "20Gi"), before)
    expected = "why: a holds 1 cpu and 2Gi memory on node 0 and asks for 14Gi memory in all"
    assert [line for line in text if line.startswith(expected)], "\n".join(text)


def test_a_share_of_a_cpu_is_counted_with_the_overhead_of_other_pods() -> None:
    before = pod("a", 3), with_overhead(pod("b", 3), cpu="700m")
    text = explained(config("restricted"), pod_of("p", app=limits(3), two=limits(2)), *before)
    told = [line for line in text if line.startswith("a share counts only against the node as a whole")]
    assert told
    assert all("6.7 of 8 requested by other pods, which leaves 1.3 for this pod" in line for line in told), told
