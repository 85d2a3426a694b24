"""The file that has defaults of flags: which one counts, whose it may be, its table; `defaults` says what it means."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from numalign.errors import InputError, Notice
from numalign.store.reading import reading
from numalign.values import NamedTuple

OWN_FILE: Final = ".numalign.toml"
PROJECT_FILE: Final = "pyproject.toml"
MAX_BYTES: Final = 1 << 18
"""Most bytes of a file of defaults; a pyproject.toml has some 20,000."""
_MAX_LEFT: Final = 200
"""Characters of a line among which its key is looked for."""
_MARK: Final = b"[tool.numalign"
"""What a pyproject.toml has that says anything to us; others are not even parsed."""
_DEEP: Final = rb"""(?:\.[ \t]*+(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+){32}"""
"""A key of so many parts that Python's reader would take memory by its square."""
_KEY: Final = r"""[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*'"""


class Defaults(NamedTuple):
    """What a file says."""

    file: str
    table: Mapping[str, Any]
    text: str
    top: tuple[str, ...]
    """The tables around ours."""

    def place(self, *keys: str) -> str:
        """Name a key with the line on which it, or else a table around it, begins."""
        wanted, table = (*self.top, *keys), ()
        line = best = 0
        for number, text in enumerate(self.text.splitlines(), 1):
            left = text[:_MAX_LEFT].split("=")[0].strip()
            path = tuple(part.strip("\"'") for part in re.findall(_KEY, left.strip("[]")))
            if left.startswith("["):
                table = path
            elif not left.startswith("#"):
                path = (*table, *path)
            if len(path) > best and path == wanted[: len(path)]:
                line, best = number, len(path)
        where = f"{self.file}:{line}" if line else self.file
        return f"{where}: {'.'.join(keys)}" if keys else where


def find_defaults(tell: Callable[[Notice], object] = lambda _: None) -> Defaults | None:
    """Look for a file in the working folder and above it, up to the folder with `.git`; None: there is none.

    Where no folder has a `.git` the working folder alone counts; one that is gone has no file either.

    Args:
        tell: takes what a person should know: a file of somebody else, which is passed over.

    Raises:
        InputError: a file is no regular one, too large, no TOML, or has something else than values of flags in it.
    """
    try:
        folder = os.getcwd()
    except OSError:
        return None
    for one in _folders(folder):
        for name in (OWN_FILE, PROJECT_FILE):
            found = None
            with suppress(OSError):  # it went away meanwhile
                found = _in_file(os.path.join(one, name), tell)
            if found is not None:
                return found
    return None


def _folders(folder: str) -> Iterable[str]:
    passed = []
    while True:
        passed.append(folder)
        above = os.path.dirname(folder)
        if os.path.exists(os.path.join(folder, ".git")):
            return passed
        if above == folder:
            return passed[:1]
        folder = above


def _in_file(path: str, tell: Callable[[Notice], object]) -> Defaults | None:
    if not os.access(path, os.R_OK):  # hardly ever there, and quicker to ask than to fail
        return None
    own, shown, status = os.path.basename(path) == OWN_FILE, os.path.relpath(path), os.stat(path)
    why, text = _foreign(status, path), b""
    if not why or (not own and stat.S_ISREG(status.st_mode)):
        with reading(shown) as file:
            text = file.read(MAX_BYTES + 1)
            why = why or _foreign(os.fstat(file.fileno()), path)
    if not own and _MARK not in text:
        return None
    if why:
        tell(Notice("settings-foreign", f"skipped: {why}; fix: give its flags on the command line", shown))
        return None
    if len(text) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES >> 10} KiB, the most for a settings file", shown)
    return _parsed(shown, text, () if own else ("tool", "numalign"))


def _foreign(status: os.stat_result, path: str) -> str:
    """Say why a file is not ours to obey: by its owner, that of the link to it, or because other users may write it."""
    if {status.st_uid, os.lstat(path).st_uid} != {os.geteuid()}:
        return "it belongs to another user"
    ours = status.st_gid == os.getegid()  # most systems give everybody a group of their own
    others = stat.S_IWOTH if ours else stat.S_IWOTH | stat.S_IWGRP
    return "other users may write it" if status.st_mode & others else ""


def _parsed(file: str, text: bytes, top: tuple[str, ...]) -> Defaults | None:
    import tomllib

    if re.search(_DEEP, text):
        raise InputError("not TOML for settings: a key has more than 32 parts", file)
    try:
        data: object = tomllib.loads(text.decode("utf-8"))
    except RecursionError:
        raise InputError("not TOML for settings: nested too deep", file) from None
    except ValueError as error:  # of Python, where a number has thousands of digits
        known = isinstance(error, tomllib.TOMLDecodeError | UnicodeDecodeError)
        raise InputError(f"not TOML: {error if known else 'a number has too many digits'}", file) from None
    for key in top:
        data = data.get(key) if isinstance(data, Mapping) else None
    if data is None:  # the mark stood in a comment or a text
        return None
    found = Defaults(file, {}, text.decode("utf-8"), top)
    if not isinstance(data, Mapping):
        raise InputError("expected a table of flags", found.place())
    _check_values(found, data, ())
    return found._replace(table=data)


def _check_values(found: Defaults, table: Mapping[str, object], keys: tuple[str, ...]) -> None:
    for key, value in table.items():
        if isinstance(value, Mapping):
            _check_values(found, value, (*keys, key))
        elif not all(_is_plain(one) for one in (value if isinstance(value, list) else [value])):
            raise InputError("expected a text, a number, true, false, or a list of them", found.place(*keys, key))


def _is_plain(value: object) -> bool:
    return isinstance(value, str | float) or (isinstance(value, int) and value.bit_length() < 64)
