"""How drawn pods are refused is as it was: what is in the way, what is around it, and each fact that is told.

`drawn_refusals.jsonl.gz` has the numbers of pods that are refused in different ways. `NUMALIGN_UPDATE_GOLDEN=1` tells
all anew; read what changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from numalign.analysis.reasons.order import reasons
from numalign.analysis.reasons.refusal import in_short
from numalign.analysis.refusal import refusal
from tests.analysis.drawn import admission
from tests.analysis.kept import plain, recorded

FILE = Path(__file__).parent / "drawn_refusals.jsonl.gz"
POLICIES = ("best-effort", "restricted", "restricted", "single-numa-node", "single-numa-node", "none")


def test_how_pods_are_refused_is_as_it_was() -> None:
    for row in recorded(FILE, answer):
        assert answer(row["of"]) == row["told"], row["of"]


def answer(number: int) -> Any:
    """Tell how a pod is refused, as a file has it."""
    found = refusal(admission(Random(number), POLICIES))
    bare = found._replace(matrix=None, empty=None, mended=None)
    ever = reasons(found.for_ever()) if found.lasting else None
    told = [bare, found.at, found.resources, found.told, reasons(found), in_short(found), ever]
    return json.loads(json.dumps(plain(told)))
