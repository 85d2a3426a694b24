"""Changes in words: what they rest on, which amounts tip them, and how the pods before fare under other settings."""

from __future__ import annotations

import json

import pytest

from numalign.analysis.whatif.change import WayOut
from numalign.render.page.document import Line
from numalign.render.text.changes import Advice, changes_lines
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.refusals.survey import refusals, scenarios
from tests.render.text.test_explanation_words import recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "lifecycle-d-00306",
            2,
            [
                "cpu: 10 asked: takes 2 nodes, as one has 8 at most",
                "memory: 11.1Gi asked: 2 empty nodes have enough only without node 0",
                "hugepages-1Gi: 3Gi asked: 2 empty nodes have enough only with node 0",
                ("memory and hugepages-1Gi: both have to come from the same nodes, so together they take 3 nodes"),
                "policy restricted wants each on as few nodes as it could do with, and all of them on the same nodes",
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
                (
                    "why: nvidia.com/gpu: the pod's containers together ask for 2 (c0 1 + c1 1), and the machine "
                    "never has more than 1 (between nodes 2-3: 1)"
                ),
                (
                    "why: nvidia.com/gpu: the pod's containers together ask for 2 (c0 1 + c1 1), and the machine "
                    "never has more than 1 (between nodes 2-3: 1)"
                ),
                (
                    "why no more: xilinx.com/fpga: 3 asked, and policy restricted takes it from one node, which is "
                    "enough on an empty machine; left after c0: node 0: 0 of 0, node 1: 2 of 2, node 2: 2 of 3, "
                    "node 3: 0 of 0"
                ),
            ],
            id="two containers want the only device, and either may do without it",
        ),
        pytest.param(
            "e2e-d-02671",
            3,
            [
                "to change nvidia.com/gpu alone is not enough: more has to change (see 1.)",
                (
                    "why: nvidia.com/gpu: 2 asked, the whole machine never has more than 1, and has 0 free then "
                    "(node 0: 0 of 0, node 1: 0 of 0, node 2: 0 of 1, node 3: 0 of 0)"
                ),
                (
                    "with that setting p1, refused before, is admitted before this pod and holds 8 cpu, "
                    "1 nvidia.com/gpu and 14.4Gi memory"
                ),
            ],
            id="what is free under another setting is not what is free now",
        ),
        pytest.param(
            "e2e-d-02486",
            1,
            [
                "- ask for at most 2046Mi hugepages-2Mi instead of 2Gi in container i0",
                "not aligned: i0: hugepages-2Mi on nodes 0,2,4, CPUs anywhere: cpuManagerPolicy is none",
            ],
            id="more may do where a little more does not",
        ),
        pytest.param(
            "e2e-d-02486",
            1,
            [
                (
                    "on an empty machine: hugepages-2Mi: container c0 asks for 2Mi, and nodes 0,2,4, chosen for it, "
                    "have 0 free, as i0 holds 2Gi"
                ),
                ("on an empty machine: what init containers leave does not count in this; it does in what follows"),
                "on an empty machine: so nodes are looked for again, with nodes 0,2,4 among them",
                (
                    "on an empty machine: nodes 0,2,4 would do, but the kubelet takes no more nodes than it must: for "
                    "what container c0 itself asks 2 nodes are enough on an empty machine, and these are 3"
                ),
            ],
            id="a container's own memory needs fewer nodes than were chosen for its pod",
        ),
        pytest.param(
            "e2e-d-01050",
            4,
            [
                "- ask for at most 2Gi hugepages-1Gi instead of 3Gi in container i1",
                "- ask for at most 2Gi hugepages-1Gi instead of 3Gi in container i1",
            ],
            id="no request is cut by more than it takes",
        ),
        pytest.param(
            "e2e-d-00076",
            1,
            [
                (
                    "why no more: cpu: 20 asked (s0 1 + c0 19), 12 of the node's 31.8 taken by other pods, which "
                    "leaves 19.8: 19 whole"
                ),
                (
                    "why no more: memory: 35688.29Mi asked (s0 3267.29Mi + c0 32421Mi), the whole machine has "
                    "35687.99Mi free (node 0: 35687.99Mi of 65095.99Mi)"
                ),
            ],
            id="a sum and its parts have one unit",
        ),
        pytest.param(
            "e2e-d-00818",
            4,
            [
                (
                    "why no more: memory: 4075Mi asked, the whole machine has 1332Mi free besides the 4074Mi that i0 "
                    "and i1 leave to it (node 0: 1332Mi of 6656Mi, node 1: 0 + 4074Mi of 6531Mi)"
                )
            ],
            id="what is left over has the unit of what is asked",
        ),
        pytest.param(
            "e2e-d-02671",
            3,
            ["cpu ✓ counts single CPUs; full-pcpus-only gives out whole cores only, see below"],
            id="a tick does not promise whole cores where something else is refused first",
        ),
        pytest.param(
            "lifecycle-d-00121",
            11,
            [
                "- ask for at most 15167Mi memory instead of 16406250Ki",
                "- ask for at most 1Gi hugepages-2Mi instead of 1026Mi",
                "2. set --memory-manager-policy None; it is NOT aligned then",
            ],
            id="smaller requests stand beside a setting that aligns no better",
        ),
        pytest.param(
            "e2e-d-00425",
            2,
            [
                (
                    "hugepages-2Mi: 2Mi asked, and this machine has none to give on any node "
                    "(to have them, boot it with hugepagesz=2M and hugepages=2 at least)"
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
                    "on an empty machine, container i1: memory: i0 leaves 11.2Gi on nodes 0-1 to the containers after "
                    "it, to be used only with free memory of nodes 0-1: 2 nodes, where it takes one"
                )
            ],
            id="what is left on several nodes is no help to who takes one",
        ),
    ],
)
def test_a_recorded_change_says(name: str, step: int, expected: list[str]) -> None:
    text = recorded(name, step)
    assert [line for line in text if line in expected] == expected, "\n".join(text)


def test_a_machine_that_needs_very_many_changes_suits_a_pod_badly() -> None:
    """What is told then ends with a machine that admits the pod as it is, where there is one."""
    data = next(one for one in scenarios() if one["id"] == "e2e-d-01050")
    situation = next(found for index, found, _ in refusals(data) if index == 4)
    told = explain_one(situation, scenario.read(json.dumps(data).encode()).steps[4].pod)

    def head(*more: WayOut) -> list[str]:
        changes = (*told.changes, *more)
        every = told._replace(changes=changes, after=(*told.after, *[None for _ in more]))
        lines = changes_lines(situation.setup.config, every, Advice([""] * len(changes), ""))
        return [line.text.strip() for line in lines if isinstance(line, Line)][1:3]

    resources = "cpu, memory, amd.com/gpu and hugepages-1Gi"
    first = "This machine suits this pod badly: no way with fewer than seven changes was found"
    assert head() == [first, f"({resources}); another machine would be better"]
    other = WayOut("machine", 50, True, machine="larger", example=True)
    assert head(other) == [first, f"({resources}); machine larger admits it as it is (see {len(told.changes) + 1}.)"]


def test_a_machine_that_needs_few_changes_is_not_told_to_suit_badly() -> None:
    assert not [line for line in recorded("e2e-d-02439", 0) if "suits this pod badly" in line]
