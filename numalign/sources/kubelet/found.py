"""What a reader of settings gives: settings of people, flags over them, and the system whose own part lies below."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from numalign.analysis.config.system import Base, Facts, Fields, System
from numalign.analysis.config.systems import KUBELET
from numalign.errors import Notice
from numalign.model.path import child
from numalign.sources.kubelet.fields import SETTINGS, Where
from numalign.sources.kubelet.performance_profile import Pages
from numalign.sources.text import inside, mapping
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple


class Found(NamedTuple):
    """A kubelet's settings as people gave them, and where they stand."""

    fields: Fields
    """Of a KubeletConfiguration; of several parts merged as the system does it."""
    where: Where
    flags: Mapping[str, str] = {}
    """Flags of the kubelet, without dashes, over the fields."""
    notices: tuple[Notice, ...] = ()
    pages: tuple[Pages, ...] = ()
    """Huge pages that take the place of the machine's; empty: nothing is said of them."""
    system: System = KUBELET
    base: Callable[[Facts, Fields], Base] | None = None
    """The system's own part; None: the usual one of the system."""
    name: str = ""
    """Of the pool, where a file has several."""
    version: str = ""
    """The release that the file names, as it does."""
    instance: str = ""
    """The type of the instance that the file names."""
    complete: bool = False
    """Whether it is a kubelet's configuration even without any setting."""

    def own(self, facts: Facts) -> Base:
        """Work out the system's own part."""
        return (self.base or self.system.base)(facts, self.fields)


def under(document: Document, path: str) -> Where:
    """Make what tells where a field stands below a place of a document."""
    return lambda field: document.where(f"{path}.{field}" if path else field)


def below(document: Document, fields: Fields, path: str) -> Found:
    """Take the fields of a KubeletConfiguration that stand at a place of a document."""
    known = {name: value for name, value in fields.items() if name not in ("apiVersion", "kind")}
    return Found(known, under(document, path))


def overlaid(base: Fields, over: Fields) -> dict[str, Any]:
    """Lay a drop-in over what came before: maps key by key, everything else as a whole; null takes away (0.2)."""
    result = dict(base)
    for field, value in over.items():
        old = result.get(field)
        if isinstance(value, Mapping):
            result[field] = overlaid(old if isinstance(old, Mapping) else {}, value)
        elif value is None and field in result:
            del result[field]
        else:
            result[field] = value
    return result


def joined(parts: Sequence[Found]) -> Found:
    """Merge parts of one kubelet, later ones over earlier ones; system and base are those of the last that has one."""
    first, *others = parts
    for part in others:
        first = first._replace(
            fields=overlaid(first.fields, part.fields),
            where=_either(first, part),
            flags={**first.flags, **part.flags},
            notices=(*first.notices, *part.notices),
            system=part.system if part.system is not KUBELET else first.system,
            base=part.base or first.base,
        )
    return first


def _either(first: Found, second: Found) -> Where:
    def where(field: str) -> str:
        if field.startswith("--"):
            return (second if field.removeprefix("--") in second.flags else first).where(field)
        return (second if re.split(r"[.\[]", field)[0] in second.fields else first).where(field)

    return where


def not_taken(system: str, field: str, where: Where, why: str = "") -> Notice:
    """Say that a system does not take a setting that was asked for."""
    return Notice("setting-not-taken", f"skipped: {system} {why or 'has no such setting'}", where(field))


def renamed(system: System, data: Fields, where: Where) -> Found:
    """Spell the settings of a system with names of its own as the kubelet does; what it does not have is said."""
    fields: dict[str, object] = {}
    places: dict[str, str] = {}
    for own, path in system.names.items():
        value = inside(data, *own.split("."))
        if value is None:
            continue
        field, _, key = path.partition(".")
        places.setdefault(field, own.partition(".")[0] if key else own)
        if key:
            fields[field] = {**mapping(fields, field), key: value}
        else:
            fields[field] = value
    heads = {own.partition(".")[0] for own in system.names}
    lost = [key for key in data if key not in heads and _camel(key) in SETTINGS]
    notices = tuple(not_taken(system.name, key, where) for key in lost)
    return Found(fields, lambda field: where(_spelt(field, places)), {}, notices, system=system, complete=bool(lost))


def _camel(key: str) -> str:
    first, *rest = str(key).split("-")
    return first + "".join("CPUs" if part == "cpus" else part[:1].upper() + part[1:] for part in rest)


def _spelt(field: str, places: Mapping[str, str]) -> str:
    head = re.split(r"[.\[]", field)[0]
    return places.get(head, head) + field[len(head) :]


UNEXPANDED: Final = re.compile(r"\$\{?[A-Za-z_][^}]*\}?|\{\{.*\}\}|%[sd]|<[a-z-]+>")
"""What a template engine or a shell has yet to replace."""


def expanded(found: Found) -> tuple[Found, dict[str, str]]:
    """Take out values that were not expanded; returns the rest, and each with the text that stands there."""
    unknown: dict[str, str] = {}
    fields = {
        name: one for name, value in found.fields.items() if (one := _expanded(value, name, unknown)) is not _UNKNOWN
    }
    flags = {}
    for name, text in found.flags.items():
        match = UNEXPANDED.search(text) or UNEXPANDED.search(name)
        if match:
            unknown[f"--{name}"] = match[0]
        else:
            flags[name] = text
    notices = tuple(
        Notice("value-unexpanded", f"unknown value: {text} is not expanded", found.where(path))
        for path, text in unknown.items()
    )
    return found._replace(fields=fields, flags=flags, notices=(*found.notices, *notices)), unknown


def _expanded(value: object, path: str, unknown: dict[str, str]) -> object:
    if isinstance(value, Mapping):
        kept = {key: _expanded(one, child(path, key), unknown) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one is not _UNKNOWN}
    if isinstance(value, list):
        items = [_expanded(one, f"{path}[{place}]", unknown) for place, one in enumerate(value)]
        return _UNKNOWN if any(one is _UNKNOWN for one in items) else items
    match = UNEXPANDED.search(value) if isinstance(value, str) else None
    if match:
        unknown[path] = match[0]
        return _UNKNOWN
    return value


_UNKNOWN: Final = object()


def words(given: object) -> Iterator[str]:
    """Read flags as a list of `--a=b` or `a=b`, of `{name, value}`, as a map, or as one text."""
    if isinstance(given, Mapping):
        for key, value in given.items():
            for one in value if isinstance(value, list) else [value]:
                yield f"{key}={one}"
    elif isinstance(given, str):
        yield from given.split()
    else:
        for one in given if isinstance(given, list) else ():
            yield f"{one.get('name')}={one.get('value')}" if isinstance(one, Mapping) else str(one)
