"""Every aligned allocation there is: which CPUs and which devices a container could get without crossing NUMA nodes.

The kubelet gives one of them. A set here is aligned as the announcement of the Topology Manager means it: all resources
from the same nodes, as few as the most demanding one needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, prod

from numalign.analysis.holding import cpus_of_nodes
from numalign.analysis.matrix import Matrix, Row
from numalign.kubelet import device
from numalign.kubelet.node import Decision, Node
from numalign.kubelet.topology.hints import CANNOT_FIT, HintFamily
from numalign.model.cpuset import ids
from numalign.values import NamedTuple

MAX_NODES_COMBINED = 8
"""On machines with more nodes only single nodes are looked at."""


Allocation = tuple[tuple[str, tuple[str, ...]], ...]
"""(resource, ids of what is given) pairs."""


class Choice(NamedTuple):
    """What one resource could be given on some nodes."""

    resource: str
    amount: int
    """How many CPUs or devices to choose."""
    members: tuple[str, ...]
    """What to choose from: ids of CPUs or devices."""

    @property
    def ways(self) -> int:
        """How many ways there are."""
        return comb(len(self.members), self.amount)


class Alternatives(NamedTuple):
    """All aligned allocations on some NUMA nodes."""

    nodes: int
    """The mask of the nodes."""
    choices: tuple[Choice, ...]

    @property
    def ways(self) -> int:
        """How many allocations there are."""
        return prod(choice.ways for choice in self.choices)

    def listed(self) -> Iterator[Allocation]:
        """Yield each allocation, one at a time: there can be more than anybody can hold."""
        if not self.choices:
            yield ()
            return
        first, *rest = self.choices
        for chosen in combinations(first.members, first.amount):
            for others in self._replace(choices=tuple(rest)).listed():
                yield ((first.resource, chosen), *others)


def alternatives(node: Node, decision: Decision, table: Matrix) -> tuple[Alternatives, ...]:
    """List what is there for one decision, nodes by nodes."""
    hints = {name: said for answer in decision.answers for name, said in answer.items()}
    if CANNOT_FIT in hints.values():
        return ()
    families = [said for said in hints.values() if isinstance(said, HintFamily)]
    width = max((family.width for family in families), default=1)
    if width > 1 and len(table.nodes) > MAX_NODES_COMBINED:
        return ()
    found = []
    for some in combinations(table.nodes, width):
        mask = sum(1 << numa for numa in some)
        if all(family.has(mask) for family in families):
            choices = tuple(_choices(node, decision, table.rows, mask))
            if all(choice.ways for choice in choices):
                found.append(Alternatives(mask, choices))
    return tuple(found)


def _choices(node: Node, decision: Decision, rows: Sequence[Row], mask: int) -> Iterator[Choice]:
    """Say what there is to choose from on some nodes: free CPUs and devices. Memory has no ids."""
    for row in rows:
        if row.resource == "cpu":
            free = cpus_of_nodes(node, mask) & decision.state.cpu.default & ~node.cpu.reserved
            yield Choice("cpu", row.requested, tuple(str(cpu) for cpu in ids(free)))
        elif row.resource in node.device.resources and row.requested:
            resource = node.device.resources[row.resource]
            there = resource.on(mask) & resource.healthy if resource.aware else resource.healthy
            free = there & ~decision.state.device.allocated.get(row.resource, 0)
            yield Choice(row.resource, row.requested, tuple(device.device_ids(resource, free)))
