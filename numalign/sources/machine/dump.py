"""Machines as plain data, JSON and YAML: always in full, always the same text for the same machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numalign.model import quantity
from numalign.model.document import write
from numalign.model.document.schema import schema_line
from numalign.model.machine import Machine
from numalign.sources.machine.file import MACHINE

WIDTH = 100
"""Lists and mappings that fit in so many columns stay on one line."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*", re.ASCII)
_SIZE = re.compile(r"[0-9]+[KMGTPE]i", re.ASCII)
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Texts that YAML would read as something else."""


def dump(machine: Machine) -> dict[str, Any]:
    """Return a machine as plain data that `file.from_data` reads back; amounts are bytes.

    `numaNodes`, `sockets` and `cores` are always written, other sections where they say something.
    """
    return dict(write(MACHINE, machine))


def to_json(machine: Machine) -> str:
    """Write a machine as JSON, amounts in bytes."""
    return json.dumps(dump(machine), indent=2, ensure_ascii=False) + "\n"


def to_yaml(machine: Machine) -> str:
    """Write a machine as a file that people like to read; reading it and writing it again gives the same text."""
    data = dump(machine)
    for node in data["numaNodes"]:
        node["memory"] = _size(node["memory"])
        if "hugepages" in node:
            node["hugepages"] = {key: _size(value) for key, value in node["hugepages"].items()}
    for key in ("totalMemory", "storage"):
        if key in data:
            data[key] = _size(data[key])
    return schema_line("machine") + "".join(f"{line}\n" for line in _mapping(data, 0))


def _size(amount: int) -> int | str:
    """Write whole mebibytes the Kubernetes way, other amounts as bytes: nobody reads `501693440Ki`."""
    return amount if amount % 2**20 or not amount else quantity.canonical(quantity.from_int(amount, "BinarySI"))


def _mapping(data: Mapping[str, object], indent: int) -> Iterator[str]:
    """Write a mapping in block style, one key a line."""
    for key, value in data.items():
        start = f"{' ' * indent}{_scalar(key)}:"
        flow = _flow(value)
        sections = bool(value) and (_has_mappings(value) or (not indent and isinstance(value, Mapping)))
        if not sections and len(start) + len(flow) < WIDTH:
            yield f"{start} {flow}"
        elif isinstance(value, Mapping):
            yield start
            yield from _mapping(value, indent + 2)
        elif isinstance(value, list | tuple):
            yield start
            yield from _list(value, indent + 2) if _has_mappings(value) else _packed(value, indent + 2)
        else:
            yield f"{start} {flow}"


def _has_mappings(value: object) -> bool:
    """Tell whether a list holds mappings (each gets a line), or a mapping holds such a list or further sections."""
    if isinstance(value, Mapping):
        return any(_has_mappings(inner) or (isinstance(inner, Mapping) and inner) for inner in value.values())
    return isinstance(value, list | tuple) and any(isinstance(inner, Mapping) for inner in value)


def _list(values: Sequence[object], indent: int) -> Iterator[str]:
    """Write a list of mappings: one a line if all are short, else all in block style."""
    flows = [_flow(value) for value in values]
    short = all(indent + 2 + len(flow) <= WIDTH for flow in flows)
    for value, flow in zip(values, flows, strict=True):
        if short or not value or not isinstance(value, Mapping):
            yield f"{' ' * indent}- {flow}"
        else:
            lines = list(_mapping(value, indent + 2))
            yield f"{' ' * indent}- {lines[0].lstrip()}"
            yield from lines[1:]


def _packed(values: Sequence[object], indent: int) -> Iterator[str]:
    """Write a list of scalars or short lists over as many lines as it needs."""
    line = " " * indent + "["
    for index, value in enumerate(values):
        part = _flow(value) + ("]" if index == len(values) - 1 else ",")
        if len(line) + len(part) > WIDTH and not line.endswith("["):
            yield line.rstrip()
            line = " " * (indent + 1)
        line += part + " "
    yield line.rstrip()


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        if (_PLAIN.fullmatch(value) and value.lower() not in _WORDS) or _SIZE.fullmatch(value):
            return value
        text = json.dumps(value, ensure_ascii=False)
        return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in text)
    return json.dumps(value)
