"""What build servers are told: checks with problems. `junit` and `github` write them; `lint` and `admit` make them."""

from __future__ import annotations

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
