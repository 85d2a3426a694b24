"""Writing tar archives that hold data only: no owner, no time, entries in a fixed order."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from typing import BinaryIO, Final, Literal

from numalign.errors import InputError, Notice
from numalign.store.atomic import write_whole

Entry = str | None | tuple[str]
"""A file's text, None for a directory, or a tuple with the target of a link."""

Mode = Literal["w:", "w:gz", "w:bz2", "w:xz"]
_ENDINGS: Final[Mapping[str, Mode]] = {
    ".gz": "w:gz",
    ".tgz": "w:gz",
    ".bz2": "w:bz2",
    ".tbz2": "w:bz2",
    ".xz": "w:xz",
    ".txz": "w:xz",
    ".tar": "w:",
}


def write_archive(path: str, entries: Mapping[str, Entry]) -> tuple[Notice, ...]:
    """Write an archive, whole or not at all; the directories above the entries are made.

    Args:
        path: the archive; its ending (`.tar`, `.tar.gz`, `.tar.bz2`, `.tar.xz`) says how it is compressed.
        entries: path inside the archive -> what is there.

    Returns:
        what a person should know about the file that was replaced.

    Raises:
        InputError: the ending is another one, or the file cannot be written.
    """
    mode = compression(path)
    return write_whole(path, lambda file: _write(file, mode, entries))


def _write(file: BinaryIO, mode: Mode, entries: Mapping[str, Entry]) -> None:
    with _opened(file, mode) as archive:
        directories: set[str] = set()
        for name, entry in sorted(entries.items()):
            if not name:
                continue
            parts = name.split("/")
            for depth in range(1, len(parts) + (entry is None)):
                above = "/".join(parts[:depth])
                if above not in directories and not isinstance(entries.get(above), tuple):
                    directories.add(above)
                    archive.addfile(_member(above, tarfile.DIRTYPE))
            if isinstance(entry, tuple):
                member = _member(name, tarfile.SYMTYPE)
                member.linkname = entry[0]
                archive.addfile(member)
            elif entry is not None:
                data = entry.encode("utf-8", "replace")
                member = _member(name, tarfile.REGTYPE)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def _opened(file: BinaryIO, mode: Mode) -> tarfile.TarFile:
    if mode == "w:gz":  # tarfile's own level, 9, takes half as long again for a tenth less
        return tarfile.open(fileobj=file, mode=mode, format=tarfile.PAX_FORMAT, compresslevel=6)
    return tarfile.open(fileobj=file, mode=mode, format=tarfile.PAX_FORMAT)


def _member(name: str, kind: bytes) -> tarfile.TarInfo:
    """Return a member that says nothing about who wrote it, or when."""
    member = tarfile.TarInfo(name)
    member.type = kind
    member.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
    return member


def compression(path: str) -> Mode:
    """Tell how an archive of this name is compressed.

    Raises:
        InputError: the name has none of the endings that are written.
    """
    for ending, mode in _ENDINGS.items():
        if path.endswith(ending):
            return mode
    raise InputError("expected a name that ends in .tar, .tar.gz, .tar.bz2 or .tar.xz", path)
