"""The Memory Manager's facts and state as values: tables, counts, groups, blocks.

Per-node figures are tuples indexed by NUMA node *id* (ids the machine does not have hold 0), so a resource's free
memory is at once the weights of a `AtLeast`. Amounts are bytes; masks are ints over node ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from numalign.model.cpuset import NUMAMask, ids
from numalign.model.quantity import Bytes
from numalign.values import NamedTuple

STATIC: Final = "Static"
WORD: Final = 1 << 64
"""Sums and differences of sizes wrap at this value (docs/rules/memory-manager.md, Notation)."""

NIL_DEREFERENCE: Final = "runtime error: invalid memory address or nil pointer dereference"

PerNode = tuple[int, ...]
"""A number of each NUMA node, in the order of the ids."""


class Block(NamedTuple):
    """What a container holds of one resource (docs/rules/memory-manager.md 1)."""

    mask: NUMAMask
    type: str
    size: Bytes


MemoryPolicy = Literal["None", "Static"]


class MemoryManager(NamedTuple):
    """What does not change while the kubelet runs. Per resource: tuples in the order of `resources`."""

    policy: MemoryPolicy
    nodes: NUMAMask = 0
    """The mask of the machine's NUMA nodes."""
    node_ids: tuple[int, ...] = ()
    """Their ids, ascending."""
    resources: tuple[str, ...] = ()
    """Names of all tables of the machine, sorted."""
    places: Mapping[str, int] = {}
    """Resource -> its position in `resources`."""
    offered: PerNode = ()
    """Per resource the nodes that have a table for it (rule 11)."""
    everywhere: frozenset[str] = frozenset()
    """Resources for which every node has a table."""
    total: tuple[PerNode, ...] = ()
    system_reserved: tuple[PerNode, ...] = ()
    allocatable: tuple[PerNode, ...] = ()
    widest: tuple[PerNode, ...] = ()
    """Per resource the most that 1, 2, 3, … nodes can hold of it: running sums of `allocatable`, largest first."""
    wraps: tuple[bool, ...] = ()
    """Per resource whether `allocatable` of all nodes together passes 2^64 (rule 14)."""
    by_node: bool = False
    """A restored state is compared node by node, also inside a group (rule 50)."""


class MemoryState(NamedTuple):
    """What the kubelet keeps while it runs. A change gives a new value."""

    counts: PerNode
    groups: PerNode
    """Per node the mask of the nodes it is used together with, itself included."""
    free: tuple[PerNode, ...]
    reserved: tuple[PerNode, ...]
    """`free` and `reserved`: per resource, then per node."""
    entries: Mapping[str, Mapping[str, tuple[Block, ...]]] = {}
    """Pod UID -> container name -> blocks, sorted by resource."""
    reusable_pod: str = ""
    reusable: Mapping[tuple[NUMAMask, str], Bytes] = {}
    """(mask, resource) -> bytes of finished init containers that `reusable_pod` may take over. Only the pod that
    allocated last can have any (rule 40)."""

    pods: Mapping[str, tuple[Block, ...]] = {}
    """Pod UID -> the blocks that are the pod's as a whole; its containers' blocks are parts of them."""

    def blocks(self, uid: str, container: str) -> tuple[Block, ...] | None:
        """What a container holds; None when it has no entry."""
        pod = self.entries.get(uid)
        return None if pod is None else pod.get(container)

    def reusable_of(self, uid: str) -> Mapping[tuple[int, str], int]:
        """What a pod may take over."""
        return self.reusable if uid == self.reusable_pod else {}


def overdrawn_tables(manager: MemoryManager) -> tuple[tuple[int, str], ...]:
    """List (node id, resource) whose allocatable amount has wrapped: the node looks almost infinite (rule 14)."""
    return tuple(
        (node, resource)
        for node in manager.node_ids
        for place, resource in enumerate(manager.resources)
        if manager.allocatable[place][node] > manager.total[place][node]
    )


def initial_state(manager: MemoryManager) -> MemoryState:
    """Build the state of a first start: nothing assigned, every node on its own (rules 8, 12)."""
    length = manager.nodes.bit_length()
    return MemoryState(
        counts=(0,) * length,
        groups=tuple([manager.nodes & 1 << node for node in range(length)]),
        free=manager.allocatable,
        reserved=((0,) * length,) * len(manager.resources),
    )


def machine_state(manager: MemoryManager, state: MemoryState) -> dict[str, object]:
    """Write counts, groups and tables as plain data: node id as text -> its record. Empty with policy `None`."""
    return {
        str(node): {
            "numberOfAssignments": state.counts[node],
            "cells": list(ids(state.groups[node])),
            "memory": {
                resource: {
                    "total": manager.total[place][node],
                    "systemReserved": manager.system_reserved[place][node],
                    "allocatable": manager.allocatable[place][node],
                    "reserved": state.reserved[place][node],
                    "free": state.free[place][node],
                }
                for place, resource in enumerate(manager.resources)
                if manager.offered[place] >> node & 1
            },
        }
        for node in manager.node_ids
    }


def fill(free: list[int], reserved: list[int], mask: NUMAMask, amount: Bytes) -> None:
    """Take an amount from the nodes of a mask, each filled before the next, ascending (rule 36)."""
    while mask and amount:
        low = mask & -mask
        node = low.bit_length() - 1
        taken = min(amount, free[node])
        free[node] -= taken
        reserved[node] += taken
        amount -= taken
        mask ^= low
