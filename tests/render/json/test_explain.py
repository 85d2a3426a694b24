"""What JSON says of changes: who holds what, how pods before fare under other settings, what containers share."""

from __future__ import annotations

import json
from typing import Any

from numalign.render.json.explain import explain_json
from numalign.render.text.changes import Advice
from numalign.results.explain import ExplainResult
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.refusals.survey import named, refusals
from tests.schemas import strictly


def changes(name: str, step: int) -> list[dict[str, Any]]:
    data = named(name)
    situation = next(found for index, found, _ in refusals(data) if index == step)
    told = explain_one(situation, scenario.read(json.dumps(data).encode()).steps[step].pod)
    result = ExplainResult(situation.setup, 0, (told,), ())
    written = explain_json(result, [Advice(["command"] * len(told.changes), "command")], ())
    strictly("explain-result").validate(json.loads(json.dumps(written)))
    found: list[dict[str, Any]] = written["pods"][0]["changes"]
    return found


def test_pods_to_move_say_what_they_hold_and_where() -> None:
    [part] = changes("e2e-d-02147", 5)[0]["parts"]
    [held] = part["holds"]
    assert held["pod"] == "p2"
    assert held["holds"][0] == {"resource": "cpu", "amount": 32, "places": [{"numaNodes": [1], "amount": 32}]}


def test_settings_say_who_is_admitted_besides_then() -> None:
    whole, setting = changes("e2e-d-02671", 3)
    assert whole["anew"] is None
    assert [one["pod"] for one in setting["anew"]["admitted"]] == ["p1"]
    assert [one["resource"] for one in setting["anew"]["admitted"][0]["holds"]] == ["cpu", "nvidia.com/gpu", "memory"]
    assert setting["anew"]["elsewhere"] == []
    assert setting["anew"]["admittedFirst"] is False


def test_what_grows_to_whole_cores_names_the_cores_below_too() -> None:
    requests = {one["resource"]: one for one in changes("e2e-d-02671", 3)[0]["requests"]}
    assert (requests["cpu"]["ask"], requests["cpu"]["orElse"]) == ("6", "4")
    assert requests["nvidia.com/gpu"]["orElse"] is None


def test_containers_that_share_a_sum_are_named_with_it() -> None:
    [change] = changes("e2e-d-01909", 0)
    assert change["together"] == [
        {"resource": "memory", "containers": ["c0", "c1"], "ask": "64234Mi"},
        {"resource": "cpu", "containers": ["c0", "c1"], "ask": "28"},
    ]


def test_a_state_file_that_keeps_the_kubelet_from_starting_is_named() -> None:
    files = {tuple(one["settings"]): one["deleteStateFiles"] for one in changes("e2e-d-01279", 0)}
    assert files[("memory-manager-policy",)] == ["memory_manager_state"]
    assert files[()] == []
