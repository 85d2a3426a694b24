"""What drawn claims get on a node, told as it was: devices, what the search tried, why it failed, changes, findings.

Recorded cases and the tables beside this say what is right; it holds that no answer changes unseen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numalign.dra.attempt import Attempt
from numalign.dra.changes import changes
from numalign.dra.lint import lint_claim, lint_claim_on
from numalign.dra.pools import published
from numalign.dra.reading import read_claim, read_class, read_node, read_slice
from numalign.dra.result import ClaimAllocation, Outcome
from numalign.dra.selection import MAX_REPORT_COST, Selection
from numalign.dra.usage import usage
from numalign.dra.values import Node
from numalign.dra.why import Why, drivers_by_class, why
from numalign.model.quantity import canonical
from tests import recorded
from tests.dra import drawn

FILE = Path(__file__).parent / "recorded_answers.jsonl.gz"
CASES = 600


def test_answers_are_told_as_they_were() -> None:
    recorded.compare(FILE, map(told, range(CASES)))


def told(number: int) -> dict[str, Any]:
    """Try the claims of a pod on a node whose devices another pod's claim holds some of."""
    one = drawn.dice(number, "claims")
    written = drawn.slices(one)
    slices = [read_slice(each) for each in written]
    node = read_node({"metadata": {"name": "node-1", "labels": drawn.LABELS}})
    classes = {each["metadata"]["name"]: read_class(each) for each in drawn.classes(one)}
    used = usage([read_claim(drawn.held(one, written))])
    attempt = Attempt(published(slices), classes, used, drawn.using(one), node)
    claims = [read_claim(drawn.wanted(one, name)) for name in "ab"[: one.between(1, 2)]]
    outcome = attempt.allocate(claims)
    selection = Selection(Node(""), attempt.features, MAX_REPORT_COST)
    return {
        "outcome": of_outcome(outcome),
        "why": of_why(why(attempt, claims, outcome)),
        "changes": [
            [each.kind, each.text, [of_claim(got)["devices"] for got in each.claims]]
            for each in changes(attempt, claims, outcome)
        ],
        "drivers": {name: sorted(found) for name, found in drivers_by_class(attempt, classes).items()},
        "found": [
            list(finding)
            for each in claims
            for finding in (*lint_claim(each, classes), *lint_claim_on(each, classes, slices, selection))
        ],
    }


def of_outcome(outcome: Outcome) -> dict[str, Any]:
    stuck = outcome.stuck
    return {
        **outcome._asdict(),
        "claims": outcome.claims and [of_claim(each) for each in outcome.claims],
        "chosen": [[list(key), index] for key, index in outcome.chosen.items()],
        "stuck": stuck and {**stuck._asdict(), "taken": sorted(stuck.taken)},
    }


def of_claim(got: ClaimAllocation) -> dict[str, Any]:
    return {
        "devices": [
            [
                each.request,
                str(each.device),
                each.admin,
                {name: canonical(amount) for name, amount in each.consumed.items()} if each.shared else None,
                each.tolerations and [one.written for one in each.tolerations],
                each.binding_conditions,
            ]
            for each in got.devices
        ],
        "config": [[one.source, one.config.requests, one.config.fields] for one in got.config],
        "nodes": got.node_selector,
    }


def of_why(found: Why | None) -> list[Any]:
    return list(found) if found is not None else []
