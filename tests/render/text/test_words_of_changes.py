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
                    "on an empty node: hugepages-2Mi: 2Mi requested by container c0, 0 free on NUMA "
                    "0,2,4, the chosen NUMA nodes (i0 holds 2Gi)"
                ),
            ],
            id="a container's own memory needs fewer nodes than were chosen for its pod",
        ),
        pytest.param(
            "e2e-d-01050",
            4,
            [
                "- request at most 2Gi hugepages-1Gi (now 3Gi) in container i1",
            ],
            id="no request is cut by more than it takes",
        ),
        pytest.param(
            "lifecycle-d-00027",
            6,
            [
                (
                    "also, container c1: cpu: 34 requested. full-pcpus-only counts free CPUs of "
                    "cores without a reserved CPU: 30 on an empty node."
                )
            ],
            id="of what refuses another container for ever no state of the node is told",
        ),
        pytest.param(
            "e2e-d-01703",
            0,
            [
                (
                    "Limit: 6 CPUs (by i1) fit on 1 NUMA node: each has at most 16. align-by-socket "
                    "allows all NUMA nodes of 1 socket."
                )
            ],
            id="CPUs that may take a whole socket do not hold others to one node",
        ),
        pytest.param(
            "e2e-d-00818",
            4,
            [
                (
                    "Limit: memory: 4075Mi requested, 5406Mi free in total (NUMA 0: 1332Mi of "
                    "6656Mi, NUMA 1: 4074Mi of 6531Mi)"
                )
            ],
            id="what is left over has the unit of what is asked",
        ),
        pytest.param(
            "e2e-d-02671",
            3,
            ["✓ counts single CPUs; full-pcpus-only allocates whole cores only"],
            id="a tick does not promise whole cores where something else is refused first",
        ),
        pytest.param(
            "e2e-d-00425",
            2,
            [
                (
                    "hugepages-2Mi: 2Mi requested, 0 on this machine. Fix: boot with hugepagesz=2M "
                    "hugepages=2 or more (uses 4Mi of memory)."
                )
            ],
            id="pages to boot with are those of the whole pod",
        ),
        pytest.param(
            "e2e-d-00818",
            4,
            [
                (
                    "Init container i0 leaves 11.1Gi of memory on NUMA 0-1 to later containers, "
                    "usable only with free memory of NUMA 0-1. Needed: 1 NUMA node, not 2."
                )
            ],
            id="what is left on several nodes is no help to who takes one",
        ),
        pytest.param(
            "e2e-d-02316",
            4,
            [
                "1. Request 10 CPUs (now 9): aligned on NUMA 0-1, the fewest possible",
                "2. Request 8 CPUs (now 9): aligned on NUMA 1",
            ],
            id="whole cores above and below stand beside each other",
        ),
        pytest.param(
            "e2e-d-02252",
            3,
            ["- request 30 or 32 CPUs (now 31)"] * 2,
            id="a part of a change names both numbers of whole cores where both do",
        ),
        pytest.param(
            "e2e-d-01599",
            2,
            [
                "- request 4915Mi or 4916Mi memory (now 4.8Gi) in container c0",
                "4.8Gi is not a whole number of bytes, which the Memory Manager requires.",
            ]
            * 2,
            id="a part of a byte names the amounts next to it",
        ),
        pytest.param(
            "e2e-d-00541",
            0,
            [
                (
                    "hugepages-2Mi: 4Mi requested (c0 2Mi + c1 2Mi), 0 on the node. Fix: boot with "
                    "hugepagesz=2M hugepages=2 or more (uses 4Mi of memory)."
                ),
                "hugepages-2Mi: 2Mi requested, 0 on the node",
            ],
            id="how to boot for huge pages is told once, for the whole pod",
        ),
        pytest.param(
            "e2e-d-01705",
            6,
            [
                ("hugepages-2Mi: 3074Mi requested (c0 2Gi + c1 1026Mi), 1408Mi allocatable on the node"),
                ("1. Request at most 382Mi hugepages-2Mi (now 2Gi) in container c0: admitted, NOT aligned"),
            ],
            id="an amount that has to be worked out says how",
        ),
        pytest.param(
            "e2e-d-00476",
            0,
            [
                "- request at most 3 mellanox.com/rdma (now 4) in container c0",
                "- request at most 2 nvidia.com/gpu (now 4) in container c1",
            ],
            id="of each device that container asks for less of which loses least",
        ),
        pytest.param(
            "e2e-d-00560",
            5,
            [
                (
                    "Lowering hugepages-1Gi in container i0 is not enough: 5 cpu, 1Gi hugepages-1Gi "
                    "of container c0 would not fit either."
                )
            ],
            id="what refuses the pod besides is not what is changed first",
        ),
        pytest.param(
            "e2e-d-00050",
            1,
            [
                "- request at most 1 nvidia.com/gpu (now 2) in container i0",
                (
                    "container c1: restricted takes 2 nvidia.com/gpu from 1 NUMA node, because 1 is "
                    "enough on an empty node. Init container i0 leaves 1 nvidia.com/gpu on NUMA 0, "
                    "which the container must use. Left after c0: NUMA 0: 0 + 1 of 2, NUMA 4: 2 of 2."
                ),
                "With 1, i0 leaves no nvidia.com/gpu to keep c1 on NUMA 0.",
            ],
            id="a reason about another container names it, and devices tie, too",
        ),
        pytest.param(
            "e2e-d-01068",
            2,
            [
                f"{change}: CPUs and memory are aligned, but NUMA node unknown for 1 of 3 xilinx.com/fpga, "
                "and the pod may hold it"
                for change in (
                    "1. Request 4 CPUs (now 3)",
                    "2. Request 2 CPUs (now 3)",
                    "3. Set option full-pcpus-only to false",
                )
            ],
            id="how many devices have no known node is told where others have one",
        ),
        pytest.param(
            "e2e-d-00882",
            6,
            [("(next whole core: 8): 7 CPUs are free, but full-pcpus-only allocates whole cores (2 CPUs each).")],
            id="fewer CPUs than are free are told why",
        ),
        pytest.param(
            "lifecycle-d-00153",
            5,
            [("2. Request 15 CPUs (now 4) in container c0 (a core has 1 CPU here): admitted, NOT aligned")],
            id="to ask for more is said, and that an odd number is whole cores",
        ),
        pytest.param(
            "e2e-d-02227",
            5,
            [
                (
                    "1 CPU is not a whole core, and full-pcpus-only allocates whole cores (2 CPUs "
                    "each). Request 2. The same is true of c1 (3: request 2 or 4)."
                ),
            ],
            id="what is told of another container besides is not told twice",
        ),
        pytest.param(
            "e2e-d-01352",
            8,
            ["1. Move pod p1 off the node: admitted, NOT aligned"],
            id="what takes nearly all from a pod is not told first",
        ),
        pytest.param(
            "e2e-d-00007",
            7,
            [
                "p1 holds 2 nvidia.com/gpu on NUMA 0 and requests 4 cpu.",
                (
                    "While these pods stay: nvidia.com/gpu: 1 requested (reduced below), 0 of 2 "
                    "free on known NUMA nodes. restricted counts only devices with a known NUMA node."
                ),
            ],
            id="the rule about devices of no known node is short where it is told again",
        ),
        pytest.param(
            "e2e-d-01183",
            5,
            ["- remove amd.com/gpu in container c0 (or in c1, and request 1 in c0)"],
            id="or one that asks for fewer",
        ),
        pytest.param(
            "e2e-d-01124",
            2,
            [
                (
                    "If this pod starts before p0: aligned on NUMA 0-1 (CPUs need 2; intel.com/sriov on NUMA 0) "
                    "(test: add --without p0)."
                )
            ],
            id="a pod that is aligned only if it comes before others says so",
        ),
        pytest.param(
            "lifecycle-d-00264",
            6,
            [
                (
                    "NUMA 1-2 have enough of it, but no mellanox.com/rdma (3 requested) and too "
                    "little memory (3Gi requested)."
                ),
                (
                    "NUMA 1-2 have enough of it, but no mellanox.com/rdma (3 requested) and too "
                    "little memory (3Gi requested)."
                ),
            ],
            id="all that other nodes lack is named",
        ),
        pytest.param(
            "e2e-d-01138",
            0,
            [("1. Request 1Mi memory (now 100500m) in container c0: admitted, NOT aligned (CPUs shared in any case)")],
            id="what is no whole number of bytes grows, however much",
        ),
        pytest.param(
            "e2e-d-02237",
            0,
            ["1. Request 26214Mi or 26215Mi memory (now 25.6Gi) in container i0: aligned"],
            id="an amount that can be read does not look like the one that cannot",
        ),
        pytest.param(
            "e2e-d-02402",
            1,
            [("warning: the shared pool is empty, and the kubelet would not restart. Request fewer CPUs.")],
            id="a change that leaves no shared CPU says so once",
        ),
        pytest.param(
            "e2e-d-00331",
            7,
            ["1. Make four changes together: aligned (i0, i1 and c1 on NUMA 3)"],
            id="containers are named that are aligned, where others are elsewhere",
        ),
        pytest.param(
            "e2e-d-00325",
            1,
            ["NUMA 1 has enough of it, but no nvidia.com/gpu (1 requested)."],
            id="what a container holds elsewhere is not why a node has none",
        ),
        pytest.param(
            "e2e-d-00114",
            3,
            [
                "Without p0: Limit: memory: 1537Mi requested, 1536Mi free on NUMA 6",
                "NUMA 0-3,7 have enough of it, but too little hugepages-2Mi (512Mi requested).",
                "NUMA 5 has enough of it, but no nvidia.com/gpu (1 requested).",
                "Without p0: Limit: memory: 1537Mi requested, 1536Mi free on NUMA 6, left by i0",
                "i0 left 2 CPUs there, which the container must use.",
                "Without p0: Limit: hugepages-2Mi: 258Mi requested, 256Mi free on NUMA 1",
                "NUMA 5 has enough of it, but no nvidia.com/gpu (1 requested).",
            ],
            id="a limit is that of the node where the container goes, of the resource asked about",
        ),
        pytest.param(
            "e2e-d-00492",
            6,
            [
                "Limit: memory: 7288Mi requested, 7.1Gi free on NUMA 2",
                "NUMA 0-1,3 have enough of it, but no intel.com/sriov free (1 requested).",
            ],
            id="a limit is told in the unit in which it is asked for, rounded down",
        ),
        pytest.param(
            "e2e-d-01345",
            4,
            ["- request at most 12395Mi memory (now 24G (22888Mi))"],
            id="a round decimal number is not told in Ki",
        ),
        pytest.param(
            "e2e-d-01863",
            2,
            [("p1 holds 15.9Gi of memory on NUMA 0 and requests 2.5 cpu (without p1, 5.8 of 5.8 cpu are left).")],
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

    first = (
        "This machine is a poor match: every fix found needs at least six changes (cpu "
        "and memory). Use another machine."
    )
    assert head()[0] == first
    other = WayOut(True, machine="larger", example=True, tried=told.changes[0].tried)
    assert head(other)[0].endswith(f"Machine larger admits the pod unchanged (fix {len(told.changes) + 1}).")


def test_a_machine_that_needs_few_changes_is_not_told_to_suit_badly() -> None:
    assert not [line for line in recorded("e2e-d-02439", 0) if "poor match" in line]


def test_what_many_pods_to_move_hold_is_added_up() -> None:
    """Eight pods of one CPU each fill the machine, and the newcomer wants all of it."""
    pods = [pod(f"p{number}", 1) for number in range(8)]
    text = explained(config("none"), pod("big", 8), *pods)
    assert "These 8 pods hold 8 cpu together." in text


def test_only_some_of_very_many_pods_to_move_are_named() -> None:
    change = WayOut(True, pods=tuple([pod(f"p{number}", 1) for number in range(14)]), fewest=True)
    text = what_text(change, config("none"), 1)
    assert text.endswith(
        "Move pods p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11 and 2 more (see -o "
        "wide) off the node (the smallest set)"
    )


def test_on_a_machine_of_one_numa_node_shared_cpus_are_where_all_else_is() -> None:
    text = recorded("e2e-d-00484", 4)
    assert (
        "1. Request at most 1 mellanox.com/rdma (now 2) in container i0: admitted (CPUs shared in any case)"
    ) in text
    assert "i0, i1, c0: The CPUs are shared (cpuManagerPolicy: none). NUMA 0 is the only NUMA node." in text
    assert not [line for line in text if "NOT aligned" in line]


def test_where_nobody_pins_cpus_whole_ones_are_not_called_the_most() -> None:
    assert "- request 1 CPU (now 4) in container c1" in recorded("e2e-d-01251", 2)


def test_where_nobody_pins_cpus_all_that_is_left_may_be_asked_for() -> None:
    text = recorded("e2e-d-02372", 0)
    assert text[-1:] == [
        "1. Request at most 5500m CPUs (now 9)",
    ]


def test_a_single_change_stands_in_no_order() -> None:
    text = recorded("e2e-d-00484", 4)
    assert "Fix (tested):" in text


def test_more_that_is_asked_is_compared_in_its_own_unit() -> None:
    text = recorded("e2e-d-00730", 4)
    assert ("More than 16770044Ki (15.9Gi) memory need 2 NUMA nodes, as cpu does.") in text, "\n".join(text)
