"""What can never work is refused before it runs, with the types that were given (docs/rules/dra.md D-20a)."""

from __future__ import annotations

import pytest

from numalign.dra.cel.device import compile_selector
from numalign.dra.cel.errors import CompileError, UnsupportedError, line_and_column
from tests.dra.cel.selectors import matches

REFUSED = [
    ("a sum of two types", "1 + 'a' == 2", "found no matching overload for '+' applied to '(int, string)'", 2),
    ("a comparison of two types", "1 == 'a'", "found no matching overload for '_==_' applied to '(int, string)'", 2),
    ("lists of two types", "[1] != ['a']", "'_!=_' applied to '(list(int), list(string))'", 4),
    ("maps of two types", "{'a': 1} == {1: 1}", "'_==_' applied to '(map(string, int), map(int, int))'", 9),
    ("an order of two types", "'a' < 1", "'<' applied to '(string, int)'", 4),
    ("in of another type", "'a' in [1]", "'@in' applied to '(string, list(int))'", 4),
    ("in of a text", "'a' in 'abc'", "'@in' applied to '(string, string)'", 4),
    ("a chain with a number", "true && 1", "'_&&_' applied to '(int)'", 8),
    ("or with a text", "'a' || true", "'_||_' applied to '(string)'", 0),
    ("a choice by a number", "1 ? true : false", "'_?_:_' applied to '(int, bool, bool)'", 2),
    ("a choice of two types", "true ? 1 : 'a'", "'_?_:_' applied to '(bool, int, string)'", 5),
    ("a sign before a text", "-'a' == 'a'", "'-_' applied to '(string)'", 0),
    ("not a number", "!1", "'!_' applied to '(int)'", 0),
    ("a field of a text", "'a'.b == 1", "type 'string' does not support field selection", 3),
    ("a field that a device lacks", "device.foo == 1", "undefined field 'foo'", 6),
    ("has of one", "has(device.foo)", "undefined field 'foo'", 10),
    ("an index of a number", "1[0] == 1", "'_[_]' applied to '(int, int)'", 1),
    ("a text as an index of a list", "[1]['a'] == 1", "'_[_]' applied to '(list(int), string)'", 3),
    ("another key of a map", "{'a': 1}[1] == 1", "'_[_]' applied to '(map(string, int), int)'", 8),
    ("a duration where the key is nothing", "{null: 1}[duration('1s')] == 1", "applied to '(map(null_type, int), ", 9),
    ("a list of two types", "[1, 'a'] == []", "expected type 'int' but found 'string'", 4),
    ("a list of two types that is gone through", "[1, 'a'].all(x, true)", "expected type 'int' but found 'string'", 4),
    ("keys of two types", "{1: 1, 'a': 1} == {}", "expected type 'int' but found 'string'", 7),
    ("values of two types", "{1: 1, 2: 'a'} == {}", "expected type 'int' but found 'string'", 10),
    (
        "an optional element of another type",
        "[1, ?optional.of('a')] == []",
        "expected type 'int' but found 'string'",
        13,
    ),
    ("a method that is none", "'a'.nope()", "undeclared reference to 'nope'", 3),
    ("a function that is none", "nope(1)", "undeclared reference to 'nope'", 0),
    ("a method as a function", "startsWith('a')", "found no matching overload for 'startsWith'", 0),
    ("a function as a method", "'a'.quantity() == quantity('a')", "found no matching overload for 'quantity'", 3),
    ("too few arguments", "'a'.startsWith()", "'startsWith' applied to '(string)'", 3),
    ("too many", "'a'.startsWith('a', 'b')", "'startsWith' applied to '(string, string, string)'", 3),
    ("a type that is none", "type(1) == number", "undeclared reference to 'number'", 11),
    ("optMap of a value", "(1).optMap(x, x) == 1", "expected type 'optional_type' but found 'int'", 3),
    ("nothing against a number", "1 == null", "'_==_' applied to '(int, null_type)'", 2),
    ("a result that is a number", "1", "must evaluate to bool or the unknown type, not int", 0),
    ("a result that is a list of truths", "[true]", "not list(bool)", 0),
    ("a pattern that is none", "'a'.matches('(')", "invalid matches argument: missing closing )", 3),
    ("one as a function", "matches('a', '[')", "invalid matches argument", 0),
    (
        "a map made of another type",
        "{'a': 1}.transformMap(k, v, 'x') == {'a': 1}",
        "'_==_' applied to '(map(string, string), map(string, int))'",
        33,
    ),
    ("a list made of another type", "[1].map(x, 'a') == [1]", "'_==_' applied to '(list(string), list(int))'", 16),
    ("what is left of a list has its type", "[1].filter(x, true) == ['a']", "(list(int), list(string))", 20),
    ("places are numbers", "['a'].all(i, v, i == 'x')", "'_==_' applied to '(int, string)'", 18),
    ("keys have their type", "{'a': 1}.all(k, k == 1)", "'_==_' applied to '(string, int)'", 18),
    ("values have theirs", "{'a': 1}.all(k, v, v == 'a')", "'_==_' applied to '(int, string)'", 21),
    (
        "an optional's value has its type",
        "optional.of(1).optMap(x, x == 'a').value()",
        "'_==_' applied to '(int, string)'",
        27,
    ),
    (
        "a field that may be missing has its type",
        "device.?driver.value() == 1",
        "'_==_' applied to '(string, int)'",
        23,
    ),
]


@pytest.mark.parametrize(("text", "message", "place"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_it_is_refused_with_its_place(text: str, message: str, place: int) -> None:
    with pytest.raises(CompileError) as caught:
        compile_selector(text)
    assert message in caught.value.message
    assert caught.value.position == place


TAKEN = [
    ("what is only known while running", ["dyn(1) == 1", "1 == dyn(1)", "dyn(1) < 2", "[dyn(1)][0] == 1"]),
    (
        "a list with a value of any type",
        ["[1, dyn('a')].size() == 2", "[dyn('a'), 1].size() == 2", "[dyn(1), 2, 3] == [1, 2, 3]"],
    ),
    (
        "an empty list is of any type",
        ["[] == [1].filter(x, false)", "[] + ['a'] == ['a']", "{} == {'a': 1}.transformMap(k, v, false, v)"],
    ),
    ("nothing where something may be missing", ["device.attributes['gpu.example.com'].model != null"]),
    ("a variable hides a function's place", ["[{'contains': 1}].all(sets, sets.contains == 1)"]),
    ("a function with a name before it", ["sets.contains([1], [1])", "ip.isCanonical('::1')"]),
    ("a choice of which one is any type", ["(true ? dyn(1) : 'a') == 1"]),
    ("places of lists by any number", ["[1][0u] == 1", "[1][0.0] == 1", "[1][dyn(0)] == 1"]),
    ("a pattern made while running", ["'a'.matches('' + 'a')"]),
    ("several names for values", ["cel.bind(x, 1, cel.bind(y, x + 1, y == 2 && x == 1))"]),
]


@pytest.mark.parametrize("texts", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_it_is_taken(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


def test_a_variable_is_known_in_its_loop_alone() -> None:
    for text in ("[1].all(x, true) && x == 1", "cel.bind(x, x, true)", "[x].all(x, true)"):
        with pytest.raises(CompileError, match="undeclared reference to 'x'"):
            compile_selector(text)


def test_how_deep_a_tree_may_be() -> None:
    """Of so many numbers the first is as deep in the differences, which are in the comparison."""
    assert matches("-".join(["1"] * 119) + " == -117")
    with pytest.raises(UnsupportedError, match="nested deeper than 120 levels"):
        compile_selector("-".join(["1"] * 120) + " == -118")


@pytest.mark.parametrize("name", ["strings.quote('x')", "image('x')", "format.named('x')"])
def test_what_numalign_does_not_know_is_named(name: str) -> None:
    with pytest.raises(UnsupportedError, match=r"selector uses [\w.]+, which numalign does not know"):
        compile_selector(f"{name} == 1")


def test_places_are_lines_and_columns() -> None:
    assert line_and_column("a\nbc\nd", 0) == (1, 1)
    assert line_and_column("a\nbc\nd", 1) == (1, 2)
    assert line_and_column("a\nbc\nd", 3) == (2, 2)
    assert line_and_column("a\nbc\nd", 5) == (3, 1)
