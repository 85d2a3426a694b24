"""Changes in words: what they rest on, which amounts tip them, and how the pods before fare under other settings."""

from __future__ import annotations

import json

import pytest

from numalign.analysis.whatif.change import WayOut
from numalign.render.page.document import Line
from numalign.render.text.changes import Advice, changes_lines, what_text
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.analysis.support import config, pod
from tests.refusals.survey import named, refusals
from tests.render.text.support import explained, recorded


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
            "e2e-d-00741",
            8,
            [
                "why: p4 holds 8 cpu and 14.4Gi memory on node 3; as long as it stays:",
                (
                    "cpu: 6 asked; full-pcpus-only counts only whole free cores: 4 cpu; the 2 that i0 and i1 leave "
                    "it does not count"
                ),
                "cpu: i0 and i1 leave 2 on node 0 to the containers after it, which must use node 0, too",
                "p5 holds 6 cpu and 8Gi memory on node 0",
            ],
            id="why a pod is moved away from another node than the pod goes to",
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
            "e2e-d-02486",
            1,
            [
                "- ask for at most 2046Mi hugepages-2Mi instead of 2Gi in container i0",
                "not aligned: i0, c0: hugepages-2Mi and memory on nodes 0,2,4, CPUs anywhere: cpuManagerPolicy is none",
            ],
            id="more may do where a little more does not",
        ),
        pytest.param(
            "e2e-d-02486",
            1,
            [
                (
                    "even on an empty machine: hugepages-2Mi: container c0 asks for 2Mi, and nodes 0,2,4, chosen for "
                    "it, have 0 free, as i0 holds 2048Mi"
                ),
            ],
            id="a container's own memory needs fewer nodes than were chosen for its pod",
        ),
        pytest.param(
            "e2e-d-01050",
            4,
            [
                "- ask for at most 2Gi hugepages-1Gi instead of 3Gi in container i1",
            ],
            id="no request is cut by more than it takes",
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
            "e2e-d-00818",
            4,
            [
                (
                    "why no more: memory: 4075Mi asked, although the whole machine has 1332Mi free besides the 4074Mi "
                    "that i0 and i1 leave to it (node 0: 1332Mi of 6656Mi, node 1: 0 + 4074Mi of 6531Mi)"
                )
            ],
            id="what is left over has the unit of what is asked",
        ),
        pytest.param(
            "e2e-d-02671",
            3,
            ["cpu ✓ counts single CPUs; full-pcpus-only gives out whole cores only"],
            id="a tick does not promise whole cores where something else is refused first",
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
            "e2e-d-00425",
            2,
            [
                (
                    "hugepages-2Mi: 2Mi asked, and this machine has none to give on any node; to have them, boot it "
                    "with hugepagesz=2M and hugepages=2 at least"
                )
            ],
            id="pages to boot with are those of the whole pod",
        ),
        pytest.param(
            "e2e-d-00170",
            3,
            ["- move 1 pod away: p1", "why: p1 holds 1 example.com/notopo"],
            id="a pod to move is told with what it holds of what is in the way",
        ),
        pytest.param(
            "e2e-d-00818",
            4,
            [
                (
                    "memory: i0 leaves 11.1Gi on nodes 0-1 to the containers after it, to be used only with free "
                    "memory of nodes 0-1: 2 nodes, where it takes one"
                )
            ],
            id="what is left on several nodes is no help to who takes one",
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
                    "why: p2 holds 1 amd.com/gpu on nodes 0-1, 1 mellanox.com/rdma on node 0 and 3Gi hugepages-1Gi "
                    "on nodes 0-1"
                ),
                "p3 holds 1 amd.com/gpu on node 0",
            ],
            id="pods to move are told with all of what is short that they hold",
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
            "e2e-d-02316",
            4,
            [
                "1. ask for 10 cpu instead of 9; it is aligned then, on nodes 0-1 (no fewer will do)",
                "2. ask for 8 cpu instead of 9; it is aligned then, on node 1",
            ],
            id="whole cores above and below stand beside each other",
        ),
        pytest.param(
            "e2e-d-02252",
            3,
            ["- ask for 30 or 32 cpu instead of 31"] * 2,
            id="a part of a change names both numbers of whole cores where both do",
        ),
        pytest.param(
            "e2e-d-01599",
            2,
            [
                "- ask for 4915Mi or 4916Mi memory instead of 4.8Gi in container c0",
                "why: 4.8Gi is no whole number of bytes, and the Memory Manager takes no other",
            ]
            * 2,
            id="a part of a byte names the amounts next to it",
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
            "e2e-d-00541",
            0,
            [
                (
                    "hugepages-2Mi: 4Mi asked (c0 2Mi + c1 2Mi), and the node has none; to have them, boot it with "
                    "hugepagesz=2M and hugepages=2 at least"
                ),
                "why: hugepages-2Mi: 2Mi asked, and the node has none",
            ],
            id="how to boot for huge pages is told once, for the whole pod",
        ),
        pytest.param(
            "e2e-d-01705",
            6,
            [
                "1. ask for at most 382Mi hugepages-2Mi instead of 2Gi in container c0; it is NOT aligned then",
                "why no more: hugepages-2Mi: 1410Mi asked (c0 384Mi + c1 1026Mi), and the node has 1408Mi",
            ],
            id="an amount that has to be worked out says how",
        ),
        pytest.param(
            "e2e-d-00476",
            0,
            [
                "- ask for at most 3 mellanox.com/rdma instead of 4 in container c0",
                "- ask for at most 2 nvidia.com/gpu instead of 4 in container c1",
            ],
            id="of each device that container asks for less of which loses least",
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
            "e2e-d-00560",
            5,
            [
                (
                    "to change hugepages-1Gi in container i0 alone is not enough: 5 cpu, 1Gi hugepages-1Gi of "
                    "container c0 would be in the way then"
                )
            ],
            id="what refuses the pod besides is not what is changed first",
        ),
        pytest.param(
            "e2e-d-00050",
            1,
            [
                "- ask for at most 1 nvidia.com/gpu instead of 2 in container i0",
                (
                    "why: container c1: nvidia.com/gpu: 2 asked, and policy restricted takes it from one node, as "
                    "an empty one holds so many; it must reuse the 1 that i0 leaves on node 0; left after c0: "
                    "node 0: 0 + 1 of 2, node 4: 2 of 2"
                ),
                "with 1, i0 leaves no nvidia.com/gpu that ties c1 to node 0",
            ],
            id="a reason about another container names it, and devices tie, too",
        ),
        pytest.param(
            "lifecycle-d-00378",
            11,
            [
                (
                    "why no more, once p0 is gone: cpu: 2 asked; full-pcpus-only counts only what is free: 1 cpu; "
                    "the 1 that i0 leaves it does not count (cores have 1 thread here, so any number is whole)"
                ),
            ],
            id="what init containers leave does not count as whole cores, also where cores have one thread",
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
            "e2e-d-01068",
            2,
            [
                f"{change}; CPUs and memory are aligned then, but 1 of the 3 xilinx.com/fpga has no known NUMA node, "
                "and the pod may get that one"
                for change in (
                    "1. ask for 4 cpu instead of 3",
                    "2. ask for 2 cpu instead of 3",
                    "3. set full-pcpus-only=false in --cpu-manager-policy-options",
                )
            ],
            id="how many devices have no known node is told where others have one",
        ),
        pytest.param(
            "e2e-d-02489",
            2,
            ["- ask for at most 11251Mi memory instead of 11264Mi (11Gi) in container c1"],
            id="an amount is not written, rounded, as what it is instead of",
        ),
        pytest.param(
            "e2e-d-00882",
            6,
            ["why (the next whole core makes 8): 7 are free, but full-pcpus-only gives out whole cores of 2 threads"],
            id="fewer CPUs than are free are told why",
        ),
        pytest.param(
            "lifecycle-d-00153",
            5,
            ["1. ask for more: 15 cpu instead of 4 in container c0 (a core has 1 thread here); it is NOT aligned then"],
            id="to ask for more is said, and that an odd number is whole cores",
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
            "e2e-d-02227",
            5,
            [
                (
                    "cpu: 1 asked, but full-pcpus-only gives out whole cores of 2 threads: ask for 2; the same goes "
                    "for the 3 of c1 (ask for 2 or 4)"
                ),
            ],
            id="what is told of another container besides is not told twice",
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
                (
                    "why, once p0 and p4 are gone: hugepages-1Gi: 2Gi asked, 2Gi free in all then (node 0: 1Gi of 1Gi, "
                    "node 1: 1Gi of 1Gi)"
                ),
            ],
            id="a pod to move that holds nothing says what it asks for",
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
            "e2e-d-01352",
            8,
            ["1. move 1 pod away: p1; it is NOT aligned then"],
            id="what takes nearly all from a pod is not told first",
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
            "e2e-d-00007",
            7,
            [
                "why: p1 holds 2 nvidia.com/gpu on node 0 and asks for 4 cpu",
                (
                    "nvidia.com/gpu: 1 asked as reduced below, 0 of 2 free on known nodes; policy restricted counts no "
                    "others"
                ),
            ],
            id="the rule about devices of no known node is short where it is told again",
        ),
        pytest.param(
            "e2e-d-02277",
            4,
            [
                (
                    "2. set --topology-manager-policy best-effort (now single-numa-node); it is aligned then, on nodes "
                    "0-1 (its CPUs need 2 nodes; nvidia.com/gpu on node 0)"
                ),
                "restricted still refuses it",
            ],
            id="a policy that is offered is the strictest that does",
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
            "e2e-d-01183",
            5,
            ["- leave out amd.com/gpu in container c0 (or in c1: c0 may ask for 1 then)"],
            id="or one that asks for fewer",
        ),
        pytest.param(
            "e2e-d-01124",
            2,
            [
                (
                    "if this pod is started before p0, it is aligned then, on nodes 0-1 (its CPUs need 2 nodes; "
                    "intel.com/sriov on node 0)"
                )
            ],
            id="a pod that is aligned only if it comes before others says so",
        ),
        pytest.param(
            "lifecycle-d-00264",
            6,
            [
                "nodes 1-2 have enough of it, but no mellanox.com/rdma (3 asked) and too little memory (3Gi asked)",
                "nodes 1-2 have enough of it, but no mellanox.com/rdma (3 asked) and too little memory (3Gi asked)",
            ],
            id="all that other nodes lack is named",
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
            "e2e-d-02923",
            1,
            [
                "- ask for 2 cpu instead of 1 in each of c0 and c1",
                "- set full-pcpus-only=false in --cpu-manager-policy-options",
            ],
            id="of two changes that lose the same the pod's own comes before a setting of the node",
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
            "e2e-d-01138",
            0,
            [
                (
                    "1. ask for 1Mi memory instead of 100500m in container c0; its CPUs are shared in any case, so it "
                    "is NOT aligned"
                )
            ],
            id="what is no whole number of bytes grows, however much",
        ),
        pytest.param(
            "e2e-d-01603",
            2,
            [
                (
                    "- ask for at most 4 cpu in c0 and c1 together, for example 2 instead of 10 in c0 and 2 as it is "
                    "in c1"
                ),
                (
                    "why no more: cpu: 4 asked (c0 3 + c1 1), 0.5 of the node's 4 requested by other pods, which "
                    "leaves 3.5: 3 whole"
                ),
            ],
            id="of a sum no next whole core is told",
        ),
        pytest.param(
            "e2e-d-02237",
            0,
            ["1. ask for 26214Mi or 26215Mi memory instead of 25.6Gi in container i0; it is aligned then"],
            id="an amount that can be read does not look like the one that cannot",
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
                    "admitted, and hold 1 intel.com/sriov"
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
            "e2e-d-00114",
            3,
            [
                "Each of these admits it (tried; first what leaves nothing out):",
                "why no more: memory: 1996Mi asked, and node 7, where it goes, has 1995Mi",
                "nodes 0-3,5 have enough of it, but no nvidia.com/gpu free (1 asked)",
                "why no more: hugepages-2Mi: 258Mi asked, and node 7, where it goes, has 256Mi",
                "node 6 has enough of it, but too little memory (1995Mi asked as reduced)",
                "why no more: memory: 1996Mi asked, and node 7, where it goes, has 1995Mi, left by i0",
                "2 CPUs that i0 left are there for it, so it cannot go elsewhere",
                "why no more: hugepages-2Mi: 258Mi asked, and node 7, where it goes, has 256Mi, left by i0",
                "2 CPUs that i0 left are there for it, so it cannot go elsewhere",
            ],
            id="a limit is that of the node where the container goes, of the resource asked about",
        ),
        pytest.param(
            "e2e-d-00492",
            6,
            [
                "why no more: memory: 7288Mi asked, and node 2, where it goes, has 7287Mi",
                "nodes 0-1,3 have enough of it, but no intel.com/sriov free (1 asked)",
            ],
            id="a limit is told in the unit in which it is asked for, rounded down",
        ),
        pytest.param(
            "e2e-d-02358",
            0,
            [
                (
                    "besides, container c1: memory: 62.7Gi asked, but no NUMA node ever has more than 62.2Gi (node 1), "
                    "and policy single-numa-node takes all of it from one node"
                ),
                "Each of these admits it (tried; first what takes few changes):",
                "1. set --topology-manager-policy none (now single-numa-node); it is NOT aligned then",
                "2. Six changes together; it is aligned then, i0 on node 0, c0 on node 0, c1 on node 1",
                "- ask for at most 14 cpu instead of 24 in container i0",
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
                    "c1 goes to node 1 then, which has too little free now, with c0 there: 7 cpu asked, 1 free; 31.5Gi "
                    "memory asked, 2.8Gi free"
                ),
            ],
            id="the container that goes to a node is named, and what of the pod is there now",
        ),
        pytest.param(
            "e2e-d-01345",
            4,
            ["- ask for at most 12395Mi memory instead of 24G (22888Mi)"],
            id="a round decimal number is not told in Ki",
        ),
        pytest.param(
            "e2e-d-01863",
            2,
            ["why: p1 holds 15.9Gi memory on node 0 and asks for 2.5 cpu; without it all 5.8 cpu of the node are left"],
            id="CPUs are counted alike, and all of them are called all",
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
    ],
)
def test_a_recorded_change_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_a_machine_that_needs_very_many_changes_suits_a_pod_badly() -> None:
    """What is told then ends with a machine that admits the pod as it is, where there is one."""
    data = named("e2e-d-00276")
    situation = next(found for index, found, _ in refusals(data) if index == 6)
    told = explain_one(situation, scenario.read(json.dumps(data).encode()).steps[6].pod)

    def head(*more: WayOut) -> list[str]:
        changes = (*told.changes, *more)
        nothing = [None for _ in more]
        every = told._replace(changes=changes, after=(*told.after, *nothing), alone=(*told.alone, *nothing))
        lines = changes_lines(situation.setup.config, every, Advice([""] * len(changes), ""))
        return [line.text.strip() for line in lines if isinstance(line, Line)][1:3]

    resources = "cpu and memory"
    first = "This machine suits this pod badly: no way with fewer than six changes was found"
    assert head() == [first, f"({resources}); another machine would be better"]
    other = WayOut("machine", 50, True, machine="larger", example=True)
    assert head(other) == [first, f"({resources}); machine larger admits it as it is (see {len(told.changes) + 1}.)"]


def test_a_machine_that_needs_few_changes_is_not_told_to_suit_badly() -> None:
    assert not [line for line in recorded("e2e-d-02439", 0) if "suits this pod badly" in line]


def test_what_many_pods_to_move_hold_is_added_up() -> None:
    """Eight pods of one CPU each fill the machine, and the newcomer wants all of it."""
    pods = [pod(f"p{number}", 1) for number in range(8)]
    text = explained(config("none"), pod("big", 8), *pods)
    assert "why: these 8 pods hold 8 cpu together" in text


def test_only_some_of_very_many_pods_to_move_are_named() -> None:
    change = WayOut("pods", 1, True, pods=tuple([pod(f"p{number}", 1) for number in range(14)]), fewest=True)
    text = what_text(change, config("none"), 1)
    assert text.endswith("p10, p11 and 2 more, which the command names (no fewer will do)")


def test_on_a_machine_of_one_numa_node_shared_cpus_are_where_all_else_is() -> None:
    text = recorded("e2e-d-00484", 4)
    assert (
        "1. ask for at most 1 mellanox.com/rdma instead of 2 in container i0; its CPUs are shared in any case"
    ) in text
    assert (
        "i0, i1, c0: CPUs shared with others, though all is on node 0, the only one: cpuManagerPolicy is none" in text
    )
    assert not [line for line in text if "aligned" in line]


def test_where_nobody_pins_cpus_whole_ones_are_called_so() -> None:
    assert "- ask for at most 1 whole cpu instead of 4 in container c1" in recorded("e2e-d-01251", 2)


def test_where_nobody_pins_cpus_all_that_is_left_may_be_asked_for() -> None:
    text = recorded("e2e-d-02372", 0)
    assert text[-2:] == [
        "1. ask for at most 5500m cpu instead of 9",
        "why no more: cpu: 5.6 asked, and the node has 5.5",
    ]


def test_a_single_change_stands_in_no_order() -> None:
    text = recorded("e2e-d-00484", 4)
    assert "This admits it (tried):" in text
