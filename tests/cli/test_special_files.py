"""A pipe in a folder, a device or a socket is an error wherever a file is named; a pipe that a shell opened is read."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from numalign.cli.root import COMMANDS, import_command
from numalign.exit_status import ExitStatus
from tests.cli.running import ENVIRONMENT, PODS, ROOT, Done, in_process, one_line

POD = PODS / "announcement.yaml"
CLUSTER = ROOT / "docs" / "examples" / "cluster" / "cluster.yaml"
ON = ("-m", "figure-1")

NAMED: dict[str, tuple[str | Path, ...]] = {
    "a pod": ("admit", "FILE", *ON),
    "pods that are there": ("admit", POD, *ON, "--beside", "FILE"),
    "a machine": ("admit", POD, "-m", "FILE"),
    "a configuration": ("admit", POD, *ON, "--kubelet-config", "FILE"),
    "slices": ("admit", POD, *ON, "--slices", "FILE"),
    "a state": ("admit", POD, *ON, "--state", "FILE"),
    "a state to release of": ("release", "web", "--state", "FILE"),
    "a node": ("status", "--node", "FILE"),
    "a cluster": ("schedule", POD, "--cluster", "FILE"),
    "a cluster's state": ("schedule", POD, "--cluster", CLUSTER, "--state", "FILE"),
    "a trace": ("simulate", "--cluster", CLUSTER, "--trace", "FILE"),
    "a public trace": ("simulate", "--cluster", CLUSTER, "--trace", "FILE", "--trace-form", "openb"),
    "a suite": ("test", "FILE"),
    "a baseline": ("lint", POD, "--baseline", "FILE"),
    "a tree": ("discover", "--sysfs-root", "FILE"),
    "a server's cluster": ("serve", "--stdio", "--cluster", "FILE"),
    "scenarios": ("replay", "FILE"),
    "a server's certificate": ("serve", "--cluster", CLUSTER, "--tls-cert", "FILE", "--tls-key", POD),
    "a server's key": ("serve", "--cluster", CLUSTER, "--tls-cert", POD, "--tls-key", "FILE"),
    "an authority": ("serve", "--cluster", CLUSTER, "--tls-cert", POD, "--tls-key", POD, "--client-ca", "FILE"),
}


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """End a run that waits for what never comes."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def special(path: Path, kind: str) -> Path:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        here = Path.cwd()
        os.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
        os.chdir(here)
    return path


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("case", NAMED)
def test_what_is_no_regular_file_is_an_error(tmp_path: Path, case: str, kind: str) -> None:
    if case == "a node" and kind == "socket":
        pytest.skip("a socket is asked as that of the PodResources API")
    path = special(tmp_path / "file.yaml", kind)

    done = in_process(*(path if word == "FILE" else word for word in NAMED[case]))

    assert done.status == 2
    assert str(path) in done.err or "/dev/zero" in done.err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file.yaml"]


def leaves(words: tuple[str, ...], command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from leaves((*words, name), below)
    else:
        yield words, command


FIRST = {"admit": (POD, *ON), "explain": (POD, *ON), "compare": (POD, *ON), "schedule": (POD,), "capacity": (POD,)}
"""What a command wants before it looks at anything else."""


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_waits_for_a_pipe_that_nobody_writes(name: str, tmp_path: Path) -> None:
    """Whatever it takes: each argument and each flag with a value is given the name of a pipe."""
    pipe = special(tmp_path / "pipe", "pipe")
    for words, command in leaves((name,), import_command(name)):
        for given in command.params:
            if isinstance(given, click.Option) and (given.is_flag or given.count):
                continue
            flags = () if isinstance(given, click.Argument) else (*FIRST.get(name, ()), max(given.opts, key=len))

            assert in_process(*words, *flags, pipe).status != ExitStatus.BUG, (words, flags)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_special_file_in_a_folder_of_a_cluster_is_an_error(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.yaml").write_text((ROOT / "machines" / "figure-1.yaml").read_text())
    special(tmp_path / "b.yaml", kind)

    done = in_process("schedule", POD, "--cluster", tmp_path)

    assert done.status == 2
    assert one_line(done.err).startswith(f"{tmp_path}/b.yaml: is a {kind}; expected a regular file")


def shell(line: str) -> Done:
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable}
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    return Done(done.returncode, done.stdout, done.stderr)


PIPES = {
    "a pod": f'"$PYTHON" -m numalign admit <(cat {POD}) -m figure-1',
    "pods that are there": f'"$PYTHON" -m numalign admit {POD} -m hgx-h100 --beside <(cat {PODS}/burstable.yaml)',
    "a machine": f'"$PYTHON" -m numalign admit {POD} -m <(cat machines/figure-1.yaml)',
    "a cluster file": f'"$PYTHON" -m numalign schedule {PODS}/limits-only.yaml --cluster <(cat {CLUSTER})',
    "a cluster file as input": f'"$PYTHON" -m numalign schedule {PODS}/limits-only.yaml --cluster - < {CLUSTER}',
    "a pod by the name of standard input": f'cat {POD} | "$PYTHON" -m numalign admit /dev/stdin -m figure-1',
}


@pytest.mark.parametrize("case", PIPES)
def test_a_pipe_that_a_shell_opened_is_read(case: str) -> None:
    done = shell(PIPES[case])

    assert done.status in (0, 1), done.err
    assert done.out


def test_objects_of_a_cluster_come_through_a_pipe(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}}
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]}))

    plain = shell(f'"$PYTHON" -m numalign schedule {PODS}/limits-only.yaml --cluster {path}')
    piped = shell(f'"$PYTHON" -m numalign schedule {PODS}/limits-only.yaml --cluster <(cat {path})')

    assert piped.status == plain.status
    assert piped.out.splitlines()[1:] == plain.out.splitlines()[1:]


def cluster(folder: Path, **group: object) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "cluster.yaml"
    path.write_text(json.dumps({"nodes": [{"name": "n", **group}]}))
    return path


OUTSIDE = {
    "a machine by a path": {"machine": "/etc/passwd"},
    "a machine above": {"machine": "../secret"},
    "standard input": {"machine": "/dev/stdin"},
    "a machine of the working folder": {"machine": "secret"},
    "a machine behind a link": {"machine": "link"},
    "a machine at a node": {"machine": "../secret@n"},
    "a configuration": {"machine": "figure-1", "kubeletConfig": "../secret"},
    "a configuration behind a link": {"machine": "figure-1", "kubeletConfig": "link"},
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_cluster_file_names_nothing_outside_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    (tmp_path / "secret").write_text("password: hunter2\nroot: x\n")
    monkeypatch.chdir(tmp_path)
    path = cluster(tmp_path / "inside", **OUTSIDE[case])
    (path.parent / "link").symlink_to("../secret")
    words = ("schedule", POD, "--cluster", path)

    done = in_process(*words, cwd=tmp_path)
    allowed = in_process(*words, "--allow-outside", cwd=tmp_path)

    assert done.status == allowed.status == 2
    if case != "a machine of the working folder":
        assert "is outside the folder of the cluster file\nfix: add --allow-outside" in done.err
    for told in (done.err, allowed.err):
        assert "hunter2" not in told
        assert "password" not in told
        assert "root" not in told.replace("pytest-of-root", "")


def test_what_a_cluster_file_names_is_not_quoted(tmp_path: Path) -> None:
    path = cluster(tmp_path, machine="secret")
    (tmp_path / "secret").write_text("# a\npassword: hunter2\n")

    done = in_process("schedule", POD, "--cluster", path)

    assert one_line(done.err) == (
        f"{path}:1: nodes[0].machine: nodes n: {tmp_path}/secret:2: not a valid machine; hint: "
        f"--machine {tmp_path}/secret shows why"
    )


def test_a_machine_elsewhere_is_read_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text((ROOT / "machines" / "figure-1.yaml").read_text())
    path = cluster(tmp_path / "inside", machine="../m.yaml")

    assert in_process("schedule", PODS / "limits-only.yaml", "--cluster", path).status == 2
    assert in_process("schedule", PODS / "limits-only.yaml", "--cluster", path, "--allow-outside").status in (0, 1)


@pytest.mark.parametrize("key", ["machine", "kubeletConfig"])
def test_a_dash_in_a_cluster_file_is_a_file_not_standard_input(tmp_path: Path, key: str) -> None:
    (tmp_path / "cluster.yaml").write_text(json.dumps({"nodes": [{"name": "n", "machine": "figure-1", key: "-"}]}))

    done = in_process("schedule", POD, "--cluster", "cluster.yaml", cwd=tmp_path, stdin=b"secret")

    assert done.status == 2
    assert "secret" not in done.err
