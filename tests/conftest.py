"""What several tests share; also the options and the closing lines of the conformance test."""

from __future__ import annotations

from pathlib import Path

import pytest

VECTORS = Path(__file__).parent / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", default=str(VECTORS), metavar="DIR", help="folder of recorded decisions to judge by")
    parser.addoption("--sysfs", default=None, metavar="DIR", help="folder of captured machines to read as well")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from tests.conformance import RESULTS, UNKNOWN

    for family, (matched, total) in sorted(RESULTS.items()):
        terminalreporter.write_line(f"conformance {family} {matched}/{total}")
    for name in UNKNOWN:
        terminalreporter.write_line(f"not a family of this test: {name}")
