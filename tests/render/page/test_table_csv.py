"""Comma-separated values: no text of an input is a formula of a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest

from numalign.render.page.table_csv import table_csv


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0"])
def test_a_text_is_no_formula(text: str) -> None:
    (_, (cell, *_)) = csv.reader(io.StringIO(table_csv(["name"], [[text, -1]]), newline=""))

    assert cell == f"'{text}"


def test_numbers_and_plain_texts_stay() -> None:
    assert table_csv(["a"], [[-1, 1.5, "a-b", None, True]]) == "a\n-1,1.5,a-b,,true\n"


def test_no_text_begins_a_row_of_its_own() -> None:
    assert table_csv(["a"], [["x\r=1"]]) == "a\nx\\r=1\n"
