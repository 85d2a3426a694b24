"""Changes in words: what they rest on, which amounts tip them, and how the pods before fare under other settings."""

from __future__ import annotations

import json

import pytest

from numalign.analysis.whatif.change import WayOut
from numalign.render.page.document import plain
from numalign.render.text.changes import Advice, changes_lines, what_text
from numalign.results.explain import reasons_of
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.analysis.support import config, pod
from tests.refusals.survey import named, refusals
from tests.render.text.support import explained, recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
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
            "lifecycle-d-00027",
            6,
            [
                (
                    "besides, container c1: cpu: 34 asked, but full-pcpus-only counts only free CPUs on cores without "
                    "a reserved CPU, on any node: 30 on an empty machine"
                )
            ],
            id="of what refuses another container for ever no state of the node is told",
        ),
        pytest.param(
            "e2e-d-01703",
            0,
            [
                (
                    "why no more: cpu: 6 asked by i1: fits one node, which has 16 at most; by align-by-socket it may "
                    "take all nodes of one socket"
                )
            ],
            id="CPUs that may take a whole socket do not hold others to one node",
        ),
        pytest.param(
            "e2e-d-00818",
            4,
            [
                (
                    "why no more: memory: 4075Mi asked, the whole machine has 1332Mi free besides the 4074Mi that i0 "
                    "and i1 leave to it, but that may not be put together (node 0: 1332Mi of 6656Mi, node 1: 0 + "
                    "4074Mi of 6531Mi)"
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
            "e2e-d-00425",
            2,
            [
                (
                    "hugepages-2Mi: 2Mi asked, and this machine has none to give on any node; to have them, boot it "
                    "with hugepagesz=2M and hugepages=2 at least, which takes 4Mi off its memory"
                )
            ],
            id="pages to boot with are those of the whole pod",
        ),
        pytest.param(
            "e2e-d-00818",
            4,
            [
                (
                    "memory: i0 leaves 11.1Gi on nodes 0-1 to the containers after it, to be used only with what "
                    "is free on nodes 0-1: 2 nodes, where it takes one"
                )
            ],
            id="what is left on several nodes is no help to who takes one",
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
            "e2e-d-00541",
            0,
            [
                (
                    "hugepages-2Mi: 4Mi asked (c0 2Mi + c1 2Mi), and the node has none; to have them, boot it with "
                    "hugepagesz=2M and hugepages=2 at least, which takes 4Mi off its memory"
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
                    "an empty one holds so many; its nodes must include node 0, where i0 leaves 1; left after c0: "
                    "node 0: 0 + 1 of 2, node 4: 2 of 2"
                ),
                "with 1, i0 leaves no nvidia.com/gpu that ties c1 to node 0",
            ],
            id="a reason about another container names it, and devices tie, too",
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
            "e2e-d-01352",
            8,
            ["1. move 1 pod away: p1; it is NOT aligned then"],
            id="what takes nearly all from a pod is not told first",
        ),
        pytest.param(
            "e2e-d-00007",
            7,
            [
                "why: p1 holds 2 nvidia.com/gpu on node 0 and asks for 4 cpu",
                (
                    "as long as they stay: nvidia.com/gpu: 1 asked as reduced below, 0 of 2 free on known nodes; "
                    "policy restricted counts no others"
                ),
            ],
            id="the rule about devices of no known node is short where it is told again",
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
            "e2e-d-02237",
            0,
            ["1. ask for 26214Mi or 26215Mi memory instead of 25.6Gi in container i0; it is aligned then"],
            id="an amount that can be read does not look like the one that cannot",
        ),
        pytest.param(
            "e2e-d-02402",
            1,
            [
                (
                    "warning: no CPU is left to share then, and the kubelet would not start again: ask for fewer CPUs "
                    "to leave one"
                )
            ],
            id="a change that leaves no shared CPU says so once",
        ),
        pytest.param(
            "e2e-d-00331",
            7,
            ["1. Four changes together; it is aligned then, i0, i1 and c1 on node 3"],
            id="containers are named that are aligned, where others are elsewhere",
        ),
        pytest.param(
            "e2e-d-00325",
            1,
            ["node 1 has enough of it, but no nvidia.com/gpu (1 asked)"],
            id="what a container holds elsewhere is not why a node has none",
        ),
        pytest.param(
            "e2e-d-00114",
            3,
            [
                "why no more, once p0 is gone: memory: 1537Mi asked, and node 6, where it goes, has 1536Mi",
                "nodes 0-3,7 have enough of it, but too little hugepages-2Mi (512Mi asked)",
                "node 5 has enough of it, but no nvidia.com/gpu (1 asked)",
                "why no more, once p0 is gone: memory: 1537Mi asked, and node 6, where it goes, has 1536Mi, left by i0",
                "2 CPUs that i0 left are there for it, so it cannot go elsewhere",
                "why no more, once p0 is gone: hugepages-2Mi: 258Mi asked, and node 1, where it goes, has 256Mi",
                "node 5 has enough of it, but no nvidia.com/gpu (1 asked)",
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
    ],
)
def test_a_recorded_change_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_a_machine_that_needs_very_many_changes_suits_a_pod_badly() -> None:
    """What is told then ends with a machine that admits the pod as it is, where there is one."""
    data = named("e2e-d-00276")
    situation = next(found for index, found, _ in refusals(data) if index == 6)
    told = explain_one(situation, scenario.read_scenario(json.dumps(data).encode()).steps[6].pod)

    def head(*more: WayOut) -> list[str]:
        changes = (*told.changes, *more)
        nothing = [None for _ in more]
        every = told._replace(changes=changes, after=(*told.after, *nothing), alone=(*told.alone, *nothing))
        config = situation.setup.config
        lines = changes_lines(config, every, Advice([""] * len(changes), ""), reasons_of(every, config).steps)
        return [line.strip() for line in plain([*lines]).splitlines()][1:3]

    resources = "cpu and memory"
    first = "This machine suits this pod badly: no way with fewer than six changes was found"
    assert head() == [first, f"({resources}); another machine would be better"]
    other = WayOut(True, machine="larger", example=True)
    assert head(other) == [first, f"({resources}); machine larger admits it as it is (see {len(told.changes) + 1}.)"]


def test_a_machine_that_needs_few_changes_is_not_told_to_suit_badly() -> None:
    assert not [line for line in recorded("e2e-d-02439", 0) if "suits this pod badly" in line]


def test_what_many_pods_to_move_hold_is_added_up() -> None:
    """Eight pods of one CPU each fill the machine, and the newcomer wants all of it."""
    pods = [pod(f"p{number}", 1) for number in range(8)]
    text = explained(config("none"), pod("big", 8), *pods)
    assert "why: these 8 pods hold 8 cpu together" in text


def test_only_some_of_very_many_pods_to_move_are_named() -> None:
    change = WayOut(True, pods=tuple([pod(f"p{number}", 1) for number in range(14)]), fewest=True)
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


def test_where_nobody_pins_cpus_whole_ones_are_not_called_the_most() -> None:
    assert "- ask for 1 cpu instead of 4 in container c1" in recorded("e2e-d-01251", 2)


def test_where_nobody_pins_cpus_all_that_is_left_may_be_asked_for() -> None:
    text = recorded("e2e-d-02372", 0)
    assert text[-2:] == [
        "1. ask for at most 5500m cpu instead of 9",
        "why no more: cpu: 5.6 asked, and the node has 5.5",
    ]


def test_a_single_change_stands_in_no_order() -> None:
    text = recorded("e2e-d-00484", 4)
    assert "This admits it (tried):" in text


def test_more_that_is_asked_is_compared_in_its_own_unit() -> None:
    text = recorded("e2e-d-00730", 4)
    assert "why: as cpu takes 2 nodes, memory has to take 2, too, and one has 16770044Ki (15.9Gi) at most" in text, (
        "\n".join(text)
    )
