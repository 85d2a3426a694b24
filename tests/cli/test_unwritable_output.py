"""An answer that cannot be written: status 2 says that nothing was changed, so no file is; and nothing is silent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import PODS, ROOT, command, in_process, one_line

POD = str(PODS / "limits-only.yaml")
FIGURE_1 = ("--machine", "figure-1", "--policy", "none")
CLUSTER = ("--cluster", str(ROOT / "docs/examples/cluster.yaml"))

CHANGES = {
    "a new node": ("admit", POD, *FIGURE_1, "--state", "new"),
    "a pod more": ("admit", str(PODS / "burstable.yaml"), "--state", "node"),
    "a pod that starts": ("admit", "--started-pods", "limits-only", "--state", "node"),
    "a pod less": ("release", "limits-only", "--state", "node"),
    "a cluster": ("schedule", POD, *CLUSTER, "--state", "new"),
    "a machine file": ("discover", "--machine", "figure-1", "--save", "new", "-o", "json"),
    "a baseline": ("lint", str(PODS), "--baseline", "new", "--write-baseline"),
}


def files_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Tell which files there are, but those that are only locked, and what is in them."""
    files = [path for path in folder.iterdir() if not path.name.endswith(".lock")]
    return {path.name: (path.stat().st_ino, path.read_bytes()) for path in files}


def in_shell(folder: Path, arguments: tuple[str, ...], how: str) -> subprocess.CompletedProcess[str]:
    """Run in a folder, with the output sent somewhere."""
    words = ["sh", "-c", f'"$@" {how}', "sh", *command(*arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize(
    ("how", "why"), [(">/dev/full", "No space left on device"), (">&-", "standard output is closed")]
)
def test_nothing_is_changed_where_the_answer_cannot_be_written(case: str, how: str, why: str, tmp_path: Path) -> None:
    in_process("admit", POD, *FIGURE_1, "--state", tmp_path / "node")
    before = files_of(tmp_path)

    done = in_shell(tmp_path, CHANGES[case], how)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"numalign: the output cannot be written: {why}"
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("how", ["", "| (exec 0<&-)"], ids=["read", "of which nothing is read"])
def test_it_is_changed_where_the_answer_is_out_or_nobody_wants_it(case: str, how: str, tmp_path: Path) -> None:
    in_process("admit", POD, *FIGURE_1, "--state", tmp_path / "node")
    before = files_of(tmp_path)

    in_shell(tmp_path, CHANGES[case], how)

    assert files_of(tmp_path) != before


def test_wrong_claims_leave_the_node_as_it_is(tmp_path: Path) -> None:
    done = in_process("admit", POD, *FIGURE_1, "--state", tmp_path / "node", "--slices", tmp_path / "missing")

    assert done.status == 2
    assert str(tmp_path / "missing") in one_line(done.err)
    assert files_of(tmp_path) == {}
