"""JSON as the kubelet's language reads it: what is accepted, and the words of every complaint."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.model.gojson import GoJSONError, NumberText, loads
from tests.dice import Form, rolled

COMPLAINTS = {
    "": "unexpected end of JSON input",
    "   ": "unexpected end of JSON input",
    '{"a":': "unexpected end of JSON input",
    '{"a":[1,2': "unexpected end of JSON input",
    '{"a": "b': "unexpected end of JSON input",
    '{"a": tr': "unexpected end of JSON input",
    "-": "unexpected end of JSON input",
    "1.": "unexpected end of JSON input",
    "x": "invalid character 'x' looking for beginning of value",
    "NaN": "invalid character 'N' looking for beginning of value",
    "nan": "invalid character 'a' in literal null (expecting 'u')",
    "-Infinity": "invalid character 'I' in numeric literal",
    "{a}": "invalid character 'a' looking for beginning of object key string",
    '{"a":1,}': "invalid character '}' looking for beginning of object key string",
    '{"a" 1}': "invalid character '1' after object key",
    '{"a":1 "b":2}': "invalid character '\"' after object key:value pair",
    "[1 2]": "invalid character '2' after array element",
    "[1,]": "invalid character ']' looking for beginning of value",
    "{} {}": "invalid character '{' after top-level value",
    "01": "invalid character '1' after top-level value",
    "[01]": "invalid character '1' after array element",
    "1.x": "invalid character 'x' after decimal point in numeric literal",
    "1e+x": "invalid character 'x' in exponent of numeric literal",
    '"a\nb"': "invalid character '\\n' in string literal",
    '"\\x"': "invalid character 'x' in string escape code",
    '"\\u00zz"': "invalid character 'z' in \\u hexadecimal character escape",
    "[']": "invalid character '\\'' looking for beginning of value",
    "é": "invalid character 'Ã' looking for beginning of value",
    "\ufeff{}": "invalid character 'ï' looking for beginning of value",
    '[[1, {"b": [}]]': "invalid character '}' looking for beginning of value",
}


@pytest.mark.parametrize("text", COMPLAINTS, ids=repr)
def test_a_text_that_is_no_json_is_refused_in_the_kubelets_words(text: str) -> None:
    with pytest.raises(GoJSONError) as raised:
        loads(text)

    assert str(raised.value) == COMPLAINTS[text]


def test_a_text_nested_without_end_is_refused_and_does_not_crash() -> None:
    with pytest.raises(GoJSONError):
        loads("[" * 200_000)


def test_a_number_that_is_no_ordinary_whole_number_stays_as_written() -> None:
    assert loads("[1.50, 1e3, 123456789012345678901234567890]") == [
        NumberText("1.50"),
        NumberText("1e3"),
        NumberText("123456789012345678901234567890"),
    ]


values = rolled(lambda dice: dice.data(Form(floats=False)))


@given(values)
def test_every_json_text_reads_back(value: object) -> None:
    assert loads(json.dumps(value)) == value


@given(values, st.data())
def test_a_cut_or_changed_text_is_read_or_refused_never_a_bug(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    changed = data.draw(st.sampled_from([text[:at], text[:at] + data.draw(st.characters()) + text[at:]]))
    with contextlib.suppress(GoJSONError):
        loads(changed)
