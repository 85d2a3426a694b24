"""Defaults of flags from a project's own file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from numalign.cli.defaults import find_defaults, for_command
from numalign.cli.root import group
from tests.cli.running import PODS, Done, in_process

POD = PODS / "limits-only.yaml"


def run(*words: str | Path) -> Done:
    return in_process(*words, cwd=Path.cwd())


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a folder in it, where the commands run."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    return tmp_path


def test_pyproject_sets_flags_for_every_command_that_has_them(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.numalign]\nmachine = "dgx-1"\npolicy = "restricted"\n')

    head = run("admit", POD).out.splitlines()[:2]

    assert head[0].startswith("machine: dgx-1 (bundled)")
    assert "policy restricted" in head[1]
    assert run("machines").status == 0


def test_a_file_of_our_own_sets_the_flags_of_one_command(project: Path) -> None:
    (project / ".numalign.toml").write_text(
        'machine = ["dgx-1"]\n[lint]\nignore = ["request-not-limit", "not-guaranteed"]\nfail-on = "unaligned"\n'
    )

    done = run("lint", PODS / "burstable.yaml")

    assert (done.status, done.out) == (0, "1 pod, 0 findings; 2 rules ignored; judged on dgx-1\n")


def test_a_table_of_a_command_in_a_group(project: Path) -> None:
    (project / ".numalign.toml").write_text('[config.suggest]\nmachine = "figure-1"\noutput = "kubeadm"\n')

    assert "kind: ClusterConfiguration" in run("config", "suggest").out


def test_a_table_of_a_group_holds_for_its_commands(project: Path) -> None:
    (project / ".numalign.toml").write_text('[config]\nmachine = "figure-1"\n')
    assert run("config", "suggest").out.startswith("# For figure-1: ")

    (project / ".numalign.toml").write_text('[config.sugest]\nmachine = "figure-1"\n')
    done = run("config", "suggest")
    assert done.err == (
        'numalign: ../.numalign.toml: config: no flag and no command is called "sugest"; did you mean suggest?\n'
    )


def test_the_line_and_the_environment_win(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".numalign.toml").write_text('machine = "dgx-1"\n')

    assert run("admit", POD, "-m", "figure-1").out.startswith("machine: figure-1 ")
    monkeypatch.setenv("NUMALIGN_MACHINE", "hgx-h100")
    assert run("admit", POD).out.startswith("machine: hgx-h100 ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lint]\nignroe = ['x']\n", '../.numalign.toml: lint: no flag is called "ignroe"; did you mean ignore?'),
        ("lint = 3\n", "../.numalign.toml: lint: expected a table of flags of `numalign lint`"),
        ("started = 'yes'\n[lint]\nquiet = true\n", "../.numalign.toml: lint.quiet: expected a text, a number or"),
        ("[lint]\nmachine = true\n", "../.numalign.toml: lint.machine: expected a text, a number or a list of them"),
        ("machin = 'dgx-1'\n", '../.numalign.toml: no command and no flag is called "machin"; did you mean machine?'),
        ("[lnt]\nquiet = 1\n", '../.numalign.toml: no command and no flag is called "lnt"; did you mean lint?'),
        ("oops\n", "../.numalign.toml: not TOML: "),
    ],
)
def test_what_is_wrong_is_said(project: Path, text: str, message: str) -> None:
    (project / ".numalign.toml").write_text(text)

    done = run("lint", POD)

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"numalign: {message}")


def leaves(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        one = command.get_command(context, name)
        assert one is not None
        yield from leaves(one, *path, name)


def fitting(option: click.Option) -> tuple[str, object]:
    """A default as one writes it, and as the command is to get it."""
    if option.is_flag:
        return "true", True
    if option.multiple:
        value = option.type.choices[0] if isinstance(option.type, click.Choice) else "x"
        return f"['{value}', '{value}']", (value, value)
    if isinstance(option.type, click.Choice):
        return f"'{option.type.choices[0]}'", option.type.choices[0]
    return ("1", 1) if option.type is not click.STRING else ("'x'", "x")


@pytest.mark.parametrize(
    ("path", "command"), [*leaves(group)], ids=lambda one: " ".join(one) if isinstance(one, tuple) else ""
)
def test_every_flag_of_every_command_may_have_a_default(
    project: Path, path: tuple[str, ...], command: click.Command
) -> None:
    root = group.get_command(click.Context(group), path[0])
    assert root is not None
    options = [one for one in command.params if isinstance(one, click.Option)]
    keys = {one.removeprefix("--"): option for option in options for one in option.opts if one.startswith("--")}
    for key, option in keys.items():
        text, value = fitting(option)
        (project / ".numalign.toml").write_text(f"[{'.'.join(path)}]\n{key} = {text}\n")
        found = find_defaults()
        assert found is not None

        given = for_command(root, path[0], found)
        for name in path[1:]:
            given = given[name]

        assert option.type_cast_value(click.Context(command), given[str(option.name)]) == value, key


def test_a_path_goes_from_the_folder_of_the_file(project: Path) -> None:
    (project / "kubelet").mkdir()
    (project / "kubelet" / "a.yaml").write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ntopologyManagerPolicy: restricted\n"
    )
    (project / "dgx-1").mkdir()
    (project / ".numalign.toml").write_text("machine = 'dgx-1'\nkubelet-config = 'kubelet/a.yaml'\n")

    done = run("admit", POD)

    assert done.out.startswith("machine: dgx-1 (bundled)")
    assert "policy restricted" in done.out


def test_a_key_of_kubectl_numalign_is_known(project: Path) -> None:
    (project / ".numalign.toml").write_text("context = 'lab'\n[nodes]\nverbose = true\n")

    assert run("lint", POD).status != 2


def test_a_file_above_the_project_is_not_looked_at(project: Path) -> None:
    (project / "inside" / ".git").mkdir()
    (project / ".numalign.toml").write_text("oops\n")

    assert run("lint", POD).status == 0
