"""A JSON document at every exit status, and what -q and -qq leave out."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from numalign import cli
from numalign.cli import kubectl
from numalign.cli.failure import KINDS
from numalign.cli.root import group
from tests.cli.running import PODS, Done, in_process, one_line

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
        (("nrt", "export", "-m", "missing"), 2, "NRTExportResult", "error"),
        (("nrt", "export", "-m", "figure-1", "--policy", "foo"), 2, "NRTExportResult", "error"),
        (("config", "suggest", "-m", "missing"), 2, "ConfigSuggestResult", "error"),
        (("dra", "check", "missing", "--slices", "missing"), 2, "DraCheckResult", "error"),
        (("dra", "slices", "-m", "missing"), 2, "DraSlicesResult", "error"),
        (("test", "missing.yaml"), 2, "TestResult", "error"),
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
    assert done.err.startswith("error: ")


def test_a_state_that_is_refused_at_last_adds_no_second_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")  # as of others' files in a sticky folder

    monkeypatch.setattr(os, "replace", refuse)
    done = in_process("admit", POD, "-m", "figure-1", "--policy", "none", "--state", tmp_path / "s", "-o", "json", "-q")
    assert (done.status, done.out) == (2, "")

    done = in_process("admit", POD, "-m", "figure-1", "--policy", "none", "--state", tmp_path / "s", "-o", "json")

    assert (done.status, done.json["kind"]) == (2, "AdmitResult")
    assert "cannot be written: Operation not permitted" in done.err.splitlines()[-1]
    assert not (tmp_path / "s").exists()


def answering(above: click.Group, root: str = "") -> Iterator[str]:
    """Name all commands below a group that can print JSON."""
    for name in above.list_commands(click.Context(above)):
        command = above.get_command(click.Context(above), name)
        if isinstance(command, click.Group):
            yield from answering(command, f"{root}{name} ")
        elif any(one.name == "output" and "json" in getattr(one.type, "choices", ()) for one in command.params):
            yield f"{root}{name}"


COMMANDS = list(answering(group))


def test_every_command_that_prints_json_has_a_document_for_its_failure() -> None:
    assert set(COMMANDS) == set(KINDS)


@pytest.mark.parametrize(
    ("variable", "answered"),
    [("NUMALIGN_OUTPUT", True), ("NUMALIGN_EXPLAIN_OUTPUT", True), ("NUMALIGN_WHY_OUTPUT", False)],
)
def test_why_of_kubectl_is_answered_as_explain_which_it_runs(
    variable: str, answered: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, "json")
    monkeypatch.setenv("PATH", "")

    status = cli._run(["why", "web-0"], kubectl.group, "kubectl numalign")

    done = Done(status, *capsys.readouterr())
    assert (status, "kubectl cannot be run" in one_line(done.err)) == (2, True)
    assert (done.json["kind"] if answered else done.out) == ("ExplainResult" if answered else "")


def test_a_working_folder_that_is_gone_is_no_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert cli._run(["admit", str(PODS / "limits-only.yaml"), "-m", "figure-1", "-o", "json"]) == 0
    assert cli._run(["admit", "missing.yaml", "-m", "figure-1"]) == 2
    assert capsys.readouterr().err.endswith(
        "error: missing.yaml: cannot be read: No such file or directory\nfix: correct the path\n"
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("by", ["flag", "variable", "own variable", "file"])
def test_a_wrong_command_line_is_answered_wherever_json_is_asked_for(
    command: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*command.split(), "--no-such-flag", *(["-o", "json"] if by == "flag" else [])]
    if by == "file":
        (tmp_path / ".numalign.toml").write_text('output = "json"\n')
    elif by != "flag":
        own = f"{command.upper().replace(' ', '_')}_" if by == "own variable" else ""
        monkeypatch.setenv(f"NUMALIGN_{own}OUTPUT", "json")

    done = in_process(*words, cwd=tmp_path)

    assert done.status == 2
    assert (done.json["kind"], done.json["apiVersion"]) == (KINDS[command].name, "numalign/v1")
    assert done.json["error"] == one_line(done.err)
    assert all(done.json[name] == [] for name in KINDS[command].lists)


@pytest.mark.parametrize("setting", ["-q", "-qq", "--quiet", "NUMALIGN_QUIET", "NUMALIGN_ADMIT_QUIET"])
def test_quiet_leaves_that_document_out_however_it_is_said(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if setting.startswith("-"):
        assert in_process("admit", "missing.yaml", "-o", "json", setting).out == ""
        return
    monkeypatch.setenv(setting, "1")
    assert in_process("admit", "missing.yaml", "-o", "json").out == ""
    monkeypatch.setenv(setting, "0")
    assert in_process("admit", "missing.yaml", "-o", "json").json["kind"] == "AdmitResult"


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

    assert {line.split(": ")[0] for line in done.err.splitlines() if line[0] != " "} == set(told)
    assert bool(done.out) == (not flags)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(("admt", POD), "admit"), (("admit", POD, "-m", "figure-1", "--policy", "Restricted"), "restricted")],
)
def test_what_is_misspelt_is_told_with_the_nearest_word(arguments: tuple[str, ...], meant: str) -> None:
    done = in_process(*arguments)

    assert done.status == 2
    assert f"similar: {meant}" in done.err


def test_the_policy_that_nobody_named_is_told() -> None:
    assert "no --policy given, so policy none aligns nothing" in in_process("admit", POD, "-m", "figure-1").err
    assert "no policy" not in in_process("admit", POD, "-m", "figure-1", "--policy", "none").err


def test_options_that_policy_none_does_not_read_are_told() -> None:
    done = in_process("admit", POD, "-m", "figure-1", "--topology-manager-policy-options", "max-allowable=3")
    assert "note: --topology-manager-policy-options: max-allowable=3 has no effect" in done.err
