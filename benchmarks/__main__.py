"""`python -m benchmarks [NAME…] [--json FILE]`: run the benchmarks, all or those named, and print a table each."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path

from benchmarks.timing import Row

NAMES = ("merge", "admissions", "releases", "cpu", "startup", "cluster", "simulate", "claims", "node", "serve")


def main() -> None:
    """Run what is asked for; the rows also go to a file with `--json`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all when none is named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE as well")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    results: dict[str, list[Row]] = {}
    for name in arguments.names or NAMES:
        results[name] = import_module(f"benchmarks.{name}").run()
        print(f"{name}\n{table(results[name])}\n", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


def table(rows: list[Row]) -> str:
    """Lay rows out in padded columns; numbers to the right, with three figures that count."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    right = [not any(isinstance(row.get(column), str) for row in rows) for column in columns]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in cells
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if value >= 1e7:
        return f"{value:.1e}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
