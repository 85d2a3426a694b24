"""A JSON document at every exit status, and what -q and -qq leave out."""

from __future__ import annotations

import pytest
import yaml

from tests.cli.running import PODS, in_process

POD = PODS / "deployment.yaml"


@pytest.mark.parametrize(
    ("arguments", "status", "kind", "key"),
    [
        (("admit", "missing.yaml", "-m", "figure-1"), 2, "AdmitResult", "error"),
        (("admit", POD, "-m", "figure-2"), 2, "AdmitResult", "error"),
        (("admit", POD, "--no-such-flag"), 2, "AdmitResult", "error"),
        (("admit", POD, "-m", "gb200", "--policy", "restricted"), 4, "AdmitResult", "startError"),
        (("explain", POD, "-m", "gb200", "--policy", "restricted"), 4, "ExplainResult", "startError"),
        (("compare", "missing.yaml", "-m", "figure-1"), 2, "CompareResult", "error"),
        (("lint", "missing.yaml"), 2, "LintResult", "error"),
        (("machines", "missing"), 2, "MachineList", "error"),
        (("schedule", POD, "--cluster", "missing"), 2, "ScheduleResult", "error"),
        (("capacity", POD, "--cluster", "missing"), 2, "CapacityResult", "error"),
        (("nrt", "check", "missing", "-m", "figure-1"), 2, "NRTCheckResult", "error"),
    ],
)
@pytest.mark.parametrize("output", [("-o", "json"), ("--output=json",), ("-ojson",)])
def test_there_is_a_document_where_there_is_no_answer(
    arguments: tuple[str, ...], output: tuple[str, ...], status: int, kind: str, key: str
) -> None:
    done = in_process(*arguments, *output)

    assert (done.status, done.json["kind"]) == (status, kind)
    assert done.json[key]
    assert done.json.get({"error": "startError"}.get(key, "error")) is None
    assert done.err.startswith("numalign: ")


def test_yaml_too_and_nothing_where_nothing_is_asked() -> None:
    assert yaml.safe_load(in_process("admit", "missing.yaml", "-o", "yaml").out)["pods"] == []
    assert yaml.safe_load(in_process("capacity", POD, "--cluster", "missing", "-o", "yaml").out)["shapes"] == []
    assert in_process("admit", "missing.yaml").out == ""
    assert in_process("admit", "missing.yaml", "-o", "json", "-q").out == ""


@pytest.mark.parametrize(
    ("flags", "told"), [((), ("note", "warning")), (("-q",), ("warning",)), (("-qq",), ()), (("-q", "-q"), ())]
)
def test_quiet_leaves_notes_and_then_warnings_out(flags: tuple[str, ...], told: tuple[str, ...]) -> None:
    done = in_process("admit", POD, "-m", "figure-1", *flags)

    assert {line.split(": ")[1] for line in done.err.splitlines()} == set(told)
    assert bool(done.out) == (not flags)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(("admt", POD), "admit"), (("admit", POD, "-m", "figure-1", "--policy", "Restricted"), "restricted")],
)
def test_what_is_misspelt_is_told_with_the_nearest_word(arguments: tuple[str, ...], meant: str) -> None:
    done = in_process(*arguments)

    assert done.status == 2
    assert f"did you mean {meant}?" in done.err


def test_the_policy_that_nobody_named_is_told() -> None:
    assert "note: no policy is named: none is taken" in in_process("admit", POD, "-m", "figure-1").err
    assert "no policy" not in in_process("admit", POD, "-m", "figure-1", "--policy", "none").err


def test_options_that_policy_none_does_not_read_are_told() -> None:
    done = in_process("admit", POD, "-m", "figure-1", "--topology-manager-policy-options", "max-allowable=3")
    assert "note: --topology-manager-policy-options: max-allowable=3 has no effect" in done.err
