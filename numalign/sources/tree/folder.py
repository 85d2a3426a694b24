"""Trees of files that describe a machine: the live host, a captured folder, a captured archive.

Each answers the same few questions, so a captured machine takes the same path through the readers as a live one.
Paths are relative to the root of the machine (`sys/devices/system/cpu/online`). Nothing ever leaves the root: an
absolute link means the root of the tree, a link that climbs out is refused (docs/rules/discovery.md 5.5).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Protocol

from numalign.errors import HostError, InputError

MAX_FILE = 16 << 20
"""Most bytes that are read of one file; the largest real ones (`/proc/cpuinfo`) stay far below."""
MAX_HOPS = 40
"""Most links that are followed for one path, as in Linux."""
MAX_PARTS = 1000
"""Most parts of one path and of the links in it."""
MAX_TOTAL_PARTS = 5_000_000
"""Most parts that are looked at in a tree; a large machine has some hundreds where links are."""

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class Tree(Protocol):
    """A tree to read a machine from. All methods raise OSError as the operating system would."""

    name: str
    """How the tree is named to people."""
    live: bool
    """Whether this is the running host, for which psutil and the process itself may be asked too."""

    def read(self, path: str) -> str:
        """Return a file's text; a byte that is no UTF-8 becomes a replacement character."""

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""

    def target(self, path: str) -> str:
        """Return where a link points to, as it is written."""

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed."""


class LiveTree:
    """The running host: plain reading below `/`."""

    name = "this host"
    live = True

    def read(self, path: str) -> str:
        """Return a file's text."""
        return _slurp("/" + path, _READ)

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        return sorted(os.listdir("/" + path))

    def target(self, path: str) -> str:
        """Return where a link points to."""
        return os.readlink("/" + path)

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed."""
        return os.path.realpath("/" + path, strict=True)[1:]


class FolderTree:
    """A captured tree in a folder. Every directory is checked for links once, files when they are opened."""

    live = False

    def __init__(self, root: str) -> None:
        self.name = root
        self._root = root.rstrip("/") or "/"
        self._directories = {"": ""}
        self._links = Links(self._link, root)

    def read(self, path: str) -> str:
        """Return a regular file's text, inside the root; whatever else is there (a pipe, a device) is never opened."""
        head, _, tail = path.rpartition("/")
        place = f"{self._root}/{self._directory(head)}/{tail}"
        mode = os.lstat(place).st_mode
        if stat.S_ISLNK(mode):
            place = f"{self._root}/{self.resolve(path)}"
            mode = os.lstat(place).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return _slurp(place, _READ | os.O_NOFOLLOW)

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        return sorted(os.listdir(f"{self._root}/{self._directory(path)}"))

    def target(self, path: str) -> str:
        """Return where a link points to."""
        head, _, tail = path.rpartition("/")
        return os.readlink(f"{self._root}/{self._directory(head)}/{tail}")

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed, inside the root."""
        return self._links.follow(path)

    def _directory(self, path: str) -> str:
        found = self._directories.get(path)
        if found is None:
            head, _, tail = path.rpartition("/")
            found = f"{self._directory(head)}/{tail}".lstrip("/")
            if self._link(found) is not None:
                found = self.resolve(found)
            self._directories[path] = found
        return found

    def _link(self, path: str) -> str | None:
        place = f"{self._root}/{path}"
        return os.readlink(place) if stat.S_ISLNK(os.lstat(place).st_mode) else None


class Links:
    """Follows the links of one tree, never out of its root, and with bounded work in all."""

    def __init__(self, link: Callable[[str], str | None], name: str) -> None:
        """Take what reads the link at a path without links in its directories (None: no link), and the tree's name."""
        self._link = link
        self._name = name
        self._left = MAX_TOTAL_PARTS

    def follow(self, path: str) -> str:
        """Follow every link of a path.

        Raises:
            InputError: a link climbs out of the root, or so many lead in circles that it takes too long.
            OSError: a part is missing, or there are too many links (a cycle).
        """
        done: list[str] = []
        parts = path.split("/")[::-1]
        hops = steps = 0
        while parts:
            part = parts.pop()
            steps += 1
            if part in ("", "."):
                continue
            if part == "..":
                if not done:
                    raise InputError(f"the path {path} leads out of the tree by a link", self._name)
                done.pop()
                continue
            done.append(part)
            target = self._link("/".join(done))
            if target is None:
                continue
            hops += 1
            self._left -= target.count("/") + 1
            if self._left < 0:
                raise InputError("its links form a circle or a chain that is too long", self._name)
            if hops > MAX_HOPS or steps > MAX_PARTS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            done.pop()
            if target.startswith("/"):
                done.clear()
            parts += target.split("/")[::-1]
        return "/".join(done)


def _slurp(place: str, flags: int) -> str:
    """Read a whole file; in /proc one read gives only a part, in /sys and in folders everything."""
    handle = os.open(place, flags)
    try:
        data = os.read(handle, 65536)
        if len(data) == 65536 or "proc/" in place:
            chunks = [data]
            size = len(data)
            while chunks[-1]:
                chunks.append(os.read(handle, 1 << 20))
                size += len(chunks[-1])
                if size > MAX_FILE:
                    raise HostError(f"is larger than {MAX_FILE >> 20} MiB, the most for a file of a machine", place)
            data = b"".join(chunks)
    finally:
        os.close(handle)
    return data.decode("utf-8", "replace")


class InnerTree:
    """A folder of a tree as a tree of its own."""

    def __init__(self, tree: Tree, folder: str) -> None:
        self.name = f"{tree.name}/{folder}"
        self.live = tree.live
        self._tree = tree
        self._folder = folder

    def outer(self, path: str) -> tuple[Tree, str]:
        """Return the tree that this is a folder of, and the path in it."""
        return self._tree, f"{self._folder}/{path}"

    def read(self, path: str) -> str:
        """Return a file's text."""
        return self._tree.read(f"{self._folder}/{path}")

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        return self._tree.names(f"{self._folder}/{path}".rstrip("/"))

    def target(self, path: str) -> str:
        """Return where a link points to."""
        return self._tree.target(f"{self._folder}/{path}")

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed."""
        return self._tree.resolve(f"{self._folder}/{path}").removeprefix(f"{self._folder}/")
