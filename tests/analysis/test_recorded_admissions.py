"""What is told of recorded admissions, as values: how the pod lies, why, each step of the merge, what would align it.

`recorded_admissions.jsonl.gz` has some of all that are recorded, with what `--details` and `--all-alternatives` add.
`NUMALIGN_UPDATE_GOLDEN=1` writes it anew; read what changed before you commit it.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.explanation import explain_outcome
from numalign.analysis.situation import Situation
from numalign.kubelet.admission import Outcome
from numalign.render.json.explain import explain_json
from numalign.render.text.changes import Advice
from numalign.results.explain import ExplainResult
from numalign.tasks.explain import explained_pod
from numalign.tasks.hardware_to_add import with_what_lacks
from tests.analysis.test_recorded_refusals import Row, place, without_words
from tests.refusals.survey import met, named

FILE = Path(__file__).parent / "recorded_admissions.jsonl.gz"
SHARES = 4
"""They are split among so many tests."""


@pytest.mark.parametrize("share", range(SHARES))
def test_an_admission_is_told_as_it_was(share: int) -> None:
    rows = recorded()[share::SHARES]
    assert rows
    assert list(told(map(place, rows))) == sorted(rows, key=place)


def told(wanted: Iterable[tuple[str, int]]) -> Iterator[Row]:
    """Explain these admissions, in the order of their scenarios."""
    steps = set(wanted)
    for name in sorted({name for name, _ in steps}):
        for step, situation, outcome in met(named(name)):
            if (name, step) in steps:
                yield {"scenario": name, "step": step, "told": values(situation, outcome)}


def values(situation: Situation, outcome: Outcome) -> Any:
    """Give what programs are told of the pod, without texts; as a file has it."""
    explanation = explain_outcome(situation, outcome, altered=with_what_lacks(situation, outcome))
    explained = explained_pod(explanation, details=True, all_alternatives=True)
    advice = Advice([None] * len(explained.changes), "")
    whole = explain_json(ExplainResult(situation.setup, 0, (explained,), ()), [advice], ())
    return json.loads(json.dumps(without_words(whole["pods"][0])))


@cache
def recorded() -> list[Row]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        rows = list(told(map(place, rows)))
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    return rows
