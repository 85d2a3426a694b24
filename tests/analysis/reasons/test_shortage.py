"""Devices of no known node: when they are why there are too few."""

from __future__ import annotations

import pytest

from numalign.analysis.loose import Loose
from numalign.analysis.reasons.shortage import no_others_count
from numalign.analysis.refusal import Stage, refusal
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
