"""How tables and prose fit a terminal: nothing is lost or wider than it may be, words stay whole where they can."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.render.page.layout import GAP, chosen, hung, useful, widths, wrapped

TEXTS = st.text("abcXYZ0189 ,;/-.·", max_size=60)
COLUMNS = ("POD", "QOS", "HINT", "DEVICES")
ROWS = (("web-0", "Guaranteed", "node 0", "nvidia.com/gpu ×4 (gpu0–3)"), ("web-1", "Guaranteed", "-", "-"))


@given(TEXTS, st.integers(1, 40))
def test_wrapping_loses_nothing_and_keeps_the_width(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(line) <= width for line in lines)


@given(TEXTS, st.integers(20, 60))
def test_hanging_loses_no_word(text: str, width: int) -> None:
    lines = list(hung(text, width))
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("nvidia.com/gpu ×4 (gpu0–3)", 18, ["nvidia.com/gpu ×4", "(gpu0–3)"]),
        ("0-7,112-119,128", 8, ["0-7,", "112-119,", "128"]),
        ("single-numa-node", 12, ["single-numa-", "node"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("short", 9, ["short"]),
        ("TopologyAffinityError", 16, ["TopologyAffinity", "Error"]),
        ("4 sriov_netdevice", 12, ["4 sriov_", "netdevice"]),
        ("free: 32 of 32 ✓", 12, ["free:", "32 of 32 ✓"]),
        ("32 + 4 of 36 ~", 8, ["32 + 4", "of 36 ~"]),
    ],
)
def test_lines_break_at_blanks_and_signs_first(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines


def test_a_title_breaks_before_an_amount_does() -> None:
    columns, row = ("FREE ON", "cpu", "example.com/sriov_netdevice"), ("node-0", "32 of 32 ✓", "4 of 4 ~")
    found = widths(columns, [row], [0, 1, 2], 32)
    assert found == [6, 10, 12]
    assert wrapped(columns[2], found[2], title=True) == ["example.com/", "sriov_", "netdevice"]
    assert [wrapped(cell, width) for cell, width in zip(row, found, strict=True)] == [[cell] for cell in row]


def test_prose_hangs() -> None:
    assert list(hung("  1. ask for less of everything", 16, 3)) == ["  1. ask for", "     less of", "     everything"]
    assert list(hung("  a long sentence here", 12)) == ["  a long", "    sentence", "    here"]


def test_columns_that_say_nothing_are_left_out() -> None:
    assert useful(("POD", "HINT", "CPUS"), (("a", "-", "0-1"), ("b", "", "2"))) == [0, 2]
    assert useful(("POD", "HINT"), ()) == [0, 1]


@pytest.mark.parametrize(
    ("width", "expected"), [(80, [0, 1, 2, 3]), (44, [0, 1, 2, 3]), (38, [0, 2, 3]), (26, [0, 3]), (10, [0, 3])]
)
def test_the_least_needed_columns_go_first(width: int, expected: list[int]) -> None:
    assert chosen(COLUMNS, ROWS, ("QOS", "HINT"), width) == expected


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4), st.integers(30, 100))
def test_a_table_is_never_wider_than_it_may_be(rows: list[tuple[str, str, str]], width: int) -> None:
    columns = ("ONE", "TWO", "THREE")
    places = chosen(columns, rows, ("TWO",), width)
    found = widths(columns, rows, places, width)
    assert sum(found) + GAP * (len(found) - 1) <= width


def test_a_table_that_fits_is_as_wide_as_its_texts() -> None:
    assert widths(COLUMNS, ROWS, [0, 1, 2, 3], 80) == [5, 10, 6, 26]
