"""Folders that hold what no captured machine has: pipes, devices, links in circles. The rest of them is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.sources.host.discovery import Discovery, discover
from numalign.sources.tree import folder
from numalign.sources.tree.folder import FolderTree
from numalign.sources.tree.opening import open_tree
from tests.sources.host import snapshots


def make_socket(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("a-pipe"))
    path.symlink_to("a-pipe")


ODD: list[tuple[str, Callable[[Path], None]]] = [
    ("a pipe", os.mkfifo),
    ("a socket", make_socket),
    ("a link in a circle", make_loop),
    ("a link to a pipe", make_link_to_pipe),
    ("a folder", os.mkdir),
]
NAME = "amd64-8n-cpuset-cpu4off"
"""A captured machine of several nodes with few files."""
FILES = [
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    "sys/devices/system/node/node0/distance",
    "proc/cpuinfo",
    "proc/self/status",
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A captured machine in a folder; a test leaves it as it was."""
    return snapshots.unpack(NAME, tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="module")
def without() -> dict[str, Discovery]:
    """What is found where a file is missing, once for all that may be in its place."""
    return {}


@pytest.mark.together(NAME)
@pytest.mark.parametrize("make", [case[1] for case in ODD], ids=[case[0] for case in ODD])
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_is_like_a_missing_one(
    name: str, make: Callable[[Path], None], root: Path, without: dict[str, Discovery]
) -> None:
    path = root / name
    kept = path.rename(root / "kept") if path.exists() else None
    missing = without.get(name) or without.setdefault(name, discover(str(root)))
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    found = discover(str(root))
    path.rmdir() if path.is_dir() else path.unlink()
    path.with_name("a-pipe").unlink(missing_ok=True)
    if kept is not None:
        kept.rename(path)
    assert found.hardware == missing.hardware


def test_a_pipe_with_a_writer_is_not_even_opened(tmp_path: Path) -> None:
    """Opening it would take what is meant for somebody else, and a device may do something when it is opened."""
    (tmp_path / "sys").mkdir()
    os.mkfifo(tmp_path / "sys/pipe")
    handle = os.open(tmp_path / "sys/pipe", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(handle, b"0-7\n")
        with pytest.raises(OSError, match="not a regular file"):
            open_tree(str(tmp_path)).read("sys/pipe")
        assert os.read(handle, 10) == b"0-7\n"
    finally:
        os.close(handle)


def test_a_pipe_as_the_tree_itself_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="expected a folder or a tar archive"):
        open_tree(str(tmp_path / "pipe"))


def test_links_that_go_to_and_fro_end_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys/long").symlink_to("../sys/" * 250 + "long")
    tree = FolderTree(str(tmp_path))
    with pytest.raises(OSError, match="symbolic links"):
        tree.read("sys/long/file")
    monkeypatch.setattr(folder, "MAX_TOTAL_PARTS", 2000)
    tree = FolderTree(str(tmp_path))
    with pytest.raises(InputError, match="its links form a circle or a chain that is too long"):  # noqa: PT012 (some of the reads may fail)
        for number in range(5):
            with pytest.raises(OSError, match="symbolic links"):
                tree.read(f"sys/long/{number}")
