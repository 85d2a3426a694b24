"""Devices by their ids, in words: those that count up as a range, of many others their number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.render.text.amounts import listed

if TYPE_CHECKING:
    from numalign.analysis.placed import Nearby, Part

MAX_IDS_NAMED = 4
"""How many ids of devices that do not count up are named; of more their number is told."""


def part_text(part: Part | Nearby) -> str:
    """Name devices or memory: `nvidia.com/gpu gpu4–7`, `nvidia.com/gpu gpu0 and gpu1`, `memory`."""
    return devices_text(part.resource, part.ids)


def devices_text(resource: str, some: Sequence[str]) -> str:
    """Name devices of a resource; without ids the resource alone."""
    if len(some) == 2:
        return f"{resource} {listed(some)}"
    return f"{resource} {ids_text(some)}" if some else resource


def ids_text(ids: Sequence[str], most: int = MAX_IDS_NAMED) -> str:
    """Write ids of devices, those that count up as a range: `gpu0–3,gpu6`; of more than `most` others their number."""
    pieces = [
        f"{prefix}{first}" + (f"–{last}" if first and last > int(first) else "") for prefix, first, last in _runs(ids)
    ]
    if len(pieces) > most:
        return f"{ids[0]} and {len(ids) - 1} more"
    return ",".join(pieces)


def _runs(ids: Iterable[str]) -> list[tuple[str, str, int]]:
    """Join ids that count up into (prefix, first, last); an id without a number is a prefix alone."""
    runs: list[tuple[str, str, int]] = []
    for each in ids:
        match = re.fullmatch(r"(.*?)(0|[1-9][0-9]{0,8})", each)
        if match is None:
            runs.append((each, "", 0))
            continue
        prefix, number = match[1], int(match[2])
        if runs and runs[-1][1] and runs[-1][0] == prefix and runs[-1][2] == number - 1:
            runs[-1] = (prefix, runs[-1][1], number)
        else:
            runs.append((prefix, match[2], number))
    return runs
