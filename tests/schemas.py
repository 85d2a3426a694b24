"""The JSON Schemas of the package, as validators for tests.

The schemas let unknown keys pass, because keys may be added. `strictly` does not: what numalign prints today must be
described to the last key.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, Registry

import numalign

FOLDER = Path(numalign.__file__).parent / "schemas"
SCHEMAS: dict[str, dict[str, Any]] = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.schema.json"))
}


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema as it is published."""
    return Draft202012Validator(SCHEMAS[name], registry=_registry(SCHEMAS))


@cache
def strictly(name: str) -> Draft202012Validator:
    """Return a validator that also refuses keys that the schema does not name."""
    strict = {each: closed(schema) for each, schema in SCHEMAS.items()}
    return Draft202012Validator(strict[name], registry=_registry(strict))


def _registry(schemas: dict[str, Any]) -> Registry:
    return Registry([(schema["$id"], schema) for schema in schemas.values()])


def closed(schema: Any) -> Any:
    """Refuse keys that the schema does not name."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema and "object" in schema.get("type", ()):
        result.setdefault("additionalProperties", False)
    return result


def keys(schema: Any) -> set[str]:
    """Collect every key that a schema describes."""
    found: set[str] = set()
    if isinstance(schema, dict):
        found.update(schema.get("properties", {}))
        for name, value in schema.items():
            found |= keys(list(value.values()) if name in ("properties", "$defs") else value)
    elif isinstance(schema, list):
        for item in schema:
            found |= keys(item)
    return found
