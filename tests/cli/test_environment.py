"""Every flag of every command can be set in the environment, for all commands and for one; only two may not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from numalign.cli.flags import OwnFlag
from numalign.cli.kubectl import CLUSTER
from numalign.cli.kubectl import group as kubectl_group
from numalign.cli.root import group
from tests.cli.running import PODS, ROOT, in_process, one_line

BY_COMMAND_LINE_ALONE = {"--help", "--help-all", "--version"}
FIGURE_1 = (PODS / "announcement.yaml", "-m", "figure-1")
SPREAD = (ROOT / "docs/examples/vllm.yaml", "-m", "hgx-h100", "--policy", "best-effort")


def commands(context: click.Context) -> Iterator[click.Context]:
    """Yield a context of each command below a group, and of each below those."""
    above = context.command
    assert isinstance(above, click.Group)
    for name in above.list_commands(context):
        command = above.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        yield below
        if isinstance(command, click.Group):
            yield from commands(below)


ROOTS = {"numalign": group, "kubectl numalign": kubectl_group}


def all_flags() -> Iterator[tuple[click.Context, click.Option, str]]:
    """Yield each flag by each of its names, with a context of its command; kubectl's own commands besides ours."""
    for program, root in ROOTS.items():
        top = click.Context(root, info_name=program, **root.context_settings)
        for context in (top, *commands(top)):
            if root is kubectl_group and context is not top and context.info_name not in CLUSTER:
                continue
            for parameter in context.command.get_params(context):
                if isinstance(parameter, click.Option):
                    yield from ((context, parameter, name) for name in parameter.opts if name.startswith("--"))


FLAGS = list(all_flags())


def variable(prefix: str | None, name: str) -> str:
    return f"{prefix}_{name.removeprefix('--').replace('-', '_').upper()}"


def two_values(option: click.Option) -> list[str]:
    """Make two values that a flag takes, neither of them its default."""
    if option.is_bool_flag:
        return ["0", "1"] if option.default is True else ["1", "0"]
    if isinstance(option.type, click.Choice):
        return [str(one) for one in option.type.choices if one != option.default][:2] * 2
    if option.count or option.type.name in ("integer", "integer range", "float range"):
        return ["3", "2"]
    return ["this", "that"]


def taken(context: click.Context, option: click.Option, words: list[str]) -> object:
    """Return what a command reads for a flag."""
    made = context.command.make_context(context.info_name, words, parent=context.parent, resilient_parsing=True)
    assert option.name is not None
    return made.params[option.name]


def expected(option: click.Option, value: str) -> object:
    if option.is_bool_flag:
        return value == "1"
    return tuple(value.split()) if option.multiple else click.types.convert_type(option.type)(value)


@pytest.mark.parametrize("command", sorted({context.command_path for context, _, _ in FLAGS}))
def test_every_flag_has_a_variable_for_all_commands_and_one_for_its_own(command: str) -> None:
    for context, option, name in (one for one in FLAGS if one[0].command_path == command):
        with pytest.MonkeyPatch.context() as environment:
            try_variables(context, option, name, environment)


def try_variables(context: click.Context, option: click.Option, name: str, environment: pytest.MonkeyPatch) -> None:
    """Set a flag by its variables, the one for all commands and then both; those of the two that may not set none."""
    common, own = variable("NUMALIGN", name), variable(context.auto_envvar_prefix, name)
    value, other = two_values(option)[:2]
    environment.setenv(common, value)
    if name in BY_COMMAND_LINE_ALONE:
        environment.setenv(own, value)
        assert option.resolve_envvar_value(context) is None, (common, own)
        return

    if isinstance(option, OwnFlag):
        assert option.resolve_envvar_value(context) is None, common
    else:
        assert taken(context, option, []) == expected(option, value), common
    if context.parent is not None:
        environment.setenv(common, other)
        environment.setenv(own, value)
        assert taken(context, option, []) == expected(option, value), own


def test_no_variable_sets_two_flags_of_a_command() -> None:
    several = [(context, name) for context, _, name in FLAGS if context.parent is not None]
    found = [
        (context.command_path, variable(prefix, name))
        for context, name in several
        for prefix in ("NUMALIGN", context.auto_envvar_prefix)
    ]
    assert len(found) == len(set(found)) == 2 * len(several)


def test_the_bar_of_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("admit", *SPREAD, "-q")
    assert in_process(*arguments).status == 0
    monkeypatch.setenv("NUMALIGN_FAIL_ON", "unaligned")
    assert in_process(*arguments).status == 1
    monkeypatch.setenv("NUMALIGN_ADMIT_FAIL_ON", "rejected")
    assert in_process(*arguments).status == 0


def test_a_flag_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = in_process("explain", *FIGURE_1, "--details").out
    assert asked != in_process("explain", *FIGURE_1).out
    monkeypatch.setenv("NUMALIGN_DETAILS", "1")
    assert in_process("explain", *FIGURE_1).out == asked


def test_a_wrong_value_is_told_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMALIGN_FAIL_ON", "drifted")
    done = in_process("admit", *FIGURE_1)
    assert (done.status, done.out) == (2, "")
    assert "'--fail-on' (NUMALIGN_FAIL_ON): 'drifted' is not one of" in one_line(done.err)
    on_the_line = in_process("admit", *FIGURE_1, "--fail-on", "drifted")
    assert "NUMALIGN" not in on_the_line.err


@pytest.mark.parametrize(
    ("variable", "value", "begins"),
    [
        ("POLICY", "bogus", "--topology-manager-policy (NUMALIGN_POLICY): expected one of none, "),
        ("ADMIT_SCOPE", "bogus", "--topology-manager-scope (NUMALIGN_ADMIT_SCOPE): expected one of container, pod"),
        ("KUBELET_VERSION", "9.9", "--kubelet-version (NUMALIGN_KUBELET_VERSION): expected a version from "),
        ("REPLICAS", "many", "--replicas (NUMALIGN_REPLICAS): expected N or ROLE=N"),
        ("DEVICE", "x", "--device (NUMALIGN_DEVICE): expected WHAT[@NODE]=AMOUNT"),
        ("BESIDE", "none.yaml", "none.yaml (NUMALIGN_BESIDE): cannot be read: No such file or directory"),
        ("STATE", "/none/s.json", "/none/s.json (NUMALIGN_STATE): cannot be locked in its folder"),
    ],
    ids=lambda text: text.partition(" ")[0],
)
def test_a_value_that_is_found_wrong_later_is_told_with_its_variable_too(
    variable: str, value: str, begins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"NUMALIGN_{variable}", value)
    done = in_process("admit", *FIGURE_1)
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err).startswith(begins)


def test_a_variable_that_the_line_beats_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMALIGN_SCOPE", "bogus")
    done = in_process("admit", *FIGURE_1, "--scope", "bogus")
    assert one_line(done.err).startswith("--topology-manager-scope: expected")


def test_a_variable_for_the_version_of_something_else_prints_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMALIGN_VERSION", "1.2")
    assert in_process("admit", *FIGURE_1, "-o", "name").out.startswith("pod/")


def test_the_topic_lists_the_variable_of_every_flag() -> None:
    shown = re.findall(r"NUMALIGN_\w+", in_process("help", "environment").out)
    known = {
        variable(context.auto_envvar_prefix if isinstance(option, OwnFlag) else "NUMALIGN", option.opts[-1])
        for context, option, _ in FLAGS
        if context.command_path.startswith("numalign ") and option.opts[-1] not in BY_COMMAND_LINE_ALONE
    }
    assert {name for name in known if name not in shown} == set()


def test_a_machine_for_other_commands_is_no_host_to_discover(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved as this host must not be another machine, whatever the environment sets for `admit`."""
    here = in_process("discover", "-o", "name").out
    monkeypatch.setenv("NUMALIGN_MACHINE", "figure-1")
    assert in_process("discover", "-o", "name").out == here
    monkeypatch.setenv("NUMALIGN_DISCOVER_MACHINE", "figure-1")
    assert in_process("discover", "-o", "name").out != here
