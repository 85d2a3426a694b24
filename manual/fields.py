"""Writes the site's page of all fields of JSON, of the schemas of results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from manual.schemas import DOCUMENTS, FOLDER

Node = Mapping[str, Any]
NAMES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true, false",
    "null": "null",
    "object": "object",
}
"""Type of a schema -> word."""


def fields() -> str:
    """Write the page: a heading a document, a row a field."""
    return "".join(f"{line}\n" for line in _fields())


def _fields() -> Iterator[str]:
    yield from (
        "# Fields of JSON",
        "",
        "Every field of `-o json`, from the JSON Schemas. [json.md](json.md) has the rules.",
    )
    for path in sorted(FOLDER.glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        if name not in DOCUMENTS:
            yield from _document(json.loads(path.read_text(encoding="utf-8")), path)


def _document(schema: Node, path: Path) -> Iterator[str]:
    yield from ("", f"## {schema['title']}", "", f"{schema['description']} Schema: `{path.name}`.", "")
    rows: dict[str, tuple[str, str]] = {}
    for field, row in _rows(schema, ""):
        rows.setdefault(field, row)
    yield from ("| field | type | meaning |", "| --- | --- | --- |")
    yield from (f"| `{field}` | {kind} | {text} |" for field, (kind, text) in rows.items())


def _rows(node: Node, path: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each field below a schema: its path, its type and its meaning; what several shapes share comes once."""
    for key, value in node.get("properties", {}).items():
        if key not in ("apiVersion", "kind") or path:
            yield f"{path}{key}", (_kind(value), value.get("description", ""))
            yield from _rows(value, f"{path}{key}.")
    for key, mark in (("items", "[]."), ("additionalProperties", ".*.")):
        if isinstance(node.get(key), dict):
            yield from _rows(node[key], f"{path[:-1]}{mark}")
    for choice in ("oneOf", "anyOf", "allOf"):
        for one in node.get(choice, ()):
            yield from _rows(one, path)
    for name, value in node.get("$defs", {}).items():
        if value.get("properties") or value.get("description"):
            yield f"{name}", (_kind(value), value.get("description", ""))
        yield from _rows(value, f"{name}.")


def _kind(node: Node) -> str:
    if "$ref" in node:
        return f"→ `{node['$ref'].rpartition('/')[2].rpartition(':')[2]}`"
    if "enum" in node:
        return ", ".join(f"`{json.dumps(one) if one is None else one}`" for one in node["enum"])
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    types = node.get("type", ())
    found = [types] if isinstance(types, str) else list(types)
    words = ["list" if one == "array" else NAMES[one] for one in found]
    choices = [_kind(one) for choice in ("oneOf", "anyOf") for one in node.get(choice, ())]
    return " or ".join(dict.fromkeys(words or choices))
