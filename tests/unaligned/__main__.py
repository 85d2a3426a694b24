"""Judge recorded pods that are admitted and not aligned: `python -m tests.unaligned`; status 1: one is wrong."""

from __future__ import annotations

import argparse
import sys
from multiprocessing import Pool

from tests.unaligned.survey import judged, sample, shares


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge what is said to align recorded pods.")
    parser.add_argument("--count", type=int, default=200, metavar="N", help="how many")
    options = parser.parse_args()
    with Pool(2) as pool:
        found = list(pool.imap(judged, sample(options.count), chunksize=4))
    wrong = [one for one in found if one.false or one.missed or one.nearer or not one.kinds]
    sys.stdout.writelines(f"{line}\n" for line in (*shares(found), *wrong))
    return 1 if any(one.false or one.missed or one.nearer for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
