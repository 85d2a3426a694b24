"""Short flags are written out before click sees them, and mean what they meant."""

from __future__ import annotations

import pytest

from numalign.cli.commands.admit import command
from numalign.cli.root import written_out
from tests.cli.running import PODS, in_process

POD = str(PODS / "announcement.yaml")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("pod.yaml -o json -m figure-1", "pod.yaml --output json --machine figure-1"),
        ("-f pod.yaml -q -o json", "--filename pod.yaml --quiet -o json"),
        ("- -o json", "- --output json"),
        ("pod.yaml -o", "pod.yaml -o"),
        ("--node-name -o json", "--node-name -o json"),
        ("pod.yaml -- -o json", "pod.yaml -- -o json"),
        ("-ojson -o=json -qq pod.yaml", "-ojson -o=json -qq pod.yaml"),
        ("pod.yaml -x json", "pod.yaml -x json"),
    ],
    ids=[
        "short flags",
        "one behind a flag may be its value",
        "standard input is no flag",
        "the last word",
        "the value of a flag",
        "behind --",
        "other forms",
        "an unknown one",
    ],
)
def test_short_flags_are_written_out(given: str, meant: str) -> None:
    assert written_out(command, given.split()) == meant.split()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["-o"], "Option '-o' requires an argument"),
        (["-o=json"], "Invalid value for '-o' / '--output': '=json' is not one of"),
        (["-o", "jsn"], "Invalid value for '-o' / '--output': 'jsn' is not one of"),
        (["-x", "json"], "unknown option -x"),
    ],
    ids=["no value", "a value behind =", "a wrong value", "an unknown flag"],
)
def test_what_is_wrong_with_a_short_flag_is_told_as_click_tells_it(words: list[str], error: str) -> None:
    assert error in in_process("admit", POD, *words).err
