"""The help of each command: examples that can be copied, a line each."""

import re

import click
import pytest
from click.testing import CliRunner

from numalign.cli.commands.help import TOPICS
from numalign.cli.help import GROUPS, HISTORY, with_broken_examples
from numalign.cli.root import COMMANDS as CLI_COMMANDS
from numalign.cli.root import group
from tests.cli.running import PODS
from tests.cli.test_environment import commands

LEAVES = [one for one in commands(click.Context(group, info_name="numalign")) if one.command.params]
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


def test_flags_are_in_groups_with_their_variables() -> None:
    shown = CliRunner().invoke(group, ["explain", "--help"]).output
    headings = re.findall(r"^([A-Z].*):$", shown, re.MULTILINE)
    found = [one for one in headings if one in GROUPS]
    assert found == [one for one in GROUPS if one in found]
    assert {"Pods", "Machine and node", "Kubelet", "Output", HISTORY} <= set(found)
    assert "[NUMALIGN_POLICY]" in shown
    assert shown.index("--kubelet-version") > shown.index("--output")


def test_a_variable_that_help_shows_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMALIGN_POLICY", "restricted")
    done = CliRunner().invoke(group, ["admit", str(PODS / "burstable.yaml"), "-m", "figure-1"])
    assert "restricted, scope" in done.output


@pytest.mark.parametrize(
    "command", [*CLI_COMMANDS, "config check", "config suggest", "nrt export", "nrt check", "dra check", "dra slices"]
)
def test_help_fits_a_terminal_of_80_columns(command: str) -> None:
    shown = CliRunner().invoke(group, [*command.split(), "--help"], terminal_width=80).output
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("context", LEAVES, ids=[context.command_path for context in LEAVES])
def test_help_breaks_no_word_on_80_columns(context: click.Context) -> None:
    """A command that is copied out of it would not run. After a hyphen it may break."""
    text = CliRunner().invoke(group, [*context.command_path.split()[1:], "--help"], terminal_width=80).output
    shown = re.sub(r"-\n +", "-", text).split()
    words = [word for one in context.command.params for word in (getattr(one, "help", None) or "").split()]
    assert [word for word in words if word not in shown] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_topics_fit_a_terminal_of_80_columns(topic: str) -> None:
    assert [line for line in TOPICS[topic].splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  numalign short", "  numalign short"),
        ("  numalign admit a --flag value --other b", "  numalign admit a \\\n      --flag value \\\n      --other b"),
        (
            "  kubectl get x | numalign admit - > file.json",
            "  kubectl get x \\\n      | numalign admit \\\n      - > file.json",
        ),
        ("  prose of any length that is left alone", "  prose of any length that is left alone"),
    ],
)
def test_a_long_example_goes_on_where_a_shell_lets_it(line: str, expected: str) -> None:
    assert with_broken_examples(line, 24) == expected
