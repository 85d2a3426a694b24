"""A pod that the kubelet does not survive: who asks for what, and which NUMA nodes lack what it reads.

The kubelet comes up again, meets the same pod and goes down again: this is no refusal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from numalign.kubelet.admission import Outcome
from numalign.values import NamedTuple

Kind = Literal["pages", "distances", "no-nodes", "endless"]
"""`pages`: memory is looked up on a NUMA node that has no such kind (docs/rules/memory-manager.md 24). `distances`: a
distance is looked up by the id of a node that the list does not reach (docs/rules/topology-manager.md 8.4). `no-nodes`:
memory is to be taken from nodes, and none were chosen. `endless`: it never comes back (rule 14 there)."""


class Missing(NamedTuple):
    """A memory resource asked for that some NUMA node does not even know."""

    resource: str
    requested: int
    """The most that one container asks for, in bytes; 0 does it, too."""
    containers: tuple[str, ...]
    """Who asks for it, in the order of the pod."""
    nodes: int
    """The mask of the NUMA nodes that know it; 0: none does."""


class Crash(NamedTuple):
    """Why the kubelet does not survive a pod."""

    kind: Kind
    missing: tuple[Missing, ...]
    """With `pages`: what is looked up."""
    nodes: int
    """The mask of the machine's NUMA nodes."""


def crash(outcome: Outcome) -> Crash | None:
    """Say why the kubelet does not survive a pod; None: it does."""
    stage = outcome.result.stage
    if stage not in ("panic", "hang"):
        return None
    nodes = outcome.before.node.numa.full
    if stage == "hang":
        return Crash("endless", (), nodes)
    missing = tuple(_missing(outcome))
    # Only distances are looked up in lists that may be too short.
    beyond = "index out of range" in outcome.message
    return Crash("pages" if missing else "distances" if beyond else "no-nodes", missing, nodes)


def _missing(outcome: Outcome) -> Iterator[Missing]:
    """Name what the kubelet looks up without checking."""
    manager = outcome.before.node.memory
    asked: dict[str, dict[str, int]] = {}
    for container in outcome.demand.containers:
        for resource, amount in container.memory or ():
            asked.setdefault(resource, {})[container.name] = amount
    for resource, amounts in sorted(asked.items()):
        known = manager.offered[manager.places[resource]] if resource in manager.places else 0
        if known != manager.nodes:
            yield Missing(resource, max(amounts.values()), tuple(amounts), known)
