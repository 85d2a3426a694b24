"""The macros that go over a list or the keys of a map."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import CompileError, EvaluationError
from tests.dra.cel.selectors import cost, matches

SAME = [
    ("all", ["[1, 2].all(x, x > 0)", "![1, 2].all(x, x > 1)", "[].all(x, false)"]),
    ("some", ["[1, 2].exists(x, x > 1)", "![1, 2].exists(x, x > 2)", "![].exists(x, true)"]),
    ("just one", ["[1, 2].exists_one(x, x > 1)", "![1, 2].exists_one(x, x > 0)", "![1, 2].exists_one(x, x > 2)"]),
    ("one with two variables", ["[1, 2].existsOne(i, v, v > 1)", "[1, 2].exists_one(i, v, i == 0)"]),
    ("those that hold", ["[1, 2, 3].filter(x, x > 1) == [2, 3]", "[1].filter(x, x > 1) == []"]),
    ("what each becomes", ["[1, 2].map(x, x * 2) == [2, 4]"]),
    ("what some become", ["[1, 2, 3].map(x, x > 1, x * 10) == [20, 30]"]),
    ("the keys of a map", ["{'a': 1, 'b': 2}.map(k, k) == ['a', 'b']", "{'a': 1}.all(k, k == 'a')"]),
    ("keys that are true or false", ["{true: 1}.all(k, k)", "{false: 1}.exists(k, !k)"]),
    ("keys and values", ["{'a': 1}.all(k, v, k == 'a' && v == 1)", "{true: 2}.exists(k, v, k && v == 2)"]),
    ("places and values", ["[5, 6].all(i, v, v == i + 5)", "[5, 6].exists(i, v, i == 1 && v == 6)"]),
    ("a list made of a list", ["[1, 2].transformList(i, v, v * i) == [0, 2]"]),
    ("of some of it", ["[1, 2].transformList(i, v, v > 1, v * 10) == [20]"]),
    ("a map made of a map", ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v + 1) == {'b': 3}"]),
    ("a map made of a list", ["[7].transformMap(i, v, v) == {0: 7}"]),
    ("a map with other keys", ["{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}"]),
    ("of some of them", ["{'a': 'x', 'b': 'y'}.transformMapEntry(k, v, v == 'y', {v: k}) == {'y': 'b'}"]),
    ("the value outweighs an error before it", ["[0, 1].exists(x, 1 / x == 1)"]),
    ("and one behind it", ["[1, 0].exists(x, 1 / x == 1)"]),
    ("for all, too", ["![0, 2].all(x, 1 / x == 1)"]),
    ("a variable hides the one outside it", ["[1].all(x, [2].all(x, x == 2) && x == 1)"]),
    ("a name for a value", ["cel.bind(x, 1 + 1, x * x == 4)"]),
    ("which hides another only inside", ["[2].all(x, cel.bind(x, 1, x) == 1 && x == 2)"]),
    (
        "an optional value goes through fields and keys",
        ["{'a': {'b': 1}}.?a['b'].value() == 1", "{'a': {'b': 1}}[?'a'].b.value() == 1"],
    ),
    ("a value that is there", ["optional.of(2).optMap(x, x + 1).value() == 3"]),
    ("one that is not", ["!optional.none().optMap(x, x).hasValue()"]),
    (
        "one that may become none",
        [
            "optional.of(2).optFlatMap(x, optional.of(x + 1)).value() == 3",
            "!optional.of(2).optFlatMap(x, optional.none()).hasValue()",
            "!optional.none().optFlatMap(x, optional.of(1)).hasValue()",
        ],
    ),
]


@pytest.mark.parametrize("texts", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_a_loop_gives(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


FAILS = [
    ("an error that nothing outweighs", "[0, 2].exists(x, 1 / x == 1)", "division by zero"),
    ("for all, too", "[0, 1].all(x, 1 / x == 1)", "division by zero"),
    ("an error in a list that is made", "[0].map(x, 1 / x) == []", "division by zero"),
    ("one that counts absorbs nothing", "[0, 1].exists_one(x, 1 / x == 1)", "division by zero"),
    ("a condition that turns out to be no truth", "[dyn(1)].exists(x, x)", "no such overload"),
    ("for all, too, while running", "[dyn(1)].all(x, x)", "no such overload"),
    ("for one, too, while running", "[dyn(1)].exists_one(x, x)", "no such overload"),
    ("those that hold, while running", "[dyn(1)].filter(x, x) == []", "no such overload"),
    ("what is no list turns out while running", "dyn(1).all(x, true)", "got 'int', expected iterable type"),
    ("a key that is made twice", "[1, 1].transformMapEntry(i, v, {v: i}) == {}", "key 1 already exists"),
    ("entries that are none", "[1].transformMapEntry(i, v, dyn(v)) == {}", "no such overload"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_a_loop_fails(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(text)


REFUSED = [
    ("a variable that is no name", "[1].all(x.y, true)", "argument must be a simple name"),
    ("two variables of one name", "[1].all(x, x, true)", "different names"),
    ("a variable outside its loop", "[1].all(x, true) && x == 1", "undeclared reference to 'x'"),
    ("the variable in what is gone over", "[x].all(x, true)", "undeclared reference to 'x'"),
    ("a condition that is none", "[1].all(x, x)", "expected type 'bool' but found 'int'"),
    ("a number gone over", "(1).all(x, true)", "cannot be range of a comprehension"),
    ("a method of that name with other arguments", "[1].all(x)", "undeclared reference"),
    ("a method named as a macro is", "device.driver.bind(x, 1, true)", "undeclared reference to 'x'"),
    ("has() of an optional field", "has(device.?attributes)", "invalid argument to has"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_loop_is_refused(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        matches(text)
    assert message in caught.value.message


ENTRIES = "{'a': 1, 'b': 2}.transformMapEntry(k, v, v > %s, {k: v}) == {}"
COSTS = [
    ("nothing is taken", ENTRIES % 2, 2 * 2 + 1),
    ("an entry that is taken is a map of two names", ENTRIES % 1, 2 * 2 + (1 + 30 + 2) + 1),
    ("each of them", ENTRIES % 0, 2 * 2 + 2 * (1 + 30 + 2) + 1),
]


@pytest.mark.parametrize(("text", "whole"), [row[1:] for row in COSTS], ids=[row[0] for row in COSTS])
def test_a_loop_costs(text: str, whole: int) -> None:
    assert cost(text) == whole


def test_a_loop_that_is_decided_ends() -> None:
    rest = ", 1" * 50
    assert cost(f"[1{rest}].exists(x, true)") - cost("[1].exists(x, true)") < 50 * 2
    assert cost(f"[1{rest}].all(x, false) || true") - cost("[1].all(x, false) || true") < 50 * 2
