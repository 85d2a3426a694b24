"""How it is told what containers give up together, leave out, or leave to each other."""

from __future__ import annotations

import pytest

from tests.render.text.support import recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "lifecycle-d-00306",
            2,
            [
                "cpu: 10 asked: takes 2 nodes, as one has 8 at most",
                "memory: 11.14Gi asked: 2 empty nodes have enough only without node 0",
                "hugepages-1Gi: 3Gi asked: 2 empty nodes have enough only with node 0",
                ("memory and hugepages-1Gi: both have to come from the same nodes, so together they take 3 nodes"),
                "policy restricted wants each on as few nodes as it can do with, and all of them on the same nodes",
                "why: memory and hugepages-1Gi then take 2 nodes together (nodes 1-2), as the rest of the pod does",
            ],
            id="memory and pages that take more nodes together than each alone",
        ),
        pytest.param(
            "e2e-d-02439",
            0,
            [
                (
                    "c0 and c1 both want the only nvidia.com/gpu: one of them has to do without it "
                    "(c0: see 1., c1: see 2.)"
                ),
                "why: as told above",
                "why: as told above",
                "why: as told above",
            ],
            id="two containers want the only device, and either may do without it",
        ),
        pytest.param(
            "lifecycle-d-00323",
            6,
            [
                (
                    "why no more of both: memory: 19481Mi asked by each, 66651Mi free in all (node 0: 14491Mi of "
                    "32512Mi, node 1: 0 of 32768Mi, node 2: 32680Mi of 32680Mi, node 3: 19480Mi of 32587Mi)"
                ),
            ],
            id="what both containers are to ask for has one reason",
        ),
        pytest.param(
            "e2e-d-02486",
            1,
            [
                "- ask for at most 2046Mi hugepages-2Mi instead of 2Gi in container i0",
                "not aligned: i0, c0: hugepages-2Mi and memory on nodes 0,2,4, CPUs anywhere: cpuManagerPolicy is none",
            ],
            id="more may do where a little more does not",
        ),
        pytest.param(
            "e2e-d-00076",
            1,
            [
                (
                    "why no more: cpu: 20 asked (s0 1 + c0 19), 12 of the node's 31.8 requested by other pods, which "
                    "leaves 19.8: 19 whole"
                ),
                (
                    "why no more: memory: 35688.3Mi asked (s0 3267.3Mi + c0 32421Mi), the whole machine has "
                    "35687.9Mi free (node 0: 35687.9Mi of 65095.9Mi)"
                ),
            ],
            id="a sum and its parts have one unit",
        ),
        pytest.param(
            "e2e-d-00158",
            1,
            [
                (
                    "1. ask for at most 2 nvidia.com/gpu in c0 and c1 together, for example 1 instead of 4 in c0 and "
                    "1 instead of 4 in c1; it is aligned then, on node 1"
                ),
                "- set --topology-manager-scope container (now pod)",
                "- ask for at most 2 nvidia.com/gpu instead of 4 in each of c0 and c1",
                (
                    "why no more: nvidia.com/gpu: the pod's containers together ask for 5 (c0 3 + c1 2), and the "
                    "machine never has more than 4"
                ),
            ],
            id="devices are cut alike, or shared",
        ),
        pytest.param(
            "e2e-d-01909",
            0,
            [
                "1. Two changes together; it is aligned then",
                (
                    "- ask for at most 64234Mi (62.7Gi) memory in c0 and c1 together, for example 21939Mi (21.4Gi) "
                    "instead of 63Gi in c0 and 42295Mi (41.3Gi) instead of 127357022Ki (121.5Gi) in c1"
                ),
            ],
            id="containers of which only the sum counts are told the sum",
        ),
        pytest.param(
            "e2e-d-00714",
            0,
            [
                (
                    "- ask for at most 15684Mi (15.3Gi) memory in c0 and c1 together, for example 7491Mi instead of "
                    "14745Mi (14.4Gi) in c0 and 8193Mi instead of 16128Mi (15.8Gi) in c1"
                ),
                (
                    "- ask for at most 15684Mi (15.3Gi) memory in c0 and c1 together, for example 7491Mi instead of "
                    "14745Mi (14.4Gi) in c0 and 8193Mi instead of 16128Mi (15.8Gi) in c1"
                ),
            ],
            id="no container is left with very little where another could give, too",
        ),
        pytest.param(
            "e2e-d-00490",
            0,
            [
                "- leave out mellanox.com/rdma in each of i0, c0, c1 and c2",
                (
                    "why not even 1: mellanox.com/rdma: 1 asked by each, none on a known node; policy "
                    "single-numa-node counts no others"
                ),
            ],
            id="what is the same for several containers is told once",
        ),
        pytest.param(
            "lifecycle-d-00241",
            3,
            [
                "- ask for 4 cpu instead of 6 in container i0",
                (
                    "why (the next whole core makes 6): container c1: cpu: 4 asked: i0 leaves 2 CPUs of node 0 to it, "
                    "so it must use node 0"
                ),
                "with 4, i0 leaves no CPUs that tie c1 to node 0",
            ],
            id="an init container that asks for less leaves nothing over",
        ),
        pytest.param(
            "lifecycle-d-00378",
            11,
            [
                (
                    "why no more, once p0 is gone: cpu: 2 asked; full-pcpus-only finds 1 free, and does not count the "
                    "1 that i0 leaves (cores have 1 thread here, so any number is whole)"
                ),
            ],
            id="what init containers leave does not count as whole cores, also where cores have one thread",
        ),
        pytest.param(
            "e2e-d-02489",
            2,
            ["- ask for at most 11251Mi memory instead of 11264Mi (11Gi) in container c1"],
            id="an amount is not written, rounded, as what it is instead of",
        ),
        pytest.param(
            "e2e-d-01120",
            2,
            [
                (
                    "why: hugepages-1Gi: with 1Gi in c1 still 3Gi (c0 2Gi + c1 1Gi), and the machine never has more "
                    "than 2Gi"
                ),
                "why not even 1Gi: as in 1.",
            ],
            id="a sum that is still too much names what is reduced in it",
        ),
        pytest.param(
            "e2e-d-00568",
            6,
            [
                "policy single-numa-node takes all of it from one node",
                (
                    "- ask for at most 941Mi memory in s0 and c0 together, for example 40Mi as it is in s0 and 901Mi "
                    "instead of 11342Mi (11.1Gi) in c0"
                ),
            ],
            id="who asks for little is left as it is",
        ),
        pytest.param(
            "e2e-d-00426",
            3,
            [
                (
                    "1. leave out intel.com/sriov in container c0 or c1 (the other may keep it); it is aligned then, "
                    "on node 0"
                )
            ],
            id="who leaves a device out may be another container that asks for as many",
        ),
        pytest.param(
            "e2e-d-01826",
            3,
            [
                "Each of these admits it (tried; first what keeps all devices):",
                "1. move 1 pod away: p0; it is NOT aligned then",
                "2. leave out amd.com/gpu in container c1; it is aligned then, on node 3",
            ],
            id="where there is one other change it is told what could be left out",
        ),
        pytest.param(
            "e2e-d-01120",
            2,
            [
                "Each of these admits it (tried; first what leaves nothing out):",
                (
                    "1. ask for at most 2Gi hugepages-1Gi in c0 and c1 together, for example 1Gi instead of 2Gi in c0 "
                    "and 1Gi instead of 3Gi in c1; it is aligned then, on node 0"
                ),
                "2. leave out hugepages-1Gi in container c1; it is aligned then, on node 0",
            ],
            id="containers share what there is before one of them does without it",
        ),
        pytest.param(
            "e2e-d-00362",
            0,
            [
                (
                    "1. ask for at most 2 example.com/notopo in s0 and c0 together, for example 1 instead of 2 in s0 "
                    "and 1 instead of 4 in c0; its CPUs are shared in any case, so it is NOT aligned"
                ),
                (
                    "2. leave out example.com/notopo in container c0; its CPUs are shared in any case, so it is NOT "
                    "aligned"
                ),
            ],
            id="a resource is left out only after what keeps some of it",
        ),
        pytest.param(
            "e2e-d-01603",
            2,
            [
                (
                    "- ask for at most 3 cpu in c0 and c1 together, for example 2 instead of 10 in c0 and 1 instead "
                    "of 2 in c1"
                ),
                (
                    "why no more: cpu: 4 asked (c0 3 + c1 1), 0.5 of the node's 4 requested by other pods, which "
                    "leaves 3.5: 3 whole"
                ),
                (
                    "- ask for at most 3 cpu in c0 and c1 together, for example 2 instead of 10 in c0 and 1 instead "
                    "of 2 in c1"
                ),
                "why no more: that would take the last CPU that is shared, and the kubelet would not start again",
            ],
            id="of a sum no next whole core is told",
        ),
        pytest.param(
            "e2e-d-01907",
            6,
            [
                (
                    "- ask for at most 1 cpu in c0 and c1 together, for example 500m instead of 2 in c0 and 500m "
                    "instead of 2 in c1"
                ),
                (
                    "why no more: cpu: 1.1 asked (c0 0.6 + c1 0.5), 13 of the node's 14 requested by other pods, which "
                    "leaves 1"
                ),
            ],
            id="CPUs that nobody pins are shared out by tenths",
        ),
        pytest.param(
            "lifecycle-d-00249",
            5,
            [
                (
                    "why no more: with 12674Mi in c0, container c2: memory: 5659Mi asked, the whole machine has 5658Mi "
                    "free, as this pod's own c0 and c1 hold 13329Mi and other pods hold 13515Mi (node 0: 5658Mi of "
                    "32501Mi)"
                )
            ],
            id="of a sum that is refused at another container it is said whose share was larger",
        ),
        pytest.param(
            "e2e-d-00478",
            4,
            [
                "1. Two changes together; it is aligned then, s0 on node 1, c0 on node 1, c1 on node 0",
                "- ask for at most 14489Mi (14.1Gi) memory instead of 22818Mi (22.3Gi) in container c0",
            ],
            id="who asks for most gives up what would leave others very little",
        ),
    ],
)
def test_a_recorded_share_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)
