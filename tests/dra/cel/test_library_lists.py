"""Functions on lists, on sets and on values that may be missing."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import CompileError, EvaluationError
from numalign.dra.cel.library_lists import MAX_INCLUDES
from tests.dra.cel.selectors import GPU, cost, matches

SAME = [
    ("a list in order", ["[1, 2, 3].isSorted()", "['a', 'b'].isSorted()", "[1, 1].isSorted()", "[1].isSorted()"]),
    ("a list that is not in order", ["!([2, 1].isSorted())", "!([false, true, false].isSorted())"]),
    ("the least and the greatest", ["[3, 1, 2].min() == 1", "[3, 1, 2].max() == 3"]),
    ("of texts, too", ["['b', 'a', 'c'].min() == 'a'", "['b', 'a', 'c'].max() == 'c'"]),
    ("and of doubles", ["[1.5, 0.5].min() == 0.5", "[1.5, 0.5].max() == 1.5"]),
    ("sums", ["[1, 2, 3].sum() == 6", "[1u, 2u].sum() == 3u", "[1.5, 2.0].sum() == 3.5"]),
    ("the largest sum", ["[9223372036854775806, 1].sum() == 9223372036854775807"]),
    ("the smallest sum", ["[-9223372036854775807, -1].sum() == -9223372036854775808"]),
    ("an unsigned sum above all signed ones", ["[9223372036854775807u, 1u].sum() == 9223372036854775808u"]),
    ("the first place of a value", ["[5, 7, 5].indexOf(5) == 0", "[5, 7, 5].indexOf(7) == 1"]),
    ("the last place of a value", ["[5, 7, 5].lastIndexOf(5) == 2", "[5, 7].lastIndexOf(5) == 0"]),
    ("what is not in it is at -1", ["[5].indexOf(7) == -1", "[5].lastIndexOf(7) == -1"]),
    ("a set holds another", ["sets.contains([1, 2, 3], [3, 1])", "sets.contains([1], [])", "sets.contains([], [])"]),
    ("a set that lacks one", ["!sets.contains([1, 2], [2, 4])", "!sets.contains([], [1])"]),
    ("sets of the same values", ["sets.equivalent([1, 2], [2, 1, 1])", "sets.equivalent([], [])"]),
    ("sets where one has more", ["!sets.equivalent([1, 2], [1])", "!sets.equivalent([1], [1, 2])"]),
    ("sets with one in common", ["sets.intersects([1, 2], [5, 2])", "!sets.intersects([1], [2])"]),
    ("no set has anything in common with the empty one", ["!sets.intersects([], [1])", "!sets.intersects([1], [])"]),
    ("an optional value", ["optional.of(1).hasValue()", "optional.of(1).value() == 1"]),
    ("none", ["!optional.none().hasValue()", "optional.none().orValue(3) == 3"]),
    ("a value keeps itself", ["optional.of(1).orValue(3) == 1"]),
    (
        "the first that is there",
        ["optional.of(1).or(optional.of(2)).value() == 1", "optional.none().or(optional.of(2)).value() == 2"],
    ),
    ("nothing or nothing", ["!optional.none().or(optional.none()).hasValue()"]),
    (
        "what is no zero of its type",
        ["optional.ofNonZeroValue(1).hasValue()", "optional.ofNonZeroValue('a').value() == 'a'"],
    ),
    (
        "zeros are missing",
        [
            "!optional.ofNonZeroValue(0).hasValue()",
            "!optional.ofNonZeroValue('').hasValue()",
            "!optional.ofNonZeroValue([]).hasValue()",
            "!optional.ofNonZeroValue(false).hasValue()",
        ],
    ),
    ("a quantity is no zero", ["optional.ofNonZeroValue(quantity('0')).hasValue()"]),
    ("a version is none either", ["optional.ofNonZeroValue(semver('0.0.0')).hasValue()"]),
    ("an optional is there", ["optional.ofNonZeroValue(optional.none()).hasValue()"]),
]


@pytest.mark.parametrize("texts", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_a_function_gives(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


FAILS = [
    ("the least of nothing", "dyn([].min()) == 1", "min called on empty list"),
    ("the greatest of nothing", "dyn([].max()) == 1", "max called on empty list"),
    ("a sum above the largest number", "[9223372036854775807, 1].sum() == 0", "integer overflow"),
    ("a sum below the smallest number", "[-9223372036854775807, -2].sum() == 0", "integer overflow"),
    ("a value that is missing", "optional.none().value() == 1", "optional.none() dereference"),
    ("an order of two types", "[1, dyn('a')].isSorted()", "no such overload"),
    ("a sum of texts, known while running", "dyn([1, dyn('a')].sum()) == 1", "no such overload"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_a_function_fails(text: str, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        matches(text)
    assert message in str(caught.value)


def test_values_without_an_order_have_no_least() -> None:
    with pytest.raises(CompileError, match="no matching overload for 'min'"):
        matches("[[1], [2]].min() == [1]")


INCLUDES = [
    ("a single value is itself", {"int": 3}, "includes(3)", True),
    ("and nothing else", {"int": 3}, "includes(4)", False),
    ("another type is not in it", {"int": 3}, "includes('3')", False),
    ("one of a list", {"ints": [3, 4]}, "includes(4)", True),
    ("none of a list", {"ints": [3, 4]}, "includes(5)", False),
    ("another type is in no list", {"strings": ["3"]}, "includes(3)", False),
    ("a version", {"version": "1.2.0"}, "includes(semver('1.2.0'))", True),
    ("a text is no version", {"version": "1.2.0"}, "includes('1.2.0')", False),
    ("a list of the greatest length", {"ints": list(range(MAX_INCLUDES))}, "includes(0)", True),
]


@pytest.mark.parametrize(("value", "call", "holds"), [row[1:] for row in INCLUDES], ids=[row[0] for row in INCLUDES])
def test_an_attribute_includes_a_value(value: dict[str, object], call: str, holds: bool) -> None:
    written = {**GPU, "attributes": {"nodes": value}}

    assert matches(f"device.attributes['gpu.example.com'].nodes.{call}", written, lists=True) is holds


def test_includes_looks_into_no_long_list() -> None:
    written = {**GPU, "attributes": {"nodes": {"ints": list(range(MAX_INCLUDES + 1))}}}
    with pytest.raises(EvaluationError, match="longer than 48 values"):
        matches("device.attributes['gpu.example.com'].nodes.includes(0)", written, lists=True)


def numbers(count: int) -> str:
    return "[" + ", ".join(["1"] * count) + "]"


@pytest.mark.parametrize("call", ["isSorted()", "min()", "max()", "sum()", "indexOf(2)", "lastIndexOf(2)"])
def test_going_over_a_list_costs_one_for_each_value(call: str) -> None:
    made = cost(f"type({numbers(60)}) == list") - cost(f"type({numbers(20)}) == list")

    called = cost(f"type({numbers(60)}.{call}) != bytes") - cost(f"type({numbers(20)}.{call}) != bytes")

    assert called - made == 40


@pytest.mark.parametrize("function", ["contains", "equivalent", "intersects"])
def test_sets_cost_the_product_of_their_sizes(function: str) -> None:
    def of(one: int, other: int) -> int:
        return cost(f"sets.{function}({numbers(one)}, {numbers(other)}) || true")

    made = cost(f"type({numbers(9)}) == list") - cost(f"type({numbers(2)}) == list")
    assert of(9, 5) - of(2, 5) - made == 7 * 5
    assert of(5, 9) - of(5, 2) - made == 7 * 5


def test_another_value_costs_nothing() -> None:
    assert cost("optional.of(1).orValue(2) == 1") < cost("optional.of(1).value() + 0 == 1")
    assert cost("optional.of(1).or(optional.none()).hasValue()") < cost("[optional.of(1), optional.none()].size() == 2")
