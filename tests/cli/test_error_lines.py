"""What stands on standard error fits one line of 120 characters, but for paths and the kubelet's own words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from numalign.sources.host import discovery
from tests.cli.running import ROOT, in_process
from tests.sources.host import snapshots
from tests.test_golden import GOLDEN

MAX_LINE = 120
OWN_WORDS = re.compile(
    r"(?<=: )\"?(runtime error|the kubelet would not start|the kubelet's own reading of this machine fails): .*"
)
"""What the kubelet says."""
PATH = re.compile(r"\S*/[\w.+-]*/\S*")
OBJECTS = sorted((ROOT / "tests/sources/cluster/objects").glob("*.yaml"))


def too_long(text: str) -> list[str]:
    """Give the lines that are too long without paths and without what the kubelet says."""
    return [line for line in text.splitlines() if len(PATH.sub("", OWN_WORDS.sub("", line))) >= MAX_LINE]


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*/*.err")), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_goldens_say(file: Path) -> None:
    assert too_long(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", snapshots.each(snapshots.names()))
def test_what_is_said_of_hosts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "open_tree", lambda _: snapshots.tree(name))  # unpacked already
    done = in_process("discover", "--sysfs-root", snapshots.FOLDER / f"{name}.tar.xz", "-o", "name")
    assert done.status == 0
    assert too_long(done.err) == []


@pytest.mark.parametrize("file", OBJECTS, ids=lambda file: file.name)
@pytest.mark.parametrize("words", [("schedule", "pods/announcement.yaml", "--cluster"), ("nrt", "check")], ids=str)
def test_what_is_said_of_nodes(file: Path, words: tuple[str, ...]) -> None:
    assert too_long(in_process(*words, file.relative_to(ROOT)).err) == []


@pytest.mark.parametrize("machine", ["figure-1", "hgx-h100", "gb200", "edge-1s"])
@pytest.mark.parametrize("command", ["admit", "explain", "compare"])
def test_what_is_said_of_the_example_pods(command: str, machine: str) -> None:
    for pod in sorted((ROOT / "pods").glob("**/*.yaml")):
        done = in_process(command, pod.relative_to(ROOT), "-m", machine)
        assert too_long(done.err) == []


@pytest.mark.parametrize(
    "words",
    [
        ("admit", "pods/announcement.yaml", "-m", "no-such-machine-anywhere"),
        ("machines", "nothing-like-it"),
        ("status", "--node", "tests/golden"),
        ("dra", "slices", "-m", "figure-1", "--like", "nope"),
        ("dra", "check", "pods/dra-claim.yaml", "--slices", "pods/announcement.yaml"),
        ("admit", "docs"),
        ("admit", "pods/announcement.yaml", "-m", "figure-1", "--policy", "Restricted"),
        ("admit", "pods/announcement.yaml", "-m", "figure-1", "--feature-gates", "NoSuch=true"),
    ],
    ids=" ".join,
)
def test_what_is_said_of_wrong_input(words: tuple[str, ...]) -> None:
    done = in_process(*words)
    assert done.status != 0
    assert done.err
    assert too_long(done.err) == []


@pytest.mark.parametrize("sign", ["\n", "\0", "\r", "\u2028", "\x1b[2J"], ids=ascii)
def test_a_sign_in_a_value_begins_no_line(sign: str, tmp_path: Path) -> None:
    file = tmp_path / "kubelet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": f"Kubelet{sign}Configuration"}))
    done = in_process("config", "check", file, "-m", "figure-1")
    assert done.status == 2
    assert all(line.startswith(("error: ", "fix: ")) for line in done.err.splitlines()), done.err
