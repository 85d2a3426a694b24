"""The kubelet's checkpoint files as shapes: how their JSON is read and written, and the text their checksum is over.

One description of a file's records (`Shape`) gives all three: reading with the kubelet's own complaints, writing as
the kubelet writes, and the text of docs/rules/kubelet-files.md 24 to 29. The files themselves are described in `cpu`,
`memory` and `device`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from numalign.model import cpuset
from numalign.model.gojson import GoJSONError, NumberText, loads
from numalign.values import NamedTuple

Value: TypeAlias = Any
"""What a shape describes, once read: text, number, a CPU set as an int, list, dict, or None for null."""

Record: TypeAlias = Mapping[str, Value]
"""A record, once read: field's key -> value."""


INT: Final = (-(2**63), 2**63 - 1)
"""Least and greatest value of a Go `int`."""
UINT64: Final = (0, 2**64 - 1)
"""Of a Go `uint64`."""


class CheckpointError(Exception):
    """A file that a kubelet would not take; the message is the cause in the kubelet's words."""


class Shape(NamedTuple):
    """One type of the kubelet's records."""

    go: str
    """Its name in the kubelet's language; it stands in the checksum's text and in complaints."""
    kind: Literal["text", "number", "bytes", "cpus", "list", "map", "record"]
    inner: Value = None
    """The `Shape` of the elements of a list or of the values of a map."""
    numbered: bool = False
    """The keys of a map are numbers, so they are sorted as such."""
    fields: tuple[Field, ...] = ()
    """Of a record, in writing order."""
    pointer: bool = False
    """A record behind a pointer is marked in the checksum's text."""
    bounds: tuple[int, int] = INT
    """Of a number."""


class Field(NamedTuple):
    """One field of a record."""

    go: str
    key: str
    """Its JSON key; keys are matched without regard to case (28c)."""
    shape: Shape
    omitted: bool = False
    """Left out of the file when empty."""
    made: bool = False
    """An empty map or list is there before the file is read: missing, it is empty and not null (27)."""


TEXT: Final = Shape("string", "text")
CHECKSUM: Final = Shape("checksum.Checksum", "number", bounds=UINT64)


def read_shape(text: str, shape: Shape, name: str = "", *, keys: bool = False) -> dict[str, Value]:
    """Read a file of one record: field's key -> value. Null maps and lists are None, unknown keys are ignored.

    Args:
        text: the file.
        shape: of the record.
        name: the record's name in complaints, where the kubelet's differs from that in the checksum's text.
        keys: complaints name the keys of maps, too, as those of 1.36 do.

    Raises:
        CheckpointError: no JSON, or of another shape; of several complaints the first in the text (as the kubelet).
    """
    try:
        data = loads(text)
    except GoJSONError as error:
        raise CheckpointError(str(error)) from None
    if data is None:
        return {field.key: _zero(field) for field in shape.fields}
    if not isinstance(data, dict):
        raise CheckpointError(f"json: cannot unmarshal {_kind(data)} into Go value of type {name or shape.go}")
    result: dict[str, Value] = _value(data, shape._replace(go=name or shape.go), (), keys)
    return result


def _zero(field: Field) -> Value:
    shape = field.shape
    if shape.kind in ("map", "list", "bytes"):
        if not field.made:
            return None
        return {} if shape.kind == "map" else []
    if shape.kind == "record":
        return None if shape.pointer else {inner.key: _zero(inner) for inner in shape.fields}
    return {"text": "", "number": 0, "cpus": 0}[shape.kind]


def _value(data: object, shape: Shape, place: tuple[str, ...], keys: bool) -> Value:
    """Read one value. `place`: the record's name and the keys from the top to here, for the complaint."""
    if shape.kind == "record":
        return _record(data, shape, place, keys)
    if data is None:
        return {"text": "", "number": 0, "cpus": 0}.get(shape.kind)
    if shape.kind == "map" and isinstance(data, dict):
        return {
            _key(key, shape, place): _value(value, shape.inner, (*place, key) if keys else place, keys)
            for key, value in data.items()
        }
    if shape.kind == "list" and isinstance(data, list):
        return [_value(value, shape.inner, place, keys) for value in data]
    if shape.kind == "number" and type(data) is int and shape.bounds[0] <= data <= shape.bounds[1]:
        return data
    if isinstance(data, str) and not isinstance(data, NumberText):
        if shape.kind == "text":
            return data
        if shape.kind == "bytes":
            return _bytes(data)
        if shape.kind == "cpus":
            return _cpus(data)
    raise _complaint(_kind(data, numbers=shape.kind == "number"), shape.go, place)


def _record(data: object, shape: Shape, place: tuple[str, ...], keys: bool) -> Value:
    if data is None:
        return None if shape.pointer else {field.key: _zero(field) for field in shape.fields}
    if not isinstance(data, dict):
        raise _complaint(_kind(data), shape.go, place)
    fields = {field.key.lower(): field for field in shape.fields}
    result = {field.key: _zero(field) for field in shape.fields}
    name = shape.go.rpartition(".")[2]
    for key, value in data.items():
        field = fields.get(key.lower())
        if field is not None:
            result[field.key] = _value(value, field.shape, (name, *place[1:], field.key), keys)
    return result


def _key(key: str, shape: Shape, place: tuple[str, ...]) -> str | int:
    if not shape.numbered:
        return key
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", key) or not INT[0] <= int(key) <= INT[1]:
        raise _complaint(f"number {key}", "int", place)
    return int(key)


def _kind(data: object, *, numbers: bool = False) -> str:
    """Name a JSON value as the complaint does; a number that does not fit a number is quoted."""
    if isinstance(data, bool):
        return "bool"
    if isinstance(data, int | NumberText):
        return f"number {data}" if numbers else "number"
    if isinstance(data, str):
        return "string"
    return "array" if isinstance(data, list) else "object"


def _complaint(kind: str, go: str, place: tuple[str, ...]) -> CheckpointError:
    return CheckpointError(f"json: cannot unmarshal {kind} into Go struct field {'.'.join(place)} of type {go}")


def _bytes(text: str) -> list[int]:
    text = text.replace("\r", "").replace("\n", "")
    try:
        return list(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        valid = next(
            (at for at, char in enumerate(text) if not (char.isascii() and (char.isalnum() or char in "+/"))), 0
        )
        raise CheckpointError(f"illegal base64 data at input byte {valid}") from None


def _cpus(text: str) -> int:
    try:
        return cpuset.parse(text)
    except cpuset.CPUSetError as error:
        raise CheckpointError(str(error)) from None


def checksum(value: Record, shape: Shape) -> int:
    """Compute the checksum of a record (24 to 26): FNV-1a over its text, the checksum field itself counted as 0."""
    text = f"(*{shape.go}){dump({**value, 'checksum': 0}, shape)}"
    return fnv1a(text.encode("utf-8", "surrogatepass"))


def fnv1a(data: bytes) -> int:
    """Compute the 32-bit FNV-1a sum (24)."""
    result = 2166136261
    for byte in data:
        result = ((result ^ byte) * 16777619) & 0xFFFFFFFF
    return result


def dump(value: Value, shape: Shape) -> str:
    """Write a value as the checksum's text has it (25)."""
    if shape.kind == "cpus":
        return f"{{elems:(map[int]struct {{}})map[{' '.join(f'{cpu}:{{}}' for cpu in cpuset.ids(value))}]}}"
    if value is None:
        return "<nil>"
    if shape.kind == "map":
        inner: Shape = shape.inner
        # Texts are in the order of their bytes, which is that of their characters.
        return f"map[{' '.join(f'{key}:{dump(value[key], inner)}' for key in sorted(value))}]"
    if shape.kind == "list":
        return f"[{' '.join([dump(one, shape.inner) for one in value])}]"
    if shape.kind == "bytes":
        return f"[{' '.join(map(str, value))}]"
    if shape.kind == "record":
        fields = " ".join([f"{one.go}:({one.shape.go}){dump(value[one.key], one.shape)}" for one in shape.fields])
        return f"{'<*>' if shape.pointer else ''}{{{fields}}}"
    return str(value)


def write(value: Record, shape: Shape) -> str:
    """Write a record as the kubelet writes its file: one line, no space, keys of maps sorted by text."""
    text = json.dumps(_plain(value, shape), separators=(",", ":"), ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _plain(value: Value, shape: Shape) -> Value:
    if shape.kind == "cpus":
        return cpuset.format_set(value)
    if value is None:
        return None
    if shape.kind == "map":
        return {str(key): _plain(value[key], shape.inner) for key in sorted(value, key=str)}
    if shape.kind == "list":
        return [_plain(one, shape.inner) for one in value]
    if shape.kind == "bytes":
        return base64.b64encode(bytes(value)).decode("ascii")
    if shape.kind == "record":
        return {
            field.key: _plain(value[field.key], field.shape)
            for field in shape.fields
            if not (field.omitted and not value[field.key])
        }
    return value
