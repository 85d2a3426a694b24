"""One at a time: a lock that the processes which change a file take from each other."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numalign.errors import InputError

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
    try:
        handle = os.open(lock_path(path), _FLAGS, 0o666)
    except ValueError:
        raise InputError("no file can have this name", repr(path)) from None
    except OSError as error:
        raise InputError(f"cannot be changed: no lock in its folder ({error.strerror})", path) from None
    try:
        _take(handle, path, waiting)
        yield
    finally:
        os.close(handle)


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
