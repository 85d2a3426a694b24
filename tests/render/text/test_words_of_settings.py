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
            ["1. Set the policy to best-effort (now restricted): aligned"],
            id="a stricter policy that happens to do is not offered where a laxer one does",
        ),
        pytest.param(
            "e2e-d-02671",
            3,
            [
                ("nvidia.com/gpu: 2 requested, 1 on the machine (NUMA 0: 0, NUMA 1: 0, NUMA 2: 1, NUMA 3: 0)"),
                (
                    "also: 5 CPUs are not whole cores, and full-pcpus-only allocates whole cores (2 "
                    "CPUs each). Request 4 or 6."
                ),
                "If p1 (rejected so far) starts before this pod, the kubelet admits both.",
            ],
            id="what is free under another setting is not what is free now",
        ),
        pytest.param(
            "lifecycle-d-00121",
            11,
            [
                "- request at most 15167Mi memory (now 16800M (16022Mi))",
                "- request at most 1024Mi hugepages-2Mi (now 1026Mi)",
                ("2. Set memoryManagerPolicy to None (now Static): admitted, NOT aligned (CPUs shared in any case)"),
            ],
            id="smaller requests stand beside a setting that aligns no better",
        ),
        pytest.param(
            "e2e-d-01279",
            0,
            [
                (
                    "For CPUs all NUMA nodes of one socket then count as one. CPUs on NUMA 2, "
                    "hugepages-1Gi, hugepages-2Mi and memory on NUMA 2-3."
                ),
                (
                    "Fixes 2 and 3 affect all pods: drain the node, change the setting, restart the "
                    "kubelet. Before the kubelet starts with fix 3, delete memory_manager_state in "
                    "its root directory."
                ),
            ],
            id="an option says what it does, and settings what it takes to change them",
        ),
        pytest.param(
            "e2e-d-01279",
            3,
            [
                "2. Set the policy to best-effort (now restricted): admitted, NOT aligned",
                "If p0 (rejected so far) starts before this pod, the kubelet admits both.",
            ],
            id="a setting that helps only as another pod comes first is left out where others do",
        ),
        pytest.param(
            "e2e-d-01253",
            4,
            [
                "Fixes, those that depend on another pod last (tested):",
                "1. Request at most 1 intel.com/sriov (now 2): aligned on NUMA 0",
                (
                    "Valid only if p0 (rejected so far) starts before this pod (holds 18 CPUs (2 on "
                    "NUMA 0, 16 on NUMA 1))."
                ),
                (
                    "Without p0, p2 (rejected so far) starts first (holds 2 intel.com/sriov (1 on "
                    "NUMA 0, 1 on NUMA 1)), and the kubelet rejects this pod."
                ),
            ],
            id="a setting that helps only as another pod comes first says so",
        ),
        pytest.param(
            "e2e-d-02885",
            2,
            ["2. Set memoryManagerPolicy to None (now Static): CPUs aligned on NUMA 0"],
            id="memory that is kept on no node any more is not aligned",
        ),
        pytest.param(
            "e2e-d-02965",
            7,
            ["1. Move pod p2 off the node: aligned on NUMA 1"],
            id="what gets CPUs that another pod holds is not told where anything else does",
        ),
        pytest.param(
            "e2e-d-02277",
            4,
            [
                (
                    "2. Set the policy to best-effort (now single-numa-node): aligned on NUMA 0-1 "
                    "(CPUs need 2; nvidia.com/gpu on NUMA 0)"
                ),
                "restricted also rejects: memory fits on 1 NUMA node, cpu needs 2.",
            ],
            id="a policy that is offered is the strictest that does",
        ),
        pytest.param(
            "e2e-d-02923",
            1,
            [
                "- request 2 CPUs (now 1) in containers c0 and c1 each",
                "- set option full-pcpus-only to false",
            ],
            id="of two changes that lose the same the pod's own comes before a setting of the node",
        ),
        pytest.param(
            "e2e-d-01827",
            1,
            [
                (
                    "1. Set the policy to best-effort (now restricted): CPUs and memory are aligned, "
                    "but the device plugin of intel.com/sriov reports no NUMA node of this machine"
                ),
                "best-effort never rejects.",
                ("Valid only if p0 (rejected so far) does not start before this pod (holds 1 intel.com/sriov)."),
                "2. Remove intel.com/sriov: aligned on NUMA 0",
                ("Or repair the device plugin of intel.com/sriov, which reports NUMA -1, not on this machine."),
                (
                    "With no NUMA node reported, the kubelet admits the pod, unless p0 (rejected so "
                    "far) starts first (tested)."
                ),
            ],
            id="a setting that helps unless another pod comes first says so",
        ),
        pytest.param(
            "e2e-d-02358",
            0,
            [
                "Fixes, pods before node settings (tested):",
                ("1. Make five changes together: aligned (i0 on NUMA 1, c0 on NUMA 1, c1 on NUMA 0)"),
                "- request at most 15 CPUs (now 24) in container i0",
                "2. Set the policy to none (now single-numa-node): admitted, NOT aligned",
            ],
            id="where settings alone would do it is told what the pod would have to ask for",
        ),
        pytest.param(
            "e2e-d-02869",
            1,
            [
                "- set the policy to best-effort (now single-numa-node)",
                "- request at most 2 xilinx.com/fpga (now 3) in container c1",
                "- remove xilinx.com/fpga in container c1",
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
    assert "best-effort also crashes the kubelet." in text, "\n".join(text)


def test_devices_of_unknown_nodes_count_under_no_stricter_policy_either() -> None:
    text = recorded("e2e-d-01841", 0)
    expected = [
        (
            "1. Set the policy to best-effort (now single-numa-node): CPUs are aligned, but "
            "NUMA node unknown for 2 of 3 nvidia.com/gpu, and the pod holds some"
        ),
        ("best-effort never rejects. restricted also rejects: nvidia.com/gpu with an unknown NUMA node do not count."),
    ]
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_a_setting_with_which_a_pod_holds_fewer_cpus_says_so() -> None:
    text = recorded("e2e-d-01858", 2)
    expected = "p0 would hold 9 CPUs (now 13): containers reuse more CPUs of init containers."
    assert text.count(expected) == 2, "\n".join(text)
