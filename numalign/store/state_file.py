"""A state that lives in a file: one JSON document with a kind and a version, changed by one process at a time.

The file is replaced whole (`store.atomic`), so a reader needs no lock, and whoever is killed leaves the old document or
the new one. A file that is broken, of another kind or of a newer numalign is an error and stays as it is.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from numalign.errors import InputError, Notice
from numalign.store.atomic import writing_whole
from numalign.store.reading import open_file
from numalign.values import NamedTuple

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def lock_path(path: str) -> str:
    """Return the file that is locked while `path` is changed: it stays, since another process may wait at it.

    The file itself would not do: it is replaced in each change, so a lock on it holds only for what is not there any
    more.
    """
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}.lock")


@contextmanager
def locked(path: str, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Keep all others from changing a file; waits until it is our turn. A process that dies gives its turn up.

    Args:
        path: the file, whether it exists or not.
        waiting: called once when somebody else has the lock.

    Raises:
        InputError: the folder does not let us or has no locks, or no file can have the name.
    """
    while True:
        try:
            handle = os.open(lock_path(path), _FLAGS, 0o666)
        except ValueError:
            raise InputError("no file can have this name", repr(path)) from None
        except OSError as error:
            raise InputError(f"cannot be locked in its folder ({error.strerror})", path) from None
        try:
            _take(handle, path, waiting)
            if _is_there(handle, path):
                yield
                return
        finally:
            os.close(handle)


def _is_there(handle: int, path: str) -> bool:
    """Tell whether a lock is the one that others find: somebody may have removed the file while we waited at it."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock_path(path), follow_symlinks=False))
    except OSError:
        return False


def _take(handle: int, path: str, waiting: Callable[[], None]) -> None:
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno == errno.EINTR:
            raise
        raise InputError(f"cannot be changed: its file system has no locks ({error.strerror})", path) from None


API_VERSION = "numalign/v1"
MAX_BYTES = 256 << 20
"""Most bytes of a state: a thousand times what a full node needs."""

Document: TypeAlias = Mapping[str, object]


class Kind(NamedTuple):
    """A kind of state."""

    name: str
    """`kind` of the document."""
    version: int
    """`version` of the documents that are written. It grows when an older numalign could not read them."""
    upgrades: Mapping[int, Callable[[Document], Document]] = {}
    """Version -> what makes the next version of a document."""


def read_state(path: str, kind: Kind) -> Document | None:
    """Read a state; None: there is no such file, or an empty one (as `mktemp` makes it).

    Raises:
        InputError: it cannot be read, is broken, of another kind, or of a newer numalign.
    """
    content = _content(path).content
    return _checked(content, path, kind) if content.strip() else None


class _Seen(NamedTuple):
    """What was read, to be held to what is there when it is replaced."""

    content: bytes
    file: tuple[int, ...] | None
    """Device, inode, size and time of its last change; None: no file."""


def _content(path: str) -> _Seen:
    try:
        with open_file(path) as file:
            status = os.fstat(file.fileno())
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return _Seen(b"", None)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    if len(content) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES >> 20} MiB, the most for a state", path)
    return _Seen(content, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))


def _checked(content: bytes, path: str, kind: Kind) -> Document:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        text = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"is not a state file: not JSON ({text}); fix: name another file (this one was not changed)", path
        ) from None
    found = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(document, dict) or document.get("apiVersion") != API_VERSION or found != kind.name:
        shown = f"kind {found}" if isinstance(found, str) else "another file"
        message = f"is not a state ({kind.name}) but {shown}; fix: name another file (this one was not changed)"
        raise InputError(message, path)
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"version: expected a number from 1 to {kind.version}", path)
    if version > kind.version:
        said = f"has version {version}; this numalign knows {kind.version}; fix: install a newer numalign"
        raise InputError(said, path)
    result: Document = document
    while version < kind.version:
        result = kind.upgrades[version](result)
        version += 1
    return result


class OpenState:
    """A state under change: what is in the file, and how to replace it. Only inside `changing`."""

    def __init__(self, path: str, kind: Kind) -> None:
        self._path = path
        self._seen = _content(path)
        self._kind = kind
        self.document = _checked(self._seen.content, path, kind) if self._seen.content.strip() else None
        """What is in the file; None: nothing yet."""

    def writing(self, content: Mapping[str, object]) -> AbstractContextManager[tuple[Notice, ...]]:
        """Replace the file's content at the end of a `with` block; gives what a person should know of it.

        Raises:
            InputError: it cannot be written; the old content is still there.
        """
        document = {"apiVersion": API_VERSION, "kind": self._kind.name, "version": self._kind.version, **content}
        data = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        return writing_whole(self._path, lambda file: file.write(data), self._check)

    def _check(self) -> None:
        """Refuse to replace what is not what was read: the lock was removed, or the file replaced by a program."""
        if _content(self._path) != self._seen:
            raise InputError("was changed by another program and not written; fix: run the command again", self._path)


@contextmanager
def changing(
    path: str,
    kind: Kind,
    waiting: Callable[[], None] = lambda: None,
    judge: Callable[[Document, str], object] | None = None,
) -> Iterator[OpenState]:
    """Open a state for a change; nobody else changes it meanwhile. Without `writing` the file stays as it is.

    Args:
        path: the file.
        kind: what it has to be.
        waiting: called once when somebody else has it.
        judge: reads a document that has no lock yet, to raise what is wrong with it before it gets one.

    Raises:
        InputError: see `read_state`; or it may not be changed.
    """
    try:
        target = os.path.realpath(path)  # once: a link that is led elsewhere meanwhile changes nothing
    except ValueError:
        raise InputError("no file can have this name", repr(path)) from None
    path = path if target == os.path.abspath(path) else target
    if os.path.isdir(path):
        raise InputError("is a folder; expected the name of a file", path)
    document = read_state(path, kind)  # no lock beside what is refused
    if judge and document is not None and not os.path.lexists(lock_path(path)):
        judge(document, path)
    with locked(path, waiting):
        yield OpenState(path, kind)
