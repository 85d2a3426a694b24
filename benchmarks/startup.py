"""Whole-process times of short commands, beside a bare interpreter that imports what they cannot do without."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.timing import Row, process_seconds

ROOT = Path(__file__).parent.parent

PAIRS = (
    ("--version", ["--version"], "click, yaml"),
    (
        "admit -o json",
        [
            "admit",
            str(ROOT / "pods/announcement.yaml"),
            "--machine",
            "figure-1",
            "--policy",
            "single-numa-node",
            "-o",
            "json",
        ],
        "click, yaml",
    ),
    ("discover -o json", ["discover", "-o", "json"], "click, psutil"),
)
"""(what, numalign's arguments, what the bare interpreter imports)."""


def run(runs: int = 15) -> list[Row]:
    """Time each command and its bare import in turns, `runs` times; medians count."""
    rows = []
    for what, arguments, imports in PAIRS:
        commands = [[sys.executable, "-m", "numalign", *arguments], [sys.executable, "-c", f"import {imports}"]]
        own, bare = process_seconds(commands, runs, statuses=(0, 1))
        rows.append(
            {
                "command": f"numalign {what}",
                "ms": own * 1000,
                "beside": f"import {imports}",
                "beside_ms": bare * 1000,
                "ratio": own / bare,
            }
        )
    return rows
