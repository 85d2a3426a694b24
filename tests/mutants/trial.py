"""One mutant on trial: a copy of a process that has imported the libraries becomes it and runs tests to a failure.

The mutated module is compiled from its tree and never written anywhere.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import CodeType
from typing import NamedTuple

import pytest

from tests import source_code as code
from tests.conformance import NOT_COVERED, Case, cases, expected, family_files, matches, module_of
from tests.mutants.changes import Change

VECTORS = Path(__file__).parent.parent / "vectors"
CASES = 300
"""How many recorded cases of a file judge a mutant before tests do: evenly spread. All others do after them."""
MEMORY = 3 << 30
"""Bytes that a mutant may use: one that takes ever more is caught."""


OPTIONS = (
    *("-x", "-o", "addopts=", "-m", "not soak and not installed", "--assert=plain"),
    *("-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler"),
)


class Tests(NamedTuple):
    """What a mutant is tried by: families of recorded decisions, a case takes a millisecond, then test files."""

    files: tuple[Path, ...]
    families: tuple[str, ...]


class Mutated(SourceFileLoader):
    """Gives a module's code instead of what its file says; stands first among Python's finders."""

    def __init__(self, module: str, compiled: CodeType) -> None:
        super().__init__(module, str(code.MODULES[module]))
        self._compiled = compiled

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Give the module's own place, with this as what loads it."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, _: str) -> CodeType:
        """Give the mutated code."""
        return self._compiled


def mutated(module: str, change: Change) -> Mutated:
    """Compile a module with a change."""
    path, tree = code.MODULES[module], code.tree(module)
    with change.made():
        compiled = compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
    return Mutated(module, compiled)


class Stopwatch:
    """Counts the processor time that each test file takes: to be read, and to be run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        """Count what is done meanwhile."""
        before = time.process_time()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + time.process_time() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """Count what it takes to read a file."""
        with self.of(str(collector.path)):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count what a test takes."""
        with self.of(str(item.path)):
            return (yield)


def start(tests: Tests, mutant: Mutated, seconds: int) -> int:
    """Begin a trial in a copy of this process, which may use so many seconds of processor time; returns its id."""

    def tried() -> bool:
        sys.meta_path.insert(0, mutant)
        return passes(tests, Stopwatch())

    return _copy(tried, seconds)


def measured(tests: Tests, seconds: int) -> dict[str, float] | None:
    """Say how many seconds of processor time each file and family takes without a mutant; None: a test fails."""
    with NamedTemporaryFile("r", encoding="utf-8") as told:

        def tried() -> bool:
            watch = Stopwatch()
            passed = passes(tests, watch)
            Path(told.name).write_text(json.dumps(watch.seconds), encoding="utf-8")
            return passed

        _, status = os.waitpid(_copy(tried, seconds), 0)
        if status:
            return None
        found: dict[str, float] = json.load(told)
        return found


def _copy(act: Callable[[], bool], seconds: int) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with open(os.devnull, "r+b") as nothing:
            for stream in range(3):
                os.dup2(nothing.fileno(), stream)
        sys.stdout = sys.stderr = io.StringIO()
        status = 0 if act() else 1
    finally:
        os._exit(status)


def passes(tests: Tests, watch: Stopwatch) -> bool:
    """Whether all recorded cases are decided as they were, and all tests pass; what is quickly done goes first."""
    return _decided(tests, watch, 0) and _passed(tests.files, watch) and _decided(tests, watch, 1)


def _passed(files: Sequence[Path], watch: Stopwatch) -> bool:
    return not files or pytest.main([*OPTIONS, *map(str, files)], [watch]) in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    )


def _decided(tests: Tests, watch: Stopwatch, share: int) -> bool:
    for family in tests.families:
        module = importlib.import_module(f"tests.conformance.families.{family}")
        with watch.of(family):
            if not all(matches(expected(module, case), module.decide(case)) for case in recorded(family)[share]):
                return False
    return True


_RECORDED: dict[str, tuple[list[Case], list[Case]]] = {}


def recorded(family: str) -> tuple[list[Case], list[Case]]:
    """Give some of the cases of a family and of those of single releases, and all others; read once, for all copies."""
    if family not in _RECORDED:
        some: list[Case] = []
        others: list[Case] = []
        for name, path in family_files(VECTORS):
            if module_of(name) == family:
                found = [case for case in cases(path) if case["id"] not in NOT_COVERED]
                step = max(1, len(found) // CASES)
                some += found[::step]
                del found[::step]
                others += found
        _RECORDED[family] = some, others
    return _RECORDED[family]


def ended(child: int) -> bool | None:
    """Tell whether the tests of a trial passed; None: it is under way."""
    found, status = os.waitpid(child, os.WNOHANG)
    return status == 0 if found else None


def stop(child: int) -> None:
    """End a trial that is under way."""
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
