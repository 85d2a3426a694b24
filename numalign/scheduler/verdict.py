"""A filter's answer for one pod on one machine."""

from __future__ import annotations

from numalign.values import NamedTuple


class Verdict(NamedTuple):
    """Whether a machine passes; where it does not, the scheduler's own text and what numalign knows beyond it."""

    passed: bool
    message: str = ""
    """The text that the scheduler gives to the user."""
    container: str = ""
    """The container that fits nowhere; empty for the whole pod."""
    resource: str = ""
    """The resource at which no NUMA node is left."""
    requested: int = 0
    """What is asked of it, in billionths."""
    best: int | None = None
    """The largest amount of it that one zone has free; None: no zone lists it."""
    best_zone: int | None = None
    """The id of that zone."""


PASS = Verdict(True)

MAX_SCORE = 100
"""Of a machine that passes, from each of kube-scheduler's plugins; the least is 0."""
