"""Captured trees in tar archives, compressed or not, read into memory and never unpacked.

An archive comes from anywhere, so it may be hostile: its size, its number of members and what they are is bounded
while it is read, names that climb out and device nodes are refused, links are followed inside the archive only.
"""

from __future__ import annotations

import errno
import lzma
import os
import tarfile
import zlib
from typing import IO, Any, Protocol

from numalign.errors import InputError
from numalign.sources.tree.folder import MAX_FILE, follow

MAX_STREAM = 1 << 30
"""Most bytes an archive may unpack to: nine times the largest captured machine with its 1792 CPUs."""
MAX_KEPT = 256 << 20
"""Most bytes that are kept of its files."""
MAX_MEMBERS = 500_000
"""Most members: five times as many as the largest captured machine has."""
MAX_DEPTH = 64
"""Most parts of a member's path."""


class ArchiveTree:
    """A captured tree in a tar archive. A folder that wraps the whole tree is looked through."""

    live = False

    def __init__(self, path: str) -> None:
        self.name = path
        self._files: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[str, set[str]] = {"": set()}
        self._kept = 0
        try:
            with open(path, "rb") as raw, tarfile.open(fileobj=_unpacked(raw, path), mode="r|") as archive:
                for count, member in enumerate(archive):
                    if count >= MAX_MEMBERS:
                        raise InputError(f"has more than {MAX_MEMBERS} members", path)
                    self._add(archive, member)
        except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error, OSError, ValueError, OverflowError) as error:
            raise InputError(f"is no tar archive that can be read ({error})", path) from None
        self._prefix = self._wrapping()

    def read(self, path: str) -> str:
        """Return a file's text."""
        full = self._follow(path)
        data = self._files.get(full)
        if data is None:
            raise _missing(path) if full not in self._folders else IsADirectoryError(errno.EISDIR, "directory", path)
        return data.decode("utf-8", "replace")

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        found = self._folders.get(self._follow(path))
        if found is None:
            raise _missing(path)
        return sorted(found)

    def target(self, path: str) -> str:
        """Return where a link points to."""
        head, _, tail = path.rpartition("/")
        full = f"{self._follow(head)}/{tail}".lstrip("/")
        if full not in self._links:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        return self._links[full]

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed."""
        full = self._follow(path)
        if full not in self._files and full not in self._folders:
            raise _missing(path)
        return full[len(self._prefix) :]

    def _follow(self, path: str) -> str:
        full = self._prefix + path
        if full in self._files or full in self._folders:
            return full
        return (self._prefix + follow(path, self._link, self.name)).rstrip("/")

    def _link(self, path: str) -> str | None:
        return self._links.get(self._prefix + path)

    def _add(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Take one member in, if it may and needs to be."""
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise InputError(f"member {member.name!r} leads out of the archive", self.name)
        if len(parts) > MAX_DEPTH:
            raise InputError(f"member {member.name[:60]!r}… has more than {MAX_DEPTH} folders", self.name)
        if member.ischr() or member.isblk() or member.isfifo():
            raise InputError(
                f"member {member.name!r} is a device node or a pipe; captured machines have none", self.name
            )
        if not parts:
            return
        path = "/".join(parts)
        if member.issym():
            self._links[path] = member.linkname
        elif member.islnk():
            source = "/".join(part for part in member.linkname.split("/") if part not in ("", "."))
            if source not in self._files:
                raise InputError(
                    f"member {member.name!r} is a hard link to {member.linkname!r}, which is not there", self.name
                )
            self._files[path] = self._files[source]
        elif member.isdir():
            self._folders.setdefault(path, set())
        else:
            self._files[path] = self._content(archive, member)
        while parts:
            name = parts.pop()
            siblings = self._folders.setdefault("/".join(parts), set())
            if name in siblings:
                break
            siblings.add(name)

    def _content(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
        self._kept += member.size
        if member.size > MAX_FILE or self._kept > MAX_KEPT:
            limit = MAX_FILE if member.size > MAX_FILE else MAX_KEPT
            raise InputError(f"member {member.name!r} is too large: more than {limit >> 20} MiB", self.name)
        source = archive.extractfile(member)
        return source.read() if source else b""

    def _wrapping(self) -> str:
        """Return the one folder that wraps the whole tree, as some capturing tools write it, or nothing."""
        top = self._folders[""]
        if "sys" not in top and len(top) == 1:
            (only,) = top
            if "sys" in self._folders.get(only, ()):
                return only + "/"
        return ""


class _Source(Protocol):
    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; none at the end."""


class _Bounded:
    """A stream that refuses to give more than a bound: what an archive bomb unpacks to."""

    def __init__(self, source: _Source, name: str) -> None:
        self._source = source
        self._name = name
        self._left = MAX_STREAM

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise InputError(f"unpacks to more than {MAX_STREAM >> 20} MiB", self._name)
        return data


def _unpacked(raw: IO[bytes], name: str) -> Any:
    """Return the stream of plain tar blocks, told by the first bytes."""
    head = raw.read(6)
    raw.seek(0)
    if head.startswith(b"\xfd7zXZ"):
        return _Bounded(lzma.open(raw), name)
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return _Bounded(gzip.open(raw), name)
    if head.startswith(b"BZh"):
        import bz2

        return _Bounded(bz2.open(raw), name)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        raise InputError("is compressed with zstd, which is not read: unpack it with zstd -d first", name)
    return _Bounded(raw, name)


def _missing(path: str) -> OSError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
