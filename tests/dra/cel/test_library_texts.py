"""Methods on texts, as cel-go's string extension and Kubernetes' `find` describe them."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import EvaluationError
from tests.dra.cel.selectors import cost, matches

SAME = [
    ("a character by its place", ["'hello'.charAt(0) == 'h'", "'hello'.charAt(4) == 'o'"]),
    ("behind the last character there is an empty one", ["'hello'.charAt(5) == ''"]),
    ("a part is found from the left", ["'hello mellow'.indexOf('ello') == 1"]),
    ("from an offset on", ["'hello mellow'.indexOf('ello', 2) == 7"]),
    ("from the offset itself", ["'hello mellow'.indexOf('ello', 1) == 1", "'ello'.indexOf('ello', 0) == 0"]),
    ("from behind the end there is nothing", ["'hello'.indexOf('o', 5) == -1"]),
    ("what is not there is at -1", ["'hello'.indexOf('jello') == -1"]),
    (
        "nothing is found at the start, or at the offset",
        ["'hello'.indexOf('') == 0", "'hello'.indexOf('', 2) == 2", "'ab'.indexOf('', 9) == 9"],
    ),
    ("a part is found from the right", ["'hello mellow'.lastIndexOf('ello') == 7"]),
    ("from an offset to the left", ["'hello mellow'.lastIndexOf('ello', 6) == 1"]),
    ("from the offset itself to the left", ["'hello mellow'.lastIndexOf('ello', 7) == 7"]),
    ("from the start only the start", ["'abab'.lastIndexOf('ab', 0) == 0", "'xab'.lastIndexOf('ab', 0) == -1"]),
    ("up to the end", ["'abab'.lastIndexOf('ab', 4) == 2"]),
    ("nothing is at the end, or at the offset", ["'hello'.lastIndexOf('') == 5", "'hello'.lastIndexOf('', 2) == 2"]),
    ("letters of ASCII alone are lowered", ["'TacoCÆt'.lowerAscii() == 'tacocÆt'", "'@[AZ'.lowerAscii() == '@[az'"]),
    ("and raised", ["'tacocæt'.upperAscii() == 'TACOCæT'", "'`{az'.upperAscii() == '`{AZ'"]),
    (
        "blanks go from both ends",
        ["'  \\ttrim\\n    '.trim() == 'trim'", "'\\u2000x'.trim() == 'x'", "'\\u00a0\\u2003\\u200ax'.trim() == 'x'"],
    ),
    (
        "what is no blank stays",
        ["'\\u200bx'.trim() == '\\u200bx'", "'\\u1fffx'.trim() == '\\u1fffx'", "'a b'.trim() == 'a b'"],
    ),
    ("all are replaced", ["'hello hello'.replace('he', 'we') == 'wello wello'"]),
    ("so many are", ["'hello hello'.replace('he', 'we', 1) == 'wello hello'"]),
    ("none are", ["'hello hello'.replace('he', 'we', 0) == 'hello hello'"]),
    ("a negative number is all", ["'hello hello'.replace('he', 'we', -1) == 'wello wello'"]),
    ("a text is split", ["'hello hello hello'.split(' ') == ['hello', 'hello', 'hello']"]),
    ("into none", ["'hello hello hello'.split(' ', 0) == []"]),
    ("into one", ["'hello hello hello'.split(' ', 1) == ['hello hello hello']"]),
    ("into two", ["'hello hello hello'.split(' ', 2) == ['hello', 'hello hello']"]),
    ("into as many as there are", ["'a b'.split(' ', -1) == ['a', 'b']", "'a b'.split(' ', 9) == ['a', 'b']"]),
    ("into letters", ["'abc'.split('') == ['a', 'b', 'c']"]),
    ("into so many letters and the rest", ["'abc'.split('', 2) == ['a', 'bc']", "'abc'.split('', 1) == ['abc']"]),
    ("into just as many letters", ["'abc'.split('', 3) == ['a', 'b', 'c']", "'abc'.split('', 4) == ['a', 'b', 'c']"]),
    ("a part from a place on", ["'tacocat'.substring(4) == 'cat'", "'tacocat'.substring(7) == ''"]),
    ("from a place to another", ["'tacocat'.substring(0, 4) == 'taco'", "'tacocat'.substring(7, 7) == ''"]),
    ("to the end", ["'tacocat'.substring(4, 7) == 'cat'"]),
    ("texts are joined", ["['x', 'y'].join() == 'xy'", "['x', 'y'].join(' ') == 'x y'", "[].join(', ') == ''"]),
    ("the first match is found", ["'abc 123 45'.find('[0-9]+') == '123'"]),
    ("no match is an empty text", ["'abc'.find('[0-9]+') == ''"]),
    ("all matches", ["'12 345'.findAll('[0-9]+') == ['12', '345']", "'12 3'.findAll('[0-9]', -1) == ['1', '2', '3']"]),
    ("so many matches", ["'12 345'.findAll('[0-9]+', 1) == ['12']"]),
]


@pytest.mark.parametrize("texts", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_a_method_gives(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


FAILS = [
    ("a character behind the end", "'ab'.charAt(3)", "index out of range: 3"),
    ("a character before the start", "'ab'.charAt(-1)", "index out of range: -1"),
    ("a search behind the end", "string('ab'.indexOf('a', 3))", "index out of range: 3"),
    ("a search before the start", "string('ab'.indexOf('a', -1))", "index out of range: -1"),
    ("a search from the right behind the end", "string('ab'.lastIndexOf('a', 3))", "index out of range: 3"),
    ("a search from the right before the start", "string('ab'.lastIndexOf('a', -1))", "index out of range: -1"),
    ("a part from behind the end", "'ab'.substring(3)", "index out of range: 3"),
    ("a part from before the start", "'ab'.substring(-1)", "index out of range: -1"),
    ("a part to behind the end", "'ab'.substring(0, 3)", "index out of range: 3"),
    ("a part to before the start", "'ab'.substring(0, -1)", "index out of range: -1"),
    ("a part that ends before it begins", "'ab'.substring(2, 1)", "invalid substring range. start: 2, end: 1"),
    ("what is joined is no text", "['a', dyn(1)].join()", "not a string"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_a_method_fails(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(f"{text} == ''")


LONG, SHORT = "x" * 1000, "x" * 500
TENTHS = [
    "indexOf('y')", "indexOf('y', 0)", "lastIndexOf('y')", "lastIndexOf('y', 0)", "lowerAscii().size()",
    "upperAscii().size()", "trim().size()", "split('y').size()", "split('y', 1).size()", "substring(0).size()",
    "substring(0, 1).size()", "replace('x', 'z').size()", "replace('x', 'z', 1).size()", "startsWith('y')",
    "endsWith('y')", "contains('y')",
]  # fmt: skip


@pytest.mark.parametrize("call", TENTHS)
def test_a_method_costs_a_tenth_of_the_text(call: str) -> None:
    assert cost(f"type('{LONG}'.{call}) != bytes") - cost(f"type('{SHORT}'.{call}) != bytes") == 50


def test_a_text_that_grows_costs_what_it_can_become() -> None:
    grown, kept = (cost(f"'{LONG}'.replace('x', '{by}').size() > 0") for by in ("zzz", "z"))
    assert grown - kept == 300


def test_a_pattern_costs_a_quarter_of_itself_for_each_ten_characters() -> None:
    pattern = "y" * 8
    for call in ("find('{}') == ''", "findAll('{}').size() == 0", "findAll('{}', 1).size() == 0", "matches('{}')"):
        text = f"type('{{}}'.{call.format(pattern)}) == bool"
        assert cost(text.format(LONG)) - cost(text.format(SHORT)) == 50 * 2, call


def test_joining_costs_a_fifth_of_what_comes_out() -> None:
    text = "['{0}', '{0}', '{0}'].join('{1}').size() > 0"
    assert cost(text.format("x" * 100, "")) - cost(text.format("", "")) == 60
    assert cost(text.format("", "x" * 100)) - cost(text.format("", "")) == 40
