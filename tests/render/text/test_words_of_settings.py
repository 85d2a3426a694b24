"""How other settings are told: what they do, which policies do not help, what comes first under them."""

from __future__ import annotations

import pytest

from tests.render.text.support import recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "lifecycle-d-00346",
            0,
            ["1. set --topology-manager-policy best-effort (now restricted); it is aligned then"],
            id="a stricter policy that happens to do is not offered where a laxer one does",
        ),
        pytest.param(
            "e2e-d-02671",
            3,
            [
                "besides: cpu: 5 asked, but full-pcpus-only gives out whole cores of 2 threads: ask for 4 or 6",
                (
                    "why not even 1: nvidia.com/gpu: 1 asked, the whole machine has 0 free then (node 0: 0 of 0, node "
                    "1: 0 of 0, node 2: 0 of 1, node 3: 0 of 0)"
                ),
                (
                    "after the restart p1, refused so far, would be admitted if it is started before this pod, and "
                    "hold 8 cpu, 1 nvidia.com/gpu and 14.4Gi memory on node 2"
                ),
            ],
            id="what is free under another setting is not what is free now",
        ),
        pytest.param(
            "lifecycle-d-00121",
            11,
            [
                "- ask for at most 15167Mi memory instead of 16800M (16022Mi)",
                "- ask for at most 1024Mi hugepages-2Mi instead of 1026Mi",
                (
                    "2. set --memory-manager-policy None (now Static); its CPUs are shared in any case, so it is NOT "
                    "aligned"
                ),
            ],
            id="smaller requests stand beside a setting that aligns no better",
        ),
        pytest.param(
            "e2e-d-01279",
            0,
            [
                "why: all NUMA nodes of one socket are then as good as one for CPUs",
                "Settings of the kubelet (2. and 3.) hold for every pod of the node:",
                (
                    "to change them, drain the node, stop the kubelet, change its configuration, delete "
                    "memory_manager_state in its root directory (for 3.), start it again"
                ),
            ],
            id="an option says what it does, and settings what it takes to change them",
        ),
        pytest.param(
            "e2e-d-01279",
            3,
            [
                "2. set --topology-manager-policy best-effort (now restricted); it is NOT aligned then",
                (
                    "after the restart p0, refused so far, would be admitted if it is started before this pod, and "
                    "hold 4 cpu on node 0 and 25.5Gi memory on nodes 0-2"
                ),
            ],
            id="a setting that helps only as another pod comes first is left out where others do",
        ),
        pytest.param(
            "e2e-d-01253",
            4,
            [
                "Each of these admits it (tried; last what depends on another pod):",
                "1. ask for at most 1 intel.com/sriov instead of 2; it is aligned then, on node 0",
                (
                    "only if p0, refused so far, is started before this pod: it is admitted then, and holds 18 cpu "
                    "(2 on node 0, 16 on node 1)"
                ),
                (
                    "without p0 p2, refused so far, is admitted first, and holds 2 intel.com/sriov (1 on node 0, 1 on "
                    "node 1): this pod is refused then"
                ),
            ],
            id="a setting that helps only as another pod comes first says so",
        ),
        pytest.param(
            "e2e-d-02885",
            2,
            ["2. set --memory-manager-policy None (now Static); its CPUs are aligned then, on node 0"],
            id="memory that is kept on no node any more is not aligned",
        ),
        pytest.param(
            "e2e-d-02965",
            7,
            ["This admits it (tried):", "1. move 1 pod away: p2; it is aligned then, on node 1"],
            id="what gets CPUs that another pod holds is not told where anything else does",
        ),
        pytest.param(
            "e2e-d-02277",
            4,
            [
                (
                    "2. set --topology-manager-policy best-effort (now single-numa-node); it is aligned then, on nodes "
                    "0-1 (its CPUs need 2 nodes; nvidia.com/gpu on node 0)"
                ),
                "restricted still refuses it: memory fits one node, cpu takes 2",
            ],
            id="a policy that is offered is the strictest that does",
        ),
        pytest.param(
            "e2e-d-02923",
            1,
            [
                "- ask for 2 cpu instead of 1 in each of c0 and c1",
                "- set full-pcpus-only=false in --cpu-manager-policy-options",
            ],
            id="of two changes that lose the same the pod's own comes before a setting of the node",
        ),
        pytest.param(
            "e2e-d-01827",
            1,
            [
                (
                    "1. set --topology-manager-policy best-effort (now restricted); CPUs and memory are aligned "
                    "then, but the plugin of intel.com/sriov names no NUMA node of this machine"
                ),
                "why: it takes the nodes that the kubelet ranks first, and refuses nothing for being apart",
                (
                    "only while p0, refused so far, stays away: if it were started before this pod, it would be "
                    "admitted, and hold 1 intel.com/sriov; this pod is refused then"
                ),
                "2. leave out intel.com/sriov; it is aligned then, on node 0",
                (
                    "Or mend the device plugin of intel.com/sriov: it names NUMA node -1, which this machine does not "
                    "have;"
                ),
                (
                    "if it named no node at all, this pod would be admitted as it is, unless p0, refused so far, comes "
                    "first (tried)"
                ),
            ],
            id="a setting that helps unless another pod comes first says so",
        ),
        pytest.param(
            "e2e-d-02358",
            0,
            [
                (
                    "besides, container c1: memory: 64182.3Mi asked, but no NUMA node ever has more than 63769.9Mi "
                    "(node 1), and policy single-numa-node takes all of it from one node"
                ),
                "Each of these admits it (tried; first what changes pods, then settings of the node):",
                "1. Five changes together; it is aligned then, i0 on node 1, c0 on node 1, c1 on node 0",
                "- ask for at most 15 cpu instead of 24 in container i0",
                "2. set --topology-manager-policy none (now single-numa-node); it is NOT aligned then",
            ],
            id="where settings alone would do it is told what the pod would have to ask for",
        ),
        pytest.param(
            "e2e-d-02869",
            1,
            [
                "Each of these admits it (tried; first what leaves nothing out):",
                "- set --topology-manager-policy best-effort (now single-numa-node)",
                "- ask for at most 2 xilinx.com/fpga instead of 3 in container c1",
                "- leave out xilinx.com/fpga in container c1",
            ],
            id="another policy and a small cut come before a device that is left out",
        ),
    ],
)
def test_a_recorded_setting_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_a_policy_under_which_the_kubelet_crashes_refuses_nothing() -> None:
    text = recorded("lifecycle-d-00319", 0)
    assert "best-effort crashes the kubelet, too" in text, "\n".join(text)


def test_devices_of_unknown_nodes_count_under_no_stricter_policy_either() -> None:
    text = recorded("e2e-d-01841", 0)
    expected = [
        (
            "1. set --topology-manager-policy best-effort (now single-numa-node); CPUs are aligned then, but 2 of the "
            "3 nvidia.com/gpu have no known NUMA node, and the pod gets those"
        ),
        "restricted still refuses it: it counts no nvidia.com/gpu of an unknown node, either",
    ]
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_a_setting_with_which_a_pod_holds_fewer_cpus_says_so() -> None:
    text = recorded("e2e-d-01858", 2)
    expected = "p0 holds 9 cpu then instead of 13: its containers take over more of what its init containers had"
    assert text.count(expected) == 2, "\n".join(text)
