"""Patterns in RE2's syntax: what they match, what they refuse, and that no pattern can run away."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.cel import regex
from numalign.dra.cel.errors import CostError, EvaluationError
from numalign.dra.cel.regex import find_all, program, search
from numalign.dra.cel.regex_syntax import RegexError

FOUND = [
    ("a plain text is found anywhere", "10", "A100", (1, 3)),
    ("an anchor holds it to the start", "^A1", "A100", (0, 2)),
    ("the leftmost match wins over a longer one", "a|ab+", "xabb", (1, 2)),
    ("the first alternative that fits wins", "ab|a", "ab", (0, 2)),
    ("a lazy repetition takes as little as it can", "a+?", "aaa", (0, 1)),
    ("a greedy one as much as it can", "a+", "aaa", (0, 3)),
    ("a count has a lower and an upper bound", "a{2,3}", "aaaa", (0, 3)),
    ("braces that are no count are plain text", "a{,3}", "xa{,3}", (1, 6)),
    ("case can be left aside", "(?i)h100", "NVIDIA H100", (7, 11)),
    ("case can be left aside in a group only", "(?i:h)1", "H1", (0, 2)),
    ("after the group case counts again", "(?i:h)x", "HX", None),
    ("a class may be negated", "[^a-z]+", "ab12", (2, 4)),
    ("a dash at the end of a class is a dash", "[a-]+", "-a-", (0, 3)),
    ("named classes", "[[:digit:]]+", "ab12", (2, 4)),
    (r"\d, \w and \s", r"\w\s\d", "a 1", (0, 3)),
    (r"a word's edge", r"\bto\b", "onto to", (5, 7)),
    ("the end of the text", r"0$", "100", (2, 3)),
    ("a dot is no line break", "a.b", "a\nb", None),
    ("a dot is any other sign", "a.b", "a\tb", (0, 3)),
    ("unless it is told to be", "(?s)a.b", "a\nb", (0, 3)),
    ("a quoted part is plain text", r"\Qa.b\E", "a.b", (0, 3)),
    ("a word's edge at the start", r"\bto", "to go", (0, 2)),
    ("and at the end", r"go\b", "to go", (3, 5)),
    ("an underscore and a figure are of words", r"a\b", "a_ a1 a", (6, 7)),
    ("no edge of a word", r"o\B", "to on", (3, 4)),
    ("no edge between others", r"\B-", " -", (1, 2)),
    ("the start and the end of the text", r"\A(a)\z", "a", (0, 1)),
    ("the end of a line is none of the text", r"a$", "a\nb", None),
    ("lines", r"(?m)^b$", "a\nb\nc", (2, 3)),
    ("the first and the last line", r"(?m)^a$|^c$", "c", (0, 1)),
    ("several flags", r"(?im)^B$", "a\nb", (2, 3)),
    ("a flag that is taken back", r"(?i)a(?-i)b", "Ab AB", (0, 2)),
    ("flags end with their group", r"(?:(?i)a)b", "Ab", (0, 2)),
    ("greed turned round", r"(?U)a+", "aaa", (0, 1)),
    ("and back", r"(?U)a+?", "aaa", (0, 3)),
    ("at least", r"a{2,}", "a aaa", (2, 5)),
    ("at most", r"a{0,2}", "aaa", (0, 2)),
    ("exactly", r"a{2}", "aaa", (0, 2)),
    ("none", r"ba{0}c", "bc", (0, 2)),
    ("as few as it can", r"a{1,3}?", "aaa", (0, 1)),
    ("as few as it can, but enough", r"^a{1,3}?b", "aaab", (0, 4)),
    ("maybe", r"ab?", "ab", (0, 2)),
    ("maybe, but once", r"ab?c", "abbc", None),
    ("rather not", r"ab??", "ab", (0, 1)),
    ("any or none, lazy", r"ab*?c", "abbc", (0, 4)),
    ("a named group", r"(?P<n_1>a)(?<m>b)", "ab", (0, 2)),
    ("no capital letters of a class", r"\D\W\S", "a-b", (0, 3)),
    ("classes in a class", r"[\d_\s]+", "a1_ ", (1, 4)),
    ("what is in none of them", r"[^\w]", "a_-", (2, 3)),
    ("all but a class in a class", r"[\D]+", "12ab3", (2, 4)),
    ("what only begins like a named class", "[[:alpha]+", "x:[hay", (1, 5)),
    ("named classes turned round", r"[[:^alpha:]]+", "ab12", (2, 4)),
    ("all of a named class but one", r"[[:upper:]x]+", "aXxA", (1, 4)),
    ("figures in hexadecimal", r"[[:xdigit:]]+", "xyz09afAFg", (3, 9)),
    ("signs", r"[[:punct:]]+", "a!/:@[`{~b", (1, 9)),
    ("a bracket first in a class", r"[]a]+", "]a[", (0, 2)),
    ("in a class turned round", r"[^]a]+", "]b[a", (1, 3)),
    ("two signs turned round, the later first", "[^ca]+", "abc", (1, 2)),
    ("a dash first in a class", r"[-a]+", "b-a", (1, 3)),
    ("a range", r"[b-d]+", "abcde", (1, 4)),
    ("a range by escapes", r"[\x62-\x64]+", "abcde", (1, 4)),
    ("an escaped sign in a class", r"[\]\-]+", "a-]", (1, 3)),
    ("characters by their numbers", r"\x41\x{42}\0\011", "AB\0\t", (0, 4)),
    ("a number has as many figures as it has", r"\x{0000000041}", "A", (0, 1)),
    ("in octal at most three", r"\0117", "\t7", (0, 2)),
    ("groups in groups", "(" * 39 + "a" + ")" * 39, "a", (0, 1)),
    ("groups one behind the other are not nested", "(a)" * 41, "a" * 41, (0, 41)),
    ("control characters", r"\a\f\t\n\r\v", "\a\f\t\n\r\v", (0, 6)),
    ("escaped signs", r"\.\*\(\$", ".*($", (0, 4)),
    ("case aside in a range", r"(?i)[b-d]+", "ABCDE", (1, 4)),
    ("case aside of other letters", "(?i)Ä", "ä", (0, 1)),
    ("no sign is another case of a sign", r"(?i)@|\[", "`{", None),
    ("nor the other way round", r"(?i)`|\{", "@[", None),
    ("a letter whose other case is two", "(?i)ß", "ß", (0, 1)),
    ("case aside keeps signs", r"(?i)[Z-a]+", "z_A-", (0, 3)),
    ("a quoted part without an end", r"a\Q.*", "xa.*", (1, 4)),
    ("behind a quoted part", r"\Qa+\Eb", "a+b", (0, 3)),
    ("an empty alternative", r"a(|b)c", "ac", (0, 2)),
    ("an empty pattern", r"", "abc", (0, 0)),
    ("an empty loop ends", "(a*)*b", "aab", (0, 3)),
]


@pytest.mark.parametrize(("pattern", "text", "span"), [case[1:] for case in FOUND], ids=[case[0] for case in FOUND])
def test_a_pattern_finds(pattern: str, text: str, span: tuple[int, int] | None) -> None:
    assert search(pattern, text) == span


CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "ascii": "".join(map(chr, range(128))),
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "word": string.ascii_letters + string.digits + "_",
    "xdigit": string.hexdigits,
}
SHORT = {"d": CLASSES["digit"], "w": CLASSES["word"], "s": " \t\n\r\f"}
BYTES = [chr(code) for code in range(256)]


@pytest.mark.parametrize("name", CLASSES)
def test_a_named_class_has_its_characters_and_no_others(name: str) -> None:
    assert {char for char in BYTES if search(f"^[[:{name}:]]$", char)} == set(CLASSES[name])
    assert {char for char in BYTES if not search(f"^[[:^{name}:]]$", char)} == set(CLASSES[name])


@pytest.mark.parametrize("name", SHORT)
def test_a_short_class_has_its_characters_and_no_others(name: str) -> None:
    assert {char for char in BYTES if search(rf"^\{name}$", char)} == set(SHORT[name])
    assert {char for char in BYTES if not search(rf"^\{name.upper()}$", char)} == set(SHORT[name])


@pytest.mark.parametrize("range_", ["A-Z", "a-z"])
def test_a_range_of_all_letters_has_them_in_both_cases(range_: str) -> None:
    assert {char for char in BYTES if search(f"(?i)^[{range_}]$", char)} == set(string.ascii_letters)


REFUSED = [
    "(",
    ")",
    "a**",
    "*a",
    "[b-a]",
    "a{2,1}",
    "a{1001}",
    "a{1001,}",
    "a{1,1001}",
    r"\8",
    r"\§",
    r"(?<n",
    "(?=a)",
    "[[:nope:]]",
    "(" * 40 + "a" + ")" * 40,
    "\\",
    "(?x)a",
    "(?i",
    "[a",
    "a{2}{3}",
    "a+*",
    r"\x4",
    r"\xzz",
    r"\x{110000}",
    r"\x{}",
    r"\x{-1}",
    r"\x{4_1}",
    "\\x{\u0664}",
    "(?P<>a)",
    "(?P<a-b>a)",
    r"\y",
    "[z-a]",
    "+",
    "?",
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        program(pattern)
    with pytest.raises(EvaluationError):
        search(pattern, "x")


def test_a_pattern_that_becomes_too_large_is_refused() -> None:
    with pytest.raises(RegexError, match="repeats too much"):
        program("((a{100}){100}){100}")


def test_a_pattern_has_so_many_steps() -> None:
    ten_thousand = "(a{100}){100}"
    program(f"{ten_thousand}b")
    with pytest.raises(RegexError, match="nests or repeats too much"):
        program(f"{ten_thousand}bc")


def test_a_hostile_pattern_takes_no_longer_than_others() -> None:
    assert search("(a+)+$", "a" * 60 + "b") is None
    assert search("^" + "(a|a)*" * 10 + "$", "a" * 60 + "b") is None


def test_work_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "MAX_WORK", 200_000)
    assert search("x{1000}", "x" * 99 + "y") is None
    with pytest.raises(CostError, match="200000"):
        search("x{1000}", ("x" * 999 + "y") * 3)


def test_all_places_are_found_up_to_a_limit() -> None:
    assert find_all("a.", "abacad") == [(0, 2), (2, 4), (4, 6)]
    assert find_all("a.", "abacad", 2) == [(0, 2), (2, 4)]
    assert find_all("x*", "ab") == [(0, 0), (1, 1), (2, 2)]


_ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "(?:ab)", r"\w"])
_PIECES = st.tuples(_ATOMS, st.sampled_from(["", "*", "+", "?", "{1,2}", "*?"])).map("".join)
_PATTERNS = st.lists(_PIECES, min_size=1, max_size=4).map("".join)


@given(st.lists(_PATTERNS, min_size=1, max_size=3).map("|".join), st.text("abc", max_size=8))
def test_python_finds_the_same_where_both_know_the_pattern(pattern: str, text: str) -> None:
    found = re.search(pattern, text)
    assert search(pattern, text) == (found.span() if found else None)


def test_the_last_character_there_is() -> None:
    assert search(r"\x{10FFFF}", "\U0010ffff") == (0, 1)


@pytest.mark.parametrize("pattern", ["(" * 41 + ")" * 41, "a{1234567890}"], ids=["too deep", "too often"])
def test_a_pattern_beyond_the_bounds_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        program(pattern)
