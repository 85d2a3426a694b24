"""The steps that `--details` shows, and the aligned allocations, by the announcement of the Topology Manager."""

from __future__ import annotations

import pytest

from numalign.analysis.alternatives import alternatives
from numalign.analysis.matrix import matrix
from numalign.analysis.merging import merging
from numalign.analysis.situation import Situation, arrivals
from numalign.kubelet.admission import admit
from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.hints import NO_PREFERENCE, TopologyHint
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, machine, pod

ALIGNED = pod("aligned", 2, gpu=1, nic=1)


def steps(policy: str, asked: Pod, *before: Pod, name: str = "figure-1"):
    settings = IDEAL._replace(topology_manager_policy=policy)
    situation = Situation(Setup(machine(name), settings, "ideal"), past=arrivals(before))
    outcome = admit(situation.session(), asked)
    [decision] = outcome.result.decisions
    return outcome.before.node, decision, matrix(outcome.before.node, outcome.demand, decision)


def test_the_cross_product_is_the_announcements() -> None:
    """Two nodes, three resources: `single-numa-node` keeps two hints of each, and two of the eight entries agree."""
    node, decision, _ = steps("single-numa-node", ALIGNED)
    found = merging(node, decision)
    assert found.resources == ("cpu", GPU, NIC)
    assert found.combinations == len(found.table) == 8
    assert [entry.merged for entry in found.table] == [
        TopologyHint(0b01, True),
        *[TopologyHint(0, False)] * 6,
        TopologyHint(0b10, True),
    ]
    assert (found.winner, found.runner_up, found.rule) == (
        TopologyHint(0b01, True),
        TopologyHint(0b10, True),
        "smaller number",
    )


@pytest.mark.parametrize(("more", "shown"), [(3, 64), (4, 0)], ids=["as many as are shown", "too many"])
def test_of_many_combinations_only_the_number_is_told(more: int, shown: int) -> None:
    """Each resource doubles them."""
    node, decision, _ = steps("single-numa-node", ALIGNED)
    others = {f"other.com/{number}": said[NIC] for said in decision.answers if NIC in said for number in range(more)}
    answers = tuple({**said, **others} if NIC in said else said for said in decision.answers)
    found = merging(node, decision._replace(answers=answers))
    assert (found.combinations, len(found.table)) == (8 << more, shown)


def test_what_has_no_opinion_is_in_no_combination() -> None:
    node, decision, _ = steps("single-numa-node", ALIGNED)
    answers = tuple({**said, GPU: NO_PREFERENCE} if GPU in said else said for said in decision.answers)
    found = merging(node, decision._replace(answers=answers))
    assert (found.resources, found.combinations) == (("cpu", NIC), 4)


def test_twelve_sets_are_aligned() -> None:
    node, decision, table = steps("single-numa-node", ALIGNED)
    found = [dict(one) for choices in alternatives(node, decision, table) for one in choices.listed()]
    cpus = ["01", "02", "03", "12", "13", "23", "45", "46", "47", "56", "57", "67"]
    assert found == [
        {"cpu": tuple(pair), GPU: ("0",) if pair < "4" else ("1",), NIC: ("0",) if pair < "4" else ("1",)}
        for pair in cpus
    ]


def test_with_one_pod_there_six_sets_are_left() -> None:
    node, decision, table = steps("single-numa-node", ALIGNED, pod("first", 2, gpu=1, nic=1))
    assert [(one.nodes, one.ways) for one in alternatives(node, decision, table)] == [(0b10, 6)]


@pytest.mark.parametrize(
    ("asked", "before", "rule"),
    [
        pytest.param(pod("p", 4), (pod("there", 1),), "preferred", id="one whole node is preferred, both are not"),
        pytest.param(pod("p", 2), (), "smaller number", id="either node would do"),
        pytest.param(pod("p", 6), (), None, id="there is only one way"),
        pytest.param(
            pod("p", 2, gpu=2),
            (),
            "exactly as many nodes as needed",
            id="nothing is preferred, the GPUs need two nodes",
        ),
    ],
)
def test_why_the_winner_beat_the_runner_up(asked: Pod, before: tuple[Pod, ...], rule: str | None) -> None:
    node, decision, _ = steps("best-effort", asked, *before)
    found = merging(node, decision)
    assert found.rule == rule
    assert found.winner == decision.hint


@pytest.mark.parametrize("policy", ["best-effort", "restricted", "single-numa-node"])
@pytest.mark.parametrize("asked", [ALIGNED, pod("p", 3, nic=1), pod("p", 6), pod("p", 1, gpu=2)])
def test_the_first_of_the_ranking_is_what_the_kubelet_chose(policy: str, asked: Pod) -> None:
    node, decision, _ = steps(policy, asked)
    found = merging(node, decision)
    if decision.admit and found.runner_up is not None:
        assert found.runner_up != decision.hint
        assert found.rule is not None


def test_on_eight_nodes_the_walk_is_told_not_shown() -> None:
    node, decision, _ = steps("restricted", pod("p", 4), name="xeon-8s")
    found = merging(node, decision)
    assert found.combinations == 255
    assert not found.table
    assert found.seconds == pytest.approx(255 * 0.25e-6)
