"""The help of each command: examples that can be copied, a line each."""

import re

import click
import pytest
from click.testing import CliRunner

from numalign.cli.commands.help import TOPICS
from numalign.cli.help import GROUPS, MOST, broken_example, flags
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
    assert re.search(r"^Examples?:\n(  .*numalign .*\n)+", shown, re.MULTILINE), shown
    assert "\\b" not in shown


@pytest.mark.parametrize("word", ["--help", "--help-all"])
def test_options_are_in_groups(word: str) -> None:
    shown = CliRunner().invoke(group, ["explain", word]).output
    headings = re.findall(r"^([A-Z].*):$", shown, re.MULTILINE)
    found = [one for one in headings if one in GROUPS]
    assert found == [one for one in GROUPS if one in found]
    assert {"Pods", "Machine and node", "Kubelet", "Output"} <= set(found)
    assert "NUMALIGN_" not in shown


@pytest.mark.parametrize("context", LEAVES, ids=[context.command_path for context in LEAVES])
def test_help_has_twelve_options_and_help_all_has_each(context: click.Context) -> None:
    words = context.command_path.split()[1:]
    short, long = (CliRunner().invoke(group, [*words, word]).output for word in ("--help", "--help-all"))
    listed = [name for rows in flags(context.command, context, every=False).values() for name, _ in rows]
    every = [one for one in context.command.params if isinstance(one, click.Option)]
    assert len(listed) == min(len(every), MOST)
    assert ("--help-all" in short) == (len(every) > MOST)
    assert [one.opts for one in every if not any(name in long for name in one.opts)] == []


@pytest.mark.parametrize("context", LEAVES, ids=[context.command_path for context in LEAVES])
def test_the_text_of_an_option_is_short(context: click.Context) -> None:
    texts = [one.help or "" for one in context.command.params if isinstance(one, click.Option)]
    short = [text.split(" [default")[0] for text in texts if not text.startswith(("table, ", "json, "))]
    assert [
        text for text in short if text.endswith(".") or re.match("(?!None )[A-Z][a-z]+ ", text) or len(text) > 54
    ] == []


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
    text = CliRunner().invoke(group, [*context.command_path.split()[1:], "--help-all"], terminal_width=80).output
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
        ("  numalign admit a --exec 'one two three'", "  numalign admit a \\\n      --exec 'one two three'"),
        ("  echo of any length that is left alone", "  echo of any length that is left alone"),
    ],
)
def test_a_long_example_goes_on_where_a_shell_lets_it(line: str, expected: str) -> None:
    assert "\n".join(broken_example(line, 24)) == expected
