"""What several tests share: the profile of generated cases, the options and closing lines of the conformance test."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from tests import packages
from tests.dice import FEW, MANY

VECTORS = Path(__file__).parent / "vectors"
PASTES = Path(__file__).parent / "pastes"

IN_MEMORY = Path("/dev/shm")
ROOM = 2 << 30
"""Bytes that have to be free there for the tests' own files, some hundred MB, to go there: no disk is waited for."""
if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    tempfile.tempdir = os.environ["PYTEST_DEBUG_TEMPROOT"]

settings.register_profile(
    "numalign",
    max_examples=FEW,
    derandomize=True,  # a change is judged by the same cases as the one before it
    deadline=None,  # no test fails on a clock
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "deep", settings.get_profile("numalign"), max_examples=MANY, derandomize=False, print_blob=True
)
settings.load_profile("numalign")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", default=str(VECTORS), metavar="DIR", help="folder of recorded decisions to judge by")
    parser.addoption("--pastes", default=str(PASTES), metavar="DIR", help="folder of pasted outputs to judge by")
    parser.addoption("--sysfs", default=None, metavar="DIR", help="folder of captured machines to read as well")


@pytest.fixture(scope="session")
def imported_once() -> None:
    """Let work's processes be copies of one that has imported all of it already (`tests/copies.py`)."""
    from tests import copies

    copies.context()


@pytest.fixture(scope="session")
def checkout_packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel and the source distribution of this checkout, built once a worker."""
    wheel, archive = packages.build(packages.ROOT, tmp_path_factory.mktemp("packages"), "sdist", "wheel")
    return wheel, archive


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring tests together that share what is slow to read."""
    first: dict[object, int] = {}
    marks = [item.get_closest_marker("together") for item in items]
    keys = [
        first.setdefault(mark.args if mark else item, place)
        for place, (item, mark) in enumerate(zip(items, marks, strict=True))
    ]
    items[:] = [items[place] for place in sorted(range(len(items)), key=keys.__getitem__)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector thousands of tests that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        _spare_what_stays()
        gc.enable()


def _spare_what_stays() -> None:
    gc.freeze()
    gc.set_threshold(2000, 10, 1000)  # what tests keep for others is most of the heap, and no garbage either


@pytest.fixture
def own_garbage() -> Iterator[None]:
    """Undo what a library did to the garbage collector of the process: all later tests would take longer."""
    yield
    gc.collect()
    _spare_what_stays()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker of xdist tell of a test that passes what is counted: that it did.

    It would also tell when the test starts and ends, what was set up and what was torn down; for thousands of small
    tests that takes more than running them.
    """
    if not hasattr(item.config, "workerinput") or item.config.getoption("durations") is not None:
        return None
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            if report.passed:
                report.keywords = {}
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from tests.conformance import RESULTS, UNKNOWN

    for family, (matched, total) in sorted(RESULTS.items()):
        terminalreporter.write_line(f"conformance {family} {matched}/{total}")
    for name in UNKNOWN:
        terminalreporter.write_line(f"not a family of this test: {name}")
