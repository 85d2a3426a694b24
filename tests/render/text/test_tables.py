"""The tables of an explanation: nothing in them may read like a second reason, or like room that is not there."""

from __future__ import annotations

import pytest

from tests.analysis.support import config, machine, pod
from tests.render.text.test_explanation_words import explained, recorded

HYPER = machine("hgx-h100")


def test_a_pod_that_the_node_as_a_whole_refuses_under_policy_none_has_no_table_of_nodes() -> None:
    found = recorded("e2e-d-00580", 2)
    assert "no table of NUMA nodes: policy none chooses none, and what the node as a whole lacks stands above" in found
    assert not [line for line in found if line.startswith(("container", "all of it", "cpu |"))]


def test_policy_none_counts_what_is_free_on_any_node() -> None:
    found = explained(config("none"), pod("p", 3, gpu=3))
    assert "cpu | 3 | 4 of 4 | 4 of 4 | any nodes" in found
    assert "gpu-vendor.com/gpu | 3 | 1 of 1 | 1 of 1 | nothing" in found
    assert "policy none chooses no NUMA nodes: CPUs and devices may come from any" in found
    assert not [line for line in found if line.startswith("all of it")]


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param("e2e-d-02049", 1, "cpu: {} 2 of its 30", id="CPUs that a shared pool has"),
        pytest.param("e2e-d-02765", 9, "memory: {} 58.4Gi of its 61.2Gi", id="memory that nobody has pinned"),
    ],
)
def test_what_pods_only_ask_for_is_told_apart_from_what_they_hold(name: str, step: int, expected: str) -> None:
    words = "FREE leaves out only what is held for one pod alone; all pods of the node together ask for"
    assert expected.format(words) in recorded(name, step)


def test_a_table_says_nothing_of_requests_where_pods_hold_all_that_they_ask_for() -> None:
    found = explained(config("restricted"), pod("p", 200), pod("a", 100), on=HYPER)
    assert not [line for line in found if "FREE leaves out" in line]


def test_what_the_node_as_a_whole_lacks_is_visible_in_rounded_amounts() -> None:
    found = recorded("lifecycle-d-00321", 7)
    assert (
        "why no more: memory: 9198Mi asked, 5807.4Mi of the node's 15005.0Mi taken by other pods, which leaves 9197.6Mi"
    ) in found
