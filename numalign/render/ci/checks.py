"""What build servers are told: checks with problems. `junit` and `github` write them; `lint` and `admit` make them."""

from __future__ import annotations

from typing import Literal, NamedTuple

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


def printable(text: str) -> str:
    r"""Write what no terminal and no XML document can hold as escapes (`\x1b`); line breaks stay."""
    return "".join(
        sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode() for sign in text
    )
