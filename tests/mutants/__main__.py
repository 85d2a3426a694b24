"""The mutation run: how many of some mutants, drawn by a seed, do the tests catch that mirror the changed module?

    python -m tests.mutants --mutants 100 --seed 1 --jobs 2 kubelet dra

Each package gives so many mutants. A survivor is printed with its file, line and change: either a test is missing, or
nothing can tell it from the original; then it gets a row in `equal.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import random
import sys
import time
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests import mirrors
from tests import source_code as code
from tests.mutants import trial
from tests.mutants.changes import Change, changes

PACKAGES = ("kubelet", "dra", "scheduler", "analysis")
LIBRARIES = (
    "_hypothesis_pytestplugin",
    "click",
    "hypothesis.strategies",
    "jsonschema",
    "psutil",
    "rich.console",
    "yaml",
)
SLACK, TIMES = 5, 4
"""A trial may use some seconds and so many times the processor time that the tests take without a mutant."""
MOST = 600
"""Seconds of processor time that the tests may take without one."""
WAIT = 0.02
"""Seconds between two looks at what is under way."""
ASLEEP = 10
"""How many times as long a trial may last: one that sleeps uses no processor time, a busy machine gives little."""


class Mutant(NamedTuple):
    """A change of a module."""

    module: str
    change: Change

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it in `equal.toml`, whatever its line."""
        return mirrors.short(self.module), self.change.function, self.change.told()

    def told(self) -> str:
        """Say where it is and what it changes."""
        _, function, change = self.key
        path = code.MODULES[self.module].relative_to(code.PACKAGE.parent)
        return f"{path}:{self.change.line}: {function or 'top'}: {change}"


def mutants(package: str) -> list[Mutant]:
    """List all mutants of a package, or of a part of it."""
    name = f"numalign.{package}"
    modules = [module for module in code.MODULES if f"{module}.".startswith(f"{name}.")]
    return [Mutant(module, change) for module in modules for change in changes(code.tree(module))]


def equal() -> dict[tuple[str, str, str], str]:
    """Read the mutants that nothing can tell from the original, with the reasons."""
    rows = tomllib.loads((Path(__file__).parent / "equal.toml").read_text(encoding="utf-8"))["mutant"]
    return {(row["module"], row["function"], row["change"]): row["why"] for row in rows}


def tests_of(module: str) -> trial.Tests:
    """Say by what mutants of a module are tried."""
    return trial.Tests(tuple(mirrors.mirrored(module)), tuple(mirrors.families(module)))


def survivors(drawn: Sequence[Mutant], jobs: int) -> Iterator[Mutant]:
    """Try mutants, some at a time, and yield those that pass all tests.

    Raises:
        SystemExit: the tests of a module fail without a mutant.
    """
    ahead = [(mutant, tests_of(mutant.module)) for mutant in sorted(drawn, key=lambda one: one.module)]
    limits = _limits({tests for _, tests in ahead})
    under_way: dict[int, tuple[Mutant, float]] = {}
    try:
        while ahead or under_way:
            while ahead and len(under_way) < jobs:
                mutant, tests = ahead.pop()
                child = trial.start(tests, trial.mutated(mutant.module, mutant.change), limits[tests])
                under_way[child] = mutant, time.monotonic() + ASLEEP * limits[tests]
            time.sleep(WAIT)
            for child, (mutant, until) in list(under_way.items()):
                done = trial.ended(child)
                if done is None and time.monotonic() < until:
                    continue
                if done is None:
                    trial.stop(child)
                del under_way[child]
                if done:
                    yield mutant
    finally:
        for child in under_way:
            trial.stop(child)


def _limits(tried: Collection[trial.Tests]) -> dict[trial.Tests, int]:
    """Say how many seconds of processor time a trial by these tests may use, by one run of them all."""
    files = tuple(dict.fromkeys(file for tests in tried for file in tests.files))
    families = tuple(dict.fromkeys(family for tests in tried for family in tests.families))
    seconds = trial.measured(trial.Tests(files, families), MOST)
    if seconds is None:
        raise SystemExit(f"without a mutant these fail already: {', '.join(map(str, (*files, *families)))}")
    return {
        tests: SLACK + round(TIMES * sum(seconds.get(str(one), 0) for one in (*tests.files, *tests.families)))
        for tests in tried
    }


def ready(drawn: Sequence[Mutant]) -> None:
    """Have in memory what copies of this process would read each by itself: libraries and recorded cases."""
    sys.dont_write_bytecode = False  # else each copy compiles the tests anew
    for name in LIBRARIES:
        importlib.import_module(name)
    for mutant in drawn:
        for family in mirrors.families(mutant.module):
            trial.recorded(family)
    gc.freeze()


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, try and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PACKAGES, help="such as kubelet, dra.cel or scheduler.nrt.export")
    parser.add_argument("--mutants", type=int, default=50, help="so many of each part (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    known = equal()
    for part in options.parts:
        drawn = draw(part, options.mutants, options.seed)
        same = [mutant for mutant in drawn if mutant.key in known]
        tried = [mutant for mutant in drawn if mutant.key not in known]
        ready(tried)
        lived = []
        for mutant in survivors(tried, options.jobs):
            _say(mutant.told())
            lived.append(mutant)
        counts = f"{len(tried) - len(lived)} caught, {len(lived)} survived, {len(same)} equal"
        _say(f"{part}: {len(drawn)} mutants: {counts}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def draw(part: str, number: int, seed: int) -> list[Mutant]:
    """Draw mutants of a part; the same seed draws the same ones while the code is the same."""
    found = mutants(part)
    return random.Random(f"{seed} {part}").sample(found, min(number, len(found)))


if __name__ == "__main__":
    main()
