"""Where what a container got lies, in words: each of its pieces, and why those that are elsewhere are."""

from __future__ import annotations

import pytest

from numalign.kubelet.setup import Setup
from numalign.model.machine import Device, NUMANode
from numalign.render.json.admit import alignment_json
from numalign.render.page.document import plain
from numalign.render.text.admit import admit_document
from numalign.tasks.admit import admit
from tests.analysis.support import GPU, config, machine, pod
from tests.render.text.support import recorded

FIGURE = machine("figure-1")
CLOSER = [(10, 20, 30), (20, 10, 40), (30, 40, 10)]
THIRD = FIGURE._replace(
    numa_nodes=tuple(
        node._replace(distances=row)
        for node, row in zip((*FIGURE.numa_nodes, NUMANode(2, 0, 8 << 30)), CLOSER, strict=True)
    ),
    devices={GPU: (Device("a", (2,)),)},
)
"""Node 2 has no CPUs and one GPU; node 0 is the nearest with CPUs."""


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-01049",
            5,
            [
                (
                    "c0: CPUs, hugepages-1Gi, memory and sriov3 on NUMA 0, sriov0 on NUMA 0,2 at "
                    "once, sriov1 on NUMA 1, sriov2 on NUMA 1-2 at once. NUMA 2 has no CPUs, the "
                    "nearest CPUs are on NUMA 0-1."
                ),
                (
                    "c0: intel.com/sriov sriov2 is on NUMA 1-2 at once: NUMA 2 has no CPUs, the "
                    "nearest CPUs are on NUMA 0-1"
                ),
            ],
            id="a device by a node without CPUs: apart, and as aligned",
        ),
        pytest.param(
            "lifecycle-d-00359",
            2,
            [
                (
                    "c0: CPUs and gpu12 and gpu13 on NUMA 3, memory on NUMA 2-3, gpu4 and gpu5 on "
                    "NUMA 1, gpu8–11 on NUMA 2. Init containers (i1) left amd.com/gpu on NUMA 1, "
                    "which the kubelet allocates first. Init containers (i0, i1) left cpu and memory "
                    "on NUMA 1, unused: The kubelet chose other NUMA nodes."
                ),
            ],
            id="devices that an init container left come first, though there is enough on the chosen nodes",
        ),
        pytest.param(
            "e2e-d-02120",
            8,
            [
                (
                    "i0: CPUs on NUMA 1-2, memory on NUMA 0-1. The kubelet chose NUMA 0-1 for the "
                    "whole pod. No single NUMA node had 8 CPUs free. NUMA 0-1 have too little cpu "
                    "free with p5 there: the rest comes from NUMA 2."
                )
            ],
            id="what is too little only for a pod that is admitted besides says so",
        ),
        pytest.param(
            "e2e-d-00195",
            7,
            [
                (
                    "c1: CPUs on NUMA 2, hugepages-2Mi and memory on NUMA 2-3,5-6. No set of 2 NUMA "
                    "nodes that the Memory Manager may combine had 1028Mi of hugepages-2Mi free. "
                    "Memory is held on NUMA 0."
                ),
            ],
            id="nodes that have enough and may not be combined are named, as their memory is held",
        ),
        pytest.param(
            "lifecycle-d-00355",
            0,
            [
                (
                    "c1: CPUs on NUMA 4, memory on NUMA 3-4. Memory is held on NUMA 3-4 together, "
                    "which the Memory Manager uses only as a whole."
                ),
            ],
            id="nodes that are used only together are named",
        ),
        pytest.param(
            "e2e-d-02998",
            0,
            [
                (
                    "i0: The container is spread over NUMA 0-2. The kubelet chose NUMA 0-1. NUMA 0-1 "
                    "have too little cpu, even on an empty node: the rest comes from NUMA 2. On an "
                    "empty node every resource fits on 2 NUMA nodes. NUMA node unknown: "
                    "example.com/notopo notopo0."
                )
            ],
            id="chosen nodes with too few CPUs are the reason, not the option that takes whole sockets",
        ),
        pytest.param(
            "e2e-d-01200",
            2,
            [
                ("s0, c0: CPUs on NUMA 0, memory on NUMA 1-2. align-by-socket takes CPUs of the whole socket."),
            ],
            id="CPUs left on nodes that were not chosen are no reason for the choice",
        ),
        pytest.param(
            "e2e-d-00875",
            0,
            [
                "1. Make two changes together: admitted, NOT aligned (CPUs shared in any case)",
                (
                    "c0: nvidia.com/gpu and xilinx.com/fpga on NUMA 0. The CPUs are not pinned. The "
                    "pod is Burstable: s0, c1, c2 request less cpu than the limit and c0 has no cpu "
                    "or memory limit."
                ),
            ],
            id="why CPUs are shared is said once, and that the change is not what makes them so",
        ),
        pytest.param(
            "e2e-d-00900",
            1,
            [
                (
                    "2. Request at most 1 amd.com/gpu (now 2) in container c0: admitted, NOT aligned "
                    "(CPUs shared in any case)"
                )
            ],
            id="CPUs that are never pinned are not the fault of a change",
        ),
        pytest.param(
            "e2e-d-00097",
            4,
            [
                (
                    "1. Make four changes together: CPUs and memory are aligned, but the device "
                    "plugin reports no NUMA node for mellanox.com/rdma"
                )
            ],
            id="what is known to be aligned is told beside what nobody knows",
        ),
        pytest.param(
            "e2e-d-01671",
            0,
            [("2. Set the policy to best-effort (now single-numa-node): aligned on NUMA 0-1 (CPUs need 2)")],
            id="what is aligned on several nodes takes as many",
        ),
        pytest.param(
            "e2e-d-01170",
            0,
            [
                (
                    "c0: CPUs on NUMA 0, memory on NUMA 0-1. Init containers (i0) left cpu on NUMA "
                    "1, unused: the container may use any chosen NUMA node."
                ),
            ],
            id="what an init container leaves and the next one does not take says why",
        ),
        pytest.param(
            "e2e-d-01857",
            1,
            [
                (
                    "best-effort never rejects. restricted also rejects: cpu and xilinx.com/fpga are "
                    "not free on the same NUMA nodes. CPUs on NUMA 1, fpga0 and fpga1 on NUMA 0. The "
                    "kubelet chose NUMA 0. NUMA 0 has too little cpu, even on an empty node: the "
                    "rest comes from NUMA 1."
                ),
            ],
            id="two devices are named one by one",
        ),
        pytest.param(
            "lifecycle-d-00397",
            2,
            [
                "7537Mi of memory (reduced) (by c0) fits on 1 NUMA node: each has at most 7.3Gi.",
                (
                    "i0, c0: CPUs on NUMA 2, xilinx.com/fpga on NUMA 2-3 at once, memory on NUMA 3. "
                    "align-by-socket takes CPUs of the whole socket."
                ),
            ],
            id="parts that lie apart by an option say so",
        ),
        pytest.param(
            "e2e-d-00760",
            0,
            [
                (
                    "c0: CPUs and intel.com/sriov on NUMA 0, gpu3 on NUMA 1. The kubelet chose NUMA "
                    "0. NUMA 0 has too little nvidia.com/gpu free: the rest comes from NUMA 1."
                ),
                "2. Make two changes together: admitted, NOT aligned",
                ("The kubelet then allocates single CPUs, also from cores in use by other containers."),
            ],
            id="what is surely not aligned is no unknown, and what lies off the chosen node says why",
        ),
        pytest.param(
            "e2e-d-00492",
            1,
            ["i0: CPUs on NUMA 0,2-3, memory on NUMA 1."],
            id="policy none is the reason where it chose nothing",
        ),
        pytest.param(
            "e2e-d-02902",
            0,
            [
                (
                    "i0, c0: intel.com/sriov on NUMA 0. The CPUs are not pinned. The pod is "
                    "Burstable: i0 has no memory limit and c0 has no cpu or memory limit. NUMA node "
                    "unknown: intel.com/sriov sriov1."
                )
            ],
            id="beside CPUs that float, devices of no known node are told, too",
        ),
        pytest.param(
            "e2e-d-02759",
            6,
            [
                (
                    "c0: CPUs and gpu3–5 on NUMA 1, memory, gpu0–2 and sriov2 on NUMA 0. The kubelet "
                    "chose NUMA 0. NUMA 0 has too little cpu and amd.com/gpu free: the rest comes "
                    "from NUMA 1. Init containers (i0) left memory on NUMA 1, unused: The kubelet "
                    "chose other NUMA nodes."
                ),
                "Aligned: i0 on NUMA 1.",
            ],
            id="of devices that lie apart it is told how many, and of the other containers where they are",
        ),
        pytest.param(
            "e2e-d-00413",
            1,
            [("The container is spread over NUMA 2-3. On an empty node the CPUs fit on 1 NUMA node.")],
            id="what is wider than it need be says why: nobody chose",
        ),
        pytest.param(
            "e2e-d-00598",
            4,
            [
                ("c1: CPUs on NUMA 0, memory on NUMA 0-1. Init containers (i0) left cpu on NUMA 0-1."),
            ],
            id="what is wider than it need be says why: an init container left some",
        ),
        pytest.param(
            "e2e-d-01483",
            2,
            [
                (
                    "c1: The container is spread over NUMA 0-1. The pod requests 19 CPUs. On an "
                    "empty node every resource fits on 1 NUMA node."
                ),
            ],
            id="what is wider than it need be says why: the whole pod asks for more",
        ),
        pytest.param(
            "e2e-d-00004",
            2,
            [
                (
                    "best-effort never rejects. restricted also rejects: cpu and memory fit on 1 "
                    "NUMA node, hugepages-1Gi and hugepages-2Mi together need 2. CPUs on NUMA 1, "
                    "hugepages-1Gi, hugepages-2Mi and memory on NUMA 1-3. The kubelet chose NUMA "
                    "1-2. No single NUMA node had all of it free. NUMA 1-2 have too little "
                    "hugepages-2Mi, even on an empty node: the rest comes from NUMA 3, with "
                    "hugepages-1Gi and memory."
                ),
            ],
            id="what is wider than it need be says why: memory resources go together, and no pod holds any",
        ),
        pytest.param(
            "lifecycle-d-00275",
            0,
            [
                (
                    "c0: CPUs on NUMA 0, amd.com/gpu on NUMA 0-1 at once, hugepages-1Gi and memory "
                    "on NUMA 0,3. The kubelet chose NUMA 0. NUMA 0 has too little hugepages-1Gi, "
                    "even on an empty node: the rest comes from NUMA 3, with memory."
                )
            ],
            id="memory that goes where huge pages are is not short itself",
        ),
    ],
)
def test_each_piece_has_its_place_and_its_cause(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in dict.fromkeys(text) if line in expected] == expected, "\n".join(text)


def test_admit_says_of_a_device_by_a_node_without_cpus_where_it_counts() -> None:
    result = admit(Setup(THIRD, config("none"), "ideal"), [pod("p", 2, gpu=1)])
    text = plain(admit_document(result, "")).splitlines()
    said = f"{GPU} a is on NUMA 2: NUMA 2 has no CPUs, the nearest CPUs are on NUMA 0"
    assert f"p: {said}" in text
    [container] = result.pods[0].containers
    data = alignment_json(container, result.pods[0].qos)
    assert (data["verdict"], data["reason"]) == ("aligned", None)
    assert data["nearby"] == [{"resource": GPU, "ids": ["a"], "numaNodes": [2], "withoutCPUs": [2], "nearest": [0]}]


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-01279",
            3,
            (
                "restricted takes 16 CPUs from 2 NUMA nodes, because 2 are enough on an empty "
                "node. Init container i0 leaves 6 CPUs on NUMA 0, which the container must use. "
                "At most 6 + 8 = 14 are free there. Free now: NUMA 0: 0 + 6 of 6, NUMA 1: 8 of "
                "8, NUMA 2: 8 of 8, NUMA 3: 8 of 8."
            ),
            id="what a node that must be used lets others add",
        ),
        pytest.param(
            "e2e-d-02667",
            1,
            "cpu: 34 requested by c0, 33 by i0 before, 28 of 31 free, 31 on the machine",
            id="an init container that asks for too much, too",
        ),
        pytest.param(
            "lifecycle-d-00225",
            4,
            "memory ✓ is for c0 alone; with c1 the sum is too large",
            id="enough for one alone",
        ),
        pytest.param("e2e-d-02296", 2, "3276Mi of memory fits on 1 NUMA node.", id="besides is said once"),
        pytest.param(
            "lifecycle-d-00359",
            2,
            "NUMA 1 | 0 + 6 of 6 ~ | 5.7Gi + 1.5Gi of 7492Mi ✓ | 2 + 2 of 4 ~ | no",
            id="some of what is asked, all of it left by init containers",
        ),
        pytest.param(
            "e2e-d-00346",
            7,
            (
                "c0: The container requests no CPUs, so it may run far from its devices. NUMA "
                "node unknown: example.com/notopo notopo0."
            ),
            id="who asks for no CPUs is told so, not the pod's class",
        ),
        pytest.param(
            "e2e-d-00565",
            1,
            ("49 CPUs (c0 17 + c1 32) and 49 by i0 need 2 NUMA nodes: each has at most 32. single-numa-node allows 1."),
            id="an init container that asks for too much for one node, too",
        ),
        pytest.param(
            "e2e-d-00614",
            5,
            (
                "Meaning: NUMA 1, the choice of the kubelet, has too little memory free, also "
                "combined with other NUMA nodes."
            ),
            id="what a message about a topology hint means",
        ),
        pytest.param(
            "e2e-d-02916",
            0,
            (
                "1 CPU is not a whole core, and full-pcpus-only allocates whole cores (2 CPUs "
                "each). Request 2. The same is true of c1 (1)."
            ),
            id="another container with the same fault is named",
        ),
        pytest.param(
            "e2e-d-02082", 0, "Before, c0 of this pod took 1.", id="why fewer are available than are free in all"
        ),
        pytest.param(
            "e2e-d-01585",
            2,
            ("also now: memory: 30.3Gi requested, 8.3Gi of 30.7Gi left: other pods request 22.3Gi"),
            id="what refuses only now a pod that is never admitted",
        ),
    ],
)
def test_a_refusal_says(name: str, step: int, expected: str) -> None:
    assert expected in (text := recorded(name, step)), "\n".join(text)


def test_what_holds_at_any_time_stands_first_where_a_pod_is_never_admitted() -> None:
    text = recorded("e2e-d-02536", 5)
    assert [line.partition(": nvidia")[0] for line in text[1:3]] == [
        ("on an empty node: 12 nvidia.com/gpu need 4 NUMA nodes: each has at most 3. single-numa-node allows 1."),
        "now",
    ]


def test_devices_of_an_unknown_node_are_told_also_where_only_one_node_has_cpus() -> None:
    text = recorded("e2e-d-01069", 1)
    expected = [
        "1. Make two changes together: aligned (c0 on NUMA 0)",
        "amd.com/gpu gpu5 is on NUMA 1: NUMA 1 has no CPUs, the nearest CPUs are on NUMA 0",
        "NUMA node unknown: amd.com/gpu gpu0. Only NUMA 0 has CPUs.",
    ]
    assert [line for line in text if line in expected] == expected, "\n".join(text)
