"""What came of a file of tests."""

from __future__ import annotations

from numalign.values import NamedTuple


class SuiteCase(NamedTuple):
    """One test on one machine under one setting."""

    name: str
    machine: str
    settings: str
    file: str
    line: int
    problems: tuple[str, ...]
    """What is not as expected, a clause each; empty: all is."""

    @property
    def passed(self) -> bool:
        """Whether all is as expected."""
        return not self.problems


class SuiteResult(NamedTuple):
    """All tests, in the order of the files."""

    cases: tuple[SuiteCase, ...]

    @property
    def failed(self) -> int:
        """How many are not as expected."""
        return sum(not one.passed for one in self.cases)
