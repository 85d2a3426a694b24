"""Judge the explanation of every recorded refusal: `python -m tests.refusals [--every N]`; status 1: one is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from multiprocessing import Pool

from tests.refusals.survey import Judged, judged, scenarios, shares

SHOWN = 20
"""How many of the wrong ones are shown."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge the explanation of every recorded refusal.")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th scenario")
    options = parser.parse_args()
    with Pool() as pool:
        found = [one for each in pool.imap(judged, scenarios(options.every), chunksize=8) for one in each]
    wrong = list(_wrong(found))
    sys.stdout.writelines(f"{line}\n" for line in (*shares(found), *wrong[:SHOWN]))
    return 1 if wrong else 0


def _wrong(found: list[Judged]) -> Iterator[str]:
    for one in found:
        if one.wrong:
            yield str(one)


if __name__ == "__main__":
    sys.exit(main())
