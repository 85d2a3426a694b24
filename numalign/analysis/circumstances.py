"""What a refusal has to do with beside what is free: the pod's own containers, devices on no node, odd numbers.

A matrix counts what is free on each NUMA node. Where that alone does not tell why a pod was refused, one of these does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from numalign.analysis.holding import Handed, handed_on
from numalign.analysis.matrix import Row
from numalign.analysis.memory_together import (
    Group,
    Joint,
    Wider,
    held_groups,
    joined,
    joint_memory,
    short_where_chosen,
    wider_nodes,
)
from numalign.analysis.own_containers import (
    Own,
    Shares,
    Sum,
    asked_at_init,
    asked_together,
    held_before,
    shares_of_node,
)
from numalign.kubelet.admission import Outcome
from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.cpu.hints import socket_alignment
from numalign.kubelet.demand import ResourcePairs
from numalign.kubelet.node import Node
from numalign.model.resources import CPU, is_memory
from numalign.values import NamedTuple


class Cores(NamedTuple):
    """What `full-pcpus-only` counted."""

    requested: int
    """The refused container's own number of CPUs."""
    threads: int
    """CPUs of a core."""
    available: int
    """Free CPUs, but for those on cores that have a reserved CPU."""
    total: int
    """The same on an empty machine."""
    others: tuple[tuple[str, int], ...] = ()
    """(container, CPUs) of the pod's other containers whose numbers are no multiple of a core's either."""


class Unreadable(NamedTuple):
    """An amount that is no whole number of bytes, which the Memory Manager refuses."""

    container: str
    resource: str
    nano: int
    """In billionths of a byte."""


def counted_cores(outcome: Outcome) -> Cores | None:
    """Count whole cores as `full-pcpus-only` does; None: no container of the pod was refused by it."""
    manager, state = outcome.before.node.cpu, outcome.after.cpu
    container = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    if container is None:
        return None
    return Cores(
        container.cpus,
        manager.topology.cpus_per_core,
        (state.default & ~manager.physically_reserved).bit_count(),
        (outcome.before.node.machine.cpus & ~manager.physically_reserved).bit_count(),
        tuple(
            (one.name, one.cpus)
            for one in outcome.demand.containers
            if one is not container and one.cpus % manager.topology.cpus_per_core
        ),
    )


def unreadable_amounts(outcome: Outcome) -> tuple[Unreadable, ...]:
    """Find the amounts of memory that are no whole number of bytes, where that is what failed."""
    odd = {one.name for one in outcome.demand.containers if one.memory is None}
    if outcome.result.provider != "memory" or outcome.result.container not in odd:
        return ()
    return tuple(
        Unreadable(container.name, name, quantity.nano)
        for container in outcome.pod.containers
        for name, quantity in container.requests.items()
        if is_memory(name) and quantity.int64 is None
    )


class Circumstances(NamedTuple):
    """All that there is of these at one refusal."""

    own: tuple[Own, ...] = ()
    handed: tuple[Handed, ...] = ()
    sums: tuple[Sum, ...] = ()
    together: tuple[Sum, ...] = ()
    """Of a decision about a pod of several containers: what those ask for that run at the same time, each init
    container with the sidecars before it last."""
    shares: tuple[Shares, ...] = ()
    groups: tuple[Group, ...] = ()
    joined: tuple[int, ...] = ()
    """With `groups`: masks of the nodes that may hold one container's memory together, as large as they can be."""
    chosen: int | None = None
    """The mask of the nodes that had been chosen for the container when a manager failed; None: none were."""
    need: ResourcePairs = ()
    """The bytes of memory and huge pages that the whole pod asks for at the same time."""
    joint: Joint | None = None
    wider: Wider | None = None
    lacking: tuple[str, ...] = ()
    """Memory resources of which the `chosen` nodes have too little, where no more nodes help."""
    when: Literal["now", "then", "ever"] = "now"
    """What is free is counted on the node as it is, or as it would be: empty, or after a change. `ever`: it is not
    told, as what is said holds at any time."""
    cores: Cores | None = None
    unreadable: tuple[Unreadable, ...] = ()
    sockets: int = 0
    """CPUs may take any nodes of so many sockets, by `align-by-socket`; 0: as few nodes as they can do with."""
    reduced: frozenset[str] = frozenset()
    """Of a changed pod: resources of which less is asked here than its manifest does, as the change has it."""


def circumstances(outcome: Outcome, rows: tuple[Sequence[Row], Sequence[Row]], *, whole: bool) -> Circumstances:
    """Collect what matters for the resources in the way of a refused pod.

    Args:
        outcome: the refusal.
        rows: the resources in the way, and those that would be next.
        whole: they are of a decision about the whole pod.
    """
    node, result = outcome.before.node, outcome.result
    names = [row.resource for row in rows[0]]
    told = [*names, *(row.resource for row in rows[1])]
    asked = list(asked_together(outcome))
    parts = (*asked, *asked_at_init(outcome)) if whole and len(outcome.pod.containers) > 1 else ()
    cores = counted_cores(outcome) if outcome.reason == SMT_ALIGNMENT_ERROR else None
    # What a whole pod finds free was counted before its own containers took any; whole cores are counted after it.
    own = () if whole else tuple(held_before(outcome))
    handed = () if whole and cores is None else tuple(handed_on(node, outcome.after, outcome.demand))
    hint = result.hints.get(result.container or "") if result.stage == "allocate" else None
    return Circumstances(
        own=tuple(one for one in own if one.resource in told),
        handed=tuple(one for one in handed if one.resource in told),
        sums=tuple(one for one in asked if max(size for _, size in one.parts) <= one.capacity < one.requested),
        together=tuple(one for one in parts if one.resource in told),
        shares=tuple(shares_of_node(outcome.pod, outcome.fit.failures if outcome.fit else ())),
        groups=tuple(held_groups(outcome)) if any(map(is_memory, names)) else (),
        joined=joined(outcome) if any(map(is_memory, names)) else (),
        chosen=hint.numa_affinity if hint else None,
        need=outcome.demand.memory or (),
        joint=joint_memory(node, rows[0]),
        wider=wider_nodes(outcome),
        lacking=short_where_chosen(outcome),
        cores=cores,
        unreadable=unreadable_amounts(outcome),
        sockets=_sockets(node, rows[0]),
    )


def _sockets(node: Node, rows: Sequence[Row]) -> int:
    """Count of how many sockets CPUs may take any nodes (docs/rules/cpu-manager.md 6.4); 0: that is nothing to tell."""
    width = next((row.width for row in rows if row.resource == CPU), 0)
    found = socket_alignment(node.cpu, width) if width else None
    if found is None:
        return 0
    most = sorted((nodes.bit_count() for nodes in found.sockets), reverse=True)[: found.width]
    return found.width if sum(most) > width else 0
