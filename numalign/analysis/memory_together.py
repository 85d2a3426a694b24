"""Memory that counts only together: nodes that pods hold as a whole, resources that come from the same nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from numalign.analysis.matrix import Row
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import ResourcePairs
from numalign.kubelet.memory.allocate import DEFAULT_TOO_WIDE, EXTENDED_TOO_WIDE, NO_EXTENDED
from numalign.kubelet.memory.hints import best_hint, calculate, narrowest
from numalign.kubelet.node import Node
from numalign.model.cpuset import ids
from numalign.values import NamedTuple


class Group(NamedTuple):
    """NUMA nodes whose memory pods hold together: others may use them only as this whole."""

    nodes: int
    pods: tuple[str, ...]
    """Names of the pods, in order of admission, without the refused one."""
    own: tuple[str, ...] = ()
    """Names of the refused pod's own containers among those that hold it."""


class Joint(NamedTuple):
    """Memory resources that take more nodes together than each of them alone, since they come from the same nodes."""

    resources: tuple[str, ...]
    width: int
    """How few nodes could hold all of them on an empty machine."""


class Short(NamedTuple):
    """Memory of which the nodes chosen for a container have too little. Amounts are bytes."""

    resource: str
    requested: int
    """What the container itself asks for."""
    free: int
    own: tuple[tuple[str, int], ...]
    """(container, amount) of what the pod's other containers hold there."""


class Wider(NamedTuple):
    """Memory that a container could have on more nodes than its own request needs; the kubelet then takes none."""

    container: str
    width: int
    """How few nodes could hold what the container asks for on an empty machine."""
    chosen: int
    """The mask of the nodes that had been chosen for it, which have too little free; 0: none were."""
    found: int
    """The mask of the nodes that would do."""
    short: tuple[Short, ...]
    """What is too little on the chosen nodes."""


def held_groups(outcome: Outcome) -> Iterator[Group]:
    """List the nodes whose memory is held, with those who hold it."""
    state = outcome.after.memory
    names = {pod.uid: pod.name for pod in outcome.before.pods}
    pods: dict[int, list[str]] = {}
    own: dict[int, list[str]] = {}
    for uid, containers in state.entries.items():
        for container, blocks in containers.items():
            for block in blocks:
                pods.setdefault(block.mask, []).extend([names[uid]] if uid in names else [])
                own.setdefault(block.mask, []).extend([container] if uid == outcome.pod.uid else [])
    for mask in sorted(pods):
        yield Group(mask, tuple(dict.fromkeys(pods[mask])), tuple(dict.fromkeys(own[mask])))


def joint_memory(node: Node, rows: Sequence[Row]) -> Joint | None:
    """Find the fewest memory resources in the way that need as many nodes together as all of them."""
    memory = [row for row in rows if row.resource in node.memory.places]
    width = together_width(node, memory)
    sets = (some for size in range(1, len(memory) + 1) for some in combinations(memory, size))
    fewest = next((some for some in sets if together_width(node, some) == width), ())
    return Joint(tuple(row.resource for row in fewest), width) if len(fewest) > 1 else None


def together_width(node: Node, rows: Sequence[Row]) -> int:
    """Return how few nodes could hold memory resources together when empty (docs/rules/memory-manager.md 23)."""
    return narrowest(node.memory, tuple((row.resource, row.requested) for row in rows))


def wider_nodes(outcome: Outcome) -> Wider | None:
    """Tell whether nodes were found for a container's memory, but more than its own request needs (rules 33 and 34)."""
    failed = _failed_at(outcome, DEFAULT_TOO_WIDE, EXTENDED_TOO_WIDE)
    if failed is None:
        return None
    name, request, chosen = failed
    manager = outcome.before.node.memory
    hints = calculate(manager, outcome.after.memory, outcome.demand.uid, request)
    best = best_hint(hints, chosen) if hints else None
    if best is None or best.numa_affinity is None:
        return None
    short = tuple(_short(outcome, chosen, request)) if chosen else ()
    return Wider(name, narrowest(manager, request), chosen, best.numa_affinity, short)


def short_where_chosen(outcome: Outcome) -> tuple[str, ...]:
    """Name the memory resources of which the nodes chosen have too little, where no more nodes help (rule 34)."""
    failed = _failed_at(outcome, NO_EXTENDED)
    return tuple(one.resource for one in _short(outcome, failed.chosen, failed.request)) if failed else ()


class _Failed(NamedTuple):
    """The container whose memory could not be handed out."""

    container: str
    request: ResourcePairs
    chosen: int
    """The mask of the nodes that had been chosen for it; 0: none were."""


def _failed_at(outcome: Outcome, *errors: str) -> _Failed | None:
    """Find the container at which the Memory Manager failed with one of some errors; None: it did not."""
    container = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    # Of a pod as a whole no container is named.
    if container is None or not container.memory or not any(error in outcome.message for error in errors):
        return None
    hint = outcome.result.hints.get(container.name)
    return _Failed(container.name, container.memory, (hint.numa_affinity or 0) if hint else 0)


def _short(outcome: Outcome, chosen: int, request: ResourcePairs) -> Iterator[Short]:
    """List what nodes have too little of for a request, with what the pod's own containers hold there."""
    manager, state = outcome.before.node.memory, outcome.after.memory
    for resource, amount in request:
        free = sum(state.free[manager.places[resource]][numa] for numa in ids(chosen))
        blocks = [
            (name, block.size)
            for name, held in state.entries.get(outcome.demand.uid, {}).items()
            for block in held
            if block.type == resource and block.mask & chosen and block.size
        ]
        if free < amount:
            yield Short(resource, amount, free, tuple(blocks))


def joined(outcome: Outcome) -> tuple[int, ...]:
    """List which nodes may be used together (docs/rules/memory-manager.md 23): held ones only as they are held."""
    manager, state = outcome.before.node.memory, outcome.after.memory
    untouched = sum(1 << numa for numa in manager.node_ids if not state.counts[numa])
    held = {state.groups[numa] for numa in manager.node_ids if state.counts[numa]}
    return tuple(sorted({*held, untouched} - {0}))
