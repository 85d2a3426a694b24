"""What happens next: the events in their order, and the pods that wait for a machine.

docs/rules/scheduling.md 3.3 (retries) and 3.5 (order at the same instant).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from contextlib import suppress
from enum import IntEnum, auto
from heapq import heappop, heappush
from typing import Final

from numalign.scheduler.simulate.settings import SECOND

BACKOFFS: Final = (SECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND, 10 * SECOND)
"""How long a refused pod waits after each attempt; after all later ones as long as after the last of these."""
RETRY_ANYWAY_AFTER: Final = 300 * SECOND
"""After so long a waiting pod is tried again though nothing happened."""


class Kind(IntEnum):
    """Kinds of events, in the order in which they are handled at the same instant (3.5)."""

    POD_END = auto()
    REMOVAL = auto()
    """A workload is removed."""
    ADMISSION = auto()
    SAMPLE = auto()
    VISIBLE = auto()
    RESYNC = auto()
    CONTROLLER = auto()
    ARRIVAL = auto()
    WAKE = auto()
    """A pod's backoff or sweep is over, so that it may be tried."""
    ATTEMPT = auto()


Event = tuple[int, Kind, int, int]
"""(time, kind, machine, pod or workload): sorts in the order of 3.5."""


class Agenda:
    """The events to come."""

    def __init__(self) -> None:
        """Start empty."""
        self._heap: list[Event] = []

    def add(self, time: int, kind: Kind, machine: int = 0, subject: int = 0) -> None:
        """Let something happen at a time."""
        heappush(self._heap, (time, kind, machine, subject))

    def next(self) -> Event | None:
        """Take the next event; None: nothing more happens."""
        return heappop(self._heap) if self._heap else None


class WaitingPods:
    """The scheduler's queue: pods to try now, pods in backoff, pods that wait for something to change."""

    def __init__(self) -> None:
        """Start empty."""
        self.active: deque[int] = deque()
        self._aside: dict[int, tuple[int, int]] = {}
        """Pod that found no machine -> (when its backoff ends, when its sweep comes)."""
        self._woken: dict[int, int] = {}
        """Pod in backoff that something woke -> when its backoff ends."""

    def failed(self, pod: int, now: int, attempts: int) -> int:
        """Put a pod aside that found no machine after so many attempts; gives the time of its sweep."""
        backoff = BACKOFFS[min(attempts, len(BACKOFFS)) - 1]
        self._aside[pod] = (now + backoff, now + RETRY_ANYWAY_AFTER)
        return now + RETRY_ANYWAY_AFTER

    def wake(self, now: int, among: Container[int] | None) -> list[tuple[int, int]]:
        """Let pods aside be tried again, because something changed that may help: all, or those of `among`.

        Returns:
            (time, pod) for those whose backoff is not over yet: they are due then.
        """
        later = []
        woken = [pod for pod in self._aside if among is None or pod in among]
        for pod in woken:
            ready, _ = self._aside.pop(pod)
            if ready <= now:
                self.active.append(pod)
            else:
                self._woken[pod] = ready
                later.append((ready, pod))
        return later

    def due(self, pod: int, now: int) -> None:
        """Take a pod to the queue if its backoff, or its sweep, is over."""
        if pod in self._woken:
            if self._woken[pod] <= now:
                del self._woken[pod]
                self.active.append(pod)
        elif pod in self._aside and self._aside[pod][1] <= now:
            del self._aside[pod]
            self.active.append(pod)

    def drop(self, pod: int) -> None:
        """Forget a pod that was deleted."""
        self._woken.pop(pod, None)
        self._aside.pop(pod, None)
        with suppress(ValueError):
            self.active.remove(pod)
