"""Pods that wait for a machine: when they are tried again (docs/rules/scheduling.md 3.3)."""

from __future__ import annotations

import pytest

from numalign.scheduler.simulate.queues import WaitingPods
from numalign.scheduler.simulate.settings import SECOND


def aside(pod: int = 7, attempts: int = 1) -> WaitingPods:
    """Put a pod aside that found no machine at 100 s."""
    waiting = WaitingPods()
    assert waiting.failed(pod, 100 * SECOND, attempts) == 400 * SECOND
    return waiting


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (1000, 10)], ids=str
)
def test_a_backoff_doubles_up_to_ten_seconds(attempts: int, seconds: int) -> None:
    assert aside(7, attempts).wake(100 * SECOND, None) == [((100 + seconds) * SECOND, 7)]


def test_a_pod_that_something_wakes_is_tried_once_its_backoff_is_over() -> None:
    waiting = aside()
    [(ready, _)] = waiting.wake(100 * SECOND, None)
    waiting.due(7, ready - 1)
    assert not waiting.active
    waiting.due(7, ready)
    waiting.due(7, ready)
    assert list(waiting.active) == [7]


def test_a_pod_whose_backoff_is_over_is_tried_when_something_wakes_it() -> None:
    waiting = aside()
    assert waiting.wake(101 * SECOND, {8}) == []
    assert not waiting.active
    assert waiting.wake(101 * SECOND, {7}) == []
    assert list(waiting.active) == [7]


def test_a_sweep_takes_a_pod_that_nothing_woke() -> None:
    waiting = aside()
    for time in (101, 399):
        waiting.due(7, time * SECOND)
        assert not waiting.active
    waiting.due(7, 400 * SECOND)
    waiting.due(7, 400 * SECOND)
    assert list(waiting.active) == [7]


@pytest.mark.parametrize("place", ["aside", "woken", "active", "nowhere"])
def test_a_pod_that_is_deleted_is_never_tried(place: str) -> None:
    waiting = aside() if place != "nowhere" else WaitingPods()
    if place in ("woken", "active"):
        waiting.wake((100 if place == "woken" else 101) * SECOND, None)
    waiting.drop(7)
    waiting.due(7, 500 * SECOND)
    assert waiting.wake(500 * SECOND, None) == []
    assert not waiting.active
