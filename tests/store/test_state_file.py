"""A state in a file: nothing is lost between processes, and what is no state of ours stays as it is."""

from __future__ import annotations

import fcntl
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
from numalign.store.state_file import Kind, changing, lock_path, locked, read_state
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

    document = read_state(str(path), KIND)
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

        document = read_state(str(path), KIND)

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
        assert read_state(str(path), KIND) is None
        assert other.poll() is None
    found = read_state(str(path), KIND)

    assert found is not None
    assert found["names"] == ["other-0"]


FOREIGN = {
    "no JSON": ("{", "is not a state file: "),
    "another kind": (
        '{"apiVersion": "numalign/v1", "kind": "Machine"}',
        "is not a state (TestState) but kind Machine; fix: ",
    ),
    "a foreign file": ("[1]", "is not a state (TestState) but another file; fix: "),
    "a kind of somebody else": ('{"kind": "TestState"}', "is not a state (TestState) but kind TestState; fix: "),
    "a newer one": ('{"apiVersion": "numalign/v1", "kind": "TestState", "version": 2}', "install a newer numalign"),
    "no version": ('{"apiVersion": "numalign/v1", "kind": "TestState"}', "version: expected a number from 1 to 1"),
    "nested without end": ("[" * 100_000, "is not a state file: "),
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

    assert read_state(str(path), newer) == {"new": 7}


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

    found = read_state(str(path), KIND)
    assert found is not None
    assert found["a"] == 1


def test_a_missing_folder_and_a_folder_are_told(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"cannot be locked in its folder \(No such file or directory\)"),
        changing(str(tmp_path / "no/state"), KIND),
    ):
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

    found = read_state(path, KIND)
    assert found is not None
    assert found["a"] == 1
    assert sorted(os.listdir(tmp_path)) == [".state.lock", "state"]


def test_a_state_that_is_too_large_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    path.write_text(" " * 100)
    monkeypatch.setattr(state_file, "MAX_BYTES", 10)

    with pytest.raises(InputError, match="is larger than 0 MiB, the most for a state"):
        read_state(str(path), KIND)


def keep(path: Path, *names: str) -> None:
    with changing(str(path), KIND) as state, state.writing({"names": names}):
        pass


def test_a_link_that_is_led_elsewhere_meanwhile_changes_nothing(tmp_path: Path) -> None:
    one, other, link = tmp_path / "one", tmp_path / "other", tmp_path / "link"
    keep(one, "a")
    keep(other, "b")
    link.symlink_to(one)

    with changing(str(link), KIND) as state:
        link.unlink()
        link.symlink_to(other)
        with state.writing({"names": ["a", "c"]}):
            pass

    assert json.loads(one.read_text())["names"] == ["a", "c"]
    assert json.loads(other.read_text())["names"] == ["b"]


def replace(path: Path) -> None:
    copy = path.with_suffix(".new")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)


MEANWHILE: dict[str, Callable[[Path], object]] = {
    "written into": lambda path: path.write_text(path.read_text().replace("a", "b")),
    "replaced by its copy": replace,
    "removed": lambda path: path.unlink(),
    "without its lock": lambda path: (Path(lock_path(str(path))).unlink(), keep(path, "b")),
}


@pytest.mark.parametrize("case", MEANWHILE)
def test_a_file_that_changed_meanwhile_is_left_as_it_is(tmp_path: Path, case: str) -> None:
    path = tmp_path / "state"
    keep(path, "a")

    with changing(str(path), KIND) as state:
        MEANWHILE[case](path)
        found = path.read_bytes() if path.exists() else None
        with (
            pytest.raises(InputError, match="was changed by another program and not written; fix: "),
            state.writing({"names": []}),
        ):
            pass

    assert (path.read_bytes() if path.exists() else None) == found


def test_a_new_file_replaces_nothing_that_came_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "state"

    with changing(str(path), KIND) as state:
        path.write_text("mine")
        with pytest.raises(InputError, match="run the command again"), state.writing({"names": []}):
            pass

    assert path.read_text() == "mine"


def test_who_waited_at_a_lock_that_was_removed_takes_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "state"
    keep(path)
    lock = Path(lock_path(str(path)))

    def remove() -> None:
        first.close()
        lock.unlink()
        lock.touch()

    with ExitStack() as first:
        first.enter_context(locked(str(path)))
        with locked(str(path), remove):
            status = os.stat(lock)
            with lock.open() as held, pytest.raises(BlockingIOError):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)

    assert os.path.samestat(status, os.stat(lock))


@pytest.mark.parametrize("what", ["pipe", "device", "manifest", "newer"])
def test_beside_what_is_refused_is_no_lock(tmp_path: Path, what: str) -> None:
    path = tmp_path / "state"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/full")
    else:
        path.write_text(
            "kind: Pod" if what == "manifest" else '{"apiVersion":"numalign/v1","kind":"TestState","version":2}'
        )

    with pytest.raises(InputError), changing(str(path), KIND):
        pass

    assert [one.name for one in tmp_path.iterdir()] == ["state"]
    assert not Path("/dev/.full.lock").exists()
