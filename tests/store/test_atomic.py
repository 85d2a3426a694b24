"""A file is replaced whole or not at all, keeps what it had, and nothing but a regular file is ever written."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest

from numalign.errors import InputError
from numalign.store import atomic
from numalign.store.atomic import write_whole
from tests.cli.running import ROOT


def text(words: str) -> Callable[[BinaryIO], None]:
    def write(file: BinaryIO) -> None:
        file.write(words.encode())

    return write


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    assert write_whole(str(tmp_path / "m"), text("new")) == ()
    assert (tmp_path / "m").read_text() == "new"
    assert (tmp_path / "m").stat().st_mode & 0o7777 == 0o640
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    path.chmod(mode)
    assert write_whole(str(path), text("new")) == ()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o7777 == mode


def test_a_replaced_file_no_longer_runs_with_its_owners_rights(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    path.chmod(0o4755)
    write_whole(str(path), text("new"))
    assert path.stat().st_mode & 0o7777 == 0o755


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    ("make", "what"),
    [(Path.mkdir, "a folder"), (make_pipe, "a pipe"), (make_socket, "a socket")],
    ids=["folder", "pipe", "socket"],
)
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "by a link"])
def test_what_is_no_regular_file_is_refused_and_stays(
    make: Callable[[Path], None], what: str, linked: bool, tmp_path: Path
) -> None:
    target = tmp_path / "t"
    make(target)
    before = target.stat()
    path = tmp_path / "link" if linked else target
    if linked:
        path.symlink_to("t")
    with pytest.raises(InputError, match=f"is {what}"):
        write_whole(str(path), text("new"))
    assert target.stat().st_mode == before.st_mode
    assert target.stat().st_ino == before.st_ino
    assert len(os.listdir(tmp_path)) == 1 + linked


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_is_refused_and_stays(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replacing itself is taken away: code that tried it here would harm the machine."""
    monkeypatch.setattr(os, "replace", lambda *_, **__: pytest.fail("would replace a device"))
    with pytest.raises(InputError, match="is a device; fix: name a regular file"):
        write_whole(device, text("new"))


@pytest.mark.parametrize("end", ["", "/", "/.", "/new/", "/..", "\0", "n" * 300, "/missing/new"])
def test_what_can_be_no_file_is_refused(end: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_whole(f"{tmp_path}{end}" if end else "", text("new"))
    assert os.listdir(tmp_path) == []


def test_the_target_of_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/real").write_text("old")
    (tmp_path / "link").symlink_to("a/second")
    (tmp_path / "a/second").symlink_to("real")
    write_whole(str(tmp_path / "link"), text("new"))
    assert (tmp_path / "a/real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a/second").is_symlink()
    assert sorted(os.listdir(tmp_path / "a")) == ["real", "second"]


def test_a_link_to_nothing_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write_whole(str(tmp_path / "link"), text("new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match="symbolic links"):
        write_whole(str(tmp_path / "a"), text("new"))
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_other_names_of_the_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("old")
    os.link(tmp_path / "m", tmp_path / "other")
    os.link(tmp_path / "m", tmp_path / "third")
    (notice,) = write_whole(str(tmp_path / "m"), text("new"))
    assert notice.code == "hard-links"
    assert notice.message == "had 2 hard links, which keep the old content"
    assert (tmp_path / "other").read_text() == "old"


def test_a_file_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")

    def write(file: BinaryIO) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_whole(str(path), write)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["m"]


def test_a_write_protected_file_is_refused(
    tmp_path: Path, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    path.chmod(0o444)
    with as_nobody(), pytest.raises(InputError, match="write-protected"):
        write_whole(str(path), text("new"))
    assert path.read_text() == "old"


def test_a_file_with_a_mount_of_its_own_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever tests run; what the system tells of a real mount is tried below, where one can be made."""
    path = tmp_path / "m"
    path.write_text("old")
    monkeypatch.setattr(atomic, "_mount_of", lambda _name, _folder: b"mnt_id:\t0\n")
    with pytest.raises(InputError, match="is a mount point and cannot be replaced; fix: write to a path beside it"):
        write_whole(str(path), text("new"))
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["m"])


MOUNTED = """
import sys
from numalign.errors import InputError
from numalign.store.atomic import writing_whole
try:
    with writing_whole(sys.argv[1], lambda file: print("the content is asked for")):
        print("the answer is printed")
except InputError as error:
    print(error.message)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="nothing can be mounted without unshare")
def test_a_mount_point_is_refused_before_anything_else_is_done(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    words = ["unshare", "-rm", "sh", "-c", 'mount --bind "$1" "$1" && exec "$2" -c "$3" "$1"', "sh"]

    done = subprocess.run([*words, path, sys.executable, MOUNTED], cwd=ROOT, capture_output=True, text=True)

    if done.stderr.startswith(("unshare: ", "mount: ")):  # containers and hardened systems allow no user namespace
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    assert done.stdout == "is a mount point and cannot be replaced; fix: write to a path beside it\n"
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["m"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept_where_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    assert write_whole(str(path), text("new")) == ()
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 2345, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_lost_owner_is_told_and_no_new_group_gets_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    path.chmod(0o664)

    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    (notice,) = write_whole(str(path), text("new"))
    assert notice.code == "owner-changed"
    assert path.stat().st_mode & 0o777 == 0o644


def test_the_temporary_file_cannot_be_foreseen_and_follows_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []
    really = os.open

    def watched(name: str, flags: int, *more: int, **keywords: int | None) -> int:
        opened.append((name, flags))
        return really(name, flags, *more, **keywords)

    monkeypatch.setattr(os, "open", watched)
    for _ in range(2):
        write_whole(str(tmp_path / "m"), text("new"))
    temporary = [(name, flags) for name, flags in opened if name.endswith(".part")]
    assert len({name for name, _ in temporary}) == 2
    assert all(len(name) >= 32 for name, _ in temporary)
    assert all(flags & os.O_EXCL and flags & os.O_NOFOLLOW for _, flags in temporary)


def test_file_and_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    really = os.fsync

    def watched(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        really(handle)

    monkeypatch.setattr(os, "fsync", watched)
    write_whole(str(tmp_path / "m"), text("new"))
    assert len(synced) == 2
    assert synced[0].endswith(".part")
    assert synced[1] == str(tmp_path.resolve())


WRITER = """
import sys, time
from numalign.store.atomic import write_whole
def write(file):
    file.write(b"half of it"); file.flush(); print("writing", flush=True); time.sleep(60)
write_whole(sys.argv[1], write)
"""


def writer(path: Path) -> subprocess.Popen[bytes]:
    """Start a run that has written half of a file."""
    run = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline() == b"writing\n"
    return run


def test_what_a_killed_run_leaves_is_gone_after_the_next_and_a_living_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    living = writer(path)
    try:
        with writer(tmp_path / "n") as killed:
            killed.send_signal(signal.SIGKILL)
        assert len(os.listdir(tmp_path)) == 3
        write_whole(str(tmp_path / "other"), text("new"))
        left = sorted(os.listdir(tmp_path))
        assert len(left) == 3
        assert left[1:] == ["m", "other"]
        assert path.read_text() == "old"
    finally:
        living.kill()
        living.communicate()
    write_whole(str(path), text("new"))
    assert sorted(os.listdir(tmp_path)) == ["m", "other"]


def test_only_leftovers_are_removed(tmp_path: Path) -> None:
    """A name like ours may be a link, a pipe or somebody else's; similar names are nobody's business."""
    name = f".numalign-{'0' * 32}.part"
    (tmp_path / "precious").write_text("keep")
    (tmp_path / name).symlink_to("precious")
    os.mkfifo(tmp_path / name.replace("0", "1"))
    (tmp_path / ".numalign-1.part").write_text("keep")
    before = sorted(os.listdir(tmp_path))
    write_whole(str(tmp_path / "m"), text("new"))
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "m"])
    assert (tmp_path / "precious").read_text() == "keep"


def test_a_file_system_without_locks_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f".numalign-{'0' * 32}.part").write_text("whose?")

    def refuse(*_: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    write_whole(str(tmp_path / "m"), text("new"))
    assert len(os.listdir(tmp_path)) == 2


def test_the_name_is_taken_by_another_run_before_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between making and locking the file another run may take it for a leftover; then a new one is made."""
    really = fcntl.flock
    removed = []

    def late(handle: int, how: int) -> None:
        if not removed:
            removed.extend(os.listdir(tmp_path))
            os.unlink(tmp_path / removed[0])
        really(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    write_whole(str(tmp_path / "m"), text("new"))
    assert os.listdir(tmp_path) == ["m"]


def test_no_rights_reach_a_group_by_a_lost_access_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    path.write_text("old")
    path.chmod(0o660)
    monkeypatch.setattr(atomic, "_access_list", lambda _: b"no list that any file system would take")
    write_whole(str(path), text("new"))
    assert path.stat().st_mode & 0o777 == 0o600
