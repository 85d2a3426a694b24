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
                    "not aligned: c0: intel.com/sriov sriov1 (1 of its 4) on node 1, intel.com/sriov sriov2 (1 of "
                    "its 4) on nodes 1-2 at once, CPUs, hugepages-1Gi, memory and intel.com/sriov sriov3 (1 of its 4) "
                    "on node 0, intel.com/sriov sriov0 (1 of its 4) on nodes 0,2 at once, as policy none chooses no "
                    "nodes; node 2 has no CPUs, the nearest with CPUs are nodes 0-1"
                ),
                (
                    "c0: intel.com/sriov sriov2 lies on nodes 1-2 at once; node 2 has no CPUs, the nearest with CPUs "
                    "are nodes 0-1"
                ),
            ],
            id="a device by a node without CPUs: apart, and as aligned",
        ),
        pytest.param(
            "lifecycle-d-00359",
            2,
            [
                (
                    "not aligned: c0: memory on nodes 2-3, amd.com/gpu gpu4 and gpu5 (2 of its 8) on node 1, "
                    "amd.com/gpu gpu8–11 (4 of its 8) on node 2, CPUs and amd.com/gpu gpu12 and gpu13 (2 of its 8) "
                    "on node 3, as nodes 2-3 were chosen, and what i1 left of amd.com/gpu on node 1 is handed out "
                    "first; what i0 and i1 left of cpu and memory on node 1 is not used, as that node was not chosen"
                )
            ],
            id="devices that an init container left come first, though there is enough on the chosen nodes",
        ),
        pytest.param(
            "e2e-d-02120",
            8,
            [
                (
                    "not aligned: i0: memory on nodes 0-1, CPUs on nodes 1-2, as nodes 0-1 were chosen for the whole "
                    "pod (no node alone had 8 cpu free) and have too little cpu free once p5 is there, so the rest "
                    "comes from node 2"
                )
            ],
            id="what is too little only for a pod that is admitted besides says so",
        ),
        pytest.param(
            "lifecycle-d-00305",
            7,
            [
                (
                    "not aligned: c1: hugepages-1Gi, hugepages-2Mi and memory on nodes 2-4, CPUs on node 4, as nodes "
                    "2-4 were chosen (no 2 nodes that may be combined had 1026Mi hugepages-2Mi free: memory is held "
                    "already on node 1 alone) and each resource may come from any of them"
                )
            ],
            id="nodes that have enough and may not be combined are named, as their memory is held",
        ),
        pytest.param(
            "lifecycle-d-00355",
            0,
            [
                (
                    "not aligned: c1: memory on nodes 3-4, CPUs on node 4, as nodes 3-4 were chosen (memory is held "
                    "already on nodes 3-4 together, so these are used only together) and each resource may come from "
                    "any of them"
                )
            ],
            id="nodes that are used only together are named",
        ),
        pytest.param(
            "e2e-d-02998",
            0,
            [
                (
                    "not aligned: i0: on nodes 0-2, as nodes 0-1 were chosen and never have enough cpu, so the rest "
                    "comes from node 2; on an empty machine no resource alone needs more than 2 nodes; nobody knows "
                    "the NUMA node of example.com/notopo notopo0"
                )
            ],
            id="chosen nodes with too few CPUs are the reason, not the option that takes whole sockets",
        ),
        pytest.param(
            "e2e-d-01200",
            2,
            [
                (
                    "not aligned: s0, c0: memory on nodes 1-2, CPUs on node 0, as nodes 1-2 were chosen, and option "
                    "align-by-socket takes CPUs of the whole socket"
                )
            ],
            id="CPUs left on nodes that were not chosen are no reason for the choice",
        ),
        pytest.param(
            "e2e-d-00875",
            0,
            [
                "1. Two changes together; its CPUs are shared in any case, so it is NOT aligned",
                (
                    "not aligned: c0: nvidia.com/gpu and xilinx.com/fpga on node 0, CPUs anywhere: the pod is "
                    "Burstable, see above"
                ),
            ],
            id="why CPUs are shared is said once, and that the change is not what makes them so",
        ),
        pytest.param(
            "e2e-d-00900",
            1,
            [
                (
                    "2. ask for at most 1 amd.com/gpu instead of 2 in container c0; its CPUs are shared in any case, "
                    "so it is NOT aligned"
                )
            ],
            id="CPUs that are never pinned are not the fault of a change",
        ),
        pytest.param(
            "e2e-d-00097",
            4,
            [
                (
                    "1. Four changes together; CPUs and memory are aligned then, but no plugin tells the NUMA node of "
                    "mellanox.com/rdma"
                )
            ],
            id="what is known to be aligned is told beside what nobody knows",
        ),
        pytest.param(
            "e2e-d-01671",
            0,
            [
                (
                    "2. set --topology-manager-policy best-effort (now single-numa-node); it is aligned then, on nodes "
                    "0-1 (its CPUs need 2 nodes)"
                )
            ],
            id="what is aligned on several nodes takes as many",
        ),
        pytest.param(
            "e2e-d-01170",
            0,
            [
                (
                    "not aligned: c0: memory on nodes 0-1, CPUs on node 0, as nodes 0-1 were chosen and each resource "
                    "may come from any of them; what i0 left of cpu on node 1 is not used: it may lie on any of the "
                    "chosen nodes"
                )
            ],
            id="what an init container leaves and the next one does not take says why",
        ),
        pytest.param(
            "e2e-d-01857",
            1,
            [
                (
                    "not aligned: xilinx.com/fpga fpga0 and fpga1 on node 0, CPUs on node 1, as node 0 was chosen "
                    "for the whole pod and never has enough cpu, so it comes from node 1"
                )
            ],
            id="two devices are named one by one",
        ),
        pytest.param(
            "lifecycle-d-00397",
            2,
            [
                "memory: 7537Mi asked by c0 after the reduction: fits one node, which has 7537Mi at most",
                (
                    "not aligned: i0, c0: memory on node 3, CPUs on node 2, xilinx.com/fpga on nodes 2-3 at once, as "
                    "node 3 was chosen for the whole pod, and option align-by-socket takes CPUs of the whole socket"
                ),
            ],
            id="parts that lie apart by an option say so",
        ),
        pytest.param(
            "e2e-d-00760",
            0,
            [
                (
                    "not aligned: c0: nvidia.com/gpu gpu3 on node 1, CPUs and intel.com/sriov on node 0, as node 0 "
                    "was chosen and has too little nvidia.com/gpu free, so it comes from node 1"
                ),
                "2. Two changes together; it is NOT aligned then",
                (
                    "why: as told above of cpu; CPUs are then given out one by one, also those of a core that others "
                    "have a part of"
                ),
            ],
            id="what is surely not aligned is no unknown, and what lies off the chosen node says why",
        ),
        pytest.param(
            "e2e-d-00492",
            1,
            ["not aligned: i0: memory on node 1, CPUs on nodes 0,2-3, as policy none chooses no nodes"],
            id="policy none is the reason where it chose nothing",
        ),
        pytest.param(
            "e2e-d-02902",
            0,
            [
                (
                    "not aligned: i0, c0: intel.com/sriov on node 0, CPUs anywhere: the pod is Burstable, see above; "
                    "nobody knows the NUMA node of intel.com/sriov sriov1"
                )
            ],
            id="beside CPUs that float, devices of no known node are told, too",
        ),
        pytest.param(
            "e2e-d-02759",
            6,
            [
                (
                    "not aligned: c0: memory, amd.com/gpu gpu0–2 (3 of its 6) and intel.com/sriov sriov2 on node 0, "
                    "CPUs and amd.com/gpu gpu3–5 (3 of its 6) on node 1, as node 0 was chosen and has too little cpu "
                    "and amd.com/gpu free, so the rest comes from node 1; what i0 left of memory on node 1 is not "
                    "used, as that node was not chosen"
                ),
                "aligned: i0 on node 1",
            ],
            id="of devices that lie apart it is told how many, and of the other containers where they are",
        ),
        pytest.param(
            "e2e-d-00413",
            1,
            [
                (
                    "not aligned: on nodes 2-3, as policy none chooses no nodes; on an empty machine its CPUs need "
                    "no more than 1 node"
                )
            ],
            id="what is wider than it need be says why: nobody chose",
        ),
        pytest.param(
            "e2e-d-00598",
            4,
            [
                (
                    "not aligned: c1: memory on nodes 0-1, CPUs on node 0, as nodes 0-1 were chosen (its nodes "
                    "must include nodes 0-1, as i0 left cpu there) and each resource may come from any of them"
                )
            ],
            id="what is wider than it need be says why: an init container left some",
        ),
        pytest.param(
            "e2e-d-01483",
            2,
            [
                (
                    "not aligned: c1: on nodes 0-1, as nodes 0-1 were chosen for the whole pod, which asks for 19 "
                    "cpu; on an empty machine no resource alone needs more than 1 node"
                )
            ],
            id="what is wider than it need be says why: the whole pod asks for more",
        ),
        pytest.param(
            "e2e-d-00004",
            2,
            [
                (
                    "not aligned: hugepages-1Gi, hugepages-2Mi and memory on nodes 1-3, CPUs on node 1, as nodes 1-2 "
                    "were chosen (no node alone had all of it free) and never have enough hugepages-2Mi, so the rest "
                    "comes from node 3 (and hugepages-1Gi and memory with it)"
                )
            ],
            id="what is wider than it need be says why: memory resources go together, and no pod holds any",
        ),
        pytest.param(
            "lifecycle-d-00275",
            0,
            [
                (
                    "not aligned: c0: hugepages-1Gi and memory on nodes 0,3, CPUs on node 0, amd.com/gpu on nodes "
                    "0-1 at once, as node 0 was chosen and never has enough hugepages-1Gi, so the rest comes from "
                    "node 3 (and memory with it)"
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
    said = f"{GPU} a lies on node 2; node 2 has no CPUs, the nearest with CPUs is node 0"
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
            "cpu: 16 asked, and policy restricted takes it from 2 nodes, as 2 empty ones hold so many; its nodes "
            "must include node 0, where i0 leaves 6: 6 + 8 = 14 at most; free now: node 0: 0 + 6 of 6, node 1: 8 of 8, "
            "node 2: 8 of 8, node 3: 8 of 8",
            id="what a node that must be used lets others add",
        ),
        pytest.param(
            "e2e-d-02667",
            1,
            "cpu: 34 asked by c0, 33 by i0 before, the whole machine never has more than 31, and has 28 free now (node "
            "0: 28 of 31)",
            id="an init container that asks for too much, too",
        ),
        pytest.param(
            "lifecycle-d-00225",
            4,
            "memory ✓ is for c0 alone; with c1 it is too much, see above",
            id="enough for one alone",
        ),
        pytest.param("e2e-d-02296", 2, "memory: 3276Mi asked: fits one node, too", id="besides is said once"),
        pytest.param(
            "lifecycle-d-00359",
            2,
            "node 1 | 0 + 6 of 6 ~ | 5.7Gi + 1.5Gi of 7.3Gi ✓ | 2 + 2 of 4 ~ | no ✗",
            id="some of what is asked, all of it left by init containers",
        ),
        pytest.param(
            "e2e-d-00346",
            7,
            "not aligned: c0: CPUs anywhere: it asks for none, so its devices may be far from where it runs; nobody "
            "knows the NUMA node of example.com/notopo notopo0",
            id="who asks for no CPUs is told so, not the pod's class",
        ),
        pytest.param(
            "e2e-d-00565",
            1,
            (
                "cpu: 49 asked (c0 17 + c1 32), 49 by i0 before, but no NUMA node ever has more than 32 (node 1), "
                "and policy single-numa-node takes all of it from one node"
            ),
            id="an init container that asks for too much for one node, too",
        ),
        pytest.param(
            "e2e-d-00614",
            5,
            (
                "that is: node 1, chosen for it, has too little memory free, and combining it with other nodes does "
                "not help"
            ),
            id="what a message about a topology hint means",
        ),
        pytest.param(
            "e2e-d-02916",
            0,
            (
                "cpu: 1 asked, but full-pcpus-only gives out whole cores of 2 threads: ask for 2; the same goes for "
                "the 1 of c1"
            ),
            id="another container with the same fault is named",
        ),
        pytest.param(
            "e2e-d-02082", 0, "by then c0 of this pod had taken 1", id="why fewer are available than are free in all"
        ),
        pytest.param(
            "e2e-d-01585",
            2,
            "besides, as the node is now: memory: 30.4Gi asked, 22.4Gi of the node's 30.7Gi requested by other pods, "
            "which leaves 8.3Gi",
            id="what refuses only now a pod that is never admitted",
        ),
    ],
)
def test_a_refusal_says(name: str, step: int, expected: str) -> None:
    assert expected in (text := recorded(name, step)), "\n".join(text)


def test_what_holds_at_any_time_stands_first_where_a_pod_is_never_admitted() -> None:
    text = recorded("e2e-d-02536", 5)
    assert [line.partition(": nvidia")[0] for line in text[1:3]] == ["even on an empty machine", "as the node is now"]


def test_devices_of_an_unknown_node_are_told_also_where_only_one_node_has_cpus() -> None:
    text = recorded("e2e-d-01069", 1)
    expected = [
        "1. Two changes together; it is aligned then, c0 on node 0",
        "amd.com/gpu gpu5 lies on node 1; node 1 has no CPUs, the nearest with CPUs is node 0",
        "nobody knows the NUMA node of amd.com/gpu gpu0, but only node 0 has CPUs",
    ]
    assert [line for line in text if line in expected] == expected, "\n".join(text)
