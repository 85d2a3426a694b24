"""A fixed share of the recorded scenarios, said step by step with admit, release and --state (tests/front_door.py)."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import cases
from tests.front_door import DIFFERS, NO_POD, SAID, files, judge

SHARE = 60
"""One of so many scenarios is said here; `python -m tests.front_door` says all."""


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name.partition(".jsonl")[0])
def test_recorded_steps_are_answered_at_the_front_door(path: Path) -> None:
    outcomes = [judge(case) for case in cases(path, SHARE)]

    assert [problem for _, problem in outcomes if problem] == []
    said = [outcome for outcome, _ in outcomes if outcome == SAID]
    assert len(said) > len(outcomes) // 2
    assert {outcome for outcome, _ in outcomes} <= {SAID, NO_POD}


def first_started() -> Any:
    """Give a scenario in which pods are admitted, start and end."""
    path = next(path for path in files() if path.name.startswith("lifecycle.jsonl"))
    return next(
        case
        for case in cases(path)
        if {step["op"] for step in case["steps"]} == {"admit", "start", "remove"} and "steps" in case["expect"]
    )


CHANGES = {
    "a step": lambda expect: expect["steps"][-1].update(sharedPool="0"),
    "the reserved CPUs": lambda expect: expect.update(reservedCPUs="1-7"),
    "what pods hold in the end": lambda expect: expect["finalState"]["pods"].update(nobody={}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_answer_is_found(change: str) -> None:
    case = copy.deepcopy(first_started())
    assert judge(case) == (SAID, "")
    CHANGES[change](case["expect"])

    outcome, problem = judge(case)

    assert outcome == DIFFERS
    assert problem.startswith(case["id"])
