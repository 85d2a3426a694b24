"""Captured trees in tar archives, compressed or not, read into memory and never unpacked.

An archive comes from anywhere, so it may be hostile: its size, its number of members and what they are is bounded
while it is read, names that climb out and device nodes are refused, links are followed inside the archive only.
"""

from __future__ import annotations

import errno
import io
import lzma
import os
import zlib
from typing import Final

from numalign.errors import HostError, InputError
from numalign.sources.tree.folder import MAX_FILE, InnerTree, Links, Tree
from numalign.sources.tree.tar import Member, TarReader
from numalign.sources.tree.tar_fields import TarError
from numalign.sources.tree.unpack import Stream
from numalign.store.reading import open_file

MAX_KEPT: Final = 256 << 20
"""Most bytes that are kept of its files."""
MAX_MEMBERS: Final = 500_000
"""Most members: five times as many as the largest captured machine has."""
MAX_DEPTH: Final = 64
"""Most parts of a member's path."""
MAX_SHOWN: Final = 100
"""Most characters of a member's name in an error."""


class ArchiveTree:
    """A captured tree in a tar archive. A folder that wraps the whole tree is looked through."""

    live = False

    def __init__(self, path: str, content: bytes | None = None) -> None:
        """Read an archive.

        Args:
            path: the file, or what people call it.
            content: its bytes, where it is no file of its own.

        Raises:
            InputError: it is no archive that may be taken in.
            HostError: there is no permission to read it.
        """
        self.name = path
        self._files: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[str, set[str]] = {"": set()}
        self._kept = 0
        self._following = Links(self._link, path)
        try:
            with open_file(path) if content is None else io.BytesIO(content) as raw:
                self._fill(TarReader(Stream(raw, path)))
        except PermissionError as error:
            raise HostError(f"cannot be read: {error.strerror}", path) from None
        except (TarError, EOFError, lzma.LZMAError, zlib.error, OSError, ValueError) as error:
            raise InputError(f"is not a readable tar archive ({error})", path) from None
        self._prefix = self._wrapping()

    def read(self, path: str) -> str:
        """Return a file's text."""
        return self.content(path).decode("utf-8", "replace")

    def content(self, path: str) -> bytes:
        """Return a file's bytes."""
        full = self._follow(path)
        data = self._files.get(full)
        if data is None:
            raise _missing(path) if full not in self._folders else IsADirectoryError(errno.EISDIR, "directory", path)
        return data

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
        return (self._prefix + self._following.follow(path)).rstrip("/")

    def _link(self, path: str) -> str | None:
        return self._links.get(self._prefix + path)

    def _fill(self, archive: TarReader) -> None:
        for count, member in enumerate(archive):
            if count >= MAX_MEMBERS:
                raise InputError(f"has more than {MAX_MEMBERS} members", self.name)
            self._add(archive, member)

    def _add(self, archive: TarReader, member: Member) -> None:
        """Take one member in, if it may and needs to be. As when it is unpacked, the last of a name counts."""
        parts = self._parts(member)
        if not parts:
            return
        path = "/".join(parts)
        if member.kind == "folder":
            self._folders.setdefault(path, set())
        elif member.kind == "link":
            self._files.pop(path, None)
            self._links[path] = member.target
        else:
            content = self._linked(member) if member.kind == "hard link" else self._content(archive, member)
            self._links.pop(path, None)
            self._files[path] = content
        while path:
            path, _, name = path.rpartition("/")
            siblings = self._folders.get(path)
            if siblings is not None:  # then it is in the folder above it already
                siblings.add(name)
                break
            self._folders[path] = {name}

    def _parts(self, member: Member) -> list[str]:
        """Split a member's path; nothing that is outside, too deep or no data of a machine gets through."""
        parts = _split(member.name)
        if ".." in parts:
            raise InputError(f"member {_short(member.name)} leads out of the archive", self.name)
        if len(parts) > MAX_DEPTH:
            raise InputError(f"member {_short(member.name)} has more than {MAX_DEPTH} folders", self.name)
        if member.kind in ("device", "pipe"):
            text = f"member {_short(member.name)} is a device node or a pipe, which numalign does not read"
            raise InputError(text, self.name)
        return parts

    def _linked(self, member: Member) -> bytes:
        content = self._files.get("/".join(_split(member.target)))
        if content is None:
            name, target = _short(member.name), _short(member.target)
            raise InputError(f"member {name} is a hard link to {target}, which is missing", self.name)
        return content

    def _content(self, archive: TarReader, member: Member) -> bytes:
        self._kept += member.size
        if member.size > MAX_FILE or self._kept > MAX_KEPT:
            limit = MAX_FILE if member.size > MAX_FILE else MAX_KEPT
            raise InputError(f"member {_short(member.name)} is too large: more than {limit >> 20} MiB", self.name)
        return archive.content()

    def _wrapping(self) -> str:
        """Return the one folder that wraps the whole tree, as some capturing tools write it, or nothing."""
        top = self._folders[""]
        if "sys" not in top and len(top) == 1:
            (only,) = top
            if "sys" in self._folders.get(only, ()):
                return only + "/"
        return ""


def archive_in(tree: Tree, path: str) -> ArchiveTree:
    """Open an archive that is a file of a tree, also where that tree is in an archive itself.

    Raises:
        InputError: it is no archive that may be read.
        OSError: it is not there.
    """
    name = f"{tree.name}/{path}"
    while isinstance(tree, InnerTree):
        tree, path = tree.outer(path)
    return ArchiveTree(name, tree.content(path)) if isinstance(tree, ArchiveTree) else ArchiveTree(name)


def _split(path: str) -> list[str]:
    parts = path.split("/")
    return [part for part in parts if part not in ("", ".")] if "" in parts or "." in parts else parts


def _short(name: str) -> str:
    return repr(name) if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]!r}…"


def _missing(path: str) -> OSError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
