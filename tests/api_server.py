"""What an API server does with a CustomResourceDefinition: is its schema structural, is an object of it valid.

Written from the published rules of apiextensions.k8s.io/v1; values are judged by a validator of OpenAPI 3.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from jsonschema import FormatChecker

from tests.schemas import closed

if TYPE_CHECKING:
    from openapi_schema_validator import OAS30Validator

FORBIDDEN: Final = (
    "$ref",
    "definitions",
    "dependencies",
    "deprecated",
    "discriminator",
    "id",
    "patternProperties",
    "readOnly",
    "writeOnly",
    "xml",
)
JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
OUTSIDE: Final = ("description", "type", "default", "additionalProperties", "nullable")
"""What stands outside of junctors only."""
INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
"""The one pattern of a junctor that names types."""

_FORMATS = FormatChecker()


@_FORMATS.checks("int64")
def _int64(value: object) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def validator(schema: Mapping[str, Any]) -> OAS30Validator:
    """Judge objects as `kubectl apply --validate=strict` does: keys that the schema does not name are refused."""
    from openapi_schema_validator import OAS30Validator  # with all that comes with it a tenth of a second

    return OAS30Validator(closed(schema), format_checker=_FORMATS)


def structural_faults(schema: Mapping[str, Any]) -> list[str]:
    """List what keeps a schema from being structural, with the path of each fault."""
    faults = list(_faults(schema, ""))
    if schema.get("type") != "object":
        faults.append(": the root is no object")
    metadata = schema.get("properties", {}).get("metadata", {})
    if set(metadata.get("properties", {})) - {"name", "generateName"}:
        faults.append(".metadata: only name and generateName may be restricted")
    return faults


def _faults(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from (f"{path}: {key} is forbidden" for key in FORBIDDEN if key in schema)
    int_or_string = schema.get("x-kubernetes-int-or-string", False)
    if int_or_string == ("type" in schema):
        yield f"{path}: expected a type, or x-kubernetes-int-or-string"
    if schema.get("uniqueItems"):
        yield f"{path}: uniqueItems is forbidden"
    if "additionalProperties" in schema and ("properties" in schema or schema["additionalProperties"] is False):
        yield f"{path}: additionalProperties beside properties, or false"
    if schema.get("type") == "array" and not isinstance(schema.get("items"), Mapping):
        yield f"{path}: expected items, one schema"
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            yield f"{path}: {name} is required and not described"
    for key in JUNCTORS:
        if key in schema and not (int_or_string and key == "anyOf" and schema[key] == INT_OR_STRING):
            yield from _inside(schema[key], schema, f"{path}.{key}")
    for name, inner in schema.get("properties", {}).items():
        yield from _faults(inner, f"{path}.{name}")
    if isinstance(schema.get("items"), Mapping):
        yield from _faults(schema["items"], f"{path}[]")


def _inside(parts: list[Mapping[str, Any]], outer: Mapping[str, Any], path: str) -> Iterator[str]:
    """Check junctors: they may only narrow what is described outside of them."""
    for part in parts:
        yield from (f"{path}: {key} stands inside" for key in OUTSIDE if key in part)
        for name in part.get("properties", {}):
            if name not in outer.get("properties", {}):
                yield f"{path}: {name} is not described outside"
