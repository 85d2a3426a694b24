"""Defaults of flags from a project's own file."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from numalign.cli.defaults import ALLOWED, FLAGS_OF_KUBECTL, OF_KUBECTL, check_keys, for_command
from numalign.cli.defaults_file import find_defaults
from numalign.cli.kubectl import COMMANDS as KUBECTL_COMMANDS
from numalign.cli.root import COMMANDS, group
from numalign.errors import InputError
from tests.cli.running import PODS, ROOT, Done, in_process

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

    assert head[0].startswith("dgx-1 (bundled)")
    assert "restricted, scope" in head[1]
    assert run("machines").status == 0


def test_a_file_of_our_own_sets_the_flags_of_one_command(project: Path) -> None:
    (project / ".numalign.toml").write_text(
        'machine = ["dgx-1"]\n[lint]\nignore = ["request-not-limit", "not-guaranteed"]\nfail-on = "unaligned"\n'
    )

    done = run("lint", PODS / "burstable.yaml")

    assert (done.status, done.out) == (0, "1 pod, 0 findings. 2 rules ignored. Machine: dgx-1.\n")


def test_a_table_of_a_command_in_a_group(project: Path) -> None:
    (project / ".numalign.toml").write_text('[config.suggest]\nmachine = "figure-1"\noutput = "kubeadm"\n')

    assert "kind: ClusterConfiguration" in run("config", "suggest").out


def test_a_table_of_a_group_holds_for_its_commands(project: Path) -> None:
    (project / ".numalign.toml").write_text('[config]\nmachine = "figure-1"\n')
    assert run("config", "suggest").out.startswith("# KubeletConfiguration for figure-1; ")

    (project / ".numalign.toml").write_text('[config.sugest]\nmachine = "figure-1"\n')
    done = run("config", "suggest")
    assert done.err == (
        'error: ../.numalign.toml:1: config: no flag and no command has the name "sugest"\nhint: similar: suggest\n'
    )


def test_the_line_and_the_environment_win(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".numalign.toml").write_text('machine = "dgx-1"\n')

    assert run("admit", POD, "-m", "figure-1").out.startswith("figure-1 ")
    monkeypatch.setenv("NUMALIGN_MACHINE", "hgx-h100")
    assert run("admit", POD).out.startswith("hgx-h100 ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lint]\nignroe = ['x']\n", '../.numalign.toml:2: lint: no flag has the name "ignroe"\nhint: similar: ignore'),
        ("lint = 3\n", "../.numalign.toml:1: lint: expected a table of flags of `numalign lint`"),
        ("started = 'yes'\n[lint]\nquiet = true\n", "../.numalign.toml:3: lint.quiet: expected a text, a number or"),
        ("[lint]\nmachine = true\n", "../.numalign.toml:2: lint.machine: expected a text, a number or a list of them"),
        (
            "machin = 'dgx-1'\n",
            '../.numalign.toml:1: no command and no flag has the name "machin"\nhint: similar: machine',
        ),
        ("[lnt]\nquiet = 1\n", '../.numalign.toml:1: no command and no flag has the name "lnt"\nhint: similar: lint'),
        ("oops\n", "../.numalign.toml: not TOML: "),
    ],
)
def test_what_is_wrong_is_said(project: Path, text: str, message: str) -> None:
    (project / ".numalign.toml").write_text(text)

    done = run("lint", POD)

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")


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


def every_flag() -> Iterator[tuple[tuple[str, ...], click.Command, str, click.Option]]:
    for path, command in leaves(group):
        for option in command.params:
            if isinstance(option, click.Option):
                for one in option.opts:
                    if one.startswith("--"):
                        yield path, command, one.removeprefix("--"), option


def write(project: Path, path: tuple[str, ...], key: str, text: str) -> None:
    (project / ".numalign.toml").write_text(f"[{'.'.join(path)}]\n{key} = {text}\n")


def test_every_allowed_flag_of_every_command_may_have_a_default(project: Path) -> None:
    seen = set()
    for path, command, key, option in every_flag():
        if key not in ALLOWED:
            continue
        root = group.get_command(click.Context(group), path[0])
        assert root is not None
        text, value = fitting(option)
        write(project, path, key, text)
        found = find_defaults()
        assert found is not None

        given = for_command(root, path[0], found)
        check_keys(found, [(path[0], root)])
        for name in path[1:]:
            given = given[name]

        assert option.type_cast_value(click.Context(command), given[str(option.name)]) == value, key
        seen.add(key)
    assert seen | {"namespace", "verbose"} == ALLOWED  # these two are of `kubectl numalign`


def test_no_other_flag_of_any_command_may_have_a_default(project: Path) -> None:
    commands = [(name, group.get_command(click.Context(group), name)) for name in COMMANDS]
    for path, _, key, option in every_flag():
        if key in ALLOWED or key in ("help", "version", "debug"):
            continue
        write(project, path, key, fitting(option)[0])
        found = find_defaults()
        assert found is not None

        with pytest.raises(InputError) as raised:
            check_keys(found, [(name, one) for name, one in commands if one is not None])

        assert raised.value.where == f"../.numalign.toml:2: {'.'.join((*path, key))}"


def test_the_page_lists_what_a_file_may_set() -> None:
    page = (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8")
    listed = page.partition("Allowed:\n\n```text\n")[2].partition("```")[0]
    assert frozenset(listed.split()) == ALLOWED


ORDERS: dict[str, tuple[str, tuple[str | Path, ...]]] = {
    "a program": ("[nrt.export]\nexec = 'touch {0}'\nwatch = true\n", ("nrt", "export", "-m", "figure-1")),
    "a machine file": ("save = '{0}'\n", ("discover",)),
    "an archive": ("[discover]\ncapture = '{0}.tar.xz'\n", ("discover",)),
    "a state": ("state = '{0}'\n", ("admit", POD, "-m", "figure-1")),
    "a baseline": ("[lint]\nbaseline = '{0}'\nwrite-baseline = true\n", ("lint", PODS / "burstable.yaml")),
    "a baseline that is asked for": ("baseline = '{0}'\n", ("lint", PODS / "burstable.yaml", "--write-baseline")),
    "a listener of another command": ("[serve]\nlisten = '0.0.0.0:1'\n", ("machines",)),
    "another cluster": ("context = 'lab'\n", ("machines",)),
}


@pytest.mark.parametrize("case", ORDERS)
def test_a_file_gives_no_orders(project: Path, tmp_path: Path, case: str) -> None:
    text, words = ORDERS[case]
    below = "[tool.numalign]\n" + text.format(tmp_path / "written").replace("[", "[tool.numalign.")
    (project / "pyproject.toml").write_text(below)

    done = run(*words)

    assert (done.status, done.out) == (2, "")
    assert "../pyproject.toml:" in done.err or "add --baseline FILE on the line" in done.err
    assert list(tmp_path.glob("written*")) == []


def test_a_file_of_somebody_else_is_skipped(project: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path = project / ".numalign.toml"
    path.write_text('machine = "dgx-1"\n')
    os.chown(path, 65534, 65534)

    done = run("admit", POD, "-m", "figure-1")

    assert done.status == 0
    assert done.err.startswith("warning: ../.numalign.toml: skipped: it belongs to another user")
    assert run("admit", POD, "-m", "figure-1", "-qq").err == ""


def test_a_pipe_of_somebody_else_is_skipped(project: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a pipe away")
    for name in (".numalign.toml", "pyproject.toml"):
        os.mkfifo(project / name)
        os.chown(project / name, 65534, 65534)

    assert run("admit", POD, "-m", "figure-1").status == 0


@pytest.mark.parametrize("mode", [0o666, 0o602])
def test_a_file_that_others_may_write_is_skipped(project: Path, mode: int) -> None:
    path = project / "pyproject.toml"
    path.write_text('[tool.numalign]\nmachine = "dgx-1"\n[tool.numalign.nrt.export]\nexec = "x"\n')
    path.chmod(mode)

    done = run("admit", POD, "-m", "figure-1")

    assert (done.status, done.out.startswith("figure-1 ")) == (0, True)
    assert "../pyproject.toml: skipped: other users may write it" in done.err


def test_outside_of_a_repository_only_the_working_folder_counts(project: Path) -> None:
    (project / ".git").rmdir()
    (project / ".numalign.toml").write_text("oops\n")
    assert run("lint", POD).status == 0

    (project / "inside" / ".numalign.toml").write_text("oops\n")
    assert run("lint", POD).err.startswith("error: .numalign.toml: not TOML")


HOSTILE = {
    "nested tables": "[lint]\nignore = {a = {b = 1}}\n",
    "a table for a flag": "[lint.fail-on.x]\ny = 1\n",
    "6,000 digits": f"quiet = {'9' * 6000}\n",
    "5,000 hexadecimal digits": f"output = 0x{'f' * 5000}\n",
    "a date": "output = 1979-05-27\n",
    "lists in lists": "ignore = [['a']]\n",
    "deep lists": f"ignore = {'[' * 5000}\n",
    "deep tables": f"ignore = {'{a=' * 5000}\n",
    "40 kB of dotted keys": f"{'a.' * 20000}a = 1\n",
    "40 kB of quoted keys": "[" + '"a".' * 10000 + "a]\n",
    "one of many": "[[lint]]\nquiet = 1\n",
    "too large": "#" * (1 << 19),
    "no text": "quiet = '\udcff'\n",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_an_error(project: Path, case: str) -> None:
    (project / ".numalign.toml").write_text(HOSTILE[case], errors="surrogateescape")

    done = run("lint", POD, "-o", "json")

    assert done.status == 2
    assert done.err.startswith("error: ../.numalign.toml")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("text", ["# [tool.numalign]\n", "x = '[tool.numalign]'\n", "[tool]\nx = '[tool.numalign'\n"])
def test_a_mark_that_is_no_table_says_nothing(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)

    assert run("lint", POD).status == 0


def test_a_list_of_tables_is_an_error(project: Path) -> None:
    (project / "pyproject.toml").write_text("[[tool.numalign]]\nquiet = true\n")

    assert run("lint", POD).err == "error: ../pyproject.toml:1: expected a table of flags\n"


@pytest.mark.parametrize("name", [".numalign.toml", "pyproject.toml"])
@pytest.mark.parametrize("what", ["pipe", "socket"])
def test_what_is_no_regular_file_is_an_error(project: Path, name: str, what: str) -> None:
    path = project / name
    if what == "pipe":
        os.mkfifo(path)
    else:
        os.chdir(project)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(name)
        os.chdir(project / "inside")
        path.chmod(0o700)

    done = run("lint", POD)

    assert (done.status, done.err) == (2, f"error: ../{name}: is a {what}; expected a regular file\n")


def test_a_link_to_a_device_is_never_opened(project: Path) -> None:
    (project / "pyproject.toml").symlink_to("/dev/zero")  # which others may write, and which belongs to root
    assert run("lint", POD).err == ""

    (project / ".numalign.toml").symlink_to("/dev/zero")
    done = run("lint", POD)
    assert done.status == 0
    assert done.err.startswith("warning: ../.numalign.toml: skipped: ")


def test_a_path_goes_from_the_folder_of_the_file(project: Path) -> None:
    (project / "kubelet").mkdir()
    (project / "kubelet" / "a.yaml").write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ntopologyManagerPolicy: restricted\n"
    )
    (project / "dgx-1").mkdir()
    (project / ".numalign.toml").write_text("machine = 'dgx-1'\nkubelet-config = 'kubelet/a.yaml'\n")

    done = run("admit", POD)

    assert done.out.startswith("dgx-1 (bundled)")
    assert "restricted, scope" in done.out


def test_what_only_kubectl_numalign_has_is_listed() -> None:
    ours = {key for _, _, key, _ in every_flag()}
    theirs = {
        name.removeprefix("--")
        for command in KUBECTL_COMMANDS.values()
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
        if name.startswith("--")
    }
    assert (KUBECTL_COMMANDS.keys() - COMMANDS.keys(), theirs - ours) == (OF_KUBECTL, FLAGS_OF_KUBECTL)


def test_a_key_of_kubectl_numalign_is_known(project: Path) -> None:
    (project / ".numalign.toml").write_text("[nodes]\nverbose = true\n")

    assert run("lint", POD).status != 2


def test_a_file_above_the_project_is_not_looked_at(project: Path) -> None:
    (project / "inside" / ".git").mkdir()
    (project / ".numalign.toml").write_text("oops\n")

    assert run("lint", POD).status == 0
