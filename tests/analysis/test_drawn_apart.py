"""Why containers of drawn pods lie apart is as it was: pods that find nodes in part used, by others and by themselves.

`drawn_apart.jsonl.gz` has the numbers of pods of which no two are told the same. `NUMALIGN_UPDATE_GOLDEN=1` tells all
anew; read what changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from numalign.worlds.pod_result import pod_result
from tests.analysis.drawn import admission
from tests.analysis.kept import plain, recorded

FILE = Path(__file__).parent / "drawn_apart.jsonl.gz"
POLICIES = (*("best-effort",) * 4, "restricted", "none")


def test_why_containers_lie_apart_is_as_it_was() -> None:
    for row in recorded(FILE, answer):
        assert answer(row["of"]) == row["told"], row["of"]


def answer(number: int) -> Any:
    """Tell of each container of a pod that lies apart why, as a file has it."""
    containers = pod_result(admission(Random(number), POLICIES), why_apart=True).containers
    return json.loads(json.dumps(plain([one.apart for one in containers if one.apart])))
