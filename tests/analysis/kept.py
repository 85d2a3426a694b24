"""Answers that are kept in a file beside their test, a line each, and held against those of today."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

UPDATES = bool(os.environ.get("NUMALIGN_UPDATE_GOLDEN"))


def hold(file: Path, answers: Iterable[Any]) -> None:
    """Compare answers with those of a file. `NUMALIGN_UPDATE_GOLDEN=1` writes it anew; read what changed."""
    found = [json.loads(json.dumps(plain(one))) for one in answers]
    if UPDATES:
        write(file, found)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        kept = [json.loads(line) for line in lines]
    assert len(found) == len(kept)
    for number, (one, other) in enumerate(zip(found, kept, strict=True)):
        assert one == other, number


@cache
def recorded(file: Path, told: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Read the rows of a file: what is told `of` something. `NUMALIGN_UPDATE_GOLDEN=1` tells all of them anew."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if UPDATES:
        rows = [{"of": row["of"], "told": told(row["of"])} for row in rows]
        write(file, rows)
    return rows


def write(file: Path, rows: Iterable[Any]) -> None:
    """Write a file anew."""
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in rows)
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def plain(value: Any) -> Any:
    """Write values as a file has them: fields that are as by default are left out, sets are in order."""
    match value:
        case dict():
            return [[plain(key), plain(one)] for key, one in value.items()]
        case tuple() if hasattr(value, "_asdict"):
            default = type(value)._field_defaults
            fields = value._asdict().items()
            return {name: plain(one) for name, one in fields if name not in default or one != default[name]}
        case list() | tuple():
            return [plain(one) for one in value]
        case frozenset() | set():
            return sorted(map(plain, value))
    return value
