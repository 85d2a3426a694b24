"""A state in a file: nothing is lost between processes, and what is no state of ours stays as it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.store import state_file
from numalign.store.lock import lock_path
from numalign.store.state_file import Kind, changing, read
from tests.cli.running import ROOT

KIND = Kind("TestState", 1)

ADD = """
import sys
from numalign.store.state_file import Kind, changing
path, name, count = sys.argv[1:]
for number in range(int(count)):
    with changing(path, Kind("TestState", 1)) as state:
        names = list((state.document or {}).get("names", ()))
        with state.writing({"names": [*names, f"{name}-{number}"]}):
            pass
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ADD, str(path), name, str(count)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state"

    writers = [writer(path, str(number), 20) for number in range(8)]
    for one in writers:
        one.communicate()

    document = read(str(path), KIND)
    assert document is not None
    assert sorted(document["names"]) == sorted(f"{name}-{number}" for name in range(8) for number in range(20))


def test_a_killed_writer_leaves_a_whole_file_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for attempt in range(5):
        with writer(path, str(attempt), 100_000) as one:
            assert one.stdout is not None
            one.stdout.readline()
            time.sleep(0.02 * attempt)
            one.send_signal(signal.SIGKILL)
            said = [0, *map(int, one.stdout.read().split())]

        document = read(str(path), KIND)

        assert document is not None
        mine = [name for name in document["names"] if name.startswith(f"{attempt}-")]
        assert mine == [f"{attempt}-{number}" for number in range(len(mine))]
        assert len(mine) >= said[-1] + 1  # what was said to be written is there; at most the killed one more
        assert len(mine) <= said[-1] + 2


def test_one_that_waits_says_so_and_gets_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "state"

    with ExitStack() as stack, changing(str(path), KIND):
        other = stack.enter_context(writer(path, "other", 1))
        time.sleep(0.2)
        assert read(str(path), KIND) is None
        assert other.poll() is None
    found = read(str(path), KIND)

    assert found is not None
    assert found["names"] == ["other-0"]


FOREIGN = {
    "no JSON": ("{", "is no state of a node: not JSON"),
    "another kind": ('{"apiVersion": "numalign/v1", "kind": "Machine"}', "is no state (TestState) but kind Machine"),
    "a foreign file": ("[1]", "is no state (TestState) but another file"),
    "a kind of somebody else": ('{"kind": "TestState"}', "is no state (TestState)"),
    "a newer one": ('{"apiVersion": "numalign/v1", "kind": "TestState", "version": 2}', "was written by a newer"),
    "no version": ('{"apiVersion": "numalign/v1", "kind": "TestState"}', "version: expected a number from 1 to 1"),
    "nested without end": ("[" * 100_000, "is no state of a node: not JSON"),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_what_is_no_state_is_an_error_and_stays(case: str, tmp_path: Path) -> None:
    text, message = FOREIGN[case]
    path = tmp_path / "state"
    path.write_text(text)

    with pytest.raises(InputError) as raised, changing(str(path), KIND):
        pass

    assert message in str(raised.value)
    assert path.read_text() == text


def test_an_empty_file_is_a_new_state(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text("")

    with changing(str(path), KIND) as state:
        assert state.document is None


def test_an_older_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text('{"apiVersion": "numalign/v1", "kind": "TestState", "version": 1, "old": 7}')
    newer = Kind("TestState", 2, {1: lambda document: {"new": document["old"]}})

    assert read(str(path), newer) == {"new": 7}


def test_a_change_without_write_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with changing(str(path), KIND) as state, state.writing({"a": 1}):
        pass
    before = path.stat().st_ino

    with changing(str(path), KIND):
        pass

    assert path.stat().st_ino == before
    assert json.loads(path.read_text()) == {"apiVersion": "numalign/v1", "kind": "TestState", "version": 1, "a": 1}
    assert sorted(os.listdir(tmp_path)) == [os.path.basename(lock_path(str(path))), "state"]


@pytest.fixture
def nobody(tmp_path: Path, as_nobody: Callable[[], AbstractContextManager[None]]) -> Iterator[Path]:
    """A folder with a state in it, and somebody to whom neither belongs."""
    folder = tmp_path / "node"
    folder.mkdir()
    with changing(str(folder / "state"), KIND) as state, state.writing({"a": 1}):
        pass
    with as_nobody():
        yield folder
    folder.chmod(0o755)


@pytest.mark.parametrize("mode", [0o555, 0o755, 0o777], ids=["read-only", "somebody else's", "everybody's"])
def test_a_state_that_we_may_not_change_is_told_and_stays(nobody: Path, mode: int) -> None:
    if os.geteuid() == nobody.stat().st_uid:
        nobody.chmod(0o555)
    else:
        me, os_owner = os.geteuid(), nobody.stat().st_uid
        os.seteuid(os_owner)
        nobody.chmod(mode)
        os.seteuid(me)
    path = nobody / "state"

    with pytest.raises(InputError, match="cannot be"), changing(str(path), KIND) as state, state.writing({"a": 2}):
        pass

    found = read(str(path), KIND)
    assert found is not None
    assert found["a"] == 1


def test_a_missing_folder_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be changed"), changing(str(tmp_path / "no/state"), KIND):
        pass
    with pytest.raises(InputError, match="is a folder"), changing(str(tmp_path), KIND):
        pass


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "state")
    with changing(path, KIND) as state, state.writing({"a": 1}):
        pass

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(InputError, match="No space left on device"),
        changing(path, KIND) as state,
        state.writing({"a": 2}),
    ):
        pass

    found = read(path, KIND)
    assert found is not None
    assert found["a"] == 1
    assert sorted(os.listdir(tmp_path)) == [".state.lock", "state"]


def test_a_state_that_is_too_large_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    path.write_text(" " * 100)
    monkeypatch.setattr(state_file, "MAX_BYTES", 10)

    with pytest.raises(InputError, match="which no state is"):
        read(str(path), KIND)
