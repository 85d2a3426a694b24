"""JSON Schemas of documents, made of their descriptions, and where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.model.document import LATER, NAME, AnyForm
from numalign.version import ADDRESS


def schema_line(name: str) -> str:
    """Write the first line of a file for people to edit: it tells their editor what the file may say.

    The schema is at the project's address, or named by its path in the package.
    """
    return f"# yaml-language-server: $schema={ADDRESS or 'numalign'}/schemas/{name}.schema.json\n"


def schema(form: AnyForm, name: str, title: str, says: str) -> dict[str, object]:
    """Make the JSON Schema of a document; parts with a name stand in `$defs`, once."""
    known: dict[str, object] = {}

    def spread(part: Any) -> object:
        if isinstance(part, list | tuple):
            return [spread(one) for one in part]
        if not isinstance(part, Mapping):
            return part
        if LATER in part:
            part = {**part[LATER]().schema, **{key: one for key, one in part.items() if key != LATER}}
        if NAME not in part:
            return {key: spread(one) for key, one in part.items()}
        label = part[NAME]
        if label not in known:
            known[label] = None
            known[label] = spread({key: one for key, one in part.items() if key not in (NAME, "description")})
        reference = {"$ref": f"#/$defs/{label}"}
        return reference | {"description": part["description"]} if "description" in part else reference

    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:numalign:v1:{name}"}
    result: dict[str, object] = {**head, "title": title, "description": says}
    result |= {key: spread(one) for key, one in form.schema.items()}
    return {**result, "$defs": dict(sorted(known.items()))} if known else result
