"""`-o yaml` is written by the quicker emitter wherever it writes the same bytes."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from numalign.cli.yaml_text import dumped, yaml_text
from numalign.render.escape import in_yaml
from tests.cli.running import ROOT
from tests.fuzz.mutate import TEXTS

GOLDEN = 6
"""At least so many golden outputs are JSON."""

texts = some.lists(
    some.sampled_from([text for text in TEXTS if len(text) < 200]) | some.text(max_size=8), max_size=3
).map("".join)
scalars = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | texts
keys = some.sampled_from(("name", "example.com/x")) | texts
values = some.recursive(scalars, lambda inner: some.lists(inner) | some.dictionaries(keys, inner), max_leaves=12)


@given(values)
def test_every_emitter_writes_the_same(data: object) -> None:
    twice = {"first": data, "again": data}  # what stands in two places is written as an alias
    assert yaml_text(twice) == in_yaml(dumped(twice, yaml.SafeDumper))


def test_all_golden_json_is_the_same_yaml_from_every_emitter() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "golden").rglob("*.out"))]
    answers = [json.loads(text) for text in texts if text.startswith("{\n")]
    assert len(answers) > GOLDEN
    for data in answers:
        assert yaml_text(data) == in_yaml(dumped(data, yaml.SafeDumper))


@pytest.mark.parametrize("key", ["", "a\rb", "a\nb", "\u2028", "\U0001f600", "k" * 130, "\ufeff"], ids=ascii)
def test_odd_keys_are_written_the_same(key: str) -> None:
    data = {key: [{key: key}]}
    assert yaml_text(data) == in_yaml(dumped(data, yaml.SafeDumper))
    assert yaml.safe_load(yaml_text(data)) == data


def test_plain_data_needs_no_slow_emitter(monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(yaml, "CSafeDumper"):  # a PyYAML built without libyaml has only the slow one
        monkeypatch.setattr(yaml.emitter.Emitter, "emit", None)
    assert yaml_text({"name": "é", "of": ["::x", 1]}) == 'name: é\nof:\n- "::x"\n- 1\n'
