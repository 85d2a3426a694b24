"""What several tests share: the profile of generated cases, the options and closing lines of the conformance test."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

VECTORS = Path(__file__).parent / "vectors"

settings.register_profile(
    "numalign",
    derandomize=True,  # a change is judged by the same cases as the one before it
    deadline=None,  # no test fails on a clock
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.load_profile("numalign")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", default=str(VECTORS), metavar="DIR", help="folder of recorded decisions to judge by")
    parser.addoption("--sysfs", default=None, metavar="DIR", help="folder of captured machines to read as well")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from tests.conformance import RESULTS, UNKNOWN

    for family, (matched, total) in sorted(RESULTS.items()):
        terminalreporter.write_line(f"conformance {family} {matched}/{total}")
    for name in UNKNOWN:
        terminalreporter.write_line(f"not a family of this test: {name}")
