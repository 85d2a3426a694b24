"""Recorded answers: what was told of drawn cases, in a file of a line each.

`NUMALIGN_UPDATE_GOLDEN=1` writes a file anew; read what changed before you commit it.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def rounded(value: Any) -> Any:
    """Give values as a file has them: tuples are lists, keys are texts, floats have nine digits."""
    if isinstance(value, Mapping):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return round(value, 9) if isinstance(value, float) else value


def written(value: Any) -> str:
    """Write a line."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def compare(file: Path, told: Iterable[Any]) -> None:
    """Hold what is told of each case against the line of it."""
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        text = "".join(written(rounded(one)) for one in told)
        file.write_bytes(gzip.compress(text.encode(), mtime=0))
        return
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, (line, one) in enumerate(zip(lines, told, strict=True)):
            found = rounded(one)
            assert found == json.loads(line), f"case {number}"
            assert written(found) == line, f"case {number}: in another order"
