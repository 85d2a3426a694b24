"""The nodes of a cluster that is watched: the extender is made anew when something has changed."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from numalign.errors import NumalignError
from numalign.scheduler.extender import Extender
from numalign.scheduler.node import Fleet
from numalign.server.nodes import Build, Reload
from numalign.sources.cluster.dump import Dump
from numalign.sources.cluster.watch import Cluster

SHARE: Final = 10
"""Making the extender anew takes at most one part of so many of the time: it slows answers down."""


class WatchedNodes:
    """The extender in force, and the cluster behind it."""

    def __init__(
        self, cluster: Cluster, fleet_of: Callable[[Dump], Fleet], build: Build, max_age: float | None
    ) -> None:
        """Take the cluster as it is now.

        Args:
            cluster: the objects, all of which are listed.
            fleet_of: makes the nodes of them.
            build: makes the extender of all nodes.
            max_age: seconds after which what is known is not trusted any more; None: never.

        Raises:
            NumalignError: an object cannot be used.
        """
        self._cluster = cluster
        self._fleet_of = fleet_of
        self._build = build
        self._max_age = max_age
        self._not_before = 0.0
        self._tried = self._taken = -1
        self._true_at = 0.0
        self._names: frozenset[str] = frozenset()
        self._take(cluster.changes)

    def _take(self, changes: int) -> None:
        start, true_at = monotonic(), self._cluster.alive
        fleet = self._fleet_of(self._cluster.dump())
        self.extender: Extender = self._build(fleet)
        self._names = frozenset([node.name for node in fleet.nodes])
        self._tried = self._taken = changes
        self._true_at = true_at
        self._not_before = monotonic() + SHARE * (monotonic() - start)

    def reload(self) -> Reload:
        """Take in what changed; on an error, whatever it is, what was known stays in force, and gets older."""
        changes = self._cluster.changes
        if changes == self._tried or monotonic() < self._not_before:
            return Reload(False)
        try:
            self._take(changes)
        except Exception as error:
            self._tried = changes
            return Reload(False, str(error) if isinstance(error, NumalignError) else f"bug: {error!r:.200}")
        return Reload(True)

    @property
    def age(self) -> float:
        """Seconds since what is in force was known to be true of all nodes."""
        current = self._cluster.changes == self._taken
        return max(monotonic() - (self._cluster.alive if current else self._true_at), 0.0)

    @property
    def stale(self) -> frozenset[str]:
        """Name the nodes whose data are too old to be trusted: all, or none."""
        return self._names if self._max_age is not None and self.age > self._max_age else frozenset()
