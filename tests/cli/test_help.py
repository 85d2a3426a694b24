"""The help of each command: examples that can be copied, a line each."""

import re

import pytest
from click.testing import CliRunner

from numalign.cli import group

COMMANDS = [
    "admit",
    "release",
    "snapshot",
    "status",
    "verify",
    "explain",
    "compare",
    "lint",
    "discover",
    "machines",
    "replay",
    "config check",
    "config suggest",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_shows_examples_a_line_each(command: str) -> None:
    shown = CliRunner().invoke(group, [*command.split(), "--help"]).output
    assert re.search(r"^  Examples?:\n(    .*numalign .*\n)+", shown, re.MULTILINE), shown
    assert "\\b" not in shown
