"""What the running host says of itself is the same by psutil and, where that cannot be imported, by /proc."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from numalign.sources.host import running
from numalign.sources.node.processes import kubelet_version, running_kubelet

SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def without_psutil(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let psutil be a library that cannot be imported."""
    monkeypatch.setitem(sys.modules, "psutil", None)
    return monkeypatch


@pytest.fixture(
    params=[["a name", ""], ["x" * 20, "y z"], ["tab\there", "line\nend"], ["überall"]],
    ids=["blanks", "a long name", "white space", "not ASCII"],
)
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose name and arguments are odd."""
    words = [*request.param, "-"]  # cat passes over files that are not there, and waits for its input
    pipe = subprocess.PIPE
    with subprocess.Popen(words, executable="/bin/cat", stdin=pipe, stderr=subprocess.DEVNULL) as running_one:
        yield running_one
        running_one.kill()


def by_psutil() -> dict[int, running.RunningProcess]:
    return {one.pid: one for one in running.processes()}


def test_processes_are_the_same(process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that were there, unchanged, before and after /proc was read."""
    before = by_psutil()
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "psutil", None)
        read = {one.pid: one for one in running.processes()}
    after = by_psutil()

    stayed = {pid for pid, one in before.items() if after.get(pid) == one}
    assert {process.pid, os.getpid()} <= stayed
    assert {pid: read[pid] for pid in stayed} == {pid: before[pid] for pid in stayed}


def test_a_program_is_the_same(without_psutil: pytest.MonkeyPatch) -> None:
    read = running.program(os.getpid())
    without_psutil.undo()

    assert read == running.program(os.getpid()) == psutil.Process().exe()


def test_a_process_that_is_gone_has_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()

    assert running.program(gone.pid) is None
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert running.program(gone.pid) is None


def test_cpus_and_memory_are_the_same(without_psutil: pytest.MonkeyPatch) -> None:
    read = (running.cpu_count(), running.memory())
    without_psutil.undo()

    assert read == (running.cpu_count(), running.memory())
    assert read == (psutil.cpu_count(), psutil.virtual_memory().total)


def test_a_kubelet_is_found_by_both(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command line, and its version, which its program is asked for."""
    program = os.path.join(tmp_path, "kubelet")
    os.symlink(sys.executable, program)
    with subprocess.Popen([program, "-c", SLEEP, "--config=x"]) as kubelet:
        found = []
        for module in (psutil, None):
            monkeypatch.setitem(sys.modules, "psutil", module)
            found.append((running_kubelet(), kubelet_version()))
        kubelet.kill()

    assert found[0] == found[1]
    assert found[0] == (["-c", SLEEP, "--config=x"], sys.version.split()[0])
