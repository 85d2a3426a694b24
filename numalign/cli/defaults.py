"""Defaults of flags from a project's own file: `.numalign.toml`, or `[tool.numalign]` in `pyproject.toml`.

A key is a flag without its dashes; keys at the top hold for every command that has the flag, those in a table called
after a command (`[tool.numalign.lint]`) for that one. A file is looked for next to the file of defaults first. The
command line and the environment win.

Such a file lies in a folder, and whoever works there may not have read it: it can set what a command looks at and how
it judges, never that one runs a program, writes, listens or asks somebody (`ALLOWED`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from numalign.errors import InputError, Notice
from numalign.model.path import FieldError, unfit
from numalign.store.reading import reading
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.document import AnyForm

OWN_FILE: Final = ".numalign.toml"
PROJECT_FILE: Final = "pyproject.toml"
ALLOWED: Final = frozenset(
    """
    allow-missing alternatives audit baseline beside cluster columns config-dir cpu-manager-policy
    cpu-manager-policy-options cpus-by details device device-rules eviction-hard fail-on feature-gates filename
    fingerprint fleet gang hugepages ignore kube-reserved kubelet-config kubelet-version like machine machine-of
    memory-manager-policy memory-per-numa-node namespace need node-name only only-exclusive output
    placement policy quiet redact replicas replicaset-backoff reserved-cpus reserved-memory
    retry-on-resync runs scheduler scheduler-version scope seed slices standard-numa started sweep system-reserved
    topology-manager-policy topology-manager-policy-options topology-manager-scope trace trace-form try-option verbose
    verdict with
    """.split()  # noqa: SIM905 (one a line would be a page)
)
"""The flags that a file may set; docs/inputs.md lists them."""
OF_KUBECTL: Final = frozenset({"why", "nodes"})
"""Commands of `kubectl numalign` alone, whose tables a file may hold, too."""
FLAGS_OF_KUBECTL: Final = frozenset({"namespace", "context", "kubeconfig", "keep", "verbose"})
"""Their flags that no other command has."""
MAX_BYTES: Final = 1 << 18
"""Most bytes of a file of defaults; a pyproject.toml has some 20,000."""
_MAX_LEFT: Final = 200
"""Characters of a line among which its key is looked for."""
_MARK: Final = b"[tool.numalign"
"""What a pyproject.toml has that says anything to us; others are not even parsed."""
_DEEP: Final = rb"""(?:\.[ \t]*+(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+){32}"""
"""A key of so many parts that Python's reader would take memory by its square."""
_KEY: Final = r"""[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*'"""
_PLACES: Final = ("FILE", "DIR", "PATH", "MACHINE", "SOURCE", "CLUSTER", "DUMP", "POD")
"""What help calls the values of flags that may name a file."""


class Defaults(NamedTuple):
    """What a file says."""

    file: str
    table: Mapping[str, Any]
    text: str = ""
    top: tuple[str, ...] = ()
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


def check_keys(found: Defaults, commands: Iterable[tuple[str, click.Command]]) -> None:
    """Hold the file's keys to the flags that a file may set: a misspelt one would set nothing.

    Args:
        found: the file's table.
        commands: name -> command; no more of them are taken than it needs to know every key.

    Raises:
        InputError: nothing is called like a key, or it is a flag that no file sets.
    """
    leaves = list(_leaves(found.table))
    unknown = {*found.table, *(path[-1] for path in leaves)} - ALLOWED
    names, flags = {*OF_KUBECTL}, {*FLAGS_OF_KUBECTL}
    for name, command in commands:
        if unknown <= names | flags:
            break
        names.add(name)
        flags |= set(_all_flags(command))
    for path in leaves:
        if path[-1] in flags - ALLOWED:
            text = f"may run, write, listen or fetch; fix: give --{path[-1]} on the command line"
            raise InputError(f"cannot be set in a file: it {text}", found.place(*path))
        if len(path) == 1 and path[0] in names - ALLOWED:
            raise _no_table(found, path[0])
        _refuse_others(found, path[:-1], path[-1:], flags | names | ALLOWED, "no command and no flag")
    _refuse_others(found, (), found.table, flags | names | ALLOWED, "no command and no flag")


def _leaves(table: Mapping[str, object], *keys: str) -> Iterator[tuple[str, ...]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, *keys, key)
        else:
            yield (*keys, key)


def _no_table(found: Defaults, name: str) -> InputError:
    return InputError(f"expected a table of flags of `numalign {name}`", found.place(name))


def _refuse_others(found: Defaults, table: tuple[str, ...], keys: Iterable[str], known: Set[str], what: str) -> None:
    for key in keys:
        if key not in known:
            from numalign.model.words import nearest

            near = nearest(key, sorted(known), 0.0)
            hint = f"; hint: similar: {near}" if near else ""
            where = found.place(*table, key).removesuffix(key).rstrip(".: ")
            raise InputError(f'{what} has the name "{key}"{hint}', where)


def _all_flags(command: click.Command) -> Iterator[str]:
    inside = command.commands.values() if isinstance(command, click.Group) else ()
    yield from dict(flags_of(command))
    for one in inside:
        yield from _all_flags(one)


def for_command(command: click.Command, name: str, found: Defaults) -> dict[str, Any]:
    """Return the defaults of a command's parameters, as click takes them.

    Args:
        command: the command, or a group of commands.
        name: what it is called.
        found: the file's table.

    Raises:
        InputError: the command's own table has a flag that it has not, or one of the wrong type.
    """
    own = found.table.get(name, {})
    if not isinstance(own, Mapping):
        raise _no_table(found, name)
    shared = {key: value for key, value in found.table.items() if not isinstance(value, Mapping)}
    return _of(command, shared, own, found, (name,))


def _of(
    command: click.Command, shared: Mapping[str, Any], own: Mapping[str, Any], found: Defaults, names: tuple[str, ...]
) -> dict[str, Any]:
    if isinstance(command, click.Group):
        known = {*_all_flags(command), *command.commands}
        _refuse_others(found, names, own, known, "no flag and no command")
        inside = {key: value for key, value in own.items() if isinstance(value, Mapping)}
        shared = {**shared, **{key: value for key, value in own.items() if key not in inside}}
        return {
            name: _of(one, shared, inside.get(name, {}), found, (*names, name))
            for name, one in command.commands.items()
        }
    flags = dict(flags_of(command))
    _refuse_others(found, names, own, set(flags), "no flag")
    result, folder = {}, os.path.dirname(found.file)
    for key, value in {**{key: value for key, value in shared.items() if key in flags}, **own}.items():
        place = (*names, key) if key in own else (key,)
        result[str(flags[key].name)] = _placed(flags[key], _value(flags[key], value, found, place), folder)
    return result


def flags_of(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Give the long flags of a command, without dashes."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                if option.startswith("--"):
                    yield option.removeprefix("--"), parameter


def _placed(option: click.Option, value: Any, folder: str) -> Any:
    """Let a value that names a file next to the file of defaults mean that one, wherever below it one works."""
    if isinstance(value, list):
        return [_placed(option, one, folder) for one in value]
    if not value or option.metavar not in _PLACES:
        return value
    path = os.path.join(folder, value)
    # Machines have names, too: a folder that happens to be called like one is not meant.
    there = os.path.isfile(path) if option.metavar == "MACHINE" else os.path.exists(path)
    return os.path.relpath(path) if there else value


def setting(option: click.Option) -> AnyForm:
    """Describe what a file may say for a flag; it is read as click takes it."""
    from numalign.model.document import NAME, Form
    from numalign.model.document.values import boolean

    if option.is_flag:
        return boolean

    def take(value: object) -> object:
        if isinstance(value, list):
            texts = [str(one) for one in value]
            return texts if option.multiple else ",".join(texts)
        if isinstance(value, bool | Mapping):
            raise unfit("a text, a number or a list of them", value)
        return [str(value)] if option.multiple else str(value)

    if isinstance(option.type, click.Choice) and not option.multiple:
        return Form(take, str, {"enum": list(option.type.choices)})
    one = {"type": ["string", "number"]}
    return Form(take, str, {NAME: "value", "anyOf": [one, {"type": "array", "items": one}]})


def _value(option: click.Option, value: object, found: Defaults, place: tuple[str, ...]) -> object:
    try:
        return setting(option).read(value)
    except FieldError as error:
        raise InputError(error.message, found.place(*place)) from None
