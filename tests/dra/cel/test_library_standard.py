"""Operators, conversions and methods of the language itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.cel.errors import EvaluationError
from tests.dra.cel.selectors import cost, matches

MOST, LEAST, MOST_UNSIGNED = "9223372036854775807", "-9223372036854775808", "18446744073709551615u"

SAME = [
    ("sums up to the largest number", [f"9223372036854775806 + 1 == {MOST}"]),
    ("differences down to the smallest", [f"-{MOST} - 1 == -9223372036854775808"]),
    ("products", ["6 * 7 == 42", "6u * 7u == 42u", "1.5 * 2.0 == 3.0"]),
    ("quotients", ["7 / 2 == 3", "7u / 2u == 3u", "7.0 / 2.0 == 3.5"]),
    ("quotients cut towards zero", ["-7 / 2 == -3", "7 / -2 == -3", "-7 / -2 == 3"]),
    ("rests have the sign of what is divided", ["-7 % 2 == -1", "7 % -2 == 1", "-7 % -2 == -1", "7u % 2u == 1u"]),
    ("unsigned sums up to the largest number", [f"18446744073709551614u + 1u == {MOST_UNSIGNED}"]),
    ("unsigned differences down to zero", ["3u - 3u == 0u"]),
    ("a double divided by zero is infinite", ["1.0 / 0.0 == double('Inf')", "-1.0 / 0.0 == double('-Inf')"]),
    ("zero has a sign", ["1.0 / -0.0 == double('-Inf')"]),
    ("zero by zero is no number", ["0.0 / 0.0 != 0.0 / 0.0", "string(0.0 / 0.0 / 0.0) == 'NaN'"]),
    ("too large a double is infinite", ["1e308 * 10.0 == double('Inf')", "1e308 + 1e308 == double('Inf')"]),
    ("signs", ["-(3) == 0 - 3", "-(1.5) == 0.0 - 1.5", "!false"]),
    ("texts and bytes and lists are joined", ["'a' + 'b' == 'ab'", "b'a' + b'b' == b'ab'", "[1] + [2] == [1, 2]"]),
    ("less", ["1 < 2", "!(2 < 2)", "'a' < 'b'", "!('b' < 'b')", "b'a' < b'b'", "false < true"]),
    ("at most", ["2 <= 2", "!(3 <= 2)", "'b' <= 'b'", "true <= true"]),
    ("more", ["2 > 1", "!(2 > 2)", "'b' > 'a'", "!(true > true)"]),
    ("at least", ["2 >= 2", "!(2 >= 3)", "'b' >= 'b'"]),
    ("numbers of all kinds are ordered", ["1 < 1.5", "1.5 > 1", "1u < 2", "2 > 1u", "2.5 >= 2u", "-1 < 0u"]),
    (
        "sizes",
        ["size('äb') == 2", "size(b'\\xc3\\xa4') == 2", "size([1, 2]) == 2", "size({'a': 1}) == 1", "'ab'.size() == 2"],
    ),
    (
        "numbers become whole",
        [
            "int(1.9) == 1",
            "int(9e18) == 9000000000000000000",
            "int(-1.9) == -1",
            "int(3u) == 3",
            "int('-4') == -4",
            "int('+4') == 4",
            f"int('{4:030}') == 4",
        ],
    ),
    ("numbers become unsigned", ["uint(3) == 3u", "uint(3.9) == 3u", "uint('4') == 4u"]),
    (
        "the ends of numbers",
        [f"int('{MOST}') == {MOST}", f"int('{LEAST}') == {LEAST}", "uint('18446744073709551615') > 0u"],
    ),
    (
        "numbers become doubles",
        ["double(1) == 1.0", "double(2u) == 2.0", "double('1e3') == 1000.0", "double('.5') == 0.5"],
    ),
    (
        "values become texts",
        ["string(1) == '1'", "string(3u) == '3'", "string(true) == 'true'", "string(false) == 'false'"],
    ),
    ("bytes become texts, and texts bytes", ["string(b'\\xc3\\xa4') == 'ä'", "bytes('ä') == b'\\xc3\\xa4'"]),
    ("texts and bytes stay", ["string('a') == 'a'", "bytes(b'a') == b'a'", "bool(true)", "int(1) == 1"]),
    (
        "doubles become short texts",
        ["string(1.5) == '1.5'", "string(-0.25) == '-0.25'", "string(2.0) == '2'", "string(100.0) == '100'"],
    ),
    (
        "long and small ones with an exponent",
        [
            "string(1e21) == '1e+21'",
            "string(1e20) == '100000000000000000000'",
            "string(0.0001) == '0.0001'",
            "string(0.00001) == '1e-05'",
        ],
    ),
    (
        "what is no number has a name",
        ["string(0.0 / 0.0) == 'NaN'", "string(1.0 / 0.0) == '+Inf'", "string(-1.0 / 0.0) == '-Inf'"],
    ),
    ("texts become true", ["bool('1')", "bool('t')", "bool('T')", "bool('TRUE')", "bool('true')", "bool('True')"]),
    ("and false", ["!bool('0')", "!bool('f')", "!bool('F')", "!bool('FALSE')", "!bool('false')", "!bool('False')"]),
    ("texts begin, end and hold", ["'abc'.startsWith('ab')", "'abc'.endsWith('bc')", "'abc'.contains('b')"]),
    ("and do not", ["!'abc'.startsWith('b')", "!'abc'.endsWith('b')", "!'abc'.contains('ac')"]),
    ("patterns match anywhere", ["'abc'.matches('b')", "matches('abc', '^a')", "!'abc'.matches('^b')"]),
    (
        "types have names",
        ["type(1) == int", "type(1u) == uint", "type(1.0) == double", "type('') == string", "type(b'') == bytes"],
    ),
    (
        "other types have names",
        ["type([]) == list", "type({}) == map", "type(null) == null_type", "type(true) == bool", "type(int) == type"],
    ),
]


@pytest.mark.parametrize("texts", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_it_holds(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


FAILS = [
    ("a sum above the largest number", f"{MOST} + 1 == 0", "integer overflow"),
    ("a difference below the smallest", f"{LEAST} - 1 == 0", "integer overflow"),
    ("the smallest number turned round", f"-(dyn({LEAST})) == 0", "integer overflow"),
    ("the smallest number divided by minus one", f"{LEAST} / -1 == 0", "integer overflow"),
    ("an unsigned sum above the largest", f"{MOST_UNSIGNED} + 1u == 0u", "unsigned integer overflow"),
    ("an unsigned difference below zero", "3u - 4u == 0u", "unsigned integer overflow"),
    ("a division by zero", "1 / 0 == 0", "division by zero"),
    ("a rest by zero", "1 % 0 == 0", "modulus by zero"),
    ("a double above all whole numbers", "int(9223372036854775808.0) == 0", "integer overflow"),
    ("a double below all whole numbers", "int(-9223372036854775808.0) == 0", "integer overflow"),
    ("no number as a whole one", "int(0.0 / 0.0) == 0", "integer overflow"),
    ("a large unsigned number as a whole one", f"int({MOST_UNSIGNED}) == 0", "integer overflow"),
    ("a negative number as an unsigned one", "uint(-1) == 0u", "unsigned integer overflow"),
    ("a negative double as an unsigned one", "uint(-0.5) == 0u", "unsigned integer overflow"),
    ("a double above all unsigned numbers", "uint(18446744073709551616.0) == 0u", "unsigned integer overflow"),
    ("no number as an unsigned one", "uint(0.0 / 0.0) == 0u", "unsigned integer overflow"),
    ("a text that is no number", "int('1.5') == 0", 'parsing "1.5": invalid syntax'),
    ("a text with two signs", "int('--1') == 0", "invalid syntax"),
    ("a text of 31 figures", f"int('{4:031}') == 4", "invalid syntax"),
    ("an empty text as a number", "int('') == 0", "invalid syntax"),
    ("figures of another script", "int('١') == 0", "invalid syntax"),
    ("a text that is too large a number", "int('9223372036854775808') == 0", "integer overflow"),
    ("a text that is too large an unsigned number", "uint('18446744073709551616') == 0u", "unsigned integer overflow"),
    ("a text that is no double", "double('x') == 0.0", "strconv.ParseFloat"),
    ("a double with a blank", "double(' 1') == 0.0", "strconv.ParseFloat"),
    ("a double with an underscore", "double('1_0') == 0.0", "strconv.ParseFloat"),
    ("a text that is no truth", "bool('yes')", "strconv.ParseBool"),
    ("bytes that are no text", "string(b'\\xff') == ''", "invalid UTF-8"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_it_fails(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(text)


_INTS = st.one_of(st.integers(-20, 20), st.integers(-(2**63) + 1, 2**63 - 1))


@given(_INTS, _INTS.filter(bool))
def test_quotient_and_rest_make_the_number_again(one: int, other: int) -> None:
    assert matches(f"({one} / {other}) * {other} + {one} % {other} == {one}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_is_read_back_as_it(number: float) -> None:
    assert matches(f"double(string(double('{number!r}'))) == double('{number!r}')")


def text(size: int) -> str:
    return "'" + "x" * size + "'"


COSTS = [
    ("joining texts: a tenth of both", "type({} + '') == string", 50),
    ("joining on the other side", "type('' + {}) == string", 50),
    ("comparing texts: a tenth of the shorter", "{0} < {0}", 50),
    ("comparing with a short text", "{} < 'y'", 0),
    ("holding a long text: the product of the tenths", "{}.contains('yyyyyyyyyyyyyyyyyyyy') || true", 100),
    ("bytes of a text", "type(bytes({})) == bytes", 50),
]


@pytest.mark.parametrize(("asked", "more"), [row[1:] for row in COSTS], ids=[row[0] for row in COSTS])
def test_costs_grow_with_texts(asked: str, more: int) -> None:
    assert cost(asked.format(text(1000))) - cost(asked.format(text(500))) == more
