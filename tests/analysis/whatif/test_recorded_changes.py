"""What would admit recorded pods, or align them, as values: every field of each change, and what is told beside them.

`recorded_changes.jsonl.gz` has the answers for some steps of recorded scenarios, each of which tells something that no
other does. `NUMALIGN_UPDATE_GOLDEN=1` makes them anew; read what changed before you commit it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.alignment import verdict_of
from numalign.analysis.refusal import Refusal, refusal
from numalign.analysis.situation import Situation
from numalign.analysis.whatif.besides import besides, least_bad, no_policy, repair
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.goal import ADMITTED, ALIGNED
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import Outcome
from numalign.model.pod import Pod
from numalign.tasks.hardware_to_add import with_what_lacks
from tests.analysis.kept import recorded
from tests.analysis.support import machine
from tests.analysis.whatif.drawn import case

FILE = Path(__file__).parent / "recorded_changes.jsonl.gz"
SHARES = 4
"""They are split among so many tests."""
ELSEWHERE = ("epyc-2s-nps4", "hgx-h100", "xe9680-snc4")
"""Other machines: the first is asked about, of the others nobody asked."""
Row = dict[str, Any]


@pytest.mark.parametrize("share", range(SHARES))
def test_changes_are_told_as_they_were(share: int) -> None:
    rows = recorded(FILE, told)[share::SHARES]
    assert rows
    for row in rows:
        assert told(row["of"]) == row["told"], row["of"]


def told(of: Any) -> Any:
    """Give what is told of a case, as a file has it."""
    number = of if isinstance(of, int) else of[1]
    return json.loads(json.dumps(answer(*case(of), number)))


def answer(situation: Situation, outcome: Outcome, number: int) -> Any:
    """Give all that is found for a pod; another machine is asked about in every other case."""
    setup = situation.setup
    on = [(name, situation._replace(setup=setup._replace(machine=machine(name)))) for name in ELSEWHERE]
    tries = Tries(situation, outcome, ALIGNED if outcome.admit else ADMITTED)
    ways = changes(tries, on[: number % 2], known=on[1:], altered=with_what_lacks(situation, outcome))
    told = {"changes": plain(ways)}
    if outcome.admit:
        return {**told, "leastBad": plain(least_bad(tries))}
    found = refusal(outcome)
    more = besides(tries, ways), no_policy(tries), repair(situation, outcome, found)
    return {**told, "besides": plain([*more[0]]), "noPolicy": plain(more[1]), "repair": plain(more[2])}


def plain(value: Any) -> Any:
    """Write values as a file has them: what is not as by default, pods by name, refusals and admissions in short."""
    match value:
        case Pod():
            return value.name
        case Refusal():
            around = [value.around.when, *sorted(value.around.reduced)]
            return [value.stage, value.at, value.policy, *value.resources, *map(str, around)]
        case Outcome():
            there = [pod.name for pod in value.before.pods]
            return [value.admit, verdict_of(value), [one.code for one in value.notices], there]
        case WayOut():
            of_all = [value.kind, round(value.cost, 6), value.length, value.keeps_devices, value.leaves_out]
            return [of_all, fields(value)]
        case Mapping():
            return [[plain(key), plain(one)] for key, one in value.items()]
        case tuple() if hasattr(value, "_asdict"):
            return fields(value)
        case list() | tuple() | frozenset():
            return [plain(one) for one in value]
    return value


def fields(value: Any) -> Row:
    given = value._asdict()
    default = type(value)._field_defaults
    return {name: plain(one) for name, one in given.items() if name not in default or one != default[name]}
