"""What makes numalign easy to meet: its first words, topics of help, completion in real shells, this host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from numalign.cli.commands.help import TOPICS
from numalign.cli.root import COMMANDS, SECTIONS, group
from numalign.sources.machine import bundled
from numalign.tasks.about import doctor
from tests.cli.running import ENVIRONMENT, ROOT, in_process


def candidates(*words: str) -> list[str]:
    """Complete the last word."""
    shell = ShellComplete(group, {}, "numalign", "_NUMALIGN_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


def test_alone_it_names_three_commands_to_begin_with() -> None:
    done = in_process()

    assert done.status == 0
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("  numalign")] == [
        "admit",
        "explain",
        "discover",
    ]
    assert max(map(len, done.out.splitlines())) <= 80


def test_help_lists_every_command_once() -> None:
    placed = [name for names in SECTIONS.values() for name in names]

    listed = in_process("--help").out.split("Options:")[1]
    assert len(placed) == len(set(placed))
    assert {line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line.strip()} >= set(COMMANDS)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_fits_an_ordinary_terminal(topic: str) -> None:
    done = in_process("help", topic)

    assert done.status == 0
    assert done.out.startswith(TOPICS[topic])
    assert max(map(len, done.out.splitlines())) <= 120


def test_help_of_a_command_is_its_help() -> None:
    assert in_process("help", "admit").out == in_process("admit", "--help").out


def test_an_unknown_topic_names_the_known_ones() -> None:
    done = in_process("help", "everything")

    assert done.status == 2
    assert "exit-status, formats, environment, machines" in done.err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param(("adm",), ["admit"], id="a command"),
        pytest.param(("admit", "x.yaml", "--machine", "dgx-a"), ["dgx-a100"], id="a bundled machine"),
        pytest.param(("admit", "--policy", "s"), ["single-numa-node"], id="a policy"),
        pytest.param(("admit", "--scope", ""), ["container", "pod"], id="a scope"),
        pytest.param(
            ("admit", "--cpu-manager-policy-options", "full-pcpus-only=true,strict"),
            ["full-pcpus-only=true,strict-cpu-reservation=true"],
            id="the next of several options",
        ),
        pytest.param(
            ("explain", "pods/announcement.yaml", "--pod", "numa"),
            ["numa-aligned-1", "numa-aligned-2", "numa-aligned-3"],
            id="a pod of the files given",
        ),
        pytest.param(("explain", "/no/such/file", "--pod", ""), [], id="a file that cannot be read has no pods"),
        pytest.param(("admit", "-o", "s"), ["sarif"], id="a choice"),
    ],
)
def test_completes(words: tuple[str, ...], found: list[str]) -> None:
    assert [value for value in candidates(*words) if not value.startswith("svg")] == found


def test_every_bundled_machine_is_completed() -> None:
    assert candidates("admit", "x.yaml", "-m", "") == list(bundled.names())


def test_another_machine_is_a_file() -> None:
    shell = ShellComplete(group, {}, "numalign", "_NUMALIGN_COMPLETE")

    assert [item.type for item in shell.get_completions(["admit", "-m"], "./no")] == ["file"]


SHELLS = {
    "bash": 'eval "$(numalign completion bash)"; COMP_WORDS=(numalign admit --policy sing); COMP_CWORD=3; '
    '_numalign_completion numalign; echo "${COMPREPLY[@]}"',
    "zsh": 'compdef() { :; }; eval "$(numalign completion zsh)"; words=(numalign admit --policy sing); CURRENT=4; '
    'compadd() { print -r -- "${completions[@]}"; }; _describe() { print -r -- "${(P)@[3]}"; }; '
    "_numalign_completion",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_real_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")  # an image without zsh still has the script tested by bash
    bin_folder = Path(sys.executable).parent
    environment = {**ENVIRONMENT, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}

    done = subprocess.run([shell, "-c", SHELLS[shell]], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert "single-numa-node" in done.stdout, done.stderr


def test_version_says_which_kubelets_it_knows() -> None:
    data = json.loads(in_process("version", "-o", "json").out)

    assert data["kubelets"]["newest"] == data["kubelets"]["exact"][-1]
    assert set(data["extras"]) == {"podresources", "serve", "dask"}


def test_doctor_names_what_is_missing_and_where_it_looked(tmp_path: Path) -> None:
    (tmp_path / "sys/devices/system/node").mkdir(parents=True)

    checks = {one.name: one for one in doctor(str(tmp_path))}

    assert checks["NUMA nodes"].found
    assert not checks["CPUs"].found
    assert checks["CPUs"].detail == f"{tmp_path}/sys/devices/system/cpu: No such file or directory"


def test_doctor_ends_well_whatever_is_missing() -> None:
    done = in_process("doctor")

    assert (done.status, done.err) == (0, "")
    assert "NUMA nodes" in done.out
