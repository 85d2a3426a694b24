"""What build servers are told: checks with problems, which `lint`, `admit` and `test` make, and two of the reports."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from numalign.render.escape import lines
from numalign.render.json import Data
from numalign.values import NamedTuple

Level = Literal["error", "warning", "notice"]


class Problem(NamedTuple):
    """One thing that is wrong."""

    level: Level
    title: str
    """A code, or the kubelet's reason."""
    message: str
    fails: bool
    """Whether it makes the answer no, that is exit status 1."""
    line: int | None = None
    """Where, if not where the check is."""
    file: str | None = None
    """In which file, if in another one than the check."""
    fix: str = ""
    """What to do, as an order; empty: nothing is known."""
    kubelet: str = ""
    """The kubelet's own words, if it has any."""

    @property
    def text(self) -> str:
        """All of it: the message, the fix and the kubelet's words, a line each."""
        return "\n".join(self._parts)

    @property
    def in_a_line(self) -> str:
        """The same as sentences, one behind the other."""
        return " ".join(part if part.endswith((".", '"')) else f"{part}." for part in self._parts)

    @property
    def _parts(self) -> list[str]:
        return [*filter(None, [self.message, self.fix and f"fix: {self.fix}", self.kubelet])]


class Check(NamedTuple):
    """One pod that was looked at."""

    group: str
    """What the pod was held against."""
    name: str
    file: str | None
    """None: standard input, which has no name that a build server knows."""
    line: int
    problems: tuple[Problem, ...]

    def path(self, problem: Problem) -> str | None:
        """Return the file of a problem as services compare it: without `./`."""
        file = problem.file or self.file
        return None if file is None else posixpath.normpath(file)


def fingerprinted(checks: Sequence[Check]) -> Iterator[tuple[Check, Problem, str]]:
    """Give every problem a mark that stays when lines move, so that a service knows it again."""
    from hashlib import sha256

    seen: Counter[tuple[str, ...]] = Counter()
    for check in checks:
        for problem in check.problems:
            key = (check.path(problem) or "-", check.name, problem.title, problem.message)
            seen[key] += 1
            yield check, problem, sha256("\0".join((*key, str(seen[key]))).encode(errors="replace")).hexdigest()


def github(checks: Sequence[Check]) -> str:
    """Write a line a problem: `::warning file=pod.yaml,line=4,title=code::message`."""
    return "".join(f"{_command(check, problem)}\n" for check in checks for problem in check.problems)


def _command(check: Check, problem: Problem) -> str:
    properties = {"title": problem.title}
    file = problem.file or check.file
    if file is not None:
        properties = {"file": file, "line": str(problem.line or check.line), **properties}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{problem.level} {listed}::{_data(f'{check.name}: {problem.text}')}"


def _data(text: str) -> str:
    """Escape what would end a message or be taken for an escape."""
    return lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape what would also end a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_SEVERITIES: Mapping[Level, str] = {"error": "critical", "warning": "major", "notice": "info"}


def gitlab(checks: Sequence[Check]) -> list[Data]:
    """Write a list of issues; paths are below the folder in which numalign runs, which is the repository's."""
    return [
        {
            "description": lines(f"{check.name}: {problem.in_a_line}"),
            "check_name": lines(problem.title),
            "fingerprint": mark,
            "severity": _SEVERITIES[problem.level],
            "location": {
                "path": lines(check.path(problem) or "-"),
                "lines": {"begin": max(problem.line or check.line, 1)},
            },
        }
        for check, problem, mark in fingerprinted(checks)
    ]
