"""Defaults of flags from a project's own file: `.numalign.toml`, or `[tool.numalign]` in `pyproject.toml`.

A key is a flag without its dashes; keys at the top hold for every command that has the flag, those in a table called
after a command (`[tool.numalign.lint]`) for that one. A file is looked for next to the file of defaults first. The
command line and the environment win.

Such a file lies in a folder, and whoever works there may not have read it: it can set what a command looks at and how
it judges, never that one runs a program, writes, listens or asks somebody (`ALLOWED`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any, Final

import click

from numalign.cli.defaults_file import Defaults
from numalign.errors import InputError
from numalign.model.path import blaming, unfit

if TYPE_CHECKING:
    from numalign.model.document import AnyForm

ALLOWED: Final = frozenset(
    """
    allow-missing alternatives audit baseline beside cluster columns config-dir cpu-manager-policy
    cpu-manager-policy-options cpus-by details device device-rules eviction-hard fail-on feature-gates filename
    fingerprint fleet gang hugepages ignore instance-type kube-reserved kubelet-config kubelet-config-of
    kubelet-version like machine machine-of max-pods memory-manager-policy memory-per-numa-node namespace need
    node-name only only-exclusive output placement policy pool quiet recursive redact replicas replicaset-backoff
    reserved-cpus reserved-memory
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
_PLACES: Final = ("FILE", "DIR", "PATH", "MACHINE", "SOURCE", "CLUSTER", "DUMP", "POD")
"""What help calls the values of flags that may name a file."""


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
    with blaming(lambda _: found.place(*place)):
        return setting(option).read(value)
