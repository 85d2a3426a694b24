"""Tables for spreadsheets and scripts: comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from numalign.render.escape import printable

Rows = tuple[Sequence[str], Iterable[Sequence[object]]]
"""Columns, and rows with a value for each."""


def table_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a header and rows; nothing is an empty cell, truth is `true` or `false`.

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(one) for one in row])
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        text = printable(value)
        return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value
