"""What build servers are told: checks with problems. `junit` and `github` write them; `lint` and `admit` make them."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

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


class Check(NamedTuple):
    """One pod that was looked at."""

    group: str
    """What the pod was held against."""
    name: str
    file: str | None
    """None: standard input, which has no name that a build server knows."""
    line: int
    problems: tuple[Problem, ...]

    @property
    def path(self) -> str | None:
        """The file as services compare it: without `./`."""
        return None if self.file is None else posixpath.normpath(self.file)


def fingerprinted(checks: Sequence[Check]) -> Iterator[tuple[Check, Problem, str]]:
    """Give every problem a mark that stays when lines move, so that a service knows it again."""
    from hashlib import sha256

    seen: Counter[tuple[str, ...]] = Counter()
    for check in checks:
        for problem in check.problems:
            key = (check.path or "-", check.name, problem.title, problem.message)
            seen[key] += 1
            yield check, problem, sha256("\0".join((*key, str(seen[key]))).encode(errors="replace")).hexdigest()
