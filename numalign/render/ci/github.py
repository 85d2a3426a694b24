"""Checks as workflow commands of GitHub Actions, which show them beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.render.ci.checks import Check, Problem
from numalign.render.escape import lines


def github(checks: Sequence[Check]) -> str:
    """Write a line a problem: `::warning file=pod.yaml,line=4,title=code::message`."""
    return "".join(f"{_command(check, problem)}\n" for check in checks for problem in check.problems)


def _command(check: Check, problem: Problem) -> str:
    properties = {"title": problem.title}
    if check.file is not None:
        properties = {"file": check.file, "line": str(problem.line or check.line), **properties}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{problem.level} {listed}::{_data(f'{check.name}: {problem.message}')}"


def _data(text: str) -> str:
    """Escape what would end a message or be taken for an escape."""
    return lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape what would also end a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
