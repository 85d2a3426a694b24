"""What an expression gives and costs: fields, indexes, choices, lists, maps (docs/rules/dra.md D-20, D-20a)."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import EvaluationError
from tests.dra.cel.selectors import cost, matches

OWN = "device.attributes['gpu.example.com']"

SAME = [
    ("attributes of the driver's own domain", [f"{OWN}.model == 'H100'", f"{OWN}['index'] == 3", f"{OWN}.healthy"]),
    ("of another one", ["device.attributes['resource.kubernetes.io'].numaNode == 1"]),
    ("capacity", ["device.capacity['gpu.example.com'].memory == quantity('80Gi')"]),
    (
        "the driver, and whether several may have it",
        ["device.driver == 'gpu.example.com'", "!device.allowMultipleAllocations"],
    ),
    ("a version", [f"{OWN}.driverVersion == semver('550.54.14')"]),
    ("a domain that nobody has", ["device.attributes['nope'] == {}", "device.capacity.nope.size() == 0"]),
    ("what is there", [f"has({OWN}.model)", f"!has({OWN}.nope)", "has(device.attributes.nope)"]),
    ("what is in it", [f"'model' in {OWN}", f"!('nope' in {OWN})", "!('nope' in device.attributes)"]),
    ("a choice", ["true ? true : false", "!(false ? true : false)", "(1 < 2 ? 'a' : 'b') == 'a'"]),
    ("only one way of it is gone", ["true ? true : 1 / 0 == 1", "false ? 1 / 0 == 1 : true"]),
    ("a chain is decided by one", ["1 / 0 == 1 || true", "true || 1 / 0 == 1", "!(1 / 0 == 1 && false)"]),
    ("items of lists", ["[1, 2][0] == 1", "[1, 2][1u] == 2", "[1, 2][1.0] == 2"]),
    ("items of maps", ["{'a': 1}['a'] == 1", "{'a': 1}.a == 1", "{1: 2}[dyn(1u)] == 2", "{true: 1}[true] == 1"]),
    ("in a list by value", ["1 in [1, 2]", "!(3 in [1, 2])", "1 in [dyn(1.0)]"]),
    ("in a map by key", ["'a' in {'a': 1}", "!('b' in {'a': 1})", "dyn(1u) in {1: 2}"]),
    (
        "items that may be missing",
        ["[1, 2][?1].value() == 2", "[1, 2][?0].value() == 1", "![1, 2][?2].hasValue()", "![1, 2][?-1].hasValue()"],
    ),
    ("at half a number there is nothing", ["![1, 2][?dyn(1.0)].hasValue()", "![1, 2][?dyn('0')].hasValue()"]),
    ("of maps", ["{'a': 1}[?'a'].value() == 1", "!{'a': 1}[?'b'].hasValue()", "{'a': 1}.?a.hasValue()"]),
    ("a chain of what may be missing", ["{'a': {'b': 1}}.?a.b.value() == 1", "!{'a': {'b': 1}}.?x.b.hasValue()"]),
    (
        "a domain that may be missing is there",
        ["device.attributes[?'nope'].hasValue()", "device.attributes.?nope.hasValue()"],
    ),
    ("has of what may be missing", ["has({'a': {'b': 1}}.?a.b)", "!has({'a': {'b': 1}}.?x.b)"]),
    ("elements that may be missing", ["[1, ?optional.none(), ?optional.of(2)] == [1, 2]", "[?optional.of(1)] == [1]"]),
    ("entries that may be missing", ["{'a': 1, ?'b': optional.none(), ?'c': optional.of(2)} == {'a': 1, 'c': 2}"]),
    ("a list or map is made where it is needed", ["true || [?1] == [1]", "true || {?'a': 1} == {'a': 1}"]),
    ("nothing is nothing", ["null == null", "dyn(null) != 1"]),
]


@pytest.mark.parametrize("texts", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_it_holds(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


FAILS = [
    ("a field that is missing", f"{OWN}.nope == 1", "no such key: nope"),
    ("a key that is missing", f"{OWN}['nope'] == 1", "no such key: nope"),
    ("a field of a number", f"{OWN}.index.x == 1", "type 'int' does not support field selection"),
    ("has of a field of a number", f"has({OWN}.index.x)", "type 'int' does not support field selection"),
    ("an index behind the end", "[1][1] == 1", "index out of bounds: 1"),
    ("an index before the start", "[1][-1] == 1", "index out of bounds: -1"),
    ("half an index", "[1][0.5] == 1", "unsupported index type 'double' in list"),
    ("a truth as an index", "[1][dyn(true)] == 1", "unsupported index type 'bool' in list"),
    ("a text as an index", "[1][dyn('0')] == 1", "unsupported index type 'string' in list"),
    ("an index of a number", f"{OWN}.index[0] == 1", "no such overload"),
    ("what may be missing of a number", f"{OWN}.index[?0].hasValue()", "no such overload"),
    ("a name for the value of a number", f"{OWN}.index.optMap(x, true).hasValue()", "no such overload"),
    ("a list as a key", "{dyn([1]): 1} == {}", "unsupported key type: list"),
    ("in a number", f"1 in {OWN}.index", "no such overload"),
    ("a choice by a number", f"{OWN}.index ? true : false", "no such overload"),
    ("a chain with a number", f"true && {OWN}.index", "no such overload"),
    ("a chain with a number on the left", f"{OWN}.index || false", "no such overload"),
    ("an element that is no optional", f"[?{OWN}.index] == [3]", "no such overload"),
    ("an entry that is no optional", f"{{?'a': {OWN}.index}} == {{'a': 3}}", "no such overload"),
    ("a method of another type", f"{OWN}.index.startsWith('3')", r"no such overload: startsWith\(int, string\)"),
    ("the first error of a chain is told", "1 / 0 == 1 || 1 % 0 == 1", "division by zero"),
    ("the first error of a chain is told before what is no truth", f"1 / 0 == 1 || {OWN}.index", "division by zero"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_it_fails(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(text)


COSTS = [
    ("a value that is written out", "true", 0),
    ("logic", "true && !(false || true) || true", 1),
    ("a variable and a field", "device.allowMultipleAllocations || true", 2),
    ("an index", f"{OWN}.healthy", 4),
    ("a call", "1 + 1 == 2", 2),
    ("a constant list is made once", "[1, 2] == [1, 2]", 1),
    ("a list of values", "[device.driver] != []", 2 + 10 + 0),
    ("a map of values", "{'a': device.driver} != {}", 2 + 30 + 0),
    ("in a list of constants", "1 in [1, 2, 3]", 0),
    ("in a list of values", "'a' in ['a', 'b', device.driver]", 2 + 10 + 3),
    ("in a map", "'a' in device.attributes", 2 + 1),
    ("a type", "int == int", 1),
    ("only the way that is gone", "true ? true : device.allowMultipleAllocations", 0),
    ("a chain ends where it is decided", "true || device.allowMultipleAllocations", 0),
    ("a name for a value", "cel.bind(x, 1, x == 1)", 2),
]


@pytest.mark.parametrize(("text", "whole"), [row[1:] for row in COSTS], ids=[row[0] for row in COSTS])
def test_it_costs(text: str, whole: int) -> None:
    assert cost(text) == whole


def test_comparing_costs_a_tenth_of_the_shorter() -> None:
    long, short = "'" + "x" * 1000 + "'", "'" + "x" * 100 + "'"
    assert cost(f"{long} == {short} || true") == 10
    assert cost(f"{long} != {long} || true") == 100


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        pytest.param(f"{OWN}.index / 0 == 1", 4 + 1, id="a call that fails was made"),
        pytest.param(f"{OWN}.index[?0].hasValue()", 4, id="only what is there is looked up"),
    ],
)
def test_an_error_has_a_cost_too(text: str, whole: int) -> None:
    with pytest.raises(EvaluationError) as caught:
        matches(text)
    assert caught.value.cost == whole
