"""What the node as a whole lacks is told with the refusal, also where the managers refuse the pod first."""

from __future__ import annotations

import pytest

from numalign.analysis.explanation import Explanation, explain_outcome
from numalign.analysis.situation import Situation, arrivals
from numalign.kubelet.admission import admit
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from tests.analysis.support import config, limits, machine, pod, pod_of
from tests.analysis.test_own_containers import BY_SOCKET, SOCKET
from tests.render.text.support import recorded


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02763",
            4,
            ["also: cpu: 7 requested (s0 3 + c0 4), 2 of 14 left: other pods request 12"],
            id="CPUs that the CPU Manager does not count",
        ),
        pytest.param(
            "e2e-d-00568",
            6,
            [
                ("also: cpu: 34 requested (s0 2 + c0 32), 31 allocatable on the node (other pods request 13)"),
                ("memory: 11382Mi requested (s0 40Mi + c0 11342Mi), 941.8Mi of 14.6Gi left: other pods request 13.6Gi"),
            ],
            id="less is left of the node than its NUMA nodes have free",
        ),
        pytest.param(
            "e2e-d-00007",
            7,
            [
                "also, container c1: cpu: 33 requested, 30 on the machine",
                ("also: cpu: 45 requested (c0 12 + c1 33), 30.3 allocatable on the node (other pods request 20)"),
                ("memory: 12.7Gi requested (c0 5.5Gi + c1 7.1Gi), 9.1Gi of 15.5Gi left: other pods request 6.3Gi"),
                "nvidia.com/gpu: 4 requested (c0 3 + c1 1), 2 of 4 left: other pods request 2",
            ],
            id="what several containers ask for; what never changes has no number of another state",
        ),
        pytest.param(
            "lifecycle-d-00378",
            11,
            [
                "also, container c0: cpu: 4 requested, 2 on the machine",
                "hugepages-1Gi: 3Gi requested, 2Gi on the machine",
            ],
            id="the same resource of another container; nothing that is told already",
        ),
        pytest.param("e2e-d-01408", 1, [], id="nothing else"),
        pytest.param(
            "e2e-d-02728",
            0,
            ["also: memory: 11468Mi requested, 7992Mi allocatable on the node"],
            id="not what the head tells of another resource of the same decision",
        ),
        pytest.param("e2e-d-00171", 4, [], id="no plugin is said to name a node where it names none"),
    ],
)
def test_what_else_refuses_a_pod_stands_in_the_head(name: str, step: int, expected: list[str]) -> None:
    found = recorded(name, step)
    head = found[: next(place for place, line in enumerate(found) if line.startswith("Kubelet, "))]
    first = next((place for place, line in enumerate(head) if line.startswith("also")), len(head))
    assert head[first:] == expected
    assert not [line for line in found if "is not enough" in line]


def explained(settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine) -> Explanation:
    situation = Situation(Setup(on, settings, "ideal"), fit_check=False, past=arrivals(before))
    return explain_outcome(situation, admit(situation.session(), asked))


def test_the_table_of_each_container_says_which_of_its_cpus_strayed() -> None:
    asked = pod_of("p", a=limits(6, gpu=1), b=limits(0.5, gpu=1), c=limits(7))
    found = explained(config("best-effort", **BY_SOCKET), asked, on=SOCKET)
    assert [(table.container, table.strayed) for table in found.matrices] == [("a", 0b01), ("b", 0), ("c", 0)]


def test_of_an_admitted_pod_it_is_told_how_it_lies_and_what_would_align_it() -> None:
    one = explained(config("best-effort"), pod("p", 2, gpu=1), on=machine("figure-1"))
    assert ([each.container for each in one.decisions], [each.container for each in one.matrices]) == (["app"],) * 2
    assert (one.refusal, one.changes, len(one.placements), one.besides) == (None, (), 1, ())

    crossed = (pod("left", 3), pod("right", 2, gpu=1))
    apart = explained(config("best-effort"), pod("p", 2, gpu=1), *crossed, on=machine("figure-1"))
    assert apart.refusal is None
    assert apart.changes, "it lies apart"
