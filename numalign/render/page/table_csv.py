"""Tables for spreadsheets and scripts: comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def table_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a header and rows; nothing is an empty cell, truth is `true` or `false`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if one is None else str(one).lower() if isinstance(one, bool) else one for one in row])
    return out.getvalue()
