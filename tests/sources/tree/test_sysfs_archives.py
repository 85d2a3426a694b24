"""Captured trees: folders and archives read alike, and what is hostile in them is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.sources.host.discovery import discover
from numalign.sources.tree import archive, unpack
from numalign.sources.tree.folder import FolderTree
from numalign.sources.tree.opening import open_tree
from tests.sources.host import snapshots

MACHINE = {
    "sys/devices/system/cpu/online": "0\n",
    "sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
    "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
}


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


def packed(*extra: tarfile.TarInfo, files: dict[str, str] = MACHINE) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in files.items():
            tar.addfile(member(name, size=len(text)), io.BytesIO(text.encode()))
        for info in extra:
            tar.addfile(info, io.BytesIO(b"x" * info.size))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gzip", "bzip2", "xz"]
)
def test_an_archive_is_told_by_its_content(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "m.data"
    path.write_bytes(compress(packed()))
    assert discover(str(path)).hardware.online == 1


def test_a_folder_that_wraps_the_tree_is_looked_through(tmp_path: Path) -> None:
    path = tmp_path / "m.tar"
    path.write_bytes(packed(files={f"./host-a/{name}": text for name, text in MACHINE.items()}))
    assert discover(str(path)).hardware.online == 1


@pytest.mark.parametrize(
    "name", snapshots.each(["vm-linux61-40c-6n-sriov", "gen-hgx-h100-224c-2n", "xeon-16c-2n-mic-ib-dax"])
)
def test_a_folder_and_its_archive_are_the_same_machine(name: str, tmp_path: Path) -> None:
    folder = snapshots.unpack(name, tmp_path / name)
    assert discover(str(folder)) == snapshots.discovered(name)


HOSTILE = [
    ("a name that climbs out", member("sys/../../etc/passwd"), "leads out of the archive"),
    ("a device node", member("sys/zero", tarfile.CHRTYPE), "device node"),
    ("a block device", member("sys/sda", tarfile.BLKTYPE), "device node"),
    ("a pipe", member("sys/pipe", tarfile.FIFOTYPE), "pipe"),
    ("a hard link to nowhere", member("sys/x", tarfile.LNKTYPE, "../../etc/passwd"), "which is missing"),
    ("a path of a hundred folders", member("d/" * 100 + "f"), "folders"),
    ("a file above the bound", member("sys/big", size=archive.MAX_FILE + 1), "too large"),
]


@pytest.mark.parametrize(("extra", "message"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_a_hostile_member_is_refused(extra: tarfile.TarInfo, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tar"
    path.write_bytes(packed(extra))
    with pytest.raises(InputError, match=message):
        open_tree(str(path))


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 2)
    path = tmp_path / "m.tar"
    path.write_bytes(packed())
    with pytest.raises(InputError, match="more than 2 members"):
        open_tree(str(path))


def test_an_archive_bomb_is_stopped_while_it_unpacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MAX_STREAM", 1 << 20)
    path = tmp_path / "m.tar.xz"
    path.write_bytes(lzma.compress(packed(*[member(f"sys/{name}", size=600_000) for name in "abc"])))
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        open_tree(str(path))


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", lzma.compress(b"x" * 5000)[:-20], packed()[:700], b"\xfd7zXZ\x00junk", b"\x28\xb5\x2f\xfdzstd"],
    ids=["empty", "text", "cut xz", "cut tar", "broken xz", "zstd"],
)
def test_what_is_no_archive_is_an_input_error(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.tar"
    path.write_bytes(data)
    with pytest.raises(InputError):
        open_tree(str(path))


def test_a_link_cycle_ends(tmp_path: Path) -> None:
    """CPU directories that point at each other are unreadable, and the machine is refused with a sentence."""
    path = tmp_path / "m.tar"
    loop = [
        member("sys/bus/pci/devices/0000:00:01.0", tarfile.SYMTYPE, "0000:00:02.0"),
        member("sys/bus/pci/devices/0000:00:02.0", tarfile.SYMTYPE, "0000:00:01.0"),
    ]
    path.write_bytes(packed(*loop))
    assert discover(str(path)).hardware.pci == ()


@pytest.mark.parametrize("kind", ["archive", "folder"])
def test_an_absolute_link_means_the_root_of_the_tree(kind: str, tmp_path: Path) -> None:
    files = {**MACHINE, "elsewhere/meminfo": "MemTotal: 7 kB\n"}
    link = member("proc/meminfo", tarfile.SYMTYPE, "/elsewhere/meminfo")
    assert discover(place(kind, tmp_path, packed(link, files=files))).hardware.memory == 7 * 1024


@pytest.mark.parametrize("kind", ["archive", "folder"])
@pytest.mark.parametrize("target", ["../../etc/hostname", "/../etc/hostname", "x/../../../etc/hostname"])
def test_a_link_that_climbs_out_is_refused(kind: str, target: str, tmp_path: Path) -> None:
    link = member("proc/meminfo", tarfile.SYMTYPE, target)
    with pytest.raises(InputError, match="leads out of the tree"):
        discover(place(kind, tmp_path, packed(member("proc/x", tarfile.DIRTYPE), link)))


def test_a_linked_directory_of_a_folder_stays_inside(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "online").write_text("0-7")
    root = tmp_path / "root"
    (root / "sys/devices/system").mkdir(parents=True)
    (root / "sys/devices/system/cpu").symlink_to(tmp_path / "secret")
    with pytest.raises(FileNotFoundError):
        FolderTree(str(root)).read("sys/devices/system/cpu/online")


def test_a_folder_without_sys_is_refused_with_what_would_be_right(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='has no folder "sys"; fix: '):
        open_tree(str(tmp_path))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        open_tree(str(tmp_path / "missing"))


def place(kind: str, folder: Path, data: bytes) -> str:
    """Put an archive, or what is in it, on disk."""
    path = folder / "m.tar"
    path.write_bytes(data)
    if kind == "archive":
        return str(path)
    with tarfile.open(path) as tar:
        tar.extractall(folder / "tree", filter="fully_trusted")
    return str(folder / "tree")
