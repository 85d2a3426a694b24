"""Public issues about alignment, with the numbers that their authors posted: what they ended with is what is answered.

`public_issues/` has machines, pods, configurations and state files of each, named by the issue's number. What an author
did not say (reserved CPUs, mostly) is chosen so that what the thread found can be seen.
"""

from __future__ import annotations

import pytest

from tests.cli.running import ROOT, in_process

FOLDER = (ROOT / "tests/cli/public_issues").relative_to(ROOT)
NOT_EXTENDED = "failed to find NUMA nodes to extend the current topology hint"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        pytest.param(
            "explain 132187.yaml --machine 132187-m.yaml --policy restricted --reserved-cpus 0,16,32,48,64,80,96,112",
            1,
            [
                "restricted allows 7 NUMA nodes, because the kubelet also counts reserved CPUs",
                "Request 113 CPUs (now 112): aligned on NUMA 0-7",
                "Above 112 CPUs the kubelet counts 8 NUMA nodes, as nvidia.com/gpu needs.",
            ],
            id="kubernetes/kubernetes 132187: reserved CPUs count for the width",
        ),
        pytest.param(
            "admit 120733.yaml --machine 120733-m.yaml --kubelet-config 120733-kubelet.yaml --replicas 2",
            1,
            ["1 of 2 pods admitted.", "big-1  UnexpectedAdmissionError", NOT_EXTENDED, "(by big-0)"],
            id="kubernetes/kubernetes 120733: memory of a node in single use is combined with no other",
        ),
        pytest.param(
            "admit 110216.yaml --beside 110216-small.yaml --machine 110216-m.yaml --policy best-effort "
            "--memory-manager-policy Static --kubelet-version 1.32 --kube-reserved memory=1G "
            "--reserved-memory 0:memory=1G",
            1,
            ["p110216  UnexpectedAdmissionError", NOT_EXTENDED, "(by s0)", "(by s1)"],
            id="kubernetes/kubernetes 110216: small pods on both nodes keep a large one off",
        ),
        pytest.param(
            "admit 128708.yaml --machine 128708-m.yaml --policy restricted --memory-manager-policy Static "
            "--kubelet-version 1.31 --kube-reserved memory=100Mi --reserved-memory 0:memory=200Mi "
            "--eviction-hard memory.available<100Mi",
            1,
            ["small  admitted", "large  UnexpectedAdmissionError"],
            id="kubernetes/kubernetes 128708, 128669: no TopologyAffinityError",
        ),
        pytest.param(
            "admit 106270.yaml --machine 106270-m.yaml --policy best-effort --replicas 2 --reserved-cpus 0,40",
            0,
            [
                "1,3,5,7,9,11,13,15,17,19,21,23,25,34,36,38,41,43,45,47,49,51,53,55,57,59,61,63,65,74,76,78",
                "no: spread",
            ],
            id="kubernetes/kubernetes 106270: 6 CPUs of what is left beside the NIC, 26 of the other node",
        ),
        pytest.param(
            "admit 139430.yaml --machine 139430-m.yaml --policy best-effort --reserved-cpus 0,48 "
            "--cpu-manager-policy-options distribute-cpus-across-numa=true "
            "--feature-gates CPUManagerPolicyAlphaOptions=true",
            0,
            ["NUMA 0-3, not preferred", "on NUMA 0,2-3"],
            id="kubernetes/kubernetes 139430: CPUs of three nodes under a hint of four",
        ),
        pytest.param(
            "admit 136431.yaml --machine 136431-m.yaml --policy best-effort --reserved-cpus 0",
            0,
            ["CPUs and vendor/gpu 0000:25:00.0 on NUMA 0", "no: spread"],
            id="kubernetes/kubernetes 136431: CPUs land beside the one GPU, not the two",
        ),
        pytest.param(
            "admit 124066.yaml --machine 124066-m.yaml --policy none --cpu-manager-policy static "
            "--reserved-cpus 24,25,47,72",
            0,
            ["25-34,73-82"],
            id="kubernetes/kubernetes 124066: a CPU that is offline, to the CPU id",
        ),
        pytest.param(
            "explain 696.yaml --machine p5.48xlarge --policy single-numa-node --beside 696-runners.yaml",
            1,
            ["nvidia.com/gpu: 4 requested, 3 of 8 free", "Move pod runner-4 off the node: aligned on NUMA 1"],
            id="pytorch/ci-infra 696: runners of one GPU on both sockets",
        ),
        pytest.param(
            "status --node 131253 --machine 131253-m.yaml",
            4,
            [
                "the expected machine state is different from the real one",
                "delete /var/lib/kubelet/memory_manager_state",
            ],
            id="kubernetes/kubernetes 131253, 109996: the memory's total changed with a reboot",
        ),
        pytest.param(
            "admit 84597.yaml --machine 84597-m.yaml --policy restricted",
            1,
            ["3 of 4 pods admitted.", "because 1 is enough on an empty node"],
            id="kubernetes/kubernetes 84597: free CPUs in pieces",
        ),
        pytest.param(
            "admit 141237.yaml --machine epyc-2s-nps4 --policy best-effort --reserved-cpus 48-63 "
            "--cpu-manager-policy-options distribute-cpus-across-numa=true,align-by-socket=true "
            "--feature-gates CPUManagerPolicyAlphaOptions=true",
            0,
            ["0-14,16-30,32-46,112-126,128-142,144-158,160-174,240-254"],
            id="kubernetes/kubernetes 141237: both options together cross sockets",
        ),
        pytest.param(
            "config check --node 7504 --machine figure-1",
            4,
            [
                'configured policy "static" differs from state checkpoint policy "none"',
                "delete /var/lib/kubelet/cpu_manager_state",
            ],
            id="siderolabs/talos 7504, rancher/rancher 32783: from none to static",
        ),
        pytest.param(
            "admit 930.yaml --machine hgx-h100 --policy none --cpu-manager-policy static "
            "--cpu-manager-policy-options full-pcpus-only=true",
            1,
            ["SMTAlignmentError", "Request 2."],
            id="openshift-kni/telco-reference 930: one CPU where cores have two",
        ),
        pytest.param(
            "config check 4754.yaml --machine figure-1",
            4,
            [
                'the total amount "10Mi" of type "hugepages-2Mi" is not equal to the value "0"',
                "fix: reservedMemory: [{numaNode: 0, limits: {memory: 993Mi}}]",
            ],
            id="bottlerocket-os/bottlerocket 4754: huge pages are not reserved by reservedMemory",
        ),
        pytest.param(
            "config check 109766.yaml --machine figure-1 --kubelet-version 1.21",
            4,
            [
                'the total amount "0" of type "memory" is not equal to the value "993Mi"',
                "The kubelet does NOT start: 1 error. With this fix it starts.",
                "fix: reservedMemory: [{numaNode: 0, limits: {memory: 496Mi}}, {numaNode: 1, limits: {memory: 497Mi}}]",
            ],
            id="kubernetes/kubernetes 109766: the section that lacks comes first and alone",
        ),
        pytest.param(
            "config check --node 129078 --machine 129078-m.yaml --beside 129078-pods.json",
            0,
            [
                "A restart rejects 2 of 2 running pods:",
                '1. default/gu1: "SMTAlignmentError',
                '2. default/gu2: "SMTAlign',
            ],
            id="kubernetes/kubernetes 129078: a restart rejects pods that run",
        ),
        pytest.param(
            "config check --node 113130 --machine 113130-m.yaml --kubelet-version 1.25",
            4,
            ["the expected machine state is different from the real one"],
            id="kubernetes/kubernetes 113130: memory that moved within a group stops kubelets up to 1.31",
        ),
        pytest.param(
            "config check --node 113130 --machine 113130-m.yaml --kubelet-version 1.33",
            0,
            ["on this node with the existing files."],
            id="kubernetes/kubernetes 113130: corrected in 1.32",
        ),
        pytest.param(
            "admit 135581.yaml --machine gb200 --policy restricted --kubelet-version 1.34 "
            "--topology-manager-policy-options max-allowable-numa-nodes=34",
            4,
            ["g    hang", "17 179 869 186 sets of NUMA nodes"],
            id="kubernetes/kubernetes 135581: the kubelet walks through 2^34 sets",
        ),
        pytest.param(
            "admit 135581.yaml --machine gb200 --policy restricted --kubelet-version 1.36 "
            "--topology-manager-policy-options max-allowable-numa-nodes=34",
            0,
            ["yes, NUMA 0"],
            id="kubernetes/kubernetes 138244: nodes without devices are left out from 1.36 on",
        ),
    ],
)
def test_what_the_thread_found(words: str, status: int, says: list[str]) -> None:
    files = {path.name for path in (ROOT / FOLDER).iterdir()}
    done = in_process(*[str(FOLDER / word) if word in files else word for word in words.split()])
    assert done.status == status, done.err
    assert [text for text in says if text not in done.out] == [], done.out
