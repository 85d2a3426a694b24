"""kube-scheduler's own preemption: which pods of lower priority have to go so that a pod fits.

The plugin of today takes part through its filter only (docs/rules/scheduling.md 8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numalign.values import NamedTuple


class Evictable(NamedTuple):
    """A bound pod."""

    key: str
    priority: int


Fits = Callable[[Sequence[str]], bool]
"""Whether the pod would fit on the machine without the pods of these keys."""


def victims(pods: Sequence[Evictable], priority: int, fits: Fits) -> tuple[Evictable, ...] | None:
    """Choose the victims on one machine; None: not even all of lower priority are enough.

    All pods of lower priority are taken off, then put back one by one, the most important first, as long as the pod
    still fits.
    """
    lower = sorted((pod for pod in pods if pod.priority < priority), key=lambda pod: -pod.priority)
    gone = [pod.key for pod in lower]
    if not lower or not fits(gone):
        return None
    result = []
    for pod in lower:
        rest = [key for key in gone if key != pod.key]
        if fits(rest):
            gone = rest
        else:
            result.append(pod)
    return tuple(result)


def cheapest(choices: Sequence[tuple[str, tuple[Evictable, ...]]]) -> tuple[str, tuple[Evictable, ...]] | None:
    """Choose the machine: its most important victim is the least important, then the smallest sum, then the fewest.

    On ties the first machine wins.
    """
    return min(
        choices,
        key=lambda one: (
            max((pod.priority for pod in one[1]), default=0),
            sum(pod.priority for pod in one[1]),
            len(one[1]),
        ),
        default=None,
    )
