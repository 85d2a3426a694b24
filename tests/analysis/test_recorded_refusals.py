"""What is told of recorded refusals, as values: each fact, amount and node, and what would admit the pod. No words.

`recorded_refusals.jsonl.gz` has some of all that are recorded, no two alike: what `explain -o json` tells of that step
of a scenario, without its texts. `NUMALIGN_UPDATE_GOLDEN=1` writes it anew; read what changed before you commit it.
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
from numalign.kubelet.setup import Setup
from numalign.render.json.explain import explain_json
from numalign.render.text.changes import Advice
from numalign.results.explain import ExplainResult
from numalign.tasks.explain import explained_pod
from numalign.tasks.hardware_to_add import with_what_lacks
from tests.refusals.survey import named, refusals

FILE = Path(__file__).parent / "recorded_refusals.jsonl.gz"
SHARES = 8
"""They are split among so many tests."""
WORDS = ("because", "command", "deleteStateFiles", "message", "messageCounts", "next", "notAligned", "text", "why")
OF_THE_POD = ("containers", "name", "namespace", "qos", "unpinned", "placements")
"""What says how an admitted pod lies, or repeats the manifest."""

Row = dict[str, Any]


@pytest.mark.parametrize("share", range(SHARES))
def test_a_refusal_is_told_as_it_was(share: int) -> None:
    rows = recorded()[share::SHARES]
    assert rows
    found = list(told({(row["scenario"], row["step"]) for row in rows}))
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        write(found)
    else:
        assert found == sorted(rows, key=place)


def told(wanted: Iterable[tuple[str, int]]) -> Iterator[Row]:
    """Explain these refusals, in the order of their scenarios."""
    steps = set(wanted)
    for name in sorted({name for name, _ in steps}):
        for step, situation, outcome in refusals(named(name)):
            if (name, step) in steps:
                explained = explain_outcome(situation, outcome, altered=with_what_lacks(situation, outcome))
                yield {"scenario": name, "step": step, "told": values(situation.setup, explained_pod(explained))}


def values(setup: Setup, explained: Any) -> Any:
    """Give what programs are told of a pod, without texts; as a file has it."""
    advice = Advice([None] * len(explained.changes), "")
    whole = explain_json(ExplainResult(setup, 0, (explained,), ()), [advice], ())
    [pod] = whole["pods"]
    told = {key: one for key, one in pod.items() if key not in OF_THE_POD}
    if (none := explained.no_policy) is not None:  # only words tell of it
        told["noPolicy"] = [none.others, none.policy, none.unless, none.lax and none.lax.reason, none.lost]
    return json.loads(json.dumps(without_words(told)))


def without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_words(one) for key, one in value.items() if key not in WORDS}
    return [without_words(one) for one in value] if isinstance(value, list | tuple) else value


def place(row: Row) -> tuple[str, int]:
    return row["scenario"], row["step"]


@cache
def recorded() -> list[Row]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(anew: list[Row]) -> None:
    """Put rows in place of those of the same refusals."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        rows = {place(row): row for row in map(json.loads, lines)} | {place(row): row for row in anew}
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows.values())
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
