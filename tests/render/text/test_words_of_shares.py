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
                "10 CPUs need 2 NUMA nodes: each has at most 8.",
                ("On an empty node 11403Mi of memory fits on 2 NUMA nodes only without NUMA 0 among them."),
                ("On an empty node 3Gi of hugepages-1Gi fits on 2 NUMA nodes only with NUMA 0 among them."),
                ("memory and hugepages-1Gi must come from the same NUMA nodes and need 3 together."),
                (
                    "restricted requires each resource on as few NUMA nodes as possible, and all "
                    "resources on the same NUMA nodes."
                ),
                "memory and hugepages-1Gi come from NUMA 1-2 together, as the rest of the pod does.",
            ],
            id="memory and pages that take more nodes together than each alone",
        ),
        pytest.param(
            "e2e-d-02439",
            0,
            [
                (
                    "c0 and c1 request nvidia.com/gpu, of which only 1 exists: reduce the request of "
                    "either (c0: fix 1, c1: fix 2)."
                )
            ],
            id="two containers want the only device, and either may do without it",
        ),
        pytest.param(
            "lifecycle-d-00323",
            6,
            [
                (
                    "now: memory: 45875Mi requested by i1, 65.0Gi free in total (NUMA 0: 14.1Gi of "
                    "31.7Gi, NUMA 1: 0 of 32Gi, NUMA 2: 31.9Gi of 31.9Gi, NUMA 3: 19.0Gi of 31.8Gi)"
                ),
            ],
            id="what both containers are to ask for has one reason",
        ),
        pytest.param(
            "e2e-d-02486",
            1,
            [
                "- request at most 2046Mi hugepages-2Mi (now 2Gi) in container i0",
                ("i0, c0: hugepages-2Mi and memory on NUMA 0,2,4. The CPUs are not pinned (cpuManagerPolicy: none)."),
            ],
            id="more may do where a little more does not",
        ),
        pytest.param(
            "e2e-d-00076",
            1,
            ["also: cpu: 33 requested (s0 1 + c0 32), 31.8 allocatable on the node"],
            id="a sum and its parts have one unit",
        ),
        pytest.param(
            "e2e-d-00158",
            1,
            [
                (
                    "1. Request at most 2 nvidia.com/gpu in c0 and c1 together, such as 1 in c0 (now "
                    "4) and 1 in c1 (now 4): aligned on NUMA 1"
                ),
                "- set the scope to container (now pod)",
                "- request at most 2 nvidia.com/gpu (now 4) in containers c0 and c1 each",
                ("Limit: nvidia.com/gpu: containers request 5 (c0 3 + c1 2), 4 on the machine"),
            ],
            id="devices are cut alike, or shared",
        ),
        pytest.param(
            "e2e-d-01909",
            0,
            [
                "1. Make two changes together: aligned",
                (
                    "- request at most 64234Mi (62.7Gi) memory in c0 and c1 together, such as "
                    "21939Mi (21.4Gi) in c0 (now 63Gi) and 42295Mi (41.3Gi) in c1 (now 127357022Ki "
                    "(121.4Gi))"
                ),
            ],
            id="containers of which only the sum counts are told the sum",
        ),
        pytest.param(
            "e2e-d-00714",
            0,
            [
                (
                    "- request at most 15684Mi (15.3Gi) memory in c0 and c1 together, such as 7491Mi "
                    "in c0 (now 14745Mi (14.3Gi)) and 8193Mi in c1 (now 16128Mi (15.7Gi))"
                ),
                (
                    "- request at most 15684Mi (15.3Gi) memory in c0 and c1 together, such as 7491Mi "
                    "in c0 (now 14745Mi (14.3Gi)) and 8193Mi in c1 (now 16128Mi (15.7Gi))"
                ),
            ],
            id="no container is left with very little where another could give, too",
        ),
        pytest.param(
            "e2e-d-00490",
            0,
            [
                "- remove mellanox.com/rdma in containers i0, c0, c1 and c2 each",
                (
                    "Not even 1: mellanox.com/rdma: 1 requested by each, 0 on a known NUMA node. "
                    "single-numa-node counts only devices with a known NUMA node."
                ),
            ],
            id="what is the same for several containers is told once",
        ),
        pytest.param(
            "lifecycle-d-00241",
            3,
            [
                "- request 4 CPUs (now 6) in container i0",
                (
                    "(next whole core: 6): container c1: cpu: 4 requested. Init container i0 leaves "
                    "2 CPUs on NUMA 0; the container must use NUMA 0."
                ),
                "With 4, i0 leaves no CPUs to keep c1 on NUMA 0.",
            ],
            id="an init container that asks for less leaves nothing over",
        ),
        pytest.param(
            "lifecycle-d-00378",
            11,
            [
                (
                    "Without p0: Limit: cpu: 2 requested. full-pcpus-only finds 1 free and does not "
                    "count 1 that init container i0 leaves (cores have 1 CPU here)."
                ),
            ],
            id="what init containers leave does not count as whole cores, also where cores have one thread",
        ),
        pytest.param(
            "e2e-d-02489",
            2,
            ["- request at most 11251Mi (10.9Gi) memory (now 11Gi) in container c1"],
            id="an amount is not written, rounded, as what it is instead of",
        ),
        pytest.param(
            "e2e-d-01120",
            2,
            [
                ("hugepages-1Gi: with 1Gi in c1, containers request 3Gi (c0 2Gi + c1 1Gi), 2Gi on the machine"),
                "Not even 1Gi: same reason as fix 1",
            ],
            id="a sum that is still too much names what is reduced in it",
        ),
        pytest.param(
            "e2e-d-00568",
            6,
            [
                "single-numa-node takes all of it from 1 NUMA node.",
                (
                    "- request at most 941Mi memory in s0 and c0 together, such as 40Mi in s0 "
                    "(unchanged) and 901Mi in c0 (now 11342Mi (11Gi))"
                ),
            ],
            id="who asks for little is left as it is",
        ),
        pytest.param(
            "e2e-d-00426",
            3,
            [("1. Remove intel.com/sriov in container c0 or c1 (the other may keep it): aligned on NUMA 0")],
            id="who leaves a device out may be another container that asks for as many",
        ),
        pytest.param(
            "e2e-d-01826",
            3,
            [
                "1. Move pod p0 off the node: admitted, NOT aligned",
                "2. Remove amd.com/gpu in container c1: aligned on NUMA 3",
            ],
            id="where there is one other change it is told what could be left out",
        ),
        pytest.param(
            "e2e-d-01120",
            2,
            [
                (
                    "1. Request at most 2Gi hugepages-1Gi in c0 and c1 together, such as 1Gi in c0 "
                    "(now 2Gi) and 1Gi in c1 (now 3Gi): aligned on NUMA 0"
                ),
                "2. Remove hugepages-1Gi in container c1: aligned on NUMA 0",
            ],
            id="containers share what there is before one of them does without it",
        ),
        pytest.param(
            "e2e-d-00362",
            0,
            [
                (
                    "1. Request at most 2 example.com/notopo in s0 and c0 together, such as 1 in s0 "
                    "(now 2) and 1 in c0 (now 4): admitted, NOT aligned (CPUs shared in any case)"
                ),
                ("2. Remove example.com/notopo in container c0: admitted, NOT aligned (CPUs shared in any case)"),
            ],
            id="a resource is left out only after what keeps some of it",
        ),
        pytest.param(
            "e2e-d-01603",
            2,
            ["- request at most 3 CPUs in c0 and c1 together, such as 2 in c0 (now 10) and 1 in c1 (now 2)"] * 2,
            id="of a sum no next whole core is told",
        ),
        pytest.param(
            "e2e-d-01907",
            6,
            [
                ("also: cpu: 4 requested (c0 2 + c1 2), 1 of 14 left: other pods request 13"),
                ("- request at most 1 CPUs in c0 and c1 together, such as 500m in c0 (now 2) and 500m in c1 (now 2)"),
            ],
            id="CPUs that nobody pins are shared out by tenths",
        ),
        pytest.param(
            "e2e-d-00478",
            4,
            [
                "1. Make two changes together: aligned (s0 on NUMA 1, c0 on NUMA 1, c1 on NUMA 0)",
                "- request at most 14489Mi (14.1Gi) memory (now 22818Mi (22.2Gi)) in container c0",
            ],
            id="who asks for most gives up what would leave others very little",
        ),
    ],
)
def test_a_recorded_share_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)
