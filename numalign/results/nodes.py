"""The nodes of a cluster at a glance."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.values import NamedTuple


class NodeLine(NamedTuple):
    """One node."""

    name: str
    pods: int
    policy: str | None
    """None: it publishes no topology object."""
    scope: str | None
    free: Mapping[str, Mapping[str, int]]
    """NUMA node (`node-0`) -> resource -> whole units free."""
