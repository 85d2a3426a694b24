"""What JSON says of changes: who holds what, how pods before fare under other settings, what containers share."""

from __future__ import annotations

import json
from typing import Any

import pytest

from numalign.render.json.explain import explain_json
from numalign.render.text.changes import Advice
from numalign.results.explain import ExplainResult
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.refusals.survey import named, refusals
from tests.render.text.support import recorded
from tests.schemas import strictly


def changes(name: str, step: int) -> list[dict[str, Any]]:
    data = named(name)
    situation = next(found for index, found, _ in refusals(data) if index == step)
    told = explain_one(situation, scenario.read_scenario(json.dumps(data).encode()).steps[step].pod)
    result = ExplainResult(situation.setup, 0, (told,), ())
    written = explain_json(result, [Advice(["command"] * len(told.changes), "command")], ())
    strictly("explain-result").validate(json.loads(json.dumps(written)))
    found: list[dict[str, Any]] = written["pods"][0]["changes"]
    return found


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        pytest.param(
            "e2e-d-02296",
            0,
            "NUMA node unknown for 1 of 2 nvidia.com/gpu",
            id="of which devices nobody knows the node",
        ),
        pytest.param(
            "e2e-d-00055",
            4,
            "(CPUs shared in any case)",
            id="what the change is not to blame for",
        ),
        pytest.param("e2e-d-00055", 4, "(now 2) in container c0", id="which container of several it is about"),
    ],
)
def test_a_change_is_told_as_the_text_tells_it(name: str, step: int, expected: str) -> None:
    told, text = changes(name, step), recorded(name, step)
    assert any(expected in change["text"] for change in told)
    for number, change in enumerate(told, start=1):
        assert any(line.startswith(f"{number}. {change['text']}") for line in text)


def test_pods_to_move_say_what_they_hold_and_where() -> None:
    [part] = changes("e2e-d-02147", 5)[0]["parts"]
    [held] = part["holds"]
    assert held["pod"] == "p2"
    assert held["holds"][0] == {"resource": "cpu", "amount": 32, "places": [{"numaNodes": [1], "amount": 32}]}


def test_another_pod_that_may_be_moved_instead_is_named() -> None:
    change = changes("e2e-d-01572", 2)[0]
    assert (change["pods"], change["orPods"]) == (["p1"], ["p0"])


def test_a_container_that_may_leave_a_resource_out_instead_is_named() -> None:
    requests = {one["resource"]: one for one in changes("e2e-d-00037", 2)[2]["requests"]}
    gpu = requests["nvidia.com/gpu"]
    assert (gpu["container"], gpu["ask"], gpu["orIn"]) == ("s0", "0", [{"container": "c0", "keep": "1"}])
    assert not any(one["orIn"] for one in requests.values() if one is not gpu)


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
        {"resource": "cpu", "containers": ["c0", "c1"], "ask": "27"},
    ]


def test_a_state_file_that_keeps_the_kubelet_from_starting_is_named() -> None:
    files = {tuple(one["settings"]): one["deleteStateFiles"] for one in changes("e2e-d-01279", 0)}
    assert files[("memory-manager-policy",)] == ["memory_manager_state"]
    assert files[()] == []
