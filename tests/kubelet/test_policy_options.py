"""The rows of policy options: what follows from each of them is there."""

from __future__ import annotations

import pytest

from numalign.kubelet.config import Option, levels_at
from numalign.kubelet.cpu.options import CPUPolicyOptions
from numalign.kubelet.releases.release import OPTIONS
from numalign.kubelet.releases.table import all_changes, kubelet
from numalign.kubelet.topology.options import TopologyOptions
from numalign.model.machine import Machine, NUMANode

STAGES = ("Alpha", "Beta", "Stable")


@pytest.mark.parametrize("row", OPTIONS.values(), ids=lambda row: row.name)
def test_a_row_has_a_field_words_and_releases_in_order(row: Option) -> None:
    fields = {"cpu": CPUPolicyOptions, "topology": TopologyOptions}[row.manager]._fields

    assert row.name.replace("-", "_") in fields
    assert row.number or (row.on and row.off)
    assert list(row.levels) == sorted(row.levels)
    assert list(row.levels.values()) == sorted(row.levels.values(), key=STAGES.index)


def test_a_release_has_the_level_that_came_last() -> None:
    row = Option("x", "cpu", {(1, 30): "Alpha", (1, 33): "Beta"})

    assert [levels_at([row], (1, minor)).get("x") for minor in (29, 30, 32, 33, 36)] == [
        *(None, "Alpha", "Alpha", "Beta", "Beta"),
    ]


@pytest.mark.parametrize(
    ("nodes", "distances", "suggested"),
    [
        ((0, 1, 2), (3, 3, 3), True),
        ((0, 1), (2, 2), False),
        ((0, 1, 2), (0, 0, 0), False),
        ((0, 1, 2), (3, 3, 0), False),
        ((0, 1, 3), (3, 3, 3), False),
        ((0, 1, 3), (4, 4, 3), False),
    ],
    ids=[
        "several",
        "two lie equally far",
        "nobody knows how far",
        "of one nobody knows how far",
        "rows are read by ids, and end before the last",
        "one of them",
    ],
)
def test_the_closest_nodes_are_suggested_where_there_is_a_choice(
    nodes: tuple[int, ...], distances: tuple[int, ...], suggested: bool
) -> None:
    row = OPTIONS["prefer-closest-numa-nodes"]
    rows = [tuple(range(10, 10 + many)) if many else None for many in distances]
    machine = Machine(
        "m", tuple(NUMANode(node, 1 << node, 1 << 30, distances=far) for node, far in zip(nodes, rows, strict=True))
    )
    assert row.suggested is not None
    assert (row.suggested(machine) is not None) is suggested


def test_whole_cores_are_suggested_where_cores_have_threads() -> None:
    row = OPTIONS["full-pcpus-only"]
    assert row.suggested is not None
    one, two = (Machine("m", (NUMANode(0, 0b1111),), cores=cores) for cores in ((1, 2, 4, 8), (0b101, 0b1010)))
    assert row.suggested(one) is None
    assert row.suggested(two) == ("true", "no two containers on the threads of one core")
    assert row.suggested(Machine("m", (NUMANode(0, 0b111),), cores=(1, 0b110))) is not None
    assert Option("x", "cpu", {}).suggested(two) is None


def test_more_nodes_are_suggested_where_there_are_more_than_the_default() -> None:
    row = OPTIONS["max-allowable-numa-nodes"]
    assert row.suggested is not None
    eight, nine = (Machine("m", tuple(NUMANode(node, 1 << node) for node in range(many))) for many in (8, 9))
    assert row.suggested(eight) is None
    assert row.suggested(nine) == ("9", "this machine has 9 NUMA nodes, 8 are allowed by default")


@pytest.mark.parametrize(
    ("minor", "told"),
    [
        (22, [("full-pcpus-only", "unknown", "alpha")]),
        (23, [("full-pcpus-only", "alpha", "beta"), ("distribute-cpus-across-numa", "unknown", "alpha")]),
        (26, [("prefer-closest-numa-nodes", "unknown; of masks of equal width the lowest wins",
               "alpha; the closest mask wins")]),
        (28, [("prefer-closest-numa-nodes", "alpha", "beta")]),
    ],
)  # fmt: skip
def test_what_is_told_of_an_option_that_came_or_moved_up(minor: int, told: list[tuple[str, str, str]]) -> None:
    """Its own words where it came, its levels later."""
    found = [change for change in all_changes() if change.since == (1, minor) and change.topic.startswith("option ")]
    rows = [(change.topic.removeprefix("option "), change.older, change.newer) for change in found]
    assert sorted(rows) == sorted(told)


def test_a_kubelet_has_the_options_of_its_release() -> None:
    for minor in range(16, 38):
        assert dict(kubelet((1, minor)).options) == levels_at(OPTIONS.values(), (1, minor))
