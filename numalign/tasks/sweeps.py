"""What a sweep of simulations varies, and which runs and columns are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from numalign.errors import InputError

if TYPE_CHECKING:
    from numalign.sources.cluster.public_traces import Columns


RUNS: Final = ("unaware", "aware", "instant")
"""The cluster's own scheduler is `aware`; `instant` is the same with exporters that lose no time."""
FIELDS_SWEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "policy": ("kubelet", "topologyManagerPolicy"),
    "scope": ("kubelet", "topologyManagerScope"),
    "scheduler": ("scheduler", "kind"),
    "cache": ("scheduler", "cache", "mode"),
    "resync": ("scheduler", "cache", "resync_s"),
    "scoring": ("scheduler", "scoring", "type"),
    "tie-break": ("scheduler", "tie_break"),
    "exporter": ("exporter", "mode"),
    "period": ("exporter", "period_s"),
}
"""Setting of a sweep -> where it stands in a cluster file; `kubelet` and `exporter` stand in every group of nodes."""
SWEPT: Final = (*FIELDS_SWEPT, "seed")
_DECIMALS: Final = (r"\d{1,18}(\.\d+)?", "numbers")
_NUMBERS: Final = {"seed": (r"\d{1,18}", "whole numbers"), "resync": _DECIMALS, "period": _DECIMALS}
"""Setting -> how its values are written, and words for that."""
MAX_RUNS: Final = 10_000
"""Runs of one sweep."""


def read_sweep(text: str) -> list[tuple[str, Sequence[str]]]:
    """Read `policy=restricted|best-effort,seed=1..20`.

    Raises:
        InputError: a setting cannot be swept, or has no value.
    """
    found: list[tuple[str, Sequence[str]]] = []
    for part in text.split(","):
        name, _, values = part.partition("=")
        name = name.strip()
        if name not in SWEPT:
            raise InputError(f"expected one of {', '.join(SWEPT)}, got {name!r}", "--sweep")
        if any(name == other for other, _ in found):
            raise InputError(f"duplicate {name}", "--sweep")
        listed = [value for piece in values.split("|") for value in _values(piece.strip())]
        if not listed or "" in listed:
            raise InputError(f"{name} has no value; fix: write {name}=A|B", "--sweep")
        number, what = _NUMBERS.get(name, (".*", ""))
        if not all(re.fullmatch(number, one) for one in listed):
            raise InputError(f"{name}: expected {what}, got {values!r}", "--sweep")
        found.append((name, listed))
    return found


def _values(text: str) -> Sequence[str]:
    """Read one value, or a range of whole numbers `1..20`."""
    match = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", text)
    if match is None:
        return [text]
    first, last = int(match[1]), int(match[2])
    if last - first >= MAX_RUNS:
        raise InputError(f"{text} is too long a range", "--sweep")
    return [str(number) for number in range(first, last + 1)]


def read_runs(text: str) -> list[str]:
    """Read `unaware,aware`.

    Raises:
        InputError: one is none of `RUNS`, or there twice.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in RUNS:
            raise InputError(f"expected some of {', '.join(RUNS)}, got {name!r}", "--runs")
    if len(set(names)) < len(names):
        raise InputError("duplicate run", "--runs")
    return names


def read_columns(text: str) -> Columns:
    """Read `t=start,name=id,cpu=cores,memory=mem,duration=secs,nvidia.com/gpu=gpus`.

    Raises:
        InputError: a column that is needed is missing, or one is there twice.
    """
    from numalign.sources.cluster.public_traces import Columns

    given: dict[str, str] = {}
    for part in text.split(","):
        name, _, column = (piece.strip() for piece in part.partition("="))
        if not name or not column or name in given:
            raise InputError(f"expected NAME=COLUMN, each name once, got {part!r}", "--columns")
        given[name] = column
    missing = [name for name in ("t", "name", "cpu", "memory") if name not in given]
    if missing:
        raise InputError(f"no column for {', '.join(missing)}", "--columns")
    return Columns(
        t=given.pop("t"),
        name=given.pop("name"),
        cpu=given.pop("cpu"),
        memory=given.pop("memory"),
        duration=given.pop("duration", ""),
        end=given.pop("end", ""),
        devices=tuple(given.items()),
    )
