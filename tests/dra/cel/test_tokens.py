"""The words of an expression: names, numbers, texts, operators, each with its position."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import CompileError
from numalign.dra.cel.tokens import Token, tokens
from numalign.dra.cel.values import Uint

LITERALS: list[tuple[str, str, object]] = [
    ("a whole number", "12", 12),
    ("in hexadecimal", "0x1F", 31),
    ("an unsigned one", "12u", Uint(12)),
    ("with a capital letter", "12U", Uint(12)),
    ("the largest unsigned one", "18446744073709551615u", Uint(2**64 - 1)),
    ("one more than the largest, which a minus may turn", "9223372036854775808", 2**63),
    ("a double", "1.5", 1.5),
    ("without a whole part", ".5", 0.5),
    ("with an exponent", "1e3", 1000.0),
    ("with both", "1.5e-2", 0.015),
    ("a text", "'a'", "a"),
    ("in other quotes", '"a\'b"', "a'b"),
    ("over lines", '"""a\n"b"""', 'a\n"b'),
    ("with control characters", r"'\a\b\f\n\r\t\v'", "\a\b\f\n\r\t\v"),
    ("with signs", r"'\\\?\"\'\`'", "\\?\"'`"),
    ("by their numbers", r"'\x41\X42\u0043\U00000044\105'", "ABCDE"),
    ("the last character there is", r"'\U0010ffff'", "\U0010ffff"),
    ("just outside of what is none", r"'\ud7ff\ue000'", "\ud7ff\ue000"),
    ("bytes", "b'aé'", b"a\xc3\xa9"),
    ("bytes by their numbers", r"b'\xff\101\n'", b"\xffA\n"),
    ("bytes by a character", r"b'\u00e9'", b"\xc3\xa9"),
    ("a raw text", r"r'\n'", "\\n"),
    ("raw bytes", r"br'\n'", b"\\n"),
    ("the other way round", r"rb'\x'", b"\\x"),
    ("a raw text over lines", "R'''a\n\\'''", "a\n\\"),
    ("nothing", "''", ""),
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in LITERALS], ids=[row[0] for row in LITERALS])
def test_a_literal(text: str, value: object) -> None:
    [token, end] = tokens(text)

    assert (token.value, type(token.value), token.text, token.kind) == (value, type(value), text, "value")
    assert end == Token("end", "<EOF>", len(text))


def test_words_have_their_places() -> None:
    found = tokens("a[bc] >= 'x'// no\n\t&& _c1")

    assert [(one.kind, one.text, one.position) for one in found] == [
        ("name", "a", 0),
        ("operator", "[", 1),
        ("name", "bc", 2),
        ("operator", "]", 4),
        ("operator", ">=", 6),
        ("value", "'x'", 9),
        ("operator", "&&", 19),
        ("name", "_c1", 22),
        ("end", "<EOF>", 25),
    ]


REFUSED = [
    ("a sign that is none", "a # b", "token recognition error at: '# b'", 2),
    ("long text behind it", "#234567890abc", "token recognition error at: '#234567890'", 0),
    ("a text without an end", "1 'a", "token recognition error", 2),
    ("a text over lines in single quotes", "'a\nb'", "token recognition error", 0),
    ("a raw text without an end", " r'a", "the text does not end", 1),
    ("a raw text over lines in single quotes", "r'a\nb'", "the text does not end", 0),
    ("too large a number", "9223372036854775809", "invalid int literal", 0),
    ("a far too large one", " " + "9" * 41, "invalid int literal", 1),
    ("too large an unsigned number", "18446744073709551616u", "invalid uint literal", 0),
    ("an escape that is none", r"'\z'", "invalid escape in a text", 0),
    ("half an escape", r"'\x4'", "invalid escape in a text", 0),
    ("half a pair", r"'\ud800'", "invalid unicode code point", 0),
    ("the other half", r"'\udfff'", "invalid unicode code point", 0),
    ("behind the last character", r"'\U00110000'", "invalid unicode code point", 0),
]


@pytest.mark.parametrize(("text", "message", "place"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_no_word_is_refused_with_its_place(text: str, message: str, place: int) -> None:
    with pytest.raises(CompileError) as caught:
        tokens(text)
    assert message in caught.value.message
    assert caught.value.position == place


def test_an_unsigned_number_far_too_large() -> None:
    with pytest.raises(CompileError, match="invalid uint literal"):
        tokens("9" * 41 + "u")
