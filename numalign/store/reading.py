"""The one opener of files that somebody names: regular files, and pipes that a shell opened for us.

A named pipe, a device or a socket is an error and never opened: it may block for good, or never end.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import BinaryIO

from numalign.errors import InputError, unreadable

_GIVEN = r"/dev/stdin|/(?:dev|proc/self)/fd/[0-9]+"
"""What a shell calls a pipe that it opened: `--beside <(kubectl …)`."""
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


def kind_of(mode: int) -> str:
    """Name what is neither a regular file nor a folder."""
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "device"
    return "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "special file"


def open_file(path: str, name: str = "") -> BinaryIO:
    """Open a regular file, or a pipe that a shell opened; `name` is what errors call it.

    Raises:
        InputError: it is something else, or no file can have the name.
        OSError: as `open` does.
    """
    try:
        _check(os.stat(path).st_mode, path, name)  # some devices do something when they are opened
        handle = os.open(path, _FLAGS)
    except ValueError:
        raise InputError("no file can have this name", repr(name or path)) from None
    file = os.fdopen(handle, "rb")
    try:
        _check(os.fstat(handle).st_mode, path, name)
        os.set_blocking(handle, True)
    except BaseException:
        file.close()
        raise
    return file


def _check(mode: int, path: str, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not (stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and re.fullmatch(_GIVEN, path))):
        raise InputError(f"is a {kind_of(mode)}; expected a regular file", name or path)


@contextmanager
def reading(path: str | PathLike[str], name: str = "") -> Iterator[BinaryIO]:
    """Open what a person named for reading; `-` is standard input.

    Args:
        path: the file.
        name: what errors call it; without it as `path`.

    Raises:
        InputError: it cannot be read, also inside the `with` block.
    """
    path = os.fspath(path)
    try:
        if path == "-":
            yield sys.stdin.buffer
        else:
            with open_file(path, name) as file:
                yield file
    except OSError as error:
        raise InputError(unreadable(error), name or path) from None


def beginning(path: str, size: int) -> bytes:
    """Return what a regular file begins with, to tell what it is; of all else, and of `-`, nothing: it is read once.

    Raises:
        OSError: as `open` does; also where the name is none that a file can have.
    """
    if path == "-":
        return b""
    try:
        with open_file(path) as file:
            return file.read(size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except InputError as error:
        raise OSError(error.message) from None
