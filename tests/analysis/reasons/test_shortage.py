"""Devices of no known node: when they are why there are too few."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.loose import Loose
from numalign.analysis.matrix import Cell, Matrix, Row
from numalign.analysis.reasons.asked import When
from numalign.analysis.reasons.facts import ChosenElsewhere, EnoughInAll, NoneThere, Placed, TooLittle, Unplaced
from numalign.analysis.reasons.refusal import facts_of
from numalign.analysis.reasons.shortage import no_others_count, too_little
from numalign.analysis.refusal import Refusal, Stage, refusal
from tests.analysis.support import GPU, config, outcome, pod

BESIDE = Loose(nowhere=(1, 1), places=((1, 1, 1),), placed=1, total=2)
"""A free device on node 0, and a free one of which nobody knows the node."""
CASES: list[tuple[str, Loose, Stage, int, int, bool]] = [
    ("one on a node and one elsewhere, two asked for", BESIDE, "hints", 2, 2, True),
    ("the other one is taken, and would not count", BESIDE._replace(nowhere=(0, 1)), "hints", 1, 2, True),
    ("all are on nodes", BESIDE._replace(nowhere=(0, 0)), "hints", 1, 2, False),
    ("the plugin names no node, so that all count", Loose((1, 1), (), 0, 1), "hints", 1, 2, False),
    ("enough on nodes", BESIDE, "hints", 2, 1, False),
    ("too few whatever counts", BESIDE, "policy", 1, 2, False),
    ("enough, but not on nodes, of any stage", BESIDE, "policy", 2, 2, True),
]


@pytest.mark.parametrize(
    ("loose", "stage", "free", "requested", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_others_do_not_count(loose: Loose, stage: Stage, free: int, requested: int, expected: bool) -> None:
    found = refusal(outcome(config("single-numa-node"), pod("p", 1, gpu=2)))
    assert found.matrix is not None
    [row] = [one for one in found.matrix.rows if one.resource == GPU]
    at = found._replace(stage=stage)
    assert no_others_count(row._replace(free=free, requested=requested), loose, at) is expected


def test_without_a_decision_nothing_is_told_of_what_is_in_the_way() -> None:
    found = refusal(outcome(config("single-numa-node"), pod("p", 1, gpu=2)))
    assert found.culprits
    assert list(facts_of(found._replace(matrix=None))) == []


NOWHERE = Loose(nowhere=(1, 2), places=(), placed=0, total=2, told=(7,))
"""The plugin puts both on a node that is not there."""
ON_NODES = Loose(nowhere=(0, 0), places=((1, 1, 1), (2, 1, 1)), placed=2, total=2)
TOLD: list[tuple[str, Loose, Stage, int, int, When, bool, list[type]]] = [
    ("enough, but not on nodes", BESIDE, "policy", 2, 2, "now", False, [EnoughInAll, Unplaced]),
    ("enough, but not on nodes, in a change", BESIDE, "policy", 2, 2, "now", True, [Placed]),
    ("too few", BESIDE, "hints", 2, 3, "now", False, [TooLittle, Unplaced]),
    ("too few, in a change", BESIDE, "hints", 2, 3, "now", True, [TooLittle]),
    ("too few where all count", BESIDE, "allocation", 2, 3, "now", False, [TooLittle]),
    ("enough, on nodes", ON_NODES, "allocation", 2, 2, "now", False, [EnoughInAll, ChosenElsewhere]),
    ("never enough, and none on a node", NOWHERE, "hints", 1, 3, "ever", False, [TooLittle, Unplaced]),
    ("never enough, where they count", NOWHERE, "allocation", 1, 3, "ever", False, [TooLittle]),
    ("never enough, some on a node", BESIDE, "hints", 1, 3, "ever", False, [TooLittle]),
    ("enough at times", NOWHERE, "hints", 1, 2, "ever", False, []),
    (
        "all are taken, and none on a node",
        NOWHERE._replace(nowhere=(0, 2)),
        "hints",
        0,
        1,
        "now",
        False,
        [
            TooLittle,
            Unplaced,
        ],
    ),
    ("all are taken, some on a node", BESIDE._replace(nowhere=(0, 1)), "hints", 0, 1, "now", False, [TooLittle]),
    ("there is none", Loose((0, 0), (), 0, 0), "hints", 0, 1, "now", False, [NoneThere]),
]


@pytest.mark.parametrize(
    ("loose", "stage", "free", "requested", "when", "brief", "told"),
    [row[1:] for row in TOLD],
    ids=[row[0] for row in TOLD],
)
def test_there_are_too_few_devices(
    loose: Loose, stage: Stage, free: int, requested: int, when: When, brief: bool, told: list[type]
) -> None:
    cells = (Cell(0, 0, "no"), Cell(0, 0, "no"))
    row = Row(GPU, requested, cells, free, 1, possible=False, loose=loose)
    table = Matrix("app", (0, 1), (row,), "restricted")
    around = Circumstances(when=when)
    found = Refusal(stage, "", "", "app", "restricted", table, (row,), (), never=False, around=around)
    assert [type(one) for one in too_little(row, table, found, brief=brief)] == told
