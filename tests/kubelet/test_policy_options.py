"""The rows of policy options: what follows from each of them is there."""

from __future__ import annotations

import pytest

from numalign.kubelet.config import Option, levels_at
from numalign.kubelet.cpu.options import CPUPolicyOptions
from numalign.kubelet.releases.release import OPTIONS
from numalign.kubelet.topology.options import TopologyOptions

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
