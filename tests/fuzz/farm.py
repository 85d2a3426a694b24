"""The farm: makes cases of every class as long as it is told, in several processes, and keeps what it finds.

    python -m tests.fuzz.farm --seconds 600 --jobs 2

The same seed makes the same cases. What is wrong is made small and written to `corpus/`, to be replayed for ever.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.case import Case
from tests.fuzz.classes import CLASSES, make
from tests.fuzz.judge import run

CORPUS = Path(__file__).parent / "corpus"
BATCH = 25
"""Cases of one class in a row."""
SEED_STEP = 1 << 32
"""How far the numbers of two seeds are apart."""
MAX_TRIES = 400
"""Runs that making one finding small may take."""
MAX_SHRINKING = 60.0
"""Seconds that it may take: what is slow is slow each time."""


class Found(NamedTuple):
    """A case with which something is wrong."""

    name: str
    number: int
    case: Case
    wrong: str


class Batch(NamedTuple):
    """What came of some cases."""

    name: str
    statuses: Counter[int]
    slowest: float
    found: tuple[Found, ...]


def batches(names: list[str], seed: int, seconds: float, cases: int | None) -> Iterator[tuple[str, int]]:
    """Yield (class, first number) in turn until the time is over, or each class has had so many cases."""
    end = time.monotonic() + seconds
    first = 0
    while time.monotonic() < end and (cases is None or first < cases):
        for name in names:
            yield name, seed * SEED_STEP + first
        first += BATCH


def work(job: tuple[str, int]) -> Batch:
    """Run one batch."""
    name, first = job
    folder = _folder()
    statuses: Counter[int] = Counter()
    found = []
    slowest = 0.0
    for number in range(first, first + BATCH):
        case = make(name, number)
        verdict = run(case, folder)
        statuses[verdict.status] += 1
        slowest = max(slowest, verdict.seconds)
        if verdict.wrong:
            found.append(Found(name, number, case, verdict.wrong))
    return Batch(name, statuses, slowest, tuple(found))


def _folder() -> Path:
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
    return Path(base) / f"numalign-fuzz-{os.getpid()}"


def kind_of(wrong: str) -> str:
    """Give what findings of one cause have in common."""
    return re.sub(r"[0-9]+|'[^']*'|\"[^\"]*\"", "…", wrong)[:60]


def smaller(case: Case, wrong: str, folder: Path) -> Case:
    """Leave out what a finding does not need, as long as the same is wrong."""
    tries = 0
    end = time.monotonic() + MAX_SHRINKING
    progress = True
    while progress and tries < MAX_TRIES:
        progress = False
        for candidate in _candidates(case):
            tries += 1
            if tries >= MAX_TRIES or time.monotonic() > end:
                break
            if kind_of(run(candidate, folder).wrong) == kind_of(wrong):
                case, progress = candidate, True
                break
    return case


def _candidates(case: Case) -> Iterator[Case]:
    for name in case.files:
        yield case._replace(files={key: value for key, value in case.files.items() if key != name})
    for place in range(1, len(case.arguments)):
        yield case._replace(arguments=case.arguments[:place] + case.arguments[place + 1 :])
        yield case._replace(arguments=case.arguments[:place] + case.arguments[place + 2 :])
    for shorter in _shorter(case.stdin):
        yield case._replace(stdin=shorter)
    for name, content in case.files.items():
        for shorter in _shorter(content):
            yield case._replace(files={**case.files, name: shorter})


def _shorter(data: bytes) -> Iterator[bytes]:
    """Yield data with a part left out, the largest first."""
    size = len(data) // 2
    while size >= max(len(data) // 64, 1):
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2


def keep(found: Found, folder: Path) -> Path:
    """Make a finding small and write it to the corpus."""
    case = smaller(found.case, found.wrong, folder)
    data = {"class": found.name, "number": found.number, "was": found.wrong, **case.to_json()}
    name = hashlib.sha256(kind_of(found.wrong).encode()).hexdigest()[:10]
    path = CORPUS / f"{found.name}-{name}.json"
    path.write_text(json.dumps(data, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
    return path


def table(counts: dict[str, Counter[int]], slowest: dict[str, float], findings: Counter[str]) -> str:
    """Write how many cases of each class ended how."""
    lines = [f"{'class':<16}{'cases':>9}{'0':>9}{'1':>9}{'2':>9}{'3':>8}{'4':>8}{'other':>7}{'slowest':>9}{'wrong':>7}"]
    for name in (*counts, "all"):
        one = counts[name] if name in counts else sum(counts.values(), Counter[int]())
        other = sum(number for status, number in one.items() if status not in range(5))
        told = "".join(f"{one[status]:>{width}}" for status, width in zip(range(5), (9, 9, 9, 8, 8), strict=True))
        longest = slowest.get(name, max(slowest.values(), default=0.0))
        wrong = findings[name] if name in counts else sum(findings.values())
        lines.append(f"{name:<16}{sum(one.values()):>9}{told}{other:>7}{longest:>8.1f}s{wrong:>7}")
    return "\n".join(lines)


def done(jobs: Iterator[tuple[str, int]], processes: int) -> Iterator[Batch]:
    """Run batches in several processes, a few ahead. One that dies is a finding of the batches it had."""
    context = multiprocessing.get_context("spawn")
    more = True
    while more:
        more = False
        with ProcessPoolExecutor(processes, context, max_tasks_per_child=200) as pool:
            under_way = {pool.submit(work, job): job for job in islice(jobs, processes * 2)}
            while under_way:
                ended, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for one in ended:
                    name, first = under_way.pop(one)
                    if one.exception() is None:
                        yield one.result()
                    else:
                        more = True
                        wrong = f"died: {type(one.exception()).__name__} in {first} and {BATCH - 1} more"
                        yield Batch(name, Counter({-1: BATCH}), 0.0, (Found(name, first, Case(()), wrong),))
                    under_way |= {pool.submit(work, job): job for job in islice(jobs, 0 if more else 1)}


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the farm; the exit status says whether something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, in seconds")
    parser.add_argument("--cases", type=int, help="at most so many of each class")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--seed", type=int, default=0, help="which cases")
    parser.add_argument("--classes", default=",".join(CLASSES), help="which classes")
    parser.add_argument("--dry", action="store_true", help="write nothing to the corpus")
    chosen = parser.parse_args()
    names = chosen.classes.split(",")
    counts = {name: Counter[int]() for name in names}
    slowest = dict.fromkeys(names, 0.0)
    findings: Counter[str] = Counter()
    kinds: dict[tuple[str, str], Found] = {}
    jobs = batches(names, chosen.seed, chosen.seconds, chosen.cases)
    for batch in done(jobs, chosen.jobs):
        counts[batch.name] += batch.statuses
        slowest[batch.name] = max(slowest[batch.name], batch.slowest)
        for found in batch.found:
            findings[found.name] += 1
            if (found.name, kind_of(found.wrong)) not in kinds:
                kinds[found.name, kind_of(found.wrong)] = found
                say(f"{found.name} {found.number}: {found.wrong}")
    say(table(counts, slowest, findings))
    for found in kinds.values():
        if not chosen.dry and not found.wrong.startswith("died"):
            say(f"kept {keep(found, _folder()).name}")
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
