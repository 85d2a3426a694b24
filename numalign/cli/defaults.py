"""Defaults of flags from a project's own file: `.numalign.toml`, or `[tool.numalign]` in `pyproject.toml`.

A key is a flag without its dashes; keys at the top hold for every command that has the flag, those in a table called
after a command (`[tool.numalign.lint]`) for that one. A file is looked for next to the file of defaults first. The
command line and the environment win.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import click

from numalign.errors import InputError
from numalign.values import NamedTuple

OWN_FILE: Final = ".numalign.toml"
PROJECT_FILE: Final = "pyproject.toml"
_MARK: Final = b"[tool.numalign"
"""What a pyproject.toml has that says anything to us; others are not even parsed."""
_PLACES: Final = ("FILE", "DIR", "PATH", "MACHINE", "SOURCE", "CLUSTER", "DUMP", "POD")
"""What help calls the values of flags that may name a file."""


class Defaults(NamedTuple):
    """What a file says."""

    file: str
    table: Mapping[str, Any]


def find_defaults() -> Defaults | None:
    """Look for a file in the working folder and above it, up to the folder with `.git`; None: there is none.

    A working folder that is gone has none either.

    Raises:
        InputError: a file is no TOML.
    """
    try:
        folder = os.getcwd()
    except OSError:
        return None
    while True:
        for name in (OWN_FILE, PROJECT_FILE):
            path = os.path.join(folder, name)
            text = _text(path)
            if text is not None and (name == OWN_FILE or _MARK in text):
                return Defaults(os.path.relpath(path), _table(path, text, own=name == OWN_FILE))
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = above


def _text(path: str) -> bytes | None:
    if not os.access(path, os.R_OK):  # hardly ever there, and quicker to ask than to fail
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _table(path: str, text: bytes, *, own: bool) -> Mapping[str, Any]:
    import tomllib

    try:
        data = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not TOML: {error}", os.path.relpath(path)) from None
    return data if own else data["tool"]["numalign"]


def check_keys(found: Defaults, commands: Iterable[tuple[str, click.Command]]) -> None:
    """Hold the file's keys to the flags and the names of all commands: a misspelt one would set nothing.

    Args:
        found: the file's table.
        commands: name -> command; no more of them are taken than it needs to know every key.

    Raises:
        InputError: nothing is called like a key.
    """
    unknown = set(found.table)
    known: set[str] = set()
    for name, command in commands:
        known |= {name, *_all_flags(command)}
        if unknown <= known:
            return
    _refuse_others(found.table, known, "no command and no flag", found.file)


def _refuse_others(keys: Iterable[str], known: set[str], what: str, where: str) -> None:
    for key in keys:
        if key not in known:
            from numalign.model.words import nearest

            near = nearest(key, sorted(known), 0.0)
            hint = f"; did you mean {near}?" if near else ""
            raise InputError(f'{what} is called "{key}"{hint}', where)


def _all_flags(command: click.Command) -> Iterator[str]:
    inside = command.commands.values() if isinstance(command, click.Group) else ()
    yield from dict(_flags(command))
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
        raise InputError(f"expected a table of flags of `numalign {name}`", f"{found.file}: {name}")
    shared = {key: value for key, value in found.table.items() if not isinstance(value, Mapping)}
    return _of(command, shared, own, f"{found.file}: {name}", os.path.dirname(found.file))


def _of(
    command: click.Command, shared: Mapping[str, Any], own: Mapping[str, Any], where: str, folder: str
) -> dict[str, Any]:
    if isinstance(command, click.Group):
        _refuse_others(own, {*_all_flags(command), *command.commands}, "no flag and no command", where)
        inside = {key: value for key, value in own.items() if isinstance(value, Mapping)}
        shared = {**shared, **{key: value for key, value in own.items() if key not in inside}}
        return {
            name: _of(one, shared, inside.get(name, {}), f"{where}.{name}", folder)
            for name, one in command.commands.items()
        }
    flags = dict(_flags(command))
    _refuse_others(own, set(flags), "no flag", where)
    given = {**{key: value for key, value in shared.items() if key in flags}, **own}
    return {
        str(flags[key].name): _placed(flags[key], _value(flags[key], value, f"{where}.{key}"), folder)
        for key, value in given.items()
    }


def _flags(command: click.Command) -> Iterator[tuple[str, click.Option]]:
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


def _value(option: click.Option, value: object, where: str) -> object:
    if option.is_flag:
        if not isinstance(value, bool):
            raise InputError("expected true or false", where)
        return value
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        texts = [str(one) for one in value]
        return texts if option.multiple else ",".join(texts)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError("expected a text, a number or a list of them", where)
    return [str(value)] if option.multiple else str(value)
