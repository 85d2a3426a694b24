"""Selectors beside the recorded ones: places of errors, limits, costs, what is refused by name."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.cel import values
from numalign.dra.cel.device import compile_selector, device_value
from numalign.dra.cel.errors import CompileError, EvaluationError, UnsupportedError, line_and_column
from tests.dra.cel.selectors import GPU, device, matches

RECORDED = Path(__file__).parents[2] / "vectors" / "dra_cel.jsonl.gz"
TRUE = [
    ("escapes in texts", r"'\x41\u0042\103\n' == 'ABC' + '\n'"),
    ("a raw text keeps its backslashes", r"r'\n'.size() == 2"),
    ("a text over several lines", "'''a\nb'''.size() == 3"),
    ("bytes", r"b'\xff'.size() == 1 && bytes('é').size() == 2"),
    ("comments are passed over", "true // and no more\n"),
    ("two signs cancel each other", "!!true && - -1 == 1"),
    ("the smallest number", "-9223372036854775808 < 0"),
    ("numbers of three kinds", "dyn(1) == 1u && 1u < 1.5 && 2.0 > 1"),
    ("a number is no key for true", "!(dyn(true) in {1: 'a'}) && {true: 1}[true] == 1"),
    ("numbers of one value are one key", "{1: 'a'}[dyn(1.0)] == 'a' && dyn(1u) in {1: 'a'}"),
    ("lists inside lists", "[[1], [2, 3]] == [[1], [2, 3]]"),
    ("division cuts towards zero", "-7 / 2 == -3 && -7 % 2 == -1"),
    ("texts of numbers", "string(1.5) == '1.5' && string(3u) == '3' && int('-4') == -4 && double('1e3') == 1000.0"),
    ("a chain of both operators", "false && true || true && true"),
    ("loops inside loops", "[1, 2].all(a, [3, 4].exists(b, b - a == 2))"),
    ("a loop with two variables", "[5, 6].all(i, v, v == i + 5) && {'a': 1}.exists(k, v, k == 'a' && v == 1)"),
    ("a list made anew", "[1, 2].transformList(i, v, v * i) == [0, 2]"),
    ("a map made anew", "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}"),
    ("map with a condition", "[1, 2, 3].map(x, x > 1, x * 10) == [20, 30]"),
    ("sets", "sets.contains([1, 2, 3], [3, 1]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 2], [2, 1, 1])"),
    ("lists have a least and a sum", "[3, 1].min() == 1 && [1.5, 2.5].sum() == 4.0 && ['b'].indexOf('b') == 0"),
    ("texts in pieces", "'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'abc'.substring(1, 2) == 'b' && ' x '.trim() == 'x'"),
    ("texts replaced", "'aaa'.replace('a', 'b', 2) == 'bba' && 'aBc'.lowerAscii() == 'abc' && 'abc'.charAt(3) == ''"),
    ("texts searched", "'abcab'.lastIndexOf('ab') == 3 && 'x'.find('y') == ''"),
    ("patterns searched", "'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1b22'.findAll('[0-9]+', 1) == ['1']"),
    ("what may be missing", "device.attributes[?'nope.example.com'].?x.orValue(7) == 7"),
    ("a missing attribute as an optional", "!device.attributes['gpu.example.com'].?nope.hasValue()"),
    ("an optional carried on", "optional.of(3).optMap(x, x + 1).value() == 4"),
    ("one optional or another", "optional.none().or(optional.of(1)).hasValue()"),
    ("addresses", "ip('::1').isLoopback() && cidr('10.0.0.0/8').containsIP('10.1.2.3') && !isIP('1.2.3')"),
    ("networks in networks", "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')"),
    ("a network's address", "cidr('10.1.2.3/8').masked().ip() == ip('10.0.0.0')"),
    ("parts of a URL", "url('https://a.example:8080/p?q=1').getPort() == '8080' && isURL('/x') && !isURL('x y')"),
    ("quantities are added", "quantity('1Gi').add(quantity('1Gi')) == quantity('2Gi')"),
    ("and taken away", "quantity('3').sub(1).asInteger() == 2"),
    ("a version with parts missing", "semver('v1.2', true) == semver('1.2.0') && !isSemver('1.2')"),
    ("versions before their release", "semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10'))"),
    ("types as values", "type(1) == int && type('a') != int && type(type(1)) == type"),
    ("an unknown domain is an empty map", "device.attributes['nope'].size() == 0 && !('nope' in device.attributes)"),
    ("any test of a domain says that it is there", "has(device.attributes.nope)"),
]  # fmt: skip


@pytest.mark.parametrize("text", [case[1] for case in TRUE], ids=[case[0] for case in TRUE])
def test_a_selector_holds(text: str) -> None:
    assert matches(text)


FAILS = [
    ("a missing attribute", "device.attributes['gpu.example.com'].nope == 1", "no such key: nope"),
    ("an overflow", "9223372036854775807 + 1 == 0", "integer overflow"),
    ("an unsigned number below zero", "1u - 2u == 0u", "unsigned integer overflow"),
    ("a quantity against a text", "dyn(quantity('1')) == '1'", "no such overload"),
    ("a type that is only known while running", "device.attributes['gpu.example.com'].index.contains('3')", "overload"),
    ("a result that is no bool", "device.attributes['gpu.example.com'].model", "could not be converted to bool"),
    ("an index outside", "[1][1] == 1", "index out of bounds"),
    ("a key that is there twice", "{'a': 1, 'a': 2}.size() == 1", "repeated key"),
    ("a pattern made while running", "'a'.matches('(' + '')", "error parsing regexp"),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in FAILS], ids=[case[0] for case in FAILS])
def test_a_selector_fails_on_a_device(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(text)


REFUSED = [
    ("an unknown variable", "dev.driver == ''", "undeclared reference to 'dev'", (1, 1)),
    ("an unknown field", "true &&\n device.foo", "undefined field 'foo'", (2, 8)),
    ("an unknown function", "nope(1)", "undeclared reference to 'nope'", (1, 1)),
    ("a type that never fits", "device.driver == 3", "found no matching overload for '_==_'", (1, 15)),
    ("a result that is never a bool", "1 + 1", "must evaluate to bool", (1, 1)),
    ("a list of two types", "1 in [1, 'a']", "expected type 'int' but found 'string'", (1, 10)),
    ("a text without an end", "'abc", "token recognition error", (1, 1)),
    ("a number that is too large", "9223372036854775808 > 0", "invalid int literal", (1, 1)),
    ("a word that is reserved", "for == 1", "reserved identifier", (1, 1)),
    ("a pattern that is none", "'a'.matches('(')", "invalid matches argument", (1, 4)),
    ("has() of no field", "has(device)", "invalid argument to has", (1, 5)),
    ("a loop over a text", "'abc'.all(c, true)", "cannot be range of a comprehension", (1, 6)),
    ("nothing at all", "  ", "Syntax error", (1, 3)),
    ("includes() behind a list of no attribute", "[1, 2].includes(1)", "no matching overload for 'includes'", (1, 7)),
]


@pytest.mark.parametrize(
    ("text", "message", "place"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_selector_is_refused_with_its_place(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(CompileError) as caught:
        compile_selector(text)
    assert message in caught.value.message
    assert line_and_column(text, caught.value.position) == place


@pytest.mark.parametrize("text", ["format.named('uuid') == 1", "strings.quote('x') == '1'", "isImage('1s')"])
def test_what_kubernetes_has_and_numalign_has_not_is_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedError, match=r"selector uses [\w.]+, which numalign does not know"):
        compile_selector(text)


HOSTILE = [
    ("brackets", "(" * 5000 + "1" + ")" * 5000),
    ("a sum of thousands", "+".join(["1"] * 4000) + " == 4000"),
    ("fields of fields", "device" + ".a" * 4000),
    ("lists in lists", "[" * 4000),
    ("signs", "!" * 9000 + "true"),
    ("a text of 11 KiB", "true && " + "'" + "x" * 11_000 + "' == ''"),
]


@pytest.mark.parametrize("text", [case[1] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_no_expression_exhausts_the_reader(text: str) -> None:
    try:
        compile_selector(text)
    except CompileError:
        return
    assert matches(text)


def test_a_long_chain_of_conditions_is_no_nesting() -> None:
    assert matches(" && ".join(["true"] * 1200))


def test_an_evaluation_has_a_cost_limit_that_nothing_absorbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million, docs/rules/dra.md 1; a hundredth of it is enough to see."""
    assert values.COST_LIMIT == 1_000_000
    monkeypatch.setattr(values, "COST_LIMIT", 10_000)
    big = "[1,2,3,4,5,6,7,8,9,10]"
    loops = f"{big}.all(a, {big}.all(b, {big}.all(c, {big}.all(d, a + b + c + d > 0))))"
    with pytest.raises(EvaluationError, match="cost limit"):
        matches(f"{loops} || true")


def test_a_text_cannot_grow_without_bound() -> None:
    doubling = "cel.bind(a, a + a, " * 40
    with pytest.raises(EvaluationError, match="cost limit"):
        matches("cel.bind(a, 'xxxxxxxxxxxxxxxx', " + doubling + "a.size() > 0" + ")" * 41)


# The order of a map's keys is random there; conversions of constants are made when compiling there, a call behind an
# error is counted there.
OTHER_COST = {"own/171", "own/173", "own/191", "own/192", "own/053", "own/055"}


def test_costs_are_those_that_were_measured() -> None:
    compared = 0
    for line in gzip.decompress(RECORDED.read_bytes()).splitlines():
        case = json.loads(line)
        for recorded in case["results"]:
            if "match" not in recorded.get("outcome", {}) or case["id"] in OTHER_COST:
                continue
            lists = "DRAListTypeAttributes" in recorded["features"]
            value = device_value(device({"name": "d", **case["device"]}), case["device"]["driver"], lists=lists)
            assert compile_selector(case["expression"], lists=lists).matches(value)[1] == recorded["cost"], case["id"]
            compared += 1
    assert compared > 400


@given(st.text("ab1'\"\\()[]{}.,:?!=<>&|+-*/% dxr\n", max_size=40))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    try:
        selector = compile_selector(text)
    except CompileError as error:
        line, column = line_and_column(text, error.position)
        assert (line, column) >= (1, 1), text  # either answer is right, this one has a place
        return
    with contextlib.suppress(EvaluationError):
        selector.matches(device_value(device(GPU), "gpu.example.com"))


PIECES = [
    "device", ".attributes", ".capacity", "['gpu.example.com']", ".model", ".index", ".memory", " == ", " < ", " in ",
    "1", "'H100'", "true", "[1, 'a']", "[1, 2]", "quantity('1Gi')", "semver('1.0.0')", "(", ")", "!", " && ", " || ",
    ".exists(x, x == 1)", ".all(x, true)", ".size()", ".compareTo(", "has(", " ? ", " : ", "{'a': 1}", ".?a",
    ".orValue(1)",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
def test_any_piecing_together_compiles_or_is_refused(text: str) -> None:
    try:
        selector = compile_selector(text)
    except CompileError:
        return
    with contextlib.suppress(EvaluationError):
        selector.matches(device_value(device(GPU), "gpu.example.com"))
