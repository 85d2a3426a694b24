"""Patterns in RE2's syntax: what they match, what they refuse, and that no pattern can run away."""

from __future__ import annotations

import re

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
    ("unless it is told to be", "(?s)a.b", "a\nb", (0, 3)),
    ("a quoted part is plain text", r"\Qa.b\E", "a.b", (0, 3)),
    ("an empty loop ends", "(a*)*b", "aab", (0, 3)),
]


@pytest.mark.parametrize(("pattern", "text", "span"), [case[1:] for case in FOUND], ids=[case[0] for case in FOUND])
def test_a_pattern_finds(pattern: str, text: str, span: tuple[int, int] | None) -> None:
    assert search(pattern, text) == span


REFUSED = ["(", ")", "a**", "*a", "[b-a]", "a{2,1}", "a{1001}", r"\8", r"(?<n", "(?=a)", "[[:nope:]]", "(" * 100, "\\"]


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        program(pattern)
    with pytest.raises(EvaluationError):
        search(pattern, "x")


def test_a_pattern_that_becomes_too_large_is_refused() -> None:
    with pytest.raises(RegexError, match="repeats too much"):
        program("((a{100}){100}){100}")


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
