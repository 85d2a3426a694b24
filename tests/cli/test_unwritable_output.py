"""An answer that cannot be written: status 2 says that nothing was changed, so no file is; and nothing is silent.

One that is read slowly keeps nobody else from the files.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from unittest import mock

import pytest

from numalign import cli
from numalign.store.state_file import lock_path
from tests import copies
from tests.cli.running import PODS, ROOT, Done, command, in_process, one_line

POD = str(PODS / "limits-only.yaml")
FIGURE_1 = ("--machine", "figure-1", "--policy", "none")
CLUSTER = ("--cluster", str(ROOT / "docs/examples/cluster.yaml"))

CHANGES = {
    "a new node": ("admit", POD, *FIGURE_1, "--state", "new"),
    "a pod more": ("admit", str(PODS / "burstable.yaml"), "--state", "node"),
    "a pod that starts": ("admit", "--started-pods", "limits-only", "--state", "node"),
    "a pod less": ("release", "limits-only", "--state", "node"),
    "a cluster": ("schedule", POD, *CLUSTER, "--state", "new"),
    "a machine file": ("discover", "--machine", "figure-1", "--save", "new", "-o", "json"),
    "a baseline": ("lint", str(PODS), "--baseline", "new", "--write-baseline"),
}


def files_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Tell which files there are, but those that are only locked, and what is in them."""
    files = [path for path in folder.iterdir() if not path.name.endswith(".lock")]
    return {path.name: (path.stat().st_ino, path.read_bytes()) for path in files}


def printed(folder: Path, arguments: tuple[str, ...], output: int | None) -> Done:
    """Run in a folder, with the output sent somewhere; None: there is none."""
    with TemporaryFile() as said, open(os.devnull) as nothing:
        process = copies.command(arguments, (nothing.fileno(), output, said.fileno()), folder=folder)
        process.join(copies.SECONDS)
        assert process.exitcode is not None, "it does not end"
        said.seek(0)
        return Done(process.exitcode, "", said.read().decode())


@copies.TOGETHER
@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize(
    ("full", "why"),
    [(True, "No space left on device"), (False, "standard output is closed")],
    ids=["a full disk", "closed"],
)
def test_nothing_is_changed_where_the_answer_cannot_be_written(case: str, full: bool, why: str, tmp_path: Path) -> None:
    in_process("admit", POD, *FIGURE_1, "--state", tmp_path / "node")
    before = files_of(tmp_path)

    with open("/dev/full", "w") as disk:
        done = printed(tmp_path, CHANGES[case], disk.fileno() if full else None)

    assert done.status == 2
    assert done.err.splitlines()[-1] == f"error: the output cannot be written: {why}"
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("admit", POD, *FIGURE_1),
        ("admit", POD, *FIGURE_1, "-o", "json"),
        ("--debug", "admit", POD, *FIGURE_1),
        ("admit", "missing.yaml", "-o", "json"),
        ("explain", POD, *FIGURE_1, "-o", "json"),
        ("machines",),
        ("--help",),
    ],
    ids=["a table", "JSON", "with --debug", "why there is no answer", "another command", "a list", "help"],
)
@pytest.mark.parametrize(
    ("closed", "why"),
    [(True, "standard output is closed"), (False, "Bad file descriptor")],
    ids=["closed", "read-only"],
)
def test_an_output_that_takes_no_answer_is_told_as_such(
    arguments: tuple[str, ...], closed: bool, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    stream = None if closed else open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    with mock.patch("sys.stdout", stream):
        with pytest.raises(SystemExit) as end:
            cli.main([*arguments])
        sys.stdout.close()

    *before, last = capfd.readouterr().err.splitlines()
    assert end.value.code == 2
    assert last == f"error: the output cannot be written: {why}"
    assert not [line for line in before if "bug" in line or "Traceback" in line]


@copies.TOGETHER
@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("read", [True, False], ids=["read", "of which nothing is read"])
def test_it_is_changed_where_the_answer_is_out_or_nobody_wants_it(case: str, read: bool, tmp_path: Path) -> None:
    in_process("admit", POD, *FIGURE_1, "--state", tmp_path / "node")
    before = files_of(tmp_path)

    reader, writer = os.pipe()
    with open(reader, "rb") as answer, open(writer, "wb") as output:
        if not read:
            answer.close()
        done = printed(tmp_path, CHANGES[case], output.fileno())

    assert done.status in ((0, 1) if read else (141,))
    assert files_of(tmp_path) != before


def pipe(_folder: Path) -> tuple[int, ...]:
    return os.pipe()[::-1]


def full_before_it_waits(_folder: Path) -> tuple[int, ...]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    return writer, reader


def stream_socket(_folder: Path) -> tuple[int, ...]:
    return tuple(end.detach() for end in socket.socketpair())


def terminal(_folder: Path) -> tuple[int, ...]:
    return os.openpty()[::-1]


def regular_file(folder: Path) -> tuple[int, ...]:
    return (os.open(folder / "answer", os.O_WRONLY | os.O_CREAT),)


OUTPUTS: dict[str, tuple[Callable[[Path], tuple[int, ...]], bool]] = {
    "a pipe": (pipe, True),
    "a socket": (stream_socket, True),
    "a terminal": (terminal, True),
    "a pipe that refuses what it has no room for": (full_before_it_waits, False),
    "a file": (regular_file, False),
}
"""Output -> what makes it, and whether the files are changed before it is written, which may take long."""


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("output", OUTPUTS)
def test_nobody_waits_for_the_files_while_the_answer_waits_for_its_reader(
    output: str, case: str, tmp_path: Path
) -> None:
    make, changed_before = OUTPUTS[output]
    folder = tmp_path / "here"
    folder.mkdir()
    in_process("admit", POD, *FIGURE_1, "--state", folder / "node")
    before = files_of(folder)
    state = folder / CHANGES[case][CHANGES[case].index("--state") + 1] if "--state" in CHANGES[case] else None
    seen: list[tuple[bool, bool]] = []

    class Output(io.FileIO):
        def write(self, data: object, /) -> int:
            done = {name: file for name, file in files_of(folder).items() if not name.endswith(".part")}
            seen.append((done != before, state is not None and is_locked(state)))
            return super().write(data)  # type: ignore[arg-type]  # any buffer, as io has it

    descriptor, *others = make(tmp_path)
    with (
        contextlib.chdir(folder),
        io.TextIOWrapper(io.BufferedWriter(Output(descriptor, "w")), encoding="utf-8") as stream,
        mock.patch("sys.stdout", stream),
        mock.patch("sys.stderr", io.StringIO()),
    ):
        cli._run([*CHANGES[case]])
    for other in others:
        os.close(other)

    assert set(seen) == {(changed_before, state is not None and not changed_before)}
    assert files_of(folder) != before


def is_locked(path: Path) -> bool:
    with open(lock_path(str(path)), "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_pod_is_released_while_nobody_reads_the_answer_about_it(tmp_path: Path) -> None:
    state = tmp_path / "node"
    words = command("admit", PODS / "burstable.yaml", *FIGURE_1, "--replicas", "90", "--state", state, "-o", "json")
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as admitting:
        assert admitting.stdout is not None
        select.select([admitting.stdout], [], [])
        pod = json.loads(state.read_text())["pods"][0]["metadata"]["name"]

        done = in_process("release", pod, "--state", state)

        assert done == (0, f"default/{pod} released\n", "")
        assert len(json.load(admitting.stdout)["pods"]) == 90


def test_wrong_claims_leave_the_node_as_it_is(tmp_path: Path) -> None:
    done = in_process("admit", POD, *FIGURE_1, "--state", tmp_path / "node", "--slices", tmp_path / "missing")

    assert done.status == 2
    assert str(tmp_path / "missing") in one_line(done.err)
    assert files_of(tmp_path) == {}
