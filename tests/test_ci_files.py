"""What others build on: the composite action, the pre-commit hook, the image's recipe."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import documents

ROOT = Path(__file__).parent.parent
POD = "pods/guaranteed-4cpu-1gpu.yaml"


def read(name: str) -> Any:
    return documents.one((ROOT / name).read_text(encoding="utf-8"))


def action(tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step of the action as the runner does, with this checkout's numalign on PATH."""
    (step,) = read("action.yml")["runs"]["steps"]
    stand_in = tmp_path / "numalign"
    stand_in.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m numalign "$@"\n')
    stand_in.chmod(0o755)
    defaults = {name.upper(): value.get("default", "") for name, value in read("action.yml")["inputs"].items()}
    return subprocess.run(
        ["bash", "-c", step["run"]],
        cwd=ROOT,
        env={
            **defaults,
            **inputs,
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_the_action_hands_every_input_to_the_script() -> None:
    described = read("action.yml")
    (step,) = described["runs"]["steps"]

    assert {name.upper() for name in described["inputs"]} == set(step["env"])


def test_the_action_annotates_and_fails_where_a_pod_is_refused(tmp_path: Path) -> None:
    done = action(
        tmp_path,
        COMMAND="admit",
        PATHS="pods/announcement.yaml",
        ARGUMENTS="--machine figure-1 --policy single-numa-node",
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert "::error file=pods/announcement.yaml" in done.stdout


def test_the_action_puts_a_summary_into_the_step(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"

    done = action(tmp_path, COMMAND="test", PATHS="tests/render/ci/rejected.yaml", GITHUB_STEP_SUMMARY=str(summary))

    assert (done.returncode, done.stderr) == (1, "")
    assert summary.read_text(encoding="utf-8").startswith("### numalign test: 1 of 1 fails")


def test_the_action_passes_where_all_is_well(tmp_path: Path) -> None:
    done = action(tmp_path, COMMAND="lint", PATHS="pods/limits-only.yaml\n")

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("inputs", "status"),
    [
        pytest.param({"COMMAND": "admit; touch HURT"}, 2, id="a command that is none"),
        pytest.param({"PATHS": "$(touch HURT) `touch HURT`"}, 2, id="paths that a shell would run"),
        pytest.param({"PATHS": POD, "ARGUMENTS": "; touch HURT"}, 2, id="arguments that a shell would run"),
        pytest.param({"PATHS": "--debug"}, 2, id="a path that looks like a flag"),
    ],
)
def test_the_action_evaluates_no_input(inputs: dict[str, str], status: int, tmp_path: Path) -> None:
    done = action(tmp_path, **inputs)

    assert done.returncode == status, done.stdout + done.stderr
    assert not (ROOT / "HURT").exists()


def test_a_file_name_that_looks_like_a_flag_switches_no_finding_off(tmp_path: Path) -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    name = "--baseline=b.yaml"
    (tmp_path / name).write_text((ROOT / "pods" / "burstable.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    entry = [sys.executable, "-m", *hook["entry"].split(), *hook["args"]]

    done = subprocess.run(
        [*entry, name], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True
    )

    assert done.returncode == 1
    assert b"3 findings" in done.stdout


def test_the_hook_names_a_command_that_takes_files() -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    words = shlex.split(hook["entry"])

    done = subprocess.run(
        [sys.executable, "-m", *words, "pods/limits-only.yaml"], cwd=ROOT, capture_output=True, text=True
    )

    assert words[0] == "numalign"
    assert done.returncode == 0, done.stderr
    assert hook["types_or"] == ["yaml", "json"]


def test_the_image_runs_without_root_and_copies_only_what_is_there() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    copied = [name for line in words if line[0] == "COPY" and not line[1].startswith("--") for name in line[1:-1]]

    assert all((ROOT / name).exists() for name in copied)
    (user,) = [line[1] for line in words if line[0] == "USER"]
    assert user.split(":")[0] not in ("0", "root")
    # What the build needs is what the wheel is made of.
    needed = {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "numalign", "machines", "manual"}
    assert needed == set(copied)
