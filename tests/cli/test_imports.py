"""What a command does not need is not imported: every start would pay for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.running import ENVIRONMENT, PODS, ROOT

HEAVY = {"rich", "psutil", "pathlib", "importlib.metadata", "importlib.resources", "dataclasses", "asyncio", "hashlib"}
SELDOM = {
    "numalign.analysis.refusal",
    "numalign.kubelet.cpu.distributed",
    "numalign.kubelet.cpu.pod_level",
    "numalign.kubelet.fit.preemption",
    "numalign.kubelet.inferred",
    "numalign.kubelet.memory.pod_level",
    "numalign.kubelet.memory.reserved",
    "numalign.kubelet.memory.start",
    "numalign.kubelet.start.feature_gates",
    "numalign.kubelet.releases.since_1_37",
    "numalign.kubelet.releases.until_1_31",
    "numalign.kubelet.topology.merge.and_of_sets",
    "numalign.kubelet.topology.merge.best_set",
    "numalign.kubelet.topology.merge.in_every_set",
    "numalign.model.apiserver.validation_placing",
    "numalign.notices",
    "numalign.sources.kubelet.configuration",
    "numalign.sources.pods.counts",
    "numalign.sources.pods.templates",
}
"""What few pods, machines or configurations need."""
MAX_MODULES = 125
"""Modules of numalign that one admission may import; each costs a tenth of a millisecond or more."""
POD = str(PODS / "announcement.yaml")


def imported(*arguments: str) -> set[str]:
    """Run a command into a pipe and name all modules that it imported, beyond those of a bare Python."""
    code = """
import contextlib, io, json
bare = set(sys.modules)
from numalign.cli import main
try:
    with contextlib.redirect_stdout(io.StringIO()):
        main(sys.argv[1:])
except SystemExit:
    pass
print(json.dumps(sorted(set(sys.modules) - bare)))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}", *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "arguments",
    [
        ("admit", POD, "-m", "figure-1", "-o", "json"),
        ("admit", POD, "-m", "figure-1", "-o", "name"),
        ("admit", POD, "-m", "figure-1"),
        ("replay", "/dev/null"),
        ("--help",),
    ],
    ids=["admit -o json", "admit -o name", "admit into a pipe", "replay", "--help"],
)
def test_nothing_heavy_is_imported(arguments: tuple[str, ...]) -> None:
    assert HEAVY & imported(*arguments) == set()


@pytest.mark.parametrize("flag", ["-o", "--output"])
def test_a_flag_is_read_without_a_look_for_names_like_it_or_for_translations(flag: str) -> None:
    assert {"difflib", "locale"} & imported("admit", POD, "-m", "figure-1", flag, "json") == set()


def test_listing_the_commands_imports_none() -> None:
    assert not [
        name for name in imported("--help") if name.startswith(("numalign.kubelet", "numalign.sources", "yaml"))
    ]


def test_replay_reads_no_yaml() -> None:
    assert "yaml" not in imported("replay", "/dev/null")


def test_an_admission_imports_what_it_needs() -> None:
    found = imported("admit", POD, "-m", "figure-1", "--policy", "single-numa-node", "-o", "json")
    assert found & SELDOM == set()
    assert len([name for name in found if name.startswith("numalign")]) <= MAX_MODULES
