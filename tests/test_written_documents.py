"""What people write obeys its JSON Schema: every machine, cluster, test, trace and rules file of ours or in docs."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.schemas import validator

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILES = [path for folder in ("machines", "docs") for path in sorted((ROOT / folder).rglob("*.y*ml"))]
FILES.append(ROOT / "numalign" / "device-rules.json")
KINDS = {"Machine": "machine", "AlignmentTest": "test", "DeviceRules": "rules"}


def kind_of(data: Any) -> str | None:
    """Name the schema of a document; None: it is none of ours."""
    if not isinstance(data, dict):
        return None
    if "kind" in data:
        return KINDS.get(data["kind"]) if str(data.get("apiVersion")).startswith("numalign/") else None
    if "numaNodes" in data or "regular" in data:
        return "machine"
    return "cluster" if "nodes" in data else "trace" if {"t", "pod"} <= data.keys() else None


def written() -> Iterator[tuple[str, str]]:
    """Give the texts: where each stands, and what is there."""
    for path in FILES:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"^ *```(?:yaml|json|toml)\n(.*?)^ *```", text, re.M | re.S):
            if not match[1].startswith("# error: "):
                yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", match[1]


def documents() -> Iterator[tuple[str, str, Any]]:
    """Give those that have a schema: place, schema, data."""
    for place, text in written():
        if text.startswith("[tool.numalign]"):
            yield place, "settings", tomllib.loads(text)["tool"]["numalign"]
            continue
        try:
            listed = [json.loads(text)] if text.lstrip().startswith("{") else list(yaml.safe_load_all(text))
        except (ValueError, yaml.YAMLError):
            continue
        for data in listed:
            schema = kind_of(data)
            if schema:
                yield place, schema, data


DOCUMENTS = list(documents())


@pytest.mark.parametrize(("schema", "data"), [one[1:] for one in DOCUMENTS], ids=[one[0] for one in DOCUMENTS])
def test_an_example_obeys_its_schema(schema: str, data: Any) -> None:
    validator(schema).validate(data)


def test_there_are_examples_of_each() -> None:
    assert {schema for _, schema, _ in DOCUMENTS} == {"machine", "cluster", "test", "trace", "rules", "settings"}
