"""The loader of files that people write: what scalars mean, what is refused, where, and how hostile texts end."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import InputError
from numalign.model.document import anything
from numalign.sources.text import json, late_patterns, yaml_events
from numalign.sources.text import yaml as loader
from numalign.sources.text.yaml import iter_documents, load_documents, load_file, read_one
from tests.dice import draws


def load(text: str | bytes) -> list[Any]:
    return [document.data for document in load_documents(text, "f.yaml")]


def refusal(text: str | bytes, name: str = "f.yaml") -> str:
    with pytest.raises(InputError) as error:
        load_documents(text, name)
    return str(error.value)


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with libyaml and with PyYAML's own parser."""
    if request.param == "python":
        monkeypatch.setattr(yaml_events, "_LOADER", pyyaml.SafeLoader)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 8),
        ("0o14", 12),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("+5", 5),
        ("08", 8.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("99999999999999999999", 1e20),
        ("1e999", "1e999"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
        ("no", False),
        ("off", False),
        ("n", False),
        ("yes", True),
        ("On", True),
        ("nO", "nO"),
        ("'no'", "no"),
        ('"010"', "010"),
        ("4Gi", "4Gi"),
        ("500m", "500m"),
        ("!!str 010", "010"),
        ("!!float 1", 1),
        ("-", [None]),
    ],
)
def test_scalars_mean_what_they_mean_to_kubernetes_tools(text: str, value: Any) -> None:
    assert load(text) == [value]
    assert type(load(text)[0]) is type(value)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n---\n", "~", "\ufeff"])
def test_empty_documents_are_left_out(text: str) -> None:
    assert load(text) == []


@pytest.mark.parametrize(
    "text", ["{a: 1}\n---\nb: 2\n", '{"a": 1}\n---\n{"b": 2}', '{"a": 1} {"b": 2}', "a: 1\n...\n---\nb: 2"]
)
def test_several_documents_are_read_in_order(text: str) -> None:
    assert load(text) == [{"a": 1}, {"b": 2}]


def test_keys_become_text_as_on_the_way_through_json() -> None:
    assert load("1: a\non: b\n1.5: c\n") == [{"1": "a", "true": "b", "1.5": "c"}]


def test_merge_keys_fill_in_what_is_not_there() -> None:
    text = "base: &b {a: 1, b: 2}\nmore: &m {b: 3, c: 4}\nx: {<<: [*b, *m], a: 0}\nz: {<<: *m}\n"

    assert load(text)[0]["x"] == {"a": 0, "b": 2, "c": 4}
    assert load(text)[0]["z"] == {"b": 3, "c": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", 'f.yaml:2: duplicate key "a"'),
        ('1: a\n"1": b', 'f.yaml:2: duplicate key "1"'),
        ('{"a": {\n"x": 1,\n"x": 2}}', "f.yaml:3: a.x: duplicate key"),
        ("a: .inf", "f.yaml:1: .inf is not a JSON number"),
        ("a: b: c", "f.yaml:1: not YAML: mapping values are not allowed in this context; fix: correct the YAML there"),
        ("a: !!int x", 'f.yaml:1: "x" is no int'),
        ("a: !thing x", "f.yaml:1: the tag !thing has no meaning here"),
        ("a: !!set {x}", "f.yaml:1: the tag tag:yaml.org,2002:set has no meaning here"),
        ("? [a]\n: b", "f.yaml:1: a key must be a text, a number or a boolean"),
        ("~: b", "f.yaml:1: a key must be a text, a number or a boolean"),
        ("<<: 3", "f.yaml:1: << merges mappings: expected a mapping or a list of mappings"),
        ("a: *b", "f.yaml:1: unknown alias *b"),
        ("&a [*a]", "f.yaml:1: the alias *a contains itself"),
        ("x: 1\na: \x00", "f.yaml:2: binary data, not text (character U+0000)"),
        (b"x: 1\n\xff", "f.yaml:2: not UTF-8 text (byte 0xff at offset 5)"),
        ('{"a": 1,\n "b": ', "f.yaml:2: not JSON: Expecting value (column 7)"),
        ('{"a": "\\ud800"}', "f.yaml:1: not JSON: half a surrogate pair is not a character"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str | bytes, message: str) -> None:
    assert refusal(text) == message


def test_text_is_what_yaml_says_is_printable() -> None:
    printable = re.compile("[\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
    signs = map(chr, range(sys.maxunicode + 1))
    assert not [one for one in signs if (printable.match(one) is None) != bool(yaml_events._NOT_TEXT.match(one))]


def test_late_patterns_are_patterns_and_all_others_are_as_ever() -> None:
    with late_patterns():
        late = re.compile("(a)B", re.I)
    assert late.sub(r"\1", "ab AB") == "a A"
    assert isinstance(re.compile("a"), re.Pattern)


@pytest.mark.parametrize("text", ["a: 1\nb: {x: 1,\n  x: 2}\na: 3", '{"a": 1,\n"b": {"x": 1,\n"x": 2},\n"a": 3}'])
def test_the_last_of_duplicate_keys_counts_where_it_may(text: str) -> None:
    (document,) = load_documents(text, "f.yaml", last=True)
    assert document.data == {"a": 3, "b": {"x": 2}}
    assert sorted(notice.path.rpartition(": ")[2] for notice in document.duplicates()) == ["a", "b.x"]
    assert document.line("a") == text.count("\n") + 1
    assert list(load_documents("a: 1", "f.yaml", last=True)[0].duplicates()) == []


def test_json_files_are_held_to_json() -> None:
    assert refusal("{a: 1}", "f.json").startswith("f.json:1: not JSON: ")
    assert refusal('{"a": NaN}', "f.json") == "f.json:1: not JSON: NaN is not a number"


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("1e400", "1e400 is too large for a number: the largest is 1.8e308"),
        ("-1e400", "-1e400 is too large for a number: the largest is 1.8e308"),
        ("9" * 309 + ".5", "9" * 40 + " is too large for a number: the largest is 1.8e308"),
        ("9" * 5000, "a number has too many digits"),
    ],
    ids=["an exponent", "a negative one", "a fraction", "a whole number"],
)
def test_numbers_of_json_that_are_too_large_are_refused(number: str, message: str) -> None:
    assert refusal(f'{{\n"a": [{number}]}}', "f.json") == f"f.json:1: {message}"


def test_large_and_small_numbers_of_json_are_read_as_they_are() -> None:
    assert json.loads("[1.7976931348623157e308, -1.5E300, 1e-400, 1e2]") == [1.7976931348623157e308, -1.5e300, 0.0, 100]


def test_what_looks_like_json_may_be_yaml_where_a_number_too_large_is_text() -> None:
    assert load('{"a": [1e400]}') == load("a: [1e400]") == [{"a": ["1e400"]}]


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="100,000 open lists"),
        pytest.param("- " * 100_000, id="100,000 block lists"),
        pytest.param("? " * 100_000, id="100,000 keys that are keys"),
        pytest.param("{a: " * 100_000, id="100,000 mappings"),
        pytest.param('{"a":' * 100_000, id="100,000 JSON objects"),
        pytest.param("[" * 500 + "]" * 500, id="500 levels, closed again"),
        pytest.param("a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 400)), id="400 levels of indentation"),
    ],
)
def test_deep_nesting_ends_early_and_never_crashes(text: str) -> None:
    message = refusal(text)

    assert "nested deeper than 200 levels" in message or "not JSON" in message


def test_two_hundred_levels_are_allowed() -> None:
    assert load("[" * 200 + "]" * 200)
    assert load("- " * 199 + "x")


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x,x,x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)),
        "a0: &a0 {k: x}\n" + "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 60)),
    ],
    ids=["lists", "mappings"],
)
def test_alias_bombs_are_defused(text: str) -> None:
    assert refusal(text).endswith("the aliases stand for more than 200000 values")


def test_a_document_above_64_mib_is_refused_but_a_file_of_several_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(b"a: " + b"x" * (64 << 20)) == "f.yaml: a document larger than 64 MiB"

    monkeypatch.setattr(loader, "MAX_DOCUMENT", 10)
    assert load(b"a: 1\n---\nb: 12\n---\nc: 1\n") == [{"a": 1}, {"b": 12}, {"c": 1}]
    assert refusal("a: 1\n---\nb: 1234567\n") == "f.yaml: a document larger than 0 MiB"
    monkeypatch.setattr(loader, "MAX_INPUT", 20)
    assert refusal(b"a: 1\n---\nb: 12\n---\nc: 1\n") == "f.yaml: larger than 0 MiB"


YAML_TEXT = """# a comment
kind: Pod
spec:
  containers:
  - name: a
    resources: {limits: {cpu: 1,
      nvidia.com/gpu: 2}}
  - name: b
---
kind: Second
"""
JSON_TEXT = """{"kind": "Pod",
 "spec": {"containers": [
  {"name": "a", "resources": {"limits": {"cpu": 1,
   "nvidia.com/gpu": 2}}},
  {"name": "b"}]}}
{"kind":
 "Second"}
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [(YAML_TEXT, (2, 3, 5, 7, 8, 6, 10)), (JSON_TEXT, (1, 2, 3, 4, 5, 3, 6))],
    ids=["YAML", "JSON"],
)
def test_every_field_has_its_line(text: str, lines: tuple[int, ...]) -> None:
    """A field that is missing has the line of what it is missing from."""
    first, second = load_documents(text, "f")
    gpu = ("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu")

    assert (
        first.line(),
        first.line("spec"),
        first.line("spec.containers[0]"),
        first.line('spec.containers[0].resources.limits["nvidia.com/gpu"]'),
        first.line("spec.containers[1].resources.limits"),
        first.line("spec.containers[0].resources.requests"),
        second.line("kind"),
    ) == lines
    assert first.line(gpu) == lines[3]
    assert first.where(gpu) == f'f:{lines[3]}: spec.containers[0].resources.limits["nvidia.com/gpu"]'
    assert str(second.error("is wrong", "kind")) == f"f:{lines[6]}: kind: is wrong"


def test_files_that_cannot_be_read_are_input_errors(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none", "No such file or directory; fix: correct the path"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(InputError) as error:
            load_file(path)
        assert str(error.value) == f"{path}: cannot be read: {message}"
    with pytest.raises(InputError):
        load_file("\0")


def test_one_document_is_one(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1")
    assert read_one(path, anything) == {"a": 1}

    path.write_text("a: 1\n---\nb: 1")
    with pytest.raises(InputError, match=r"x\.yaml:3: a second document; expected one"):
        read_one(path, anything)

    path.write_text("")
    with pytest.raises(InputError, match=r"x\.yaml: no document found"):
        read_one(path, anything)


@draws(160)
@given(st.text(alphabet=st.sampled_from("ab01:-?[]{},&*!|>'\"#%@ \n\t<.~\\u\x00é")), st.sampled_from(["f", "f.json"]))
def test_no_text_fails_in_another_way(text: str, name: str) -> None:
    with contextlib.suppress(InputError):
        for document in load_documents(text, name):
            assert document.line("a.b[0]") >= 1


@draws(80)
@given(st.binary(max_size=40))
def test_no_bytes_fail_in_another_way(data: bytes) -> None:
    with contextlib.suppress(InputError):
        load_documents(data, "f")


@given(st.integers(0, len(YAML_TEXT)), st.integers(0, len(JSON_TEXT)))
def test_half_a_file_is_read_or_refused(yaml_end: int, json_end: int) -> None:
    for text in (YAML_TEXT[:yaml_end], JSON_TEXT[:json_end]):
        with contextlib.suppress(InputError):
            load_documents(text, "f")


PART = st.sampled_from(["---\n", "--- # one\n", "...\n---\n", "---\n\n# of the next\n", "...\n%YAML 1.1\n---\n"])


@given(st.lists(st.tuples(PART, st.integers(1, 4), st.booleans()), min_size=1, max_size=6), st.booleans())
def test_each_field_of_each_document_has_its_line(parts: list[tuple[str, int, bool]], windows: bool) -> None:
    """Documents are told apart, and lines counted, by the parser's own marks; each key stands there once."""
    text, number, documents = "# first\n", 0, []
    for separator, size, nested in parts:
        keys = [f"k{number + index}" for index in range(size)]
        number += size
        documents.append(keys)
        text += separator if len(documents) > 1 else "---\n"
        for index, key in enumerate(keys):
            text += f"{'  ' * index}{key}:\n" if nested else f"{key}: é\n"
    text = text.replace("\n", "\r\n") if windows else text
    expected = {line.strip().partition(":")[0]: number for number, line in enumerate(text.splitlines(), start=1)}
    for nested, keys, document in zip([part[2] for part in parts], documents, load_documents(text, "f"), strict=True):
        paths = [".".join(keys[: index + 1]) if nested else key for index, key in enumerate(keys)]
        assert [document.line(path) for path in paths] == [expected[key] for key in keys]
        assert document.lines(paths) == [expected[key] for key in keys]


def test_json_documents_have_their_lines() -> None:
    first, second = load_documents('\n{"a": {\n"b": 1}}\n\n{"a":\n[1,\n2]}', "f")
    assert first.lines(["a", "a.b", ""]) == [2, 3, 2]
    assert second.lines(["", "a", "a[1]"]) == [5, 5, 7]
    assert second.line("a[1]") == 7


def test_documents_are_made_one_by_one() -> None:
    """Whoever takes them one by one never holds the data of all of them; what is broken later is told later."""
    documents = iter_documents("a: 1\n---\nb: [", "f")
    assert next(documents).data == {"a": 1}
    with pytest.raises(InputError, match="not YAML"):
        next(documents)


MANY = [
    ("YAML values", "- {}\n" * 20, "f:10: the document holds more than 10 values; as JSON 10 are read"),
    ("JSON values", "[" + "{}," * 20 + "{}]", "f: holds more than 10 values"),
    ("YAML documents", "---\na\n" * 20, "f: has more than 10 documents"),
    ("JSON documents", "[] " * 10 + "[]", "f: has more than 10 documents"),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in MANY], ids=[case[0] for case in MANY])
def test_there_is_a_bound_on_what_a_file_holds(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_events, "MAX_YAML_VALUES", 11 if "documents" in message else 10)
    for module in (yaml_events, json):
        monkeypatch.setattr(module, "MAX_VALUES", 11 if "documents" in message else 10)
        monkeypatch.setattr(module, "MAX_DOCUMENTS", 10)
    with pytest.raises(InputError) as caught:
        load_documents(text, "f")
    assert str(caught.value) == message


def test_signs_inside_texts_are_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "MAX_VALUES", 10)
    assert load_documents('["' + ",:[{" * 20 + '"]', "f")[0].data == [",:[{" * 20]
