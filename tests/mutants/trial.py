"""One mutant on trial: a copy of a process that has imported the libraries becomes it and runs tests to a failure.

The mutated module is compiled from its tree and never written anywhere.
"""

from __future__ import annotations

import ast
import importlib
import io
import os
import resource
import signal
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import pytest

from tests import source_code as code
from tests.conformance import NOT_COVERED, Case, cases, expected, family_files, matches, module_of
from tests.mutants.changes import Change

VECTORS = Path(__file__).parent.parent / "vectors"
CASES = 1000
"""How many recorded cases of a family judge a mutant: evenly spread over the file."""
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


def start(tests: Tests, mutant: Mutated | None, seconds: int) -> int:
    """Begin a trial in a copy of this process, which may use so many seconds of processor time; returns its id."""
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
        if mutant is not None:
            sys.meta_path.insert(0, mutant)
        status = 0 if passes(tests) else 1
    finally:
        os._exit(status)


def passes(tests: Tests) -> bool:
    """Whether all recorded cases are decided as they were, and all tests pass."""
    if not all(_decided(family, case) for family in tests.families for case in recorded(family)):
        return False
    return not tests.files or pytest.main([*OPTIONS, *map(str, tests.files)]) in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    )


def _decided(family: str, case: Case) -> bool:
    module = importlib.import_module(f"tests.conformance.families.{family}")
    return matches(expected(module, case), module.decide(case))


_RECORDED: dict[str, list[Case]] = {}


def recorded(family: str) -> list[Case]:
    """Give some of the cases of a family and of those of single releases; read once, for all copies."""
    if family not in _RECORDED:
        _RECORDED[family] = [
            case for name, path in family_files(VECTORS) if module_of(name) == family for case in _some(path)
        ]
    return _RECORDED[family]


def _some(path: Path) -> list[Case]:
    found = [case for case in cases(path) if case["id"] not in NOT_COVERED]
    return found[:: max(1, len(found) // CASES)]


class Ended(NamedTuple):
    """What came of a trial."""

    passed: bool
    seconds: float
    """Of processor time."""


def ended(child: int) -> Ended | None:
    """Tell what came of a trial; None: it is under way."""
    found, status, used = os.wait4(child, os.WNOHANG)
    return Ended(os.waitstatus_to_exitcode(status) == 0, used.ru_utime + used.ru_stime) if found else None


def stop(child: int) -> None:
    """End a trial that is under way."""
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
