"""What is found about recorded and drawn pods, whole: each refusal with what is around it, each placement with its why.

`recorded_pods.jsonl.gz` has the answers for pods that were chosen so that they go through all of `analysis`: steps of
recorded scenarios, and drawn ones by their numbers. `NUMALIGN_UPDATE_GOLDEN=1` makes them anew; read what changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.explanation import explain_outcome
from numalign.analysis.reasons.next import next_in_the_way
from numalign.analysis.reasons.steps import Step
from numalign.analysis.situation import Situation
from numalign.kubelet.admission import Outcome
from numalign.render.json.explain import explain_json
from numalign.render.text.changes import Advice
from numalign.results.explain import ExplainResult, reasons_of
from numalign.tasks.explain import explained_pod
from numalign.tasks.hardware_to_add import with_what_lacks
from tests.analysis.kept import plain, recorded
from tests.analysis.test_recorded_refusals import without_words
from tests.analysis.whatif.drawn import case

FILE = Path(__file__).parent / "recorded_pods.jsonl.gz"
SHARES = 8
"""They are split among so many tests."""


@pytest.mark.parametrize("share", range(SHARES))
def test_what_is_found_about_a_pod_is_as_it_was(share: int) -> None:
    rows = recorded(FILE, told)[share::SHARES]
    assert rows
    for row in rows:
        assert told(row["of"]) == row["told"], row["of"]


def told(of: Any) -> Any:
    """Tell of a case as a file has it."""
    return values(*case(of))


def values(situation: Situation, outcome: Outcome) -> Any:
    """Give what programs are told, without texts, and the values that it and the texts are made of."""
    found = explain_outcome(situation, outcome, altered=with_what_lacks(situation, outcome))
    pod = explained_pod(found, details=outcome.admit, all_alternatives=outcome.admit)
    advice = Advice([None] * len(pod.changes), "")
    [shown] = explain_json(ExplainResult(situation.setup, 0, (pod,), ()), [advice], ())["pods"]
    steps = [[_step(step) for step in each] for each in reasons_of(pod, situation.setup.config).steps]
    if pod.refusal is None:
        parts = [[one.apart, one.alignment] for one in pod.pod.containers], [one.cause for one in pod.unpinned]
        kept: Any = (parts, pod.matrices, pod.placements, steps)
    else:
        then = next_in_the_way(pod.refusal, pod.besides, pod.changes, several=pod.containers > 1)
        kept = (pod.refusal, pod.besides, pod.matrices, pod.untied, steps, list(then))
    return json.loads(json.dumps([without_words(shown), plain(kept)]))


def _step(step: Step) -> Any:
    """Give a step in short: what is done, why, and where that is told already."""
    done = [(list(one.amounts.items()), dict(one.flags), [pod.full_name for pod in one.pods]) for one in step.changes]
    return done, step.part.larger, step.reasons, step.told
